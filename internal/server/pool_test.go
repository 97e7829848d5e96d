package server_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"concord/bundle"
	"concord/identity"
	"concord/internal/api"
	"concord/internal/client"
	"concord/wire"
)

const pooling = `
name: Test
parties: 4
features:
  - {name: a, range: [0, 1]}
  - {name: b, range: [0, 1]}
  - {name: c, range: [0, 1]}
label: {name: y, levels: [no, yes], positive: yes}
standardise: pooled
basis: {kind: svd, dim: 2}
`

// twoStages pools second moments as well.
var twoStages = strings.Replace(pooling, "kind: svd", "kind: common", 1)

// others are the other parties' statements.
func (w *world) others(from *identity.Identity) []*identity.Statement {
	var out []*identity.Statement
	for _, p := range w.parties {
		if p != from {
			out = append(out, p.Statement)
		}
	}
	return out
}

// message is a message of masked sums, of which the server knows stage and number only.
func (w *world) message(from *identity.Identity, stage, number int, content string, change func(*bundle.Draft)) string {
	return w.sealed(from, bundle.KindPool, w.others(from), []bundle.Source{bundle.FromBytes("ready.json", []byte(content))}, func(d *bundle.Draft) {
		d.Round, d.Number = stage, number
		if change != nil {
			change(d)
		}
	})
}

// TestPool: several messages of masked sums of each party are kept and passed on to the
// others alone, none in place of another; the same again gives the same receipt.
func TestPool(t *testing.T) {
	w := newWorldOf(t, pooling)
	w.joinAll(4)
	ctx := t.Context()
	from := w.parties[0]
	receipts := map[string]string{}
	for _, at := range [][2]int{{1, 1}, {1, 2}, {1, api.PoolOwn + 1}, {2, 1}} {
		path := w.message(from, at[0], at[1], "first", nil)
		for range 2 {
			receipt, err := w.as(from).Send(ctx, path)
			if err != nil {
				t.Fatalf("message %v: %v", at, err)
			}
			if before := receipts[path]; before != "" && before != string(receipt) {
				t.Errorf("message %v again gives another receipt", at)
			}
			receipts[path] = string(receipt)
		}
		_, err := w.as(from).Send(ctx, w.message(from, at[0], at[1], "another", nil))
		wantRefusal(t, "another in its place", err, api.CodeConflict, "already stored")
	}
	for i, p := range w.parties {
		waiting, err := w.as(p).Bundles(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var got [][2]int
		for _, b := range waiting {
			if b.Kind != bundle.KindPool || b.Sender != from.Statement.Fingerprint() {
				t.Errorf("party %d is offered a %s of %s", i, b.Kind, b.Sender.Short())
			}
			got = append(got, [2]int{b.Round, b.Number})
		}
		want := [][2]int{{1, 1}, {1, 2}, {1, api.PoolOwn + 1}, {2, 1}}
		if i == 0 {
			want = nil
		}
		if !slices.Equal(got, want) {
			t.Errorf("party %d is offered %v, want %v", i, got, want)
		}
	}
	// The restarted server has all of it, byte for byte.
	w.restart()
	waiting, err := w.as(w.parties[1]).Bundles(ctx)
	if err != nil || len(waiting) != 4 {
		t.Fatalf("after a restart %d messages wait (%v)", len(waiting), err)
	}
	for path := range receipts {
		sent, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, b := range waiting {
			var got strings.Builder
			if _, err := w.as(w.parties[1]).Fetch(ctx, b.Manifest, &got, b.Size); err != nil {
				t.Fatal(err)
			}
			found = found || got.String() == string(sent)
		}
		if !found {
			t.Errorf("%s is not what another party gets", path)
		}
	}
}

// TestPoolRefused: what is no message of this study's masked sums is not kept.
func TestPoolRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	w := newWorldOf(t, pooling)
	w.joinAll(4)
	from := w.parties[0]
	change := func(f func(*bundle.Draft)) string { return w.message(from, 1, 1, "x", f) }
	for _, tc := range []struct{ name, path, reason string }{
		{"no stage", w.message(from, 0, 1, "x", nil), "has stages 1 to 2"},
		{"a stage too many", w.message(from, 3, 1, "x", nil), "has stages 1 to 2"},
		{"a number too many", w.message(from, 1, api.PoolMessages(5)+1, "x", nil), "messages 1 to 53"},
		{"for the analyst", w.sealed(from, bundle.KindPool, []*identity.Statement{w.analyst.Statement}, []bundle.Source{bundle.FromBytes("x", nil)}, func(d *bundle.Draft) { d.Round = 1 }), "must be for other parties only"},
		{"for itself", w.sealed(from, bundle.KindPool, []*identity.Statement{from.Statement}, []bundle.Source{bundle.FromBytes("x", nil)}, func(d *bundle.Draft) { d.Round = 1 }), "must be for other parties only"},
		{"another epoch", change(func(d *bundle.Draft) { d.Epoch = wire.Hash{1} }), "epoch"},
	} {
		_, err := w.as(from).Send(t.Context(), tc.path)
		wantRefusal(t, tc.name, err, api.CodeRefused, tc.reason)
	}
	// Notes to the others are few and small.
	for number := 1; number <= api.PoolFlags; number++ {
		if _, err := w.as(from).Send(t.Context(), w.message(from, api.PoolFlagRound, number, "note", nil)); err != nil {
			t.Fatal(err)
		}
	}
	_, err := w.as(from).Send(t.Context(), w.message(from, api.PoolFlagRound, api.PoolFlags+1, "note", nil))
	wantRefusal(t, "a note too many", err, api.CodeRefused, "and 8 notes of a party")
	_, err = w.as(from).Send(t.Context(), w.message(from, api.PoolFlagRound+1, 1, "note", nil))
	wantRefusal(t, "a round beyond the notes", err, api.CodeRefused, "has stages 1 to 2")
	kept := w.kept()
	large := w.sealed(from, bundle.KindPool, w.others(from), []bundle.Source{bundle.FromBytes("x", make([]byte, api.PoolBytes(w.contract)))}, func(d *bundle.Draft) { d.Round = 1 })
	_, err = w.as(from).Send(t.Context(), large)
	var refusal *client.Refusal
	if !errors.As(err, &refusal) || refusal.Code != api.CodeTooLarge {
		t.Errorf("a message that is too large: %v", err)
	}
	thick := w.sealed(from, bundle.KindPool, w.others(from), []bundle.Source{bundle.FromBytes("x", make([]byte, api.MaxSetupBytes))}, func(d *bundle.Draft) { d.Round, d.Number = api.PoolFlagRound, 1 })
	if _, err := w.as(from).Send(t.Context(), thick); !errors.As(err, &refusal) || refusal.Code != api.CodeTooLarge {
		t.Errorf("a note that is too large: %v", err)
	}
	if n := w.kept(); n != kept {
		t.Errorf("%d files are kept of what was refused", n-kept)
	}
	other := newWorld(t)
	other.join()
	_, err = other.as(other.parties[0]).Send(t.Context(), other.message(other.parties[0], 1, 1, "x", nil))
	wantRefusal(t, "a study that pools nothing", err, api.CodeRefused, "no masked sums")
}

