package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"concord/contract"
	"concord/identity"
	"concord/internal/store"
	"concord/member"
	"concord/release"
	"concord/wire"
)

// amending is a store with a study of three parties whose roster is closed.
type amending struct {
	t       *testing.T
	dir     string
	store   *store.Store
	hash    wire.Hash
	parties []*identity.Identity
	chain   *member.Chain
}

func newAmending(t *testing.T) *amending {
	t.Helper()
	w := &amending{t: t, dir: t.TempDir()}
	w.store = open(t, w.dir)
	c, err := contract.ParseYAML([]byte("name: T\nparties: 3\nfeatures: [a, b]\nlabel: {name: y}\n"))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if w.hash, err = w.store.AddStudy(t.Context(), raw); err != nil {
		t.Fatal(err)
	}
	analyst := statement(t, identity.RoleAnalyst, "Office")
	members := []*identity.Statement{analyst}
	for i, name := range []string{"North", "East", "West"} {
		id, err := identity.New(identity.RoleParty, name, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.store.AddInvite(t.Context(), w.hash, wire.Hash{byte(i)}, ""); err != nil {
			t.Fatal(err)
		}
		if _, err := w.store.Join(t.Context(), w.hash, wire.Hash{byte(i)}, id.Statement, analyst, 3); err != nil {
			t.Fatal(err)
		}
		w.parties, members = append(w.parties, id), append(members, id.Statement)
	}
	for range 2 { // closing it again changes nothing
		if err := w.store.CloseRoster(t.Context(), w.hash, 3); err != nil {
			t.Fatal(err)
		}
	}
	root, err := member.NewRoster(c, 1, members)
	if err != nil {
		t.Fatal(err)
	}
	w.chain = member.NewChain(c, w.hash, root)
	return w
}

func (w *amending) propose(kind string, party int, statement *identity.Statement) *member.Amendment {
	w.t.Helper()
	var fingerprint wire.Hash
	if party >= 0 {
		fingerprint = w.parties[party].Statement.Fingerprint()
	}
	a, err := w.chain.Propose(kind, fingerprint, statement, "")
	if err != nil {
		w.t.Fatal(err)
	}
	return a
}

func (w *amending) put(sender, slot wire.Hash, kind string, content string) store.Bundle {
	w.t.Helper()
	f, err := w.store.Incoming()
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(content); err != nil {
		w.t.Fatal(err)
	}
	b := store.Bundle{
		Study: w.hash, Epoch: w.chain.Setup(), Sender: sender, Kind: kind, Slot: slot, Recipients: []wire.Hash{{3}},
		Manifest: wire.HashOf([]byte(content)), File: wire.HashOf([]byte("file " + content)), Size: int64(len(content)), Receipt: []byte("receipt"),
	}
	if _, err := w.store.PutBundle(w.t.Context(), b, f); err != nil {
		w.t.Fatalf("%s: %v", content, err)
	}
	return b
}

func (w *amending) onDisk(b store.Bundle) bool {
	_, err := os.Stat(filepath.Join(w.dir, "bundles", b.File.String()))
	return err == nil
}

// TestAmend: amendments have one order; the same one again changes nothing, another for the
// same place is refused, and one that is pending gives way.
func TestAmend(t *testing.T) {
	w := newAmending(t)
	ctx := t.Context()
	south := statement(t, identity.RoleParty, "South")
	if err := w.store.AddAskingInvite(ctx, w.hash, wire.Hash{9}, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := w.store.Join(ctx, w.hash, wire.Hash{9}, south, statement(t, identity.RoleAnalyst, "Office 2"), 0); err != nil {
		t.Fatal(err)
	}
	add := w.propose(member.AmendAdd, -1, south)
	for range 2 {
		if err := w.store.Amend(ctx, w.hash, store.Amending{Amendment: add, Pending: true}); err != nil {
			t.Fatal(err)
		}
	}
	if st, err := w.store.Standing(ctx, w.hash); err != nil || st.Pending == nil || len(st.Steps) != 0 || len(st.Root) != 3 {
		t.Fatalf("standing %+v, %v; want one pending add", st, err)
	}
	fresh, err := identity.New(identity.RoleParty, "East", nil)
	if err != nil {
		t.Fatal(err)
	}
	rekey := w.propose(member.AmendRekey, 1, fresh.Statement)
	for range 2 {
		if err := w.store.Amend(ctx, w.hash, store.Amending{Amendment: rekey}); err != nil {
			t.Fatal(err)
		}
	}
	if asking, err := w.store.Asking(ctx, w.hash); err != nil || len(asking) != 1 || asking[0].Name != "South" {
		t.Errorf("who was proposed asks again: %v, %v", asking, err)
	}
	if err := w.store.Settle(ctx, w.hash, add); err != nil {
		t.Fatal(err)
	}
	if st, err := w.store.Standing(ctx, w.hash); err != nil || st.Pending != nil || len(st.Steps) != 1 || st.Steps[0].Kind != member.AmendRekey {
		t.Errorf("standing %+v, %v; want the re-key alone", st, err)
	}
	for _, late := range []*member.Amendment{add, w.propose(member.AmendRemove, 0, nil)} {
		if err := w.store.Amend(ctx, w.hash, store.Amending{Amendment: late}); !errors.Is(err, store.ErrConflict) {
			t.Errorf("a second amendment %q of roster 1: %v, want ErrConflict", late.Kind, err)
		}
	}
	if in, err := w.store.Members(ctx, w.hash); err != nil || len(in) != 3 || !slices.ContainsFunc(in, func(s *identity.Statement) bool { return s.Fingerprint() == fresh.Statement.Fingerprint() }) {
		t.Errorf("members %v, %v; want East with its new keys", in, err)
	}
	if _, err := w.store.Join(ctx, w.hash, wire.Hash{10}, south, statement(t, identity.RoleAnalyst, "Office 2"), 9); !errors.Is(err, store.ErrInvite) {
		t.Errorf("an invite that was never made: %v", err)
	}
}

// TestLeave: what a party sent, and every result that its rows went into, is off the disk
// when the amendment is durable, and what a crash left of it is swept; the others'
// contributions stay; tombstones and the receipt say what went; nothing comes after.
func TestLeave(t *testing.T) {
	w := newAmending(t)
	ctx := t.Context()
	prints := func(i int) wire.Hash { return w.parties[i].Statement.Fingerprint() }
	office := w.chain.Root().Analyst().Fingerprint()
	gone := []store.Bundle{
		w.put(prints(2), wire.Hash{}, "contribution", "rows of West"),
		w.put(office, prints(2), "result", "result of West"),
		w.put(office, prints(0), "result", "result of North"),
	}
	stays := []store.Bundle{
		w.put(prints(0), wire.Hash{}, "contribution", "rows of North"),
		w.put(prints(2), wire.Hash{}, "setup", "share of West"),
	}
	if err := w.store.PutModel(w.hash, 0, func(dir string) error { return os.WriteFile(filepath.Join(dir, "h.onnx"), []byte("h"), 0o600) }); err != nil {
		t.Fatal(err)
	}
	record := &release.Round{Format: 1, Study: w.hash, Epoch: w.chain.Epoch(), Parties: []release.RoundParty{{Party: prints(2)}}}
	if err := w.store.PutRound(ctx, w.hash, 1, record, nil, nil); err != nil {
		t.Fatal(err)
	}
	remove := w.propose(member.AmendRemove, 2, nil)
	leaving := store.Amending{
		Amendment: remove, Gone: []wire.Hash{prints(2)}, Models: true,
		Receipt: func(deleted []member.Deleted) []byte {
			if len(deleted) != 3 {
				t.Errorf("%d bundles were deleted, want 3: %v", len(deleted), deleted)
			}
			return []byte("receipt of leaving")
		},
	}
	if err := w.store.Amend(ctx, w.hash, leaving); err != nil {
		t.Fatal(err)
	}
	for _, b := range gone {
		if w.onDisk(b) {
			t.Errorf("a %s that was to be deleted is on the disk", b.Kind)
		}
	}
	for _, b := range stays {
		if !w.onDisk(b) {
			t.Errorf("a %s of who stays, or a share, is gone", b.Kind)
		}
	}
	if _, err := os.Stat(w.store.ModelPath(w.hash, 0, "h.onnx")); err == nil {
		t.Error("the model that its rows went into is on the disk")
	}
	if receipt, err := w.store.WithdrawalReceipt(ctx, w.hash, prints(2)); err != nil || string(receipt) != "receipt of leaving" {
		t.Errorf("receipt %q, %v", receipt, err)
	}
	if next, err := w.store.NextRound(ctx, w.hash); err != nil || next != 1 {
		t.Errorf("the next round is %d, %v; want 1", next, err)
	}
	// A result that was computed meanwhile, for the roster before, does not count.
	if err := w.store.PutRound(ctx, w.hash, 1, record, nil, nil); !errors.Is(err, store.ErrConflict) {
		t.Errorf("a round of roster 1 after roster 2: %v, want ErrConflict", err)
	}
	// Nor does what was on its way.
	f, err := w.store.Incoming()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	late := store.Bundle{Study: w.hash, Epoch: w.chain.Setup(), Sender: prints(2), Kind: "contribution", Manifest: wire.Hash{1}, File: wire.Hash{2}, Receipt: []byte{}}
	if _, err := w.store.PutBundle(ctx, late, f); !errors.Is(err, store.ErrConflict) {
		t.Errorf("a contribution after leaving: %v, want ErrConflict", err)
	}
	if w.onDisk(late) {
		t.Error("the contribution after leaving is on the disk")
	}
	// A crash between the commit and the removal.
	for _, b := range gone[:1] {
		if err := os.WriteFile(filepath.Join(w.dir, "bundles", b.File.String()), []byte("rows"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(w.store.ModelPath(w.hash, 0, ""), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := w.store.Close(); err != nil {
		t.Fatal(err)
	}
	w.store = open(t, w.dir)
	if err := w.store.Sweep(); err != nil {
		t.Fatal(err)
	}
	if w.onDisk(gone[0]) {
		t.Error("after a crash and a sweep the contribution is on the disk")
	}
	if _, err := os.Stat(w.store.ModelPath(w.hash, 0, "")); err == nil {
		t.Error("after a crash and a sweep the model is on the disk")
	}
	if left, err := w.store.Left(ctx, w.hash); err != nil || len(left) != 1 || left[0].Name != "West" {
		t.Errorf("who left: %v, %v", left, err)
	}
}

// TestRenew: a new roster before setup is complete forgets what was sent under the old
// one; after setup there is none.
func TestRenew(t *testing.T) {
	w := newAmending(t)
	ctx := t.Context()
	share := w.put(w.parties[0].Statement.Fingerprint(), wire.Hash{}, "setup", "share of North")
	renewal := store.Renewal{Number: 1, Leave: []wire.Hash{w.parties[2].Statement.Fingerprint()}, Size: 2}
	if err := w.store.Renew(ctx, w.hash, renewal); err != nil {
		t.Fatal(err)
	}
	if w.onDisk(share) {
		t.Error("a share of the old roster is on the disk")
	}
	if err := w.store.Renew(ctx, w.hash, renewal); !errors.Is(err, store.ErrConflict) {
		t.Errorf("the same renewal again: %v, want ErrConflict", err)
	}
	if st, err := w.store.Standing(ctx, w.hash); err != nil || st.Number != 2 || st.Size != 2 || st.Root != nil {
		t.Errorf("standing %+v, %v; want an open roster 2 of two", st, err)
	}
	if err := w.store.CloseRoster(ctx, w.hash, 2); err != nil {
		t.Fatal(err)
	}
	w.put(w.parties[0].Statement.Fingerprint(), wire.Hash{}, "setup", "share of North again")
	w.put(w.parties[1].Statement.Fingerprint(), wire.Hash{}, "setup", "share of East")
	if err := w.store.Renew(ctx, w.hash, store.Renewal{Number: 2, Size: 2, Epochs: []wire.Hash{w.chain.Setup()}}); !errors.Is(err, store.ErrConflict) {
		t.Errorf("a renewal after setup: %v, want ErrConflict", err)
	}
}
