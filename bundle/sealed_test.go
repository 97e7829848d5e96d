package bundle_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"filippo.io/age"
	"gonum.org/v1/gonum/mat"

	"concord/bundle"
	"concord/npy"
	"concord/wire"
)

// sealedDraft is draft with every member sealed to the recipients by itself, as
// files in a folder.
func sealedDraft(t *testing.T, d bundle.Draft, to ...who) bundle.Draft {
	t.Helper()
	dir := t.TempDir()
	for i, src := range d.Members {
		path := filepath.Join(dir, src.Name)
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		inside, err := bundle.SealMember(f, src, recipients(to)...)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		d.Members[i] = bundle.FromSealedFile(src.Name, path, inside)
	}
	return d
}

// TestSealedMembers: what is inside reads like members that are not sealed, and
// cannot be found in the files that a site keeps.
func TestSealedMembers(t *testing.T) {
	plain := draft(bob())
	var rows bytes.Buffer
	if err := plain.Members[0].Write(&rows); err != nil {
		t.Fatal(err)
	}
	want := mat.NewDense(3, 2, slices.Clone(xValues))
	blocks := bundle.FromMatrixBlocks("A", want, 16) // one row a block
	plain.Members = append(plain.Members, blocks...)
	d := sealedDraft(t, plain, bob())
	for _, src := range d.Members {
		var b bytes.Buffer
		if err := src.Write(&b); err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b.Bytes(), rows.Bytes()[len(rows.Bytes())-48:]) || bytes.Contains(b.Bytes(), []byte("NUMPY")) {
			t.Errorf("%s shows what is inside", src.Name)
		}
	}
	m := describe(t, d)
	x, ok := m.Member("X.npy.age")
	if !ok || x.Dtype != "" || x.Sealed == nil || x.Sealed.Dtype != "<f8" || !slices.Equal(x.Sealed.Shape, []int{3, 2}) || x.Sealed.Bytes != int64(rows.Len()) {
		t.Fatalf("the manifest says %+v", x)
	}
	again, err := bundle.DecodeManifest(m.Encode())
	if err != nil || again.Hash() != m.Hash() {
		t.Fatalf("the manifest does not come back: %v", err)
	}

	r := opened(t, sealed(t, d, bob()), bob())
	for _, name := range []string{"X", "A"} {
		got, err := r.Matrix(name, npy.Limits{Rows: 10, Cols: 10})
		if err != nil || !mat.Equal(got, want) {
			t.Errorf("%s is %v, %v", name, got, err)
		}
	}
	if y, err := r.Ints("Y", npy.Limits{Rows: 10}); err != nil || !slices.Equal(y, []int64{0, 1, 1}) {
		t.Errorf("Y is %v, %v", y, err)
	}
	if b, err := r.Bytes("report.txt", 100); err != nil || string(b) != "three rows\n" {
		t.Errorf("report.txt is %q, %v", b, err)
	}
	if _, err := r.Bytes("report.txt", 3); err == nil || !strings.Contains(err.Error(), "has 11 bytes, at most 3 are read") {
		t.Errorf("a limit of 3 bytes: %v", err)
	}
	if _, err := r.Matrix("X", npy.Limits{Rows: 2, Cols: 2}); err == nil {
		t.Error("a limit of 2 rows admits 3")
	}
	// Whoever has the zip in the clear sees the list and no content.
	var zip bytes.Buffer
	if _, err := r.WriteTo(&zip); err != nil {
		t.Fatal(err)
	}
	unsealed, err := bundle.OpenUnsealed(bytes.NewReader(zip.Bytes()), int64(zip.Len()), 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unsealed.Matrix("X", npy.Limits{Rows: 10, Cols: 10}); !errors.Is(err, bundle.ErrMismatch) {
		t.Errorf("without a key: %v", err)
	}
}

// blinded is src behind 32 bytes that are no secret.
func blinded(src bundle.Source) bundle.Source {
	return bundle.Source{Name: src.Name, Write: func(w io.Writer) error {
		if _, err := w.Write(make([]byte, 32)); err != nil {
			return err
		}
		return src.Write(w)
	}}
}

// cut is src without its last byte.
func cut(src bundle.Source) bundle.Source {
	return bundle.Source{Name: src.Name, Write: func(w io.Writer) error {
		var b bytes.Buffer
		if err := src.Write(&b); err != nil {
			return err
		}
		_, err := w.Write(b.Bytes()[:b.Len()-1])
		return err
	}}
}

// TestSealedHashTellsNothing: two sealings of the same labels have other hashes, and
// neither is that of the labels. Whoever holds the manifest and the few labels that a
// rare one could be spread over cannot try all orders.
func TestSealedHashTellsNothing(t *testing.T) {
	seen := map[wire.Hash]bool{}
	for _, labels := range [][]int64{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}} {
		var b bytes.Buffer
		if err := bundle.FromInts("Y", labels).Write(&b); err != nil {
			t.Fatal(err)
		}
		seen[wire.HashOf(b.Bytes())] = true
	}
	for range 2 {
		inside, err := bundle.SealMember(io.Discard, bundle.FromInts("Y", []int64{0, 0, 1, 0}), bob().recipient())
		if err != nil {
			t.Fatal(err)
		}
		if seen[inside.SHA256] {
			t.Errorf("the hash %s tells the order of the labels, or is that of the sealing before", inside.SHA256.Short())
		}
		seen[inside.SHA256] = true
	}
}

