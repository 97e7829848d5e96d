package dossier_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"filippo.io/age"

	"concord/bundle"
	"concord/identity"
	"concord/internal/dossier"
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

func recipient(t testing.TB, id *identity.Identity) *age.HybridRecipient {
	t.Helper()
	r, err := age.ParseHybridRecipient(id.Statement.Recipient)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func write(t testing.TB, analyst, auditor *identity.Identity) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := dossier.NewWriter(&b, recipient(t, auditor))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.AddBytes(dossier.Contract, []byte("contract")); err != nil {
		t.Fatal(err)
	}
	if err := w.Add("large", io.LimitReader(zeros{}, 3<<20)); err != nil {
		t.Fatal(err)
	}
	x := dossier.Index{Study: wire.Hash{1}, Analyst: analyst.Statement.Fingerprint(), Auditor: auditor.Statement.Fingerprint(), Rounds: []dossier.Round{}}
	if err := w.Close(&x, analyst); err != nil {
		t.Fatal(err)
	}
	if len(x.Files) != 2 {
		t.Errorf("the index has %d files", len(x.Files))
	}
	return b.Bytes()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func open(b []byte, id *identity.Identity) (*dossier.Dossier, error) {
	return dossier.Open(bytes.NewReader(b), int64(len(b)), id.AgeIdentity())
}

func TestDossier(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	analyst, auditor := newIdentity(t, identity.RoleAnalyst, "Office"), newIdentity(t, identity.RoleAuditor, "Audit")
	b := write(t, analyst, auditor)
	d, err := open(b, auditor)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Verify(analyst.Statement); err != nil {
		t.Error(err)
	}
	if got, err := d.Bytes(dossier.Contract, 100); err != nil || string(got) != "contract" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := d.Bytes("large", 100); err == nil {
		t.Error("a member beyond its bound was read")
	}
	if err := d.Verify(newIdentity(t, identity.RoleAnalyst, "Office").Statement); err == nil {
		t.Error("another analyst's export was taken")
	}
	if _, err := open(b, newIdentity(t, identity.RoleAuditor, "Audit")); !errors.Is(err, bundle.ErrMismatch) {
		t.Errorf("another auditor: %v", err)
	}
	for at := 0; at < len(b); at += len(b)/97 + 1 {
		flipped := bytes.Clone(b)
		flipped[at] ^= 4
		d, err := open(flipped, auditor)
		if err == nil {
			err = d.Verify(analyst.Statement)
		}
		if err == nil {
			t.Errorf("byte %d changed: nothing noticed", at)
		}
	}
	for _, n := range []int{0, 100, len(b) / 2, len(b) - 1} {
		if _, err := open(b[:n], auditor); err == nil {
			t.Errorf("cut after %d bytes: nothing noticed", n)
		}
	}
}

// seal makes a dossier's outside around any zip.
func seal(t testing.TB, auditor *identity.Identity, fill func(*zip.Writer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	sealed, err := age.Encrypt(&b, recipient(t, auditor))
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(sealed)
	if err := errors.Join(fill(z), z.Close(), sealed.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestHostile: what only the auditor's key protects is checked too, since whoever
// exports seals it.
func TestHostile(t *testing.T) {
	analyst, auditor := newIdentity(t, identity.RoleAnalyst, "Office"), newIdentity(t, identity.RoleAuditor, "Audit")
	good, err := open(write(t, analyst, auditor), auditor)
	if err != nil {
		t.Fatal(err)
	}
	index, err := good.Bytes(dossier.IndexName, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	large := make([]byte, 3<<20)
	type member struct {
		name   string
		b      []byte
		method uint16
	}
	all := []member{{dossier.Contract, []byte("contract"), zip.Store}, {"large", large, zip.Store}, {dossier.IndexName, index, zip.Store}}
	for _, c := range []struct {
		name, problem string
		members       []member
	}{
		{"whole", "", all},
		{"no index", "no export.json", all[:2]},
		{"one is missing", "no contract.json", all[1:]},
		{"one more", "the analyst signed", append([]member{{"more", nil, zip.Store}}, all...)},
		{"one twice", "twice", append([]member{all[0]}, all...)},
		{"another content", "not the one that the analyst signed", []member{{dossier.Contract, []byte("contracT"), zip.Store}, all[1], all[2]}},
		{"deflated", "not stored as it is", []member{all[0], {"large", large, zip.Deflate}, all[2]}},
		{"another index", "canonical", []member{all[0], all[1], {dossier.IndexName, append(index, ' '), zip.Store}}},
		{"a newer index", "format 2", []member{all[0], all[1], {dossier.IndexName, bytes.Replace(index, []byte(`"format":1`), []byte(`"format":2`), 1), zip.Store}}},
		{"an index that was changed", "signature does not verify", []member{all[0], all[1], {dossier.IndexName, bytes.Replace(index, []byte(`"bytes":8`), []byte(`"bytes":9`), 1), zip.Store}}},
	} {
		b := seal(t, auditor, func(z *zip.Writer) error {
			for _, m := range c.members {
				w, err := z.CreateHeader(&zip.FileHeader{Name: m.name, Method: m.method})
				if err != nil {
					return err
				}
				if _, err := w.Write(m.b); err != nil {
					return err
				}
			}
			return nil
		})
		d, err := open(b, auditor)
		if err == nil {
			err = d.Verify(analyst.Statement)
		}
		if (err == nil) != (c.problem == "") || err != nil && !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%s: %v, want %q", c.name, err, c.problem)
		}
	}
}

// TestKeys: what was recorded while a file was opened opens that file, and no other.
func TestKeys(t *testing.T) {
	id := newIdentity(t, identity.RoleAnalyst, "Office")
	seal := func(text string) []byte {
		var b bytes.Buffer
		w, err := age.Encrypt(&b, recipient(t, id))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	one, two := seal("one"), seal("two")
	record := dossier.Record(id.AgeIdentity())
	if _, err := age.Decrypt(bytes.NewReader(one), record); err != nil {
		t.Fatal(err)
	}
	b, err := record.Encode()
	if err != nil {
		t.Fatal(err)
	}
	keys, err := dossier.DecodeKeys(b)
	if err != nil {
		t.Fatal(err)
	}
	r, err := age.Decrypt(bytes.NewReader(one), keys)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || string(got) != "one" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := age.Decrypt(bytes.NewReader(two), keys); err == nil {
		t.Error("another file was opened")
	}
}

func FuzzDecodeKeys(f *testing.F) {
	f.Add([]byte(`{"format":1,"keys":[]}`))
	f.Add([]byte(`{"format":1,"keys":[{"header":"` + wire.Hash{1}.String() + `","key":"AAAA"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		id, err := dossier.DecodeKeys(b)
		if err != nil {
			return
		}
		if _, err := age.Decrypt(strings.NewReader("age-encryption.org/v1\n-> X25519 AAAA\n\n--- AAAA\n"), id); err == nil {
			t.Error("a file that nobody sealed was opened")
		}
	})
}
