package bundle_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/bundle"
	"concord/wire"
)

// TestInspect: whoever inspects sees every member once, as it is inside, and may
// stop reading anywhere; what it finds comes after everything that is wrong with
// the bundle itself.
func TestInspect(t *testing.T) {
	d := draft(bob())
	contents := map[string][]byte{}
	for _, src := range d.Members {
		var b bytes.Buffer
		if err := src.Write(&b); err != nil {
			t.Fatal(err)
		}
		contents[src.Name] = b.Bytes()
	}
	for name, d := range map[string]bundle.Draft{"plain": d, "sealed": sealedDraft(t, draft(bob()), bob())} {
		b := sealed(t, d, bob())
		for _, most := range []int64{0, 1, 100, 1 << 20} {
			var seen []string
			want := expect(bundle.KindContribution, bob())
			want.Inspect = func(m bundle.Member, content io.Reader) error {
				seen = append(seen, m.Name)
				got, err := io.ReadAll(io.LimitReader(content, most))
				if err != nil {
					return err
				}
				if whole := contents[m.Name]; !bytes.Equal(got, whole[:min(most, int64(len(whole)))]) {
					t.Errorf("%s: %s is not what was sealed", name, m.Name)
				}
				return nil
			}
			r, err := open(b, want, bob())
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			checkContents(t, r)
			if len(seen) != len(contents) {
				t.Errorf("%s: inspected %v", name, seen)
			}
		}
		bad := errors.New("not to my taste")
		want := expect(bundle.KindContribution, bob())
		want.Inspect = func(bundle.Member, io.Reader) error { return bad }
		if _, err := open(b, want, bob()); !errors.Is(err, bad) {
			t.Errorf("%s: Open = %v, want what the inspection found", name, err)
		}
		want.Approver = mallory().public()
		_, err := open(b, want, bob())
		refused(t, "another approver", err, bundle.ErrApproval, "by another key")
	}
}

// TestKnownCiphertext: a hash that the caller has computed is compared as the file's is.
func TestKnownCiphertext(t *testing.T) {
	b := sealed(t, draft(bob()), bob())
	e, line, err := bundle.ReadEnvelope(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	want := expect(bundle.KindContribution, bob())
	want.Ciphertext = wire.HashOf(b[len(line):])
	r, err := open(b, want, bob())
	if err != nil || e.Ciphertext != want.Ciphertext {
		t.Fatal(err)
	}
	checkContents(t, r)
	_, err = open(append(slices.Clone(b), 0), want, bob())
	refused(t, "a byte more", err, bundle.ErrDamaged, "more than the")
	_, err = open(b[:len(b)-1], want, bob())
	refused(t, "a byte less", err, bundle.ErrDamaged, "the envelope says")
	want.Ciphertext[0] ^= 1
	_, err = open(b, want, bob())
	refused(t, "another hash", err, bundle.ErrDamaged, "SHA-256 is not the one")
	// A hash that belongs to other bytes does not let them in.
	want.Ciphertext[0] ^= 1
	b[len(b)-20] ^= 1
	_, err = open(b, want, bob())
	refused(t, "altered bytes", err, bundle.ErrDamaged, "")
}

// TestShape: as Matrix would read it, whole, in blocks, of one dimension, sealed.
func TestShape(t *testing.T) {
	big := mat.NewDense(23, 3, nil)
	d := draft(bob())
	d.Members = append(bundle.FromMatrixBlocks("X", big, 5*3*8), bundle.FromMatrix("A", big)...)
	d.Members = append(d.Members, bundle.FromInts("Y", make([]int64, 7)))
	for _, d := range []bundle.Draft{d, sealedDraft(t, bundle.Draft{Header: d.Header, Anchor: d.Anchor, Members: slices.Clone(d.Members)}, bob())} {
		r, err := open(sealed(t, d, bob()), expect(bundle.KindContribution, bob()), bob())
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string][2]int{"X": {23, 3}, "A": {23, 3}, "Y": {7, 1}} {
			if rows, cols, err := r.Shape(name); err != nil || [2]int{rows, cols} != want {
				t.Errorf("%s is %d × %d, %v; want %v", name, rows, cols, err, want)
			}
		}
		_, _, err = r.Shape("Z")
		refused(t, "no member", err, bundle.ErrDamaged, `there is no member "Z.npy"`)
	}
}
