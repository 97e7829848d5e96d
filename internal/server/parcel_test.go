package server_test

import (
	"bytes"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	"pgregory.net/rapid"

	"concord/bundle"
	"concord/contract"
	"concord/identity"
	"concord/internal/api"
	"concord/internal/parcel"
	_ "concord/internal/repeatable" // the same cases in every run
	"concord/internal/server"
	"concord/internal/store"
	"concord/member"
	"concord/wire"
)

// byFile is a study of two parties that bring files. Every parcel that they would ever
// give is made beforehand: no step needs an answer but the roster, which is known.
type byFile struct {
	*world
	proofs [2][]byte
	// parcels of both parties: join, confirmation, share, contribution; each later one
	// holds what the earlier ones hold, as a site's does for which no receipt came.
	parcels [][]byte
}

func newByFile(t testing.TB) *byFile {
	t.Helper()
	w := &world{t: t, analyst: newIdentity(t, identity.RoleAnalyst, "Analyst")}
	var err error
	if w.contract, err = contract.ParseYAML([]byte(yaml)); err != nil {
		t.Fatal(err)
	}
	raw, err := w.contract.Encode()
	if err != nil {
		t.Fatal(err)
	}
	w.study = wire.HashOf(raw)
	w.parties = []*identity.Identity{newIdentity(t, identity.RoleParty, "Party 1"), newIdentity(t, identity.RoleParty, "Party 2")}
	if w.roster, err = member.NewRoster(w.contract, 1, []*identity.Statement{w.analyst.Statement, w.parties[0].Statement, w.parties[1].Statement}); err != nil {
		t.Fatal(err)
	}
	w.epoch = w.roster.Epoch(w.study)
	f := &byFile{world: w}
	for i, id := range w.parties {
		secret := fmt.Appendf(nil, "secret %d", i)
		w.secrets = append(w.secrets, secret)
		statement := id.Statement.Encode()
		f.proofs[i] = member.JoinProof(wire.HashOf(secret), w.study, w.analyst.Statement.Fingerprint(), statement)
		f.parcels = append(f.parcels, f.join(id, f.proofs[i]))
		var items []parcel.Source
		for _, item := range []parcel.Source{
			parcel.FromBytes(parcel.KindConfirmation, member.Confirm(id, w.study, w.epoch).Encode()),
			item(t, w.setup(id, w.parties[1-i])),
			item(t, w.contribution(id, nil)),
		} {
			items = append(items, item)
			f.parcels = append(f.parcels, f.parcel(id, items))
		}
	}
	return f
}

