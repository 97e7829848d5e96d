package visit

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"concord/contract"
	"concord/identity"
	"concord/internal/api"
	"concord/internal/site"
	"concord/internal/visit/event"
	"concord/member"
	"concord/table"
	"concord/wire"
)

const plainYAML = `name: Plain
parties: 2
features: [{name: a, range: [0, 1]}, {name: b, range: [0, 1]}, {name: c, range: [0, 1]}]
label: {name: y, levels: ["no", "yes"], positive: "yes"}
basis: {kind: pca, dim: 2}
`

// exchange is a site that has joined and exchanges files, with the keys of the others.
type exchange struct {
	t             *testing.T
	dir           string
	contract      *contract.Contract
	hash          wire.Hash
	analyst, east *identity.Identity
	told          []event.Event
	number        int64
}

func newExchange(t *testing.T) *exchange {
	t.Helper()
	x := &exchange{t: t, dir: filepath.Join(t.TempDir(), "north")}
	var err error
	if x.contract, err = contract.ParseYAML([]byte(plainYAML)); err != nil {
		t.Fatal(err)
	}
	raw, err := x.contract.Encode()
	if err != nil {
		t.Fatal(err)
	}
	x.hash = wire.HashOf(raw)
	if x.analyst, err = identity.New(identity.RoleAnalyst, "Office", nil); err != nil {
		t.Fatal(err)
	}
	if x.east, err = identity.New(identity.RoleParty, "East", nil); err != nil {
		t.Fatal(err)
	}
	s, err := site.New(x.dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = s.Enrol("North", nil, ""); err != nil {
		t.Fatal(err)
	}
	there := site.Connection{Format: 1, Address: "192.0.2.1:9", Study: x.hash}
	if err := errors.Join(s.BeginAudit(x.hash, wire.Hash{}), s.PutJoined(there, x.analyst.Statement, raw),
		s.SetByFile(true)); err != nil {
		t.Fatal(err)
	}
	return x
}

// open begins a visit, and ends it with the test.
func (x *exchange) open(n Need) (*Visit, error) {
	v, err := Open(x.dir, n, Options{Tell: func(e event.Event) { x.told = append(x.told, e) }})
	if err == nil {
		x.t.Cleanup(v.End)
	}
	return v, err
}

// step is a visit for one step, which may fail.
func (x *exchange) step(n Need, do func(*Visit) error) error {
	x.t.Helper()
	x.told = nil
	v, err := Open(x.dir, n, Options{Tell: func(e event.Event) { x.told = append(x.told, e) }})
	if err != nil {
		return err
	}
	defer v.End()
	return do(v)
}

// roster puts the analyst's newest word on who takes part into the folder, as a parcel does.
func (x *exchange) roster(confirmations ...[]byte) *member.Roster {
	x.t.Helper()
	own, err := (&site.Site{Dir: x.dir}).Identity()
	if err != nil {
		x.t.Fatal(err)
	}
	members := []*identity.Statement{x.analyst.Statement, x.east.Statement, own.Statement}
	r, err := member.NewRoster(x.contract, 1, members)
	if err != nil {
		x.t.Fatal(err)
	}
	answer := &api.Roster{
		Number: 1, Closed: true, Confirmations: confirmations,
		Analyst: member.Confirm(x.analyst, x.hash, r.Epoch(x.hash)).Encode(),
	}
	for _, m := range members {
		answer.Statements = append(answer.Statements, m.Encode())
	}
	x.number++
	taken := &site.Taken{
		Format: 1, Number: x.number, Roster: answer, Bundles: []api.BundleInfo{},
		Status: &api.Status{State: api.StateConfirming, Expected: 2, Present: 2, WaitingFor: []string{"East"}},
	}
	if err := (&site.Site{Dir: x.dir}).PutTaken(taken); err != nil {
		x.t.Fatal(err)
	}
	return r
}

// waits says whom an error awaits, "" if it is another.
func waits(err error) string {
	var w *wire.Waiting
	if errors.As(err, &w) {
		return w.For
	}
	return ""
}

// TestNeed: a step that is not due is refused before anything else, with what helps; one that
// changes the folder keeps others out, and one that looks does not.
func TestNeed(t *testing.T) {
	if _, err := Open(t.TempDir(), Looking,
		Options{}); !errors.Is(err, site.ErrNoSite) || !strings.Contains(wire.Hint(err), "concord join") {
		t.Errorf("a folder without a site: %v", err)
	}
	x := newExchange(t)
	if err := x.step(Confirmed,
		func(*Visit) error { return nil }); err == nil || !strings.Contains(wire.Hint(err), "concord roster confirm") {
		t.Errorf("before anybody has confirmed: %v", err)
	}
	v, err := x.open(Changing)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.open(Changing); err == nil || !strings.Contains(err.Error(), "at work") {
		t.Errorf("while another step changes the folder: %v", err)
	}
	if _, err := x.open(Looking); err != nil {
		t.Errorf("looking while another step changes the folder: %v", err)
	}
	r := x.roster()
	phrase := strings.Join(member.Phrase(r.Epoch(x.hash)), " ")
	if _, err := v.Confirm(t.Context(), "", func(Seen) (string, error) { return phrase, nil }); err != nil {
		t.Fatal(err)
	}
	v.End()
	var misuse *Misuse
	if err := x.step(Pooling, func(*Visit) error { return nil }); !errors.As(err, &misuse) {
		t.Errorf("masked sums where the contract pools nothing: %v", err)
	}
	piece := func(v *Visit) error {
		_, err := v.PreparePiece("data.csv", table.Options{})
		return err
	}
	if err := x.step(Confirmed, piece); !errors.As(err, &misuse) {
		t.Errorf("a piece where the anchor is not made of pieces: %v", err)
	}
}

// TestConfirm: nothing is confirmed unless whoever compared gives the phrase of the very
// roster that is shown; with it goes this site's share, and the rule says who is next.
func TestConfirm(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	x := newExchange(t)
	confirm := func(phrase string, refuse error) (shown Seen, done Confirmation, err error) {
		err = x.step(Changing, func(v *Visit) (err error) {
			done, err = v.Confirm(t.Context(), "", func(s Seen) (string, error) {
				shown = s
				return phrase, refuse
			})
			return err
		})
		return shown, done, err
	}
	if _, _, err := confirm("", nil); waits(err) == "" {
		t.Errorf("before a parcel has brought a roster: %v", err)
	}
	r := x.roster()
	for name, phrase := range map[string]string{
		"none": "", "another roster's": strings.Join(member.Phrase(wire.Hash{1}), " "),
		"cut": strings.Join(member.Phrase(r.Epoch(x.hash))[:11], " "),
	} {
		shown, _, err := confirm(phrase, nil)
		if err == nil || !strings.Contains(err.Error(),
			"nothing was confirmed") || shown.Roster.Epoch(x.hash) != r.Epoch(x.hash) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := confirm("",
		errors.New("nobody is at the telephone")); err == nil || err.Error() != "nobody is at the telephone" {
		t.Errorf("people say no: %v", err)
	}
	if s := (&site.Site{Dir: x.dir}); s.Has("confirmation.json") || s.Has("setup") {
		t.Fatal("something was confirmed")
	}
	shown, done, err := confirm("  "+strings.ToUpper(strings.Join(member.Phrase(r.Epoch(x.hash)), "  ")), nil)
	if err != nil || done.Already || shown.Phrase() == "" {
		t.Fatalf("%+v, %v", done, err)
	}
	if _, done, err := confirm("", errors.New("not asked again")); err != nil || !done.Already {
		t.Errorf("confirmed twice: %+v, %v", done, err)
	}

	var turn Turn
	sync := func(v *Visit) (err error) { turn, err = v.Advance(t.Context()); return err }
	if err := x.step(Changing, sync); waits(err) != "East to confirm the roster" {
		t.Errorf("sync: %v", err)
	}
	if len(x.told) != 1 {
		t.Fatalf("sync told %v", x.told)
	}
	if e, ok := x.told[0].(event.ShareSent); !ok || !e.Later || e.Piece || e.Others != 1 || e.Bytes == 0 || turn.Do != "" {
		t.Errorf("sync told %+v, next %q", x.told[0], turn.Do)
	}
	x.roster(member.Confirm(x.east, x.hash, r.Epoch(x.hash)).Encode())
	if err := x.step(Changing, sync); waits(err) != "East to send their share of the anchor seed" {
		t.Errorf("sync after East has confirmed: %v", err)
	}
	if err := x.step(Looking, func(v *Visit) error {
		pr, err := v.Progress(t.Context())
		turn = pr.Turn
		return err
	}); err != nil || turn.Do != StepGive {
		t.Errorf("next %q, %v", turn.Do, err)
	}
}

// TestStopsAtOtherRoster: a roster of another epoch than the confirmed one, or a confirmation
// of another epoch by another party, stops every step.
func TestStopsAtOtherRoster(t *testing.T) {
	x := newExchange(t)
	r := x.roster()
	err := x.step(Changing, func(v *Visit) error {
		_, err := v.Confirm(t.Context(), "", func(s Seen) (string, error) { return s.Phrase(), nil })
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	x.roster(member.Confirm(x.east, x.hash, wire.Hash{1}).Encode())
	sync := func(v *Visit) error { _, err := v.Advance(t.Context()); return err }
	if err := x.step(Changing, sync); err == nil || waits(err) != "" || wire.Hint(err) != stopAndTell {
		t.Errorf("East has confirmed another roster: %v", err)
	}
	if x.east, err = identity.New(identity.RoleParty, "East", nil); err != nil {
		t.Fatal(err)
	}
	if other := x.roster(); other.Epoch(x.hash) == r.Epoch(x.hash) {
		t.Fatal("the test's rosters are the same")
	}
	if err := x.step(Changing,
		sync); err == nil || !strings.Contains(wire.Hint(err), "different rosters to different parties") {
		t.Errorf("East has other keys than were confirmed: %v", err)
	}
}