func opened(t *testing.T, b []byte, by who) *bundle.Reader {
	t.Helper()
	r, err := bundle.Open(bytes.NewReader(b), int64(len(b)), expect(bundle.KindContribution, by), by.age)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSealedMembersRefused: what is inside must be what the manifest says, sealed to
// who opens, and nothing may hide behind a sealed member.
func TestSealedMembersRefused(t *testing.T) {
	twoRows := func(bundle.Draft) bundle.Source {
		return bundle.FromMatrix("X", mat.NewDense(2, 2, []float64{1, 2, 3, 4}))[0]
	}
	for name, c := range map[string]struct {
		content func(bundle.Draft) bundle.Source
		to      who
		want    string
		kind    error
	}{
		"other content": {twoRows, bob(), "has changed", bundle.ErrDamaged},
		"longer": {func(d bundle.Draft) bundle.Source {
			return bundle.Source{Name: "X.npy", Write: func(w io.Writer) error {
				if err := d.Members[0].Write(w); err != nil {
					return err
				}
				_, err := w.Write([]byte{0})
				return err
			}}
		}, bob(), "has changed", bundle.ErrDamaged},
		"other key": {func(d bundle.Draft) bundle.Source { return d.Members[0] }, mallory(), "not sealed to this recipient's key", bundle.ErrMismatch},
		"not age":   {nil, bob(), "member \"X.npy.age\"", bundle.ErrDamaged},
		"too short": {func(bundle.Draft) bundle.Source { return bundle.FromBytes("X.npy", nil) }, bob(), "ends within its blind of 32 bytes", bundle.ErrDamaged},
		"its end":   {func(d bundle.Draft) bundle.Source { return cut(d.Members[0]) }, bob(), "has changed", bundle.ErrDamaged},
	} {
		plain := draft(bob())
		x := plain.Members[0]
		var honest bytes.Buffer
		inside, err := bundle.SealMember(&honest, x, bob().recipient())
		if err != nil {
			t.Fatal(err)
		}
		content := bytes.Repeat([]byte("no age file, only letters\n"), 100)
		if c.content != nil {
			var b bytes.Buffer
			enc, err := age.Encrypt(&b, c.to.recipient())
			if err != nil {
				t.Fatal(err)
			}
			src := c.content(plain)
			if name != "too short" {
				src = blinded(src)
			}
			if err := src.Write(enc); err != nil {
				t.Fatal(err)
			}
			if err := enc.Close(); err != nil {
				t.Fatal(err)
			}
			content = b.Bytes()
		}
		path := filepath.Join(t.TempDir(), "X.npy.age")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		plain.Members[0] = bundle.FromSealedFile("X.npy", path, inside)
		b := sealed(t, plain, bob())
		_, err = bundle.Open(bytes.NewReader(b), int64(len(b)), expect(bundle.KindContribution, bob()), bob().age)
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
	weak, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bundle.SealMember(io.Discard, twoRows(bundle.Draft{}), weak.Recipient()); err == nil || !strings.Contains(err.Error(), "must be hybrid") {
		t.Errorf("a classic key: %v", err)
	}
	if _, err := bundle.SealMember(io.Discard, twoRows(bundle.Draft{})); err == nil || !strings.Contains(err.Error(), "no age recipients") {
		t.Errorf("no key: %v", err)
	}
}

// TestSealedManifest: a manifest cannot say two things of one member.
func TestSealedManifest(t *testing.T) {
	var b bytes.Buffer
	inside, err := bundle.SealMember(&b, bundle.FromBytes("note", []byte("text")), bob().recipient())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "note")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	note := bundle.FromSealedFile("note", path, inside)
	wrong := func(change func(*bundle.Inside)) bundle.Source {
		other := inside
		change(&other)
		return bundle.FromSealedFile("note", path, other)
	}
	for name, c := range map[string]struct {
		members []bundle.Source
		want    string
	}{
		"twice":          {[]bundle.Source{note, bundle.FromBytes("note", nil)}, "is repeated"},
		"by its name":    {[]bundle.Source{bundle.FromFile("note.age", path)}, "say what is inside"},
		"sealed twice":   {[]bundle.Source{bundle.FromSealedFile("note.age", path, inside)}, "sealed twice"},
		"negative":       {[]bundle.Source{wrong(func(i *bundle.Inside) { i.Bytes = -1 })}, "has -1 bytes"},
		"larger inside":  {[]bundle.Source{wrong(func(i *bundle.Inside) { i.Bytes = int64(b.Len()) })}, "bytes inside of"},
		"array no array": {[]bundle.Source{wrong(func(i *bundle.Inside) { i.Dtype = "<f8" })}, "others have none"},
		"reserved":       {[]bundle.Source{bundle.FromSealedFile("manifest.json", path, inside)}, "reserved"},
	} {
		d := draft(bob())
		d.Members = c.members
		if _, err := bundle.Describe(d); !errors.Is(err, bundle.ErrDamaged) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
}
