package post_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"concord/identity"
	"concord/internal/api"
	"concord/internal/post"
	"concord/internal/site"
	"concord/member"
	"concord/wire"
)

// newBox is the box of a site that exchanges files.
func newBox(t *testing.T, taken *site.Taken) (*site.Site, *post.Box) {
	t.Helper()
	s, err := site.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SetByFile(true); err != nil {
		t.Fatal(err)
	}
	if taken != nil {
		if err := s.PutTaken(taken); err != nil {
			t.Fatal(err)
		}
	}
	b, err := post.NewBox(s)
	if err != nil {
		t.Fatal(err)
	}
	return s, b
}

// TestBoxEmpty: before the first parcel there is nothing to answer from, and that is no
// failure.
func TestBoxEmpty(t *testing.T) {
	_, b := newBox(t, nil)
	var waiting *wire.Waiting
	if _, err := b.Roster(t.Context()); !errors.As(err, &waiting) {
		t.Errorf("Roster = %v", err)
	}
	if _, err := b.Status(t.Context()); !errors.As(err, &waiting) {
		t.Errorf("Status = %v", err)
	}
	if all, err := b.Bundles(t.Context()); len(all) != 0 || err != nil {
		t.Errorf("Bundles = %v, %v", all, err)
	}
	if err := b.Confirm(t.Context(), new(member.Confirmation)); err != nil {
		t.Errorf("Confirm = %v", err)
	}
	if _, err := b.Send(t.Context(), "none"); !errors.Is(err, post.ErrLater) {
		t.Errorf("Send = %v", err)
	}
	var out bytes.Buffer
	if _, err := b.Fetch(t.Context(), wire.Hash{1}, &out, 10); err == nil || out.Len() != 0 {
		t.Errorf("Fetch of none = %v, %d bytes", err, out.Len())
	}
}

// TestBoxFetch: a bundle that a parcel brought, at most as long as the caller says.
func TestBoxFetch(t *testing.T) {
	manifest := wire.Hash{1}
	s, b := newBox(t, &site.Taken{Number: 1, Bundles: []api.BundleInfo{{Manifest: manifest, Kind: "result", Size: 10}}})
	if err := s.PutPosted(manifest, strings.NewReader("ten bytes.")); err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[int64]bool{9: false, 10: true} {
		var out bytes.Buffer
		n, err := b.Fetch(t.Context(), manifest, &out, limit)
		if (err == nil) != want || want && (n != 10 || out.String() != "ten bytes.") {
			t.Errorf("at most %d bytes: %d, %q, %v", limit, n, out.String(), err)
		}
	}
	// The next parcel does not list it any more.
	if err := s.PutTaken(&site.Taken{Number: 2, Bundles: []api.BundleInfo{}}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Fetch(t.Context(), manifest, new(bytes.Buffer), 10); err == nil {
		t.Error("a bundle that the newest parcel does not list is still there")
	}
}

// TestBoxAmend: an amendment is kept for the next parcel, until one brings the answer.
func TestBoxAmend(t *testing.T) {
	id, err := identity.New(identity.RoleParty, "North", nil)
	if err != nil {
		t.Fatal(err)
	}
	a := &member.Amendment{Format: 1, Study: wire.Hash{1}, From: wire.Hash{2}, To: wire.Hash{3}, Number: 2, Kind: member.AmendWithdraw, Party: id.Statement.Fingerprint()}
	a.Sign(id)
	s, b := newBox(t, nil)
	for range 2 {
		if _, err := b.Amend(t.Context(), a.Encode()); !errors.Is(err, post.ErrLater) {
			t.Fatalf("Amend = %v", err)
		}
		if kept, err := s.Request(); err != nil || kept == nil || !kept.Same(a) {
			t.Fatalf("Request = %v, %v", kept, err)
		}
	}
	if err := s.PutTaken(&site.Taken{Number: 1, Left: &api.AmendResponse{Amendment: a.Encode(), Withdrawal: []byte("receipt")}}); err != nil {
		t.Fatal(err)
	}
	if b, err = post.NewBox(s); err != nil {
		t.Fatal(err)
	}
	answer, err := b.Amend(t.Context(), a.Encode())
	if err != nil || string(answer.Withdrawal) != "receipt" {
		t.Errorf("Amend = %v, %v", answer, err)
	}
	if kept, err := s.Request(); kept != nil || err != nil {
		t.Errorf("after the answer Request = %v, %v", kept, err)
	}
}
