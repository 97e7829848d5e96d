package parcel_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"filippo.io/age"

	"concord/bundle"
	"concord/identity"
	"concord/internal/parcel"
	"concord/wire"
)

func newIdentity(t testing.TB, role identity.Role, name string) *identity.Identity {
	t.Helper()
	id, err := identity.New(role, name, nil)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func recipient(t testing.TB, s *identity.Statement) *age.HybridRecipient {
	t.Helper()
	r, err := s.AgeRecipient()
	if err != nil {
		t.Fatal(err)
	}
	return r.(*age.HybridRecipient)
}

// head is that of a parcel from one participant to another.
func head(kind string, from, to *identity.Identity) parcel.Head {
	return parcel.Head{
		Parcel: kind, Study: wire.HashOf([]byte("contract")), Number: 7,
		From: from.Statement.Fingerprint(), To: to.Statement.Fingerprint(),
	}
}

// written writes a parcel to a file and returns its bytes.
func written(t testing.TB, h parcel.Head, items []parcel.Source, from *identity.Identity, to *age.HybridRecipient) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "parcel")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := parcel.Write(f, h, items, from.SigningKey(), to); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func open(b []byte) (*parcel.Parcel, error) { return parcel.Open(bytes.NewReader(b), int64(len(b))) }

// items are of every size that matters to age's chunks of 64 KiB.
func someItems() (items []parcel.Source, content [][]byte) {
	for i, n := range []int{0, 1, 100, 65535, 65536, 65537, 200_000} {
		b := bytes.Repeat([]byte{byte(i + 1)}, n)
		items, content = append(items, parcel.FromBytes(parcel.KindBundle, b)), append(content, b)
	}
	return items, content
}

// TestRoundTrip: what is written is read, sealed or not, and by nobody else.
func TestRoundTrip(t *testing.T) {
	north, office := newIdentity(t, identity.RoleParty, "North"), newIdentity(t, identity.RoleAnalyst, "Office")
	items, content := someItems()
	statement := parcel.FromBytes(parcel.KindStatement, north.Statement.Encode())
	for _, kind := range []string{parcel.Join, parcel.Party, parcel.Analyst} {
		t.Run(kind, func(t *testing.T) {
			var to *age.HybridRecipient
			if kind != parcel.Join {
				to = recipient(t, office.Statement)
			}
			b := written(t, head(kind, north, office), append([]parcel.Source{statement}, items...), north, to)
			if !parcel.IsParcel(b) {
				t.Errorf("IsParcel = false for %.60q", b)
			}
			c, err := open(b)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Unseal(office.AgeIdentity()); err != nil {
				t.Fatal(err)
			}
			s, err := c.Statement()
			if err != nil || s.Fingerprint() != north.Statement.Fingerprint() {
				t.Fatalf("Statement = %v, %v", s, err)
			}
			if err := c.Verify(s.SigningKey); err != nil {
				t.Fatal(err)
			}
			for i, want := range content {
				got, err := c.Bytes(i+1, 1<<20)
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("item %d has %d bytes (%v), want %d", i+1, len(got), err, len(want))
				}
				streamed, err := io.ReadAll(c.Reader(i + 1))
				if err != nil || !bytes.Equal(streamed, want) {
					t.Errorf("item %d, streamed, has %d bytes (%v), want %d", i+1, len(streamed), err, len(want))
				}
			}
			if _, err := c.Bytes(len(content), 100); !errors.Is(err, bundle.ErrDamaged) {
				t.Errorf("an item over its limit: %v", err)
			}
			if _, err := c.One(parcel.KindBundle, 1<<20); !errors.Is(err, bundle.ErrDamaged) {
				t.Errorf("One of several: %v", err)
			}
			if b, err := c.One(parcel.KindContract, 1); b != nil || err != nil {
				t.Errorf("One of none = %q, %v", b, err)
			}
			if kind == parcel.Join {
				return
			}
			again, err := open(b)
			if err != nil {
				t.Fatal(err)
			}
			if err := again.Unseal(north.AgeIdentity()); !errors.Is(err, bundle.ErrMismatch) {
				t.Errorf("its sender opens it: %v", err)
			}
		})
	}
}