func item(t testing.TB, path string) parcel.Source {
	t.Helper()
	s, err := parcel.FromFile(parcel.KindBundle, path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// join is a party's request to join.
func (f *byFile) join(id *identity.Identity, proof []byte) []byte {
	return f.write(parcel.Head{Parcel: parcel.Join}, id, nil, []parcel.Source{
		parcel.FromBytes(parcel.KindStatement, id.Statement.Encode()), parcel.FromBytes(parcel.KindProof, proof),
	})
}

// parcel is a sealed one from a party.
func (f *byFile) parcel(id *identity.Identity, items []parcel.Source) []byte {
	to, err := f.analyst.Statement.AgeRecipient()
	if err != nil {
		f.t.Fatal(err)
	}
	return f.write(parcel.Head{Parcel: parcel.Party}, id, to.(*age.HybridRecipient), items)
}

func (f *byFile) write(h parcel.Head, id *identity.Identity, to *age.HybridRecipient, items []parcel.Source) []byte {
	f.t.Helper()
	if h.Study.IsZero() {
		h.Study = f.study
	}
	if h.To.IsZero() {
		h.To = f.analyst.Statement.Fingerprint()
	}
	h.From, h.Number = id.Statement.Fingerprint(), 1
	file, err := os.Create(filepath.Join(f.t.TempDir(), "parcel"))
	if err != nil {
		f.t.Fatal(err)
	}
	defer file.Close()
	if _, err := parcel.Write(file, h, items, id.SigningKey(), to); err != nil {
		f.t.Fatal(err)
	}
	b, err := os.ReadFile(file.Name())
	if err != nil {
		f.t.Fatal(err)
	}
	return b
}

// office is the analyst's side of such a study, at its beginning.
type office struct {
	*server.Server
	f   *byFile
	dir string
}

func (f *byFile) office(t testing.TB) *office {
	t.Helper()
	dir, err := os.MkdirTemp(f.t.TempDir(), "office")
	if err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(dir, f.analyst)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	raw, err := f.contract.Encode()
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	if _, err := st.AddStudy(ctx, raw); err != nil {
		t.Fatal(err)
	}
	for _, s := range f.secrets {
		if err := st.AddInvite(ctx, f.study, wire.HashOf(s), ""); err != nil {
			t.Fatal(err)
		}
	}
	return &office{server.New(f.analyst, st, slog.New(slog.DiscardHandler)), f, dir}
}

func (o *office) take(t testing.TB, b []byte) (*server.TakenParcel, error) {
	return o.TakeParcel(t.Context(), bytes.NewReader(b), int64(len(b)))
}

// give opens what the office gives to a party.
func (o *office) give(t testing.TB, id *identity.Identity) *parcel.Parcel {
	t.Helper()
	file, err := os.CreateTemp(o.dir, "given")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	if _, err := o.GiveParcel(t.Context(), file, o.f.study, id.Statement.Fingerprint()); err != nil {
		t.Fatal(err)
	}
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	c, err := parcel.Open(file, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Unseal(id.AgeIdentity()); err != nil {
		t.Fatal(err)
	}
	if err := c.Verify(o.f.analyst.Statement.SigningKey); err != nil {
		t.Fatal(err)
	}
	return c
}

// result is what the study ends in: the manifest of each party's result, which has the
// SHA-256 of everything that came back, and what the store holds.
func (o *office) result(t testing.TB) string {
	t.Helper()
	ctx := t.Context()
	if err := o.RunDue(ctx); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, id := range o.f.parties {
		all, err := o.Bundles(ctx, o.f.study, id.Statement.Fingerprint())
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range all {
			fmt.Fprintln(&out, id.Statement.Name, b.Kind, b.Sender, b.Manifest)
		}
		given := o.give(t, id)
		receipts := 0
		for i, it := range given.Items {
			if it.Kind != parcel.KindReceipt {
				continue
			}
			raw, err := given.Bytes(i, member.MaxReceiptBytes)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := member.DecodeReceipt(raw, o.f.analyst.Statement); err != nil {
				t.Fatal(err)
			}
			receipts++
		}
		fmt.Fprintln(&out, id.Statement.Name, receipts, "receipts")
	}
	files, err := os.ReadDir(filepath.Join(o.dir, "bundles"))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(&out, len(files), "files")
	return out.String()
}

// order of states, for the test that none is left backwards.
var order = []api.State{api.StateJoining, api.StateConfirming, api.StateSetup, api.StateContributing, api.StateTraining, api.StateReleased}

func at(s api.State) int {
	for i, o := range order {
		if o == s {
			return i
		}
	}
	return -1
}

// TestParcelsInAnyOrder: whatever the order in which parcels are taken, however often,
// damaged ones between, the study never moves back, a parcel that was taken in full is
// taken in full again, and in the end everything is as if each had come once, in order.
func TestParcelsInAnyOrder(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	f := newByFile(t)
	inOrder := f.office(t)
	for _, b := range f.parcels[:4] {
		inOrder.take(t, b)
	}
	for _, b := range f.parcels[4:] {
		inOrder.take(t, b)
	}
	// Party 1 confirmed before the roster was closed; its last parcel says it again.
	if _, err := inOrder.take(t, f.parcels[3]); err != nil {
		t.Fatal(err)
	}
	want := inOrder.result(t)
	if n := strings.Count(want, "result"); n != 2 || !strings.Contains(want, "6 files") {
		t.Fatalf("in order the study ends in\n%s", want)
	}
	checks := flag.Lookup("rapid.checks")
	defer checks.Value.Set(checks.Value.String())
	if err := checks.Value.Set("12"); err != nil { // each is a whole study
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		o := f.office(t)
		full := map[int]bool{}
		numbers := map[*identity.Identity]int64{}
		state := 0
		step := func(i int) {
			taken, err := o.take(t, f.parcels[i])
			complete := err == nil && len(taken.Refused) == 0
			if full[i] && !complete {
				rt.Fatalf("parcel %d was taken in full, and then not: %v %v", i, err, taken)
			}
			full[i] = complete
			st, err := o.Status(t.Context(), f.study)
			if err != nil {
				rt.Fatal(err)
			}
			if now := at(st.State); now < state {
				rt.Fatalf("the study moved back from %s to %s", order[state], st.State)
			} else {
				state = now
			}
		}
		indexes := rapid.SliceOfN(rapid.IntRange(0, len(f.parcels)-1), 0, 12).Draw(rt, "parcels")
		for _, i := range indexes {
			if cut := rapid.IntRange(0, 3*len(f.parcels[i])).Draw(rt, "cut"); cut < len(f.parcels[i]) {
				if _, err := o.take(t, f.parcels[i][:cut]); err == nil {
					rt.Fatalf("a parcel that was cut after %d bytes was taken", cut)
				}
			}
			step(i)
			if rapid.Bool().Draw(rt, "run") {
				if err := o.RunDue(t.Context()); err != nil {
					rt.Fatal(err)
				}
			}
			id := f.parties[rapid.IntRange(0, 1).Draw(rt, "give")]
			if _, err := o.Roster(t.Context(), f.study, id.Statement.Fingerprint()); err == nil {
				c := o.give(t, id)
				if c.Number <= numbers[id] {
					rt.Fatalf("parcel %d for a site follows parcel %d", c.Number, numbers[id])
				}
				numbers[id] = c.Number
			}
		}
		// All of them, in an order of each round's own, as often as there are steps that
		// can wait for another.
		for range 3 {
			for _, i := range rapid.Permutation([]int{0, 1, 2, 3, 4, 5, 6, 7}).Draw(rt, "round") {
				step(i)
			}
		}
		if got := o.result(t); got != want {
			rt.Fatalf("the study ends in\n%s\nin order it ends in\n%s", got, want)
		}
	})
}

// TestParcelRefused: what is not for this analyst, not from a party, or not its own.
func TestParcelRefused(t *testing.T) {
	f := newByFile(t)
	o := f.office(t)
	a, b := f.parties[0], f.parties[1]
	for _, raw := range [][]byte{f.parcels[0], f.parcels[4]} {
		if _, err := o.take(t, raw); err != nil {
			t.Fatal(err)
		}
	}
	thief := newIdentity(t, identity.RoleParty, "Thief")
	other := newIdentity(t, identity.RoleAnalyst, "Other analyst")
	otherKey, err := other.Statement.AgeRecipient()
	if err != nil {
		t.Fatal(err)
	}
	own, err := f.analyst.Statement.AgeRecipient()
	if err != nil {
		t.Fatal(err)
	}
	confirmation := func(id *identity.Identity) []parcel.Source {
		return []parcel.Source{parcel.FromBytes(parcel.KindConfirmation, member.Confirm(id, f.study, f.epoch).Encode())}
	}
	flipped := bytes.Clone(f.parcels[3])
	flipped[len(flipped)-1] ^= 1
	for _, c := range []struct {
		name string
		raw  []byte
		want string
	}{
		{"a proof of another's statement", f.join(thief, f.proofs[0]), "invite is unknown"},
		{"no proof", f.write(parcel.Head{Parcel: parcel.Join}, thief, nil, []parcel.Source{parcel.FromBytes(parcel.KindStatement, thief.Statement.Encode())}), "invite is unknown"},
		{"a statement that is not the sender's", f.write(parcel.Head{Parcel: parcel.Join}, thief, nil, []parcel.Source{
			parcel.FromBytes(parcel.KindStatement, a.Statement.Encode()), parcel.FromBytes(parcel.KindProof, f.proofs[0])}), "not its sender's"},
		{"a join without statement", f.write(parcel.Head{Parcel: parcel.Join}, thief, nil, nil), "does not begin"},
		{"a stranger", f.parcel(thief, confirmation(thief)), "no party of this study"},
		{"another study", f.write(parcel.Head{Parcel: parcel.Party, Study: wire.Hash{1}}, a, own.(*age.HybridRecipient), confirmation(a)), "not found"},
		{"another analyst", f.write(parcel.Head{Parcel: parcel.Party, To: other.Statement.Fingerprint()}, a, otherKey.(*age.HybridRecipient), confirmation(a)), "is for the analyst"},
		{"sealed to another analyst", f.write(parcel.Head{Parcel: parcel.Party}, a, otherKey.(*age.HybridRecipient), confirmation(a)), "somebody else's key"},
		{"an analyst's", f.write(parcel.Head{Parcel: parcel.Analyst}, a, own.(*age.HybridRecipient), nil), "from an analyst to a site"},
		{"changed", flipped, "changed on its way"},
		{"cut", f.parcels[3][:1000], "cut off"},
	} {
		if taken, err := o.take(t, c.raw); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v, want an error with %q", c.name, taken, err, c.want)
		}
	}
	for _, c := range []struct {
		name  string
		items []parcel.Source
		want  string
	}{
		{"another party's confirmation", confirmation(b), "another party's"},
		{"another party's contribution", append(confirmation(a), item(t, f.contribution(b, nil))), "the wrong signature|does not verify|another party's"},
		{"a result from a party", append(confirmation(a), item(t, f.sealed(a, bundle.KindResult, []*identity.Statement{f.analyst.Statement}, []bundle.Source{bundle.FromBytes("x", nil)}, nil))), "not \"result\""},
		{"no bundle", append(confirmation(a), parcel.FromBytes(parcel.KindBundle, []byte("rows"))), "not a bundle"},
		{"a confirmation over its limit", []parcel.Source{parcel.FromBytes(parcel.KindConfirmation, make([]byte, 1<<20))}, "at most"},
	} {
		taken, err := o.take(t, f.parcel(a, c.items))
		if err != nil || len(taken.Refused) != 1 {
			t.Fatalf("%s: %v, %v, want one item refused", c.name, taken, err)
		}
		found := false
		for want := range strings.SplitSeq(c.want, "|") {
			found = found || strings.Contains(taken.Refused[0].Error(), want)
		}
		if !found {
			t.Errorf("%s: %v, want %q", c.name, taken.Refused[0], c.want)
		}
	}
	// Nothing that is meant for the other direction, or unknown, has any effect.
	before := o.result(t)
	taken, err := o.take(t, f.parcel(a, []parcel.Source{
		parcel.FromBytes(parcel.KindContract, []byte("{}")), parcel.FromBytes(parcel.KindRoster, []byte("{}")),
		parcel.FromBytes(parcel.KindReceipt, []byte("{}")), parcel.FromBytes("tomorrow", []byte("?")), parcel.FromBytes(parcel.KindHolds, []byte("?")),
	}))
	if err != nil || len(taken.Refused) != 0 || len(taken.Done) != 0 || taken.Holds != nil || len(taken.Unknown) != 1 {
		t.Errorf("items without effect: %+v, %v", taken, err)
	}
	if after := o.result(t); after != before {
		t.Errorf("it changed\n%s\nto\n%s", before, after)
	}
	// A different contribution after the first is refused, and the first stays.
	if taken, err := o.take(t, f.parcels[3]); err != nil || len(taken.Refused) != 0 {
		t.Fatalf("%+v, %v", taken, err)
	}
	second := f.contribution(a, func(d *bundle.Draft) {
		d.Members = d.Members[:len(d.Members):len(d.Members)]
		d.Anchor = &wire.Hash{8}
	})
	taken, err = o.take(t, f.parcel(a, []parcel.Source{item(t, second)}))
	if err != nil || len(taken.Refused) != 1 || !strings.Contains(taken.Refused[0].Error(), "already stored") {
		t.Errorf("a second contribution: %+v, %v", taken, err)
	}
	if _, err := o.GiveParcel(t.Context(), nil, f.study, thief.Statement.Fingerprint()); err == nil {
		t.Error("a parcel for a stranger was written")
	}
}
