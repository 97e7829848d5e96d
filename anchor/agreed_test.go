package anchor_test

import (
	"bytes"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/anchor"
	"concord/linalg"
	"concord/secret"
)

// TestAgreed: the same seed and the same rows or pieces give the same anchor, another
// seed another, and of full rank.
func TestAgreed(t *testing.T) {
	src := rand.NewPCG(1, 2)
	public := linalg.Normal(40, 5, src)
	pieces := []secret.Matrix{secret.NewMatrix(linalg.Normal(20, 5, src)), secret.NewMatrix(linalg.Normal(10, 5, src))}
	other, err := anchor.DeriveSeed([32]byte{9}, []anchor.Share{share(1), share(2), share(3)})
	if err != nil {
		t.Fatal(err)
	}
	for name, make := range map[string]func(anchor.Seed) (secret.Matrix, error){
		"public": func(s anchor.Seed) (secret.Matrix, error) { return anchor.FromPublic(s, public, 100) },
		"pieces": func(s anchor.Seed) (secret.Matrix, error) { return anchor.FromSeedAndPieces(s, pieces, 100) },
	} {
		a, err := make(seed(t))
		if err != nil {
			t.Fatal(err)
		}
		b, err := make(seed(t))
		if err != nil {
			t.Fatal(err)
		}
		c, err := make(other)
		if err != nil {
			t.Fatal(err)
		}
		if rows, m := a.Dims(); rows != 100 || m != 5 || !mat.EqualApprox(a.Reveal(), b.Reveal(), 1e-12) || mat.EqualApprox(a.Reveal(), c.Reveal(), 1e-3) {
			t.Errorf("%s: %d × %d, or not agreed", name, rows, m)
		}
		if _, err := make(anchor.Seed{}); err == nil {
			t.Errorf("%s: made without a seed", name)
		}
	}
	id := anchor.PiecesID(seed(t), pieces)
	if id == anchor.PiecesID(other, pieces) || id == anchor.PiecesID(seed(t), pieces[:1]) || id == anchor.PiecesID(seed(t), []secret.Matrix{pieces[1], pieces[0]}) || id == seed(t).ID() {
		t.Error("another seed, other pieces or another order have the same name")
	}
	if id != anchor.PiecesID(seed(t), pieces) {
		t.Error("the name of the same pieces changes")
	}
	for i := range 40 {
		public.Set(i, 3, 2*public.At(i, 1))
	}
	if _, err := anchor.FromPublic(seed(t), public, 100); err == nil || !strings.Contains(err.Error(), "has rank 4 for 5 features") {
		t.Errorf("a column that follows from another: %v", err)
	}
}

// TestPooledID holds that an anchor's name together with what was pooled changes with each
// of its parts, that a missing V is a part too, and that the name is as written here.
func TestPooledID(t *testing.T) {
	s := seed(t)
	v := secret.NewMatrix(mat.NewDense(2, 1, []float64{0.6, 0.8}))
	id := anchor.PooledID(s, s.ID(), [32]byte{1}, v)
	other, err := anchor.DeriveSeed([32]byte{9}, []anchor.Share{share(1), share(2), share(3)})
	if err != nil {
		t.Fatal(err)
	}
	for what, changed := range map[string][32]byte{
		"seed":    anchor.PooledID(other, s.ID(), [32]byte{1}, v),
		"anchor":  anchor.PooledID(s, other.ID(), [32]byte{1}, v),
		"figures": anchor.PooledID(s, s.ID(), [32]byte{2}, v),
		"no V":    anchor.PooledID(s, s.ID(), [32]byte{1}, secret.Matrix{}),
		"V":       anchor.PooledID(s, s.ID(), [32]byte{1}, secret.NewMatrix(mat.NewDense(2, 1, []float64{0.8, 0.6}))),
		"shape":   anchor.PooledID(s, s.ID(), [32]byte{1}, secret.NewMatrix(mat.NewDense(1, 2, []float64{0.6, 0.8}))),
		"nothing": s.ID(),
	} {
		if changed == id {
			t.Errorf("another %s has the same name", what)
		}
	}
	var of, shape []byte
	shape = binary.BigEndian.AppendUint32(shape, 2)
	shape = binary.BigEndian.AppendUint32(shape, 1)
	for _, x := range []float64{0.6, 0.8} {
		shape = binary.BigEndian.AppendUint64(shape, math.Float64bits(x))
	}
	hash, plain := sha256.Sum256(shape), s.ID()
	of = append(of, plain[:]...)
	of = append(of, append([]byte{1}, make([]byte, 31)...)...)
	of = append(of, hash[:]...)
	want, err := hkdf.Expand(sha256.New, s.Bytes().Reveal(), fmt.Sprintf("concord/anchor/pooled-id/v1/%x", sha256.Sum256(of)), 32)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(id[:], want) {
		t.Errorf("the name is %x, want %x", id, want)
	}
}

// TestSumsID holds that the name of pooled sums changes with them and with the seed, and is
// HKDF as documented.
func TestSumsID(t *testing.T) {
	s, other := gaussianSeed(t, 1), gaussianSeed(t, 2)
	id := anchor.SumsID(s, [32]byte{1})
	if id == anchor.SumsID(s, [32]byte{2}) || id == anchor.SumsID(other, [32]byte{1}) {
		t.Error("other sums or another seed give the same name")
	}
	want, err := hkdf.Expand(sha256.New, s.Bytes().Reveal(), fmt.Sprintf("concord/anchor/sums-id/v1/%x", [32]byte{1}), 32)
	if err != nil || [32]byte(want) != id {
		t.Errorf("the name is %x, want %x (%v)", id, want, err)
	}
}
