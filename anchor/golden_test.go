package anchor_test

import (
	"bytes"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"concord/anchor"
	"concord/anchor/spec"
	"concord/secret"
)

// TestGolden compares with testdata/known.json, which an independent program
// made (testdata/known.py: HKDF, ChaCha8Rand and the kinds in Python).
//
// Do not change the golden outputs. Parties with different versions of this
// program must generate one anchor, and an anchor must be generated alike for
// as long as its study lives; a change here makes models silently wrong. A new
// derivation gets a new label and new vectors beside these.
func TestGolden(t *testing.T) {
	data, err := os.ReadFile("testdata/known.json")
	if err != nil {
		t.Fatal(err)
	}
	var known struct {
		Epoch, Seed, ID     string
		Shares              []struct{ Key, Entropy string }
		Uniform             [][]string
		UniformSHA256       string `json:"uniform_sha256"`
		Normal, Orthonormal [][]float64
	}
	if err := json.Unmarshal(data, &known); err != nil {
		t.Fatal(err)
	}
	unhex := func(s string) []byte {
		b, err := hex.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	var shares []anchor.Share
	for _, s := range known.Shares {
		shares = append(shares, anchor.Share{Key: unhex(s.Key), Entropy: secret.NewBytes(unhex(s.Entropy))})
	}
	s, err := anchor.DeriveSeed([32]byte(unhex(known.Epoch)), shares)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(s.Bytes().Reveal(), unhex(known.Seed)) {
		t.Errorf("seed %x, want %s", s.Bytes().Reveal(), known.Seed)
	}
	if id := s.ID(); !bytes.Equal(id[:], unhex(known.ID)) {
		t.Errorf("id %x, want %s", id, known.ID)
	}

	// Uniform: to the last bit, over several reseedings of ChaCha8Rand.
	u := generate(t, anchor.Spec{Kind: spec.Uniform, Rows: 400}, s, 30)
	for j, want := range known.Uniform[0] {
		if x, err := strconv.ParseFloat(want, 64); err != nil || x != u.At(0, j) {
			t.Errorf("uniform element %d is %x, want %s (%v)", j, u.At(0, j), want, err)
		}
	}
	h := sha256.New()
	for _, x := range u.RawMatrix().Data {
		h.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(x)))
	}
	if sum := hex.EncodeToString(h.Sum(nil)); sum != known.UniformSHA256 {
		t.Errorf("SHA-256 of the uniform anchor is %s, want %s", sum, known.UniformSHA256)
	}

	// The others: to 1e-12, what is promised between machines.
	for kind, want := range map[string][][]float64{spec.Normal: known.Normal, spec.Orthonormal: known.Orthonormal} {
		a := generate(t, anchor.Spec{Kind: kind, Rows: len(want)}, s, len(want[0]))
		for i := range want {
			for j := range want[i] {
				if d := math.Abs(a.At(i, j) - want[i][j]); d > 1e-12 {
					t.Errorf("%s element %d, %d is %g, want %g", kind, i, j, a.At(i, j), want[i][j])
				}
			}
		}
	}
}

// TestStreams: what a common random basis and a sketch are drawn from follows from the seed
// as written here, for as long as its studies live.
func TestStreams(t *testing.T) {
	b := []byte("0123456789abcdef0123456789abcdef")
	s, err := anchor.SeedFromBytes(secret.NewBytes(bytes.Clone(b)))
	if err != nil {
		t.Fatal(err)
	}
	for label, got := range map[string]*rand.ChaCha8{"concord/basis/common/v1": s.CommonBasis(), "concord/pooled/sketch/v1": s.Sketch()} {
		key, err := hkdf.Expand(sha256.New, b, label, 32)
		if err != nil {
			t.Fatal(err)
		}
		want := rand.NewChaCha8([32]byte(key))
		for range 10 {
			if w, g := want.Uint64(), got.Uint64(); w != g {
				t.Fatalf("%s: %x, want %x", label, g, w)
			}
		}
	}
}