// TestDamage: no byte can be changed, removed or added.
func TestDamage(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	north, office := newIdentity(t, identity.RoleParty, "North"), newIdentity(t, identity.RoleAnalyst, "Office")
	b := written(t, head(parcel.Party, north, office), []parcel.Source{parcel.FromBytes(parcel.KindHolds, []byte("{}"))}, north, recipient(t, office.Statement))
	whole := func(b []byte) error {
		c, err := open(b)
		if err != nil {
			return err
		}
		if err := c.Unseal(office.AgeIdentity()); err != nil {
			return err
		}
		return c.Verify(north.Statement.SigningKey)
	}
	if err := whole(b); err != nil {
		t.Fatal(err)
	}
	known := func(err error) bool {
		return errors.Is(err, bundle.ErrDamaged) || errors.Is(err, bundle.ErrVersion) || errors.Is(err, bundle.ErrSignature) || errors.Is(err, bundle.ErrMismatch)
	}
	for i := range b {
		bad := bytes.Clone(b)
		bad[i] ^= 1
		if err := whole(bad); !known(err) {
			t.Fatalf("byte %d changed: %v", i, err)
		}
	}
	for n := range b {
		if err := whole(b[:n]); !known(err) {
			t.Fatalf("cut after %d bytes: %v", n, err)
		}
	}
	if err := whole(append(bytes.Clone(b), 0)); !known(err) {
		t.Errorf("a byte too many: %v", err)
	}
}

// TestResigned: who puts another's payload behind a line of his own is refused, whatever
// the line says: the index inside names the true sender, recipient, study and number.
func TestResigned(t *testing.T) {
	north, thief, office := newIdentity(t, identity.RoleParty, "North"), newIdentity(t, identity.RoleParty, "Thief"), newIdentity(t, identity.RoleAnalyst, "Office")
	h := head(parcel.Party, north, office)
	b := written(t, h, []parcel.Source{parcel.FromBytes(parcel.KindHolds, []byte("{}"))}, north, recipient(t, office.Statement))
	line, payload, _ := bytes.Cut(b, []byte("\n"))
	for name, change := range map[string]func(*parcel.Head){
		"sender": func(h *parcel.Head) { h.From = thief.Statement.Fingerprint() },
		"study":  func(h *parcel.Head) { h.Study = wire.Hash{1} },
		"to":     func(h *parcel.Head) { h.To = thief.Statement.Fingerprint() },
		"number": func(h *parcel.Head) { h.Number++ },
	} {
		t.Run(name, func(t *testing.T) {
			var again parcel.Head
			if err := wire.DecodeCanonical(line, &again); err != nil {
				t.Fatal(err)
			}
			change(&again)
			again.Signature = nil
			part, err := wire.Canonical(again)
			if err != nil {
				t.Fatal(err)
			}
			again.Signature = wire.Sign(thief.SigningKey(), wire.SignParcel, part)
			c, err := open(append(again.Line(), payload...))
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Unseal(office.AgeIdentity()); !errors.Is(err, bundle.ErrDamaged) {
				t.Errorf("Unseal = %v", err)
			}
		})
	}
}

// TestBefore: no item is read before the signature is checked.
func TestBefore(t *testing.T) {
	north, office := newIdentity(t, identity.RoleParty, "North"), newIdentity(t, identity.RoleAnalyst, "Office")
	b := written(t, head(parcel.Join, north, office), []parcel.Source{parcel.FromBytes(parcel.KindProof, []byte("proof"))}, north, nil)
	c, err := open(b)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Unseal(); err != nil {
		t.Fatal(err)
	}
	if err := c.Verify(office.Statement.SigningKey); !errors.Is(err, bundle.ErrSignature) {
		t.Errorf("another's key verifies: %v", err)
	}
	defer func() {
		if v := recover(); v == nil {
			t.Error("an item was read before Verify")
		}
	}()
	c.Bytes(0, 100)
}

// crafted is a join parcel, which lies open, with an index and items as they are given.
func crafted(t testing.TB, from *identity.Identity, index, items string) []byte {
	t.Helper()
	payload := []byte(index + "\n" + items)
	h := head(parcel.Join, from, from)
	h.Format, h.Size, h.Payload = parcel.Format, int64(len(payload)), wire.HashOf(payload)
	part, err := wire.Canonical(h)
	if err != nil {
		t.Fatal(err)
	}
	h.Signature = wire.Sign(from.SigningKey(), wire.SignParcel, part)
	return append(h.Line(), payload...)
}