// TestPoolStatus: the analyst is told whose messages the others await.
func TestPoolStatus(t *testing.T) {
	w := newWorldOf(t, pooling)
	w.joinAll(4)
	ctx := t.Context()
	for _, p := range w.parties {
		path := w.sealed(p, bundle.KindSetup, w.others(p), []bundle.Source{bundle.FromBytes("entropy.bin", make([]byte, 32))}, nil)
		if _, err := w.as(p).Send(ctx, path); err != nil {
			t.Fatal(err)
		}
	}
	for number := 1; number <= 2; number++ {
		for i, p := range w.parties {
			st, err := w.as(p).Status(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if want := len(w.parties); number == 1 || i == 0 {
				if st.State != api.StatePooling || len(st.WaitingFor) != want {
					t.Errorf("before message %d of party %d: %s, waiting for %v", number, i, st.State, st.WaitingFor)
				}
			} else if st.State != api.StatePooling || len(st.WaitingFor) != want-i {
				t.Errorf("before message %d of party %d: %s, waiting for %v", number, i, st.State, st.WaitingFor)
			}
			if _, err := w.as(p).Send(ctx, w.message(p, 1, number, "x", nil)); err != nil {
				t.Fatal(err)
			}
		}
	}
	st, err := w.as(w.parties[0]).Status(ctx)
	if err != nil || st.State != api.StateContributing {
		t.Errorf("after all messages: %s (%v)", st.State, err)
	}
}

// TestPoolStatusLeft: who was left out of a stage is not awaited in the next ones.
func TestPoolStatusLeft(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	for name, ready := range map[string]bool{"it sent nothing": false, "its message came late": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorldOf(t, twoStages)
			w.joinAll(4)
			ctx := t.Context()
			send := func(p *identity.Identity, stage, number int) {
				t.Helper()
				if _, err := w.as(p).Send(ctx, w.message(p, stage, number, "x", nil)); err != nil {
					t.Fatal(err)
				}
			}
			for _, p := range w.parties {
				path := w.sealed(p, bundle.KindSetup, w.others(p), []bundle.Source{bundle.FromBytes("entropy.bin", make([]byte, 32))}, nil)
				if _, err := w.as(p).Send(ctx, path); err != nil {
					t.Fatal(err)
				}
			}
			left, rest := w.parties[3], w.parties[:3]
			if ready {
				send(left, 1, 1)
			}
			awaited := func(when string, want int) {
				t.Helper()
				st, err := w.as(rest[0]).Status(ctx)
				if err != nil || st.State != api.StatePooling || len(st.WaitingFor) != want || slices.Contains(st.WaitingFor, left.Statement.Name) {
					t.Errorf("%s: %s, waiting for %v (%v), want %d others", when, st.State, st.WaitingFor, err, want)
				}
			}
			for number := 1; number <= 4; number++ { // ready, absent, ready, reveal
				for _, p := range rest {
					send(p, 1, number)
				}
			}
			awaited("after the first stage", 3)
			send(rest[0], 2, 1)
			awaited("in the second stage", 3)
			for _, p := range rest[1:] {
				send(p, 2, 1)
			}
			awaited("before the masks of the second stage are off", 3)
			for _, p := range rest {
				send(p, 2, 2)
			}
			st, err := w.as(rest[0]).Status(ctx)
			if err != nil || st.State != api.StateContributing {
				t.Errorf("after all messages: %s (%v)", st.State, err)
			}
		})
	}
}
