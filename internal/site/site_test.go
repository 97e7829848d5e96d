package site_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"concord/anchor"
	"concord/bundle"
	"concord/contract"
	"concord/identity"
	"concord/internal/durable"
	"concord/internal/site"
	"concord/member"
	"concord/secret"
	"concord/wire"
)

func locked(t *testing.T, dir string) *site.Site {
	t.Helper()
	s, err := site.New(dir)
	if err != nil {
		t.Fatal(err)
	}
	unlock, err := s.Lock()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(unlock)
	return s
}

// TestEnrol: an identity can change while no server has seen it, and never
// afterwards, whatever came back; but for the view, until the site has joined.
func TestEnrol(t *testing.T) {
	s := locked(t, t.TempDir())
	first, err := s.Enrol("Nort", nil, "")
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.Enrol("North", nil, "")
	if err != nil {
		t.Fatalf("correcting the name before any join: %v", err)
	}
	if first.Statement.Fingerprint() == second.Statement.Fingerprint() {
		t.Error("another name has the same identity")
	}
	if err := s.PutTried(); err != nil {
		t.Fatal(err)
	}
	again, err := s.Enrol("North", nil, "")
	if err != nil || again.Statement.Fingerprint() != second.Statement.Fingerprint() {
		t.Errorf("the same name again gives %v, %v; want the stored identity", again, err)
	}
	if _, err := s.Enrol("South", nil, ""); err == nil || !strings.Contains(err.Error(), `belongs to "North"`) {
		t.Errorf("another name after a tried join = %v, want a refusal", err)
	}
	// The view may still be said, since the server asks for it; the keys stay.
	ward, err := s.Enrol("North", nil, "ward")
	if err != nil || ward.Statement.View != "ward" || !bytes.Equal(ward.Statement.SigningKey, second.Statement.SigningKey) {
		t.Errorf("with a view: %v", err)
	}
	if again, err := s.Enrol("North", nil, ""); err != nil || again.Statement.Fingerprint() != ward.Statement.Fingerprint() {
		t.Errorf("the same name again gives %v, %v; want the identity with its view", again, err)
	}
	for _, name := range []string{"identity.secret", ".gitignore"} {
		if _, err := os.Stat(s.Path(name)); err != nil {
			t.Error(err)
		}
	}
	info, err := os.Stat(s.Path("identity.secret"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the identity has mode %v (%v), want 0600", info.Mode().Perm(), err)
	}
}

// TestForeignFolder: a folder with other things in it is not taken over.
func TestForeignFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "thesis.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := site.New(dir); err == nil || !strings.Contains(err.Error(), "has other things in it") {
		t.Errorf("New in a foreign folder = %v, want a refusal", err)
	}
}

func TestOneCommandAtATime(t *testing.T) {
	s := locked(t, t.TempDir())
	if _, err := s.Lock(); err == nil || !strings.Contains(err.Error(), "another concord command is at work") {
		t.Errorf("a second Lock = %v, want a refusal", err)
	}
}

// TestRoster: what is stored comes back checked; a file that an operating
// system left there does not matter, a changed one does.
func TestRoster(t *testing.T) {
	s := locked(t, t.TempDir())
	id, err := s.Enrol("North", nil, "")
	if err != nil {
		t.Fatal(err)
	}
	c, err := contract.ParseYAML([]byte("name: T\nparties: 2\nfeatures: [a, b]\nlabel: {name: y}\n"))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	members := []*identity.Statement{id.Statement}
	for _, who := range []struct {
		role identity.Role
		name string
	}{{identity.RoleParty, "East"}, {identity.RoleAnalyst, "Analyst"}} {
		other, err := identity.New(who.role, who.name, nil)
		if err != nil {
			t.Fatal(err)
		}
		members = append(members, other.Statement)
	}
	hash := wire.HashOf(raw)
	if err := s.PutJoined(site.Connection{Format: 1, Address: "localhost:1", Study: hash}, members[2], raw); err != nil {
		t.Fatal(err)
	}
	if r, _, err := s.Chain(); r != nil || err != nil {
		t.Fatalf("before a confirmation Roster = %v, %v", r, err)
	}
	r, err := member.NewRoster(c, 1, members)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.PutRoster(r, member.Confirm(id, hash, r.Epoch(hash))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.Path("roster", ".DS_Store"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, _, err := s.Chain()
	if err != nil || got.Setup() != r.Epoch(hash) {
		t.Errorf("Roster = %v, %v; want the stored one", got, err)
	}
	if err := os.Remove(s.Path("roster", members[1].Fingerprint().String()+".json")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Chain(); err == nil {
		t.Error("a roster without a member was accepted")
	}
	edited := strings.Replace(string(raw), `"name": "T"`, `"name": "U"`, 1)
	if err := durable.WriteFile(s.Path("contract.json"), []byte(edited), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Contract(); err == nil || !strings.Contains(err.Error(), "was changed") {
		t.Errorf("an edited contract = %v, want an error", err)
	}
}

// TestCloseSetup: with the model the seed goes, and every share it came from.
func TestCloseSetup(t *testing.T) {
	s := locked(t, t.TempDir())
	if _, err := s.Enrol("North", nil, ""); err != nil {
		t.Fatal(err)
	}
	seed, err := anchor.SeedFromBytes(secret.NewBytes([]byte("0123456789abcdef0123456789abcdef")))
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(
		s.PutSeed(seed),
		s.PutDraft(bundle.KindSetup, func(leaves, _ string) error {
			return os.WriteFile(filepath.Join(leaves, "entropy.bin"), make([]byte, 32), 0o600)
		}),
		durable.WriteFile(s.Inbox(bundle.KindSetup, wire.Hash{1}), []byte("x"), 0o600),
		durable.WriteFile(s.Inbox(bundle.KindResult, wire.Hash{2}), []byte("x"), 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.CloseSetup(); err != nil {
		t.Fatal(err)
	}
	if s.HasSeed() || s.Has(bundle.KindSetup) {
		t.Error("the seed or this site's share is still there")
	}
	left, err := os.ReadDir(s.Path("inbox"))
	if err != nil || len(left) != 1 || !strings.HasPrefix(left[0].Name(), bundle.KindResult) {
		t.Errorf("the inbox holds %v (%v), want only the result", left, err)
	}
}

// TestPolicyFailsClosed: no policy is none; one that cannot be read is an error.
func TestPolicyFailsClosed(t *testing.T) {
	s := &site.Site{Dir: t.TempDir()}
	at := filepath.Join(s.Dir, site.PolicyFile)
	if p, err := s.Policy(); p != nil || err != nil {
		t.Errorf("no file: %v, %v", p, err)
	}
	for name, make := range map[string]func() error{
		"a link to nothing": func() error { return os.Symlink(filepath.Join(s.Dir, "share", "policy.yaml"), at) },
		"a folder":          func() error { return os.Mkdir(at, 0o700) },
		"half a file":       func() error { return os.WriteFile(at, []byte("floors: {rows"), 0o600) },
	} {
		if err := make(); err != nil {
			t.Fatal(err)
		}
		if p, err := s.Policy(); err == nil {
			t.Errorf("%s is read as %+v", name, p)
		}
		if err := os.Remove(at); err != nil {
			t.Fatal(err)
		}
	}
}