// TestHostileIndex: counts, lengths and kinds that a signed parcel may claim.
func TestHostileIndex(t *testing.T) {
	from := newIdentity(t, identity.RoleParty, "North")
	h := head(parcel.Join, from, from)
	index := func(items string) string {
		return fmt.Sprintf(`{"format":1,"study":"%s","from":"%s","to":"%s","number":7,"items":[%s]}`, h.Study, h.From, h.To, items)
	}
	many := strings.TrimSuffix(strings.Repeat(`{"kind":"bundle","bytes":0},`, 5000), ",")
	for _, c := range []struct{ name, index, items, want string }{
		{"more than there is", index(`{"kind":"bundle","bytes":1000000000000}`), "x", "tells of"},
		{"less than there is", index(`{"kind":"bundle","bytes":1}`), "xy", "tells of"},
		{"beyond int64", index(`{"kind":"bundle","bytes":9223372036854775807},{"kind":"bundle","bytes":9223372036854775807}`), "", "cannot be"},
		{"negative", index(`{"kind":"bundle","bytes":-1}`), "", "cannot be"},
		{"fraction", index(`{"kind":"bundle","bytes":1.5}`), "x", "index"},
		{"too many", index(many), "", "at most 4096"},
		{"a path", index(`{"kind":"../../etc/passwd","bytes":1}`), "x", "of no kind"},
		{"no kind", index(`{"kind":"","bytes":1}`), "x", "of no kind"},
		{"a long kind", index(`{"kind":"` + strings.Repeat("a", 33) + `","bytes":1}`), "x", "of no kind"},
		{"an unknown field", index(`{"kind":"bundle","bytes":1,"name":"/etc/passwd"}`), "x", "unknown field"},
		{"a space", index(` {"kind":"bundle","bytes":1}`), "x", "canonical"},
		{"no items", strings.Replace(index(""), "[]", "null", 1), "", ""},
		{"another version", strings.Replace(index(""), `"format":1`, `"format":2`, 1), "", "format 2, this program reads format 1"},
		{"no line", strings.Repeat("x", 2<<20), "", "does not end"},
		{"empty", "", "", "incomplete"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := open(crafted(t, from, c.index, c.items))
			if err != nil {
				t.Fatal(err)
			}
			err = p.Unseal()
			if c.want == "" {
				if err != nil {
					t.Errorf("Unseal = %v", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || !errors.Is(err, bundle.ErrDamaged) && !errors.Is(err, bundle.ErrVersion) {
				t.Errorf("Unseal = %v, want %q", err, c.want)
			}
		})
	}
}

// TestNotAParcel: other files are told from damaged parcels.
func TestNotAParcel(t *testing.T) {
	for _, c := range []struct{ name, content, want string }{
		{"empty", "", "empty"},
		{"a table", "age,sex\n", "not a parcel"},
		{"a long line", "{" + strings.Repeat(" ", 10_000), "no line in the first"},
		{"a bundle", `{"format":1,"study":"x","kind":"setup"}` + "\n", "a bundle, not a parcel"},
		{"a bundle of tomorrow", `{"format":2,"study":"x","kind":"setup"}` + "\n", "a bundle, not a parcel"},
		{"a parcel of tomorrow", `{"parcel":"join","format":2}` + "\n", "format 2"},
		{"other JSON", `{"a":1}` + "\n", "parcel's line"},
		{"half a line", `{"parcel":"join"`, "ends in its first line"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := open([]byte(c.content)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Open = %v, want %q", err, c.want)
			}
		})
	}
}

// TestHostileHeader: an age header without end is not read to its end.
func TestHostileHeader(t *testing.T) {
	north, office := newIdentity(t, identity.RoleParty, "North"), newIdentity(t, identity.RoleAnalyst, "Office")
	payload := []byte("age-encryption.org/v1\n" + strings.Repeat("-> X25519 "+strings.Repeat("A", 43)+"\n"+strings.Repeat("A", 43)+"\n", 200_000))
	h := head(parcel.Party, north, office)
	h.Format, h.Size, h.Payload = parcel.Format, int64(len(payload)), wire.HashOf(payload)
	part, err := wire.Canonical(h)
	if err != nil {
		t.Fatal(err)
	}
	h.Signature = wire.Sign(north.SigningKey(), wire.SignParcel, part)
	c, err := open(append(h.Line(), payload...))
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := c.Unseal(office.AgeIdentity()); !errors.Is(err, bundle.ErrDamaged) {
		t.Errorf("Unseal = %v", err)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 2<<20 {
		t.Errorf("a header of %d bytes took %d bytes of memory", len(payload), used)
	}
}

// TestChangedSource: a file that changes while it is written makes no parcel.
func TestChangedSource(t *testing.T) {
	north, office := newIdentity(t, identity.RoleParty, "North"), newIdentity(t, identity.RoleAnalyst, "Office")
	for _, content := range []string{"shorter", "longer than it was"} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte("ten bytes."), 0o600); err != nil {
			t.Fatal(err)
		}
		item, err := parcel.FromFile(parcel.KindBundle, path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(filepath.Join(t.TempDir(), "parcel"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := parcel.Write(f, head(parcel.Party, north, office), []parcel.Source{item}, north.SigningKey(), recipient(t, office.Statement)); err == nil || !strings.Contains(err.Error(), "changed") {
			t.Errorf("%q: Write = %v", content, err)
		}
	}
}

// FuzzOpen: whatever a file holds, reading it ends with one of the known errors or with
// items that are inside the file.
func FuzzOpen(f *testing.F) {
	from := newIdentity(f, identity.RoleParty, "North")
	f.Add(written(f, head(parcel.Join, from, from), []parcel.Source{
		parcel.FromBytes(parcel.KindStatement, from.Statement.Encode()), parcel.FromBytes(parcel.KindProof, []byte("proof")),
	}, from, nil))
	f.Add(written(f, head(parcel.Party, from, from), []parcel.Source{parcel.FromBytes(parcel.KindHolds, []byte("{}"))}, from, recipient(f, from.Statement)))
	f.Add([]byte(`{"parcel":"join","format":1}` + "\n"))
	known := func(t *testing.T, err error) {
		for _, kind := range []error{bundle.ErrDamaged, bundle.ErrVersion, bundle.ErrMismatch, bundle.ErrSignature} {
			if errors.Is(err, kind) {
				return
			}
		}
		t.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := open(b)
		if err != nil {
			known(t, err)
			return
		}
		if err := c.Unseal(from.AgeIdentity()); err != nil {
			known(t, err)
			return
		}
		if _, err := c.Statement(); err != nil {
			known(t, err)
		}
		if err := c.Verify(from.Statement.SigningKey); err != nil {
			known(t, err)
			return
		}
		for i := range c.Items {
			got, err := io.ReadAll(c.Reader(i))
			if err != nil || int64(len(got)) != c.Items[i].Bytes {
				t.Fatalf("item %d has %d bytes (%v), the index says %d", i, len(got), err, c.Items[i].Bytes)
			}
		}
	})
}

// FuzzIndex is FuzzOpen behind a line that is right: what a sender may put inside.
func FuzzIndex(f *testing.F) {
	from := newIdentity(f, identity.RoleParty, "North")
	h := head(parcel.Join, from, from)
	f.Add(fmt.Sprintf(`{"format":1,"study":"%s","from":"%s","to":"%s","number":7,"items":[{"kind":"bundle","bytes":3}]}`, h.Study, h.From, h.To), "abc")
	f.Add("", "")
	f.Add(`{"format":2}`, "")
	f.Fuzz(func(t *testing.T, index, items string) {
		c, err := open(crafted(t, from, index, items))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Unseal(); err != nil {
			if !errors.Is(err, bundle.ErrDamaged) && !errors.Is(err, bundle.ErrVersion) {
				t.Fatal(err)
			}
			return
		}
		if err := c.Verify(from.Statement.SigningKey); err != nil {
			t.Fatal(err)
		}
		total := 0
		for i := range c.Items {
			got, err := io.ReadAll(c.Reader(i))
			if err != nil {
				t.Fatal(err)
			}
			total += len(got)
		}
		if total > len(index)+len(items) {
			t.Fatalf("%d bytes were read out of %d", total, len(index)+len(items))
		}
	})
}

// TestStatementOfAnother: whoever joins by a parcel brings its own statement, not one that it
// has seen.
func TestStatementOfAnother(t *testing.T) {
	north, thief, office := newIdentity(t, identity.RoleParty, "North"), newIdentity(t, identity.RoleParty, "Thief"), newIdentity(t, identity.RoleAnalyst, "Office")
	for _, from := range []*identity.Identity{north, thief} {
		b := written(t, head(parcel.Join, from, office), []parcel.Source{parcel.FromBytes(parcel.KindStatement, north.Statement.Encode())}, from, nil)
		c, err := open(b)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Unseal(); err != nil {
			t.Fatal(err)
		}
		s, err := c.Statement()
		if (err == nil) != (from == north) || err != nil && !errors.Is(err, bundle.ErrDamaged) {
			t.Errorf("the statement of North in a parcel of %s: %v, %v", from, s, err)
		}
	}
}
