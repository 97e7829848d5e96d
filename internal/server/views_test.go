package server_test

import (
	"strings"
	"testing"

	"concord/bundle"
	"concord/identity"
	"concord/internal/api"
	"concord/member"
)

// TestStatedViews: who joins a study with views names one that the contract has, where
// figures are pooled, and a contribution has the view with which its sender joined.
func TestStatedViews(t *testing.T) {
	const views = `
name: Test
parties: 2
features: [a, b, c, d, e]
label: {name: y, levels: [no, yes], positive: yes}
views: [{name: left, features: [a, b, c], dim: 2}, {name: right, features: [c, d, e], dim: 2}]
`
	w := newWorldOf(t, views)
	seen := func(name, view string) *identity.Identity {
		id, err := newIdentity(t, identity.RoleParty, name).WithView(view)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	join := func(w *world, i int, id *identity.Identity) error {
		_, _, err := w.as(id).Join(t.Context(), w.secrets[i], id.Statement.Encode())
		return err
	}
	wantRefusal(t, "a view that is none", join(w, 0, seen("Party 1", "middle")), api.CodeRefused, "the contract has left, right")
	members := []*identity.Statement{w.analyst.Statement}
	for i, view := range []string{"left", ""} { // nothing is pooled here: nobody has to say it
		id := seen([]string{"Party 1", "Party 2"}[i], view)
		if err := join(w, i, id); err != nil {
			t.Fatal(err)
		}
		w.parties, members = append(w.parties, id), append(members, id.Statement)
	}
	var err error
	if w.roster, err = member.NewRoster(w.contract, 1, members); err != nil {
		t.Fatal(err)
	}
	w.epoch = w.roster.Epoch(w.study)
	for i, id := range w.parties {
		if err := w.as(id).Confirm(t.Context(), member.Confirm(id, w.study, w.epoch)); err != nil {
			t.Fatal(err)
		}
		other := w.parties[1-i]
		if _, err := w.as(id).Send(t.Context(), w.setup(id, other)); err != nil {
			t.Fatal(err)
		}
	}
	has := func(view string) func(*bundle.Draft) { return func(d *bundle.Draft) { d.View = view } }
	a, b := w.parties[0], w.parties[1]
	_, err = w.as(a).Send(t.Context(), w.contribution(a, has("right")))
	wantRefusal(t, "another view than it joined with", err, api.CodeRefused, `has the view "right", and its sender joined with "left"`)
	for id, view := range map[*identity.Identity]string{a: "left", b: "right"} {
		if _, err := w.as(id).Send(t.Context(), w.contribution(id, has(view))); err != nil {
			t.Errorf("view %s: %v", view, err)
		}
	}

	pooled := newWorldOf(t, strings.NewReplacer("parties: 2", "parties: 8\nstandardise: pooled", "features: [a, b, c, d, e]", "features: [{name: a, range: [0, 1]}, {name: b, range: [0, 1]}, {name: c, range: [0, 1]}, {name: d, range: [0, 1]}, {name: e, range: [0, 1]}]").Replace(views))
	wantRefusal(t, "no view where figures are pooled", join(pooled, 0, newIdentity(t, identity.RoleParty, "Party 1")), api.CodeRefused, "it joins with --view, one of left, right")
}
