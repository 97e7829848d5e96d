package anchor_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/anchor"
	"concord/anchor/spec"
	"concord/linalg"
	"concord/secret"
)

// share makes the i-th of a list of shares that differ in key and entropy.
func share(i byte) anchor.Share {
	return anchor.Share{
		Key:     bytes.Repeat([]byte{i}, 32),
		Entropy: secret.NewBytes(bytes.Repeat([]byte{100 + i}, 32)),
	}
}

func seed(t *testing.T) anchor.Seed {
	t.Helper()
	s, err := anchor.DeriveSeed([32]byte{1}, []anchor.Share{share(1), share(2), share(3)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestDeriveSeed holds that the order of shares does not matter and that
// everything else does.
func TestDeriveSeed(t *testing.T) {
	want := seed(t).ID()
	same, err := anchor.DeriveSeed([32]byte{1}, []anchor.Share{share(3), share(1), share(2)})
	if err != nil || same.ID() != want {
		t.Errorf("another order of shares gives another seed (%v)", err)
	}
	entropy := share(2)
	entropy.Entropy.Reveal()[31] ^= 1
	for name, c := range map[string]struct {
		epoch  [32]byte
		shares []anchor.Share
	}{
		"epoch":   {[32]byte{2}, []anchor.Share{share(1), share(2), share(3)}},
		"fewer":   {[32]byte{1}, []anchor.Share{share(1), share(2)}},
		"more":    {[32]byte{1}, []anchor.Share{share(1), share(2), share(3), share(4)}},
		"other":   {[32]byte{1}, []anchor.Share{share(1), share(2), share(4)}},
		"entropy": {[32]byte{1}, []anchor.Share{share(1), entropy, share(3)}},
		"swapped": {[32]byte{1}, []anchor.Share{{Key: share(1).Key, Entropy: share(2).Entropy}, {Key: share(2).Key, Entropy: share(1).Entropy}, share(3)}},
	} {
		s, err := anchor.DeriveSeed(c.epoch, c.shares)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if s.ID() == want {
			t.Errorf("%s: the seed did not change", name)
		}
	}
}

func TestDeriveSeedErrors(t *testing.T) {
	short, thin, zero := share(2), share(2), share(2)
	short.Key = short.Key[:31]
	thin.Entropy = secret.NewBytes(make([]byte, 16))
	zero.Entropy.Erase()
	for _, c := range []struct {
		name   string
		shares []anchor.Share
		want   string
	}{
		{"none", nil, "0 shares: at least 2"},
		{"one", []anchor.Share{share(1)}, "1 shares: at least 2"},
		{"duplicate", []anchor.Share{share(1), share(2), share(1)}, "two shares have the key 0101010101010101"},
		{"short key", []anchor.Share{share(1), short}, "has 31 bytes, want 32"},
		{"no key", []anchor.Share{share(1), {Entropy: share(2).Entropy}}, "has 0 bytes, want 32"},
		{"short entropy", []anchor.Share{share(1), thin}, "has 16 bytes, want 32"},
		{"erased entropy", []anchor.Share{share(1), zero}, "all zero"},
	} {
		if _, err := anchor.DeriveSeed([32]byte{}, c.shares); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
}

func TestSeedStorage(t *testing.T) {
	s := seed(t)
	id := s.ID()
	back, err := anchor.SeedFromBytes(secret.NewBytes(bytes.Clone(s.Bytes().Reveal())))
	if err != nil || back.ID() != id {
		t.Errorf("a stored seed does not come back (%v)", err)
	}
	if _, err := anchor.SeedFromBytes(secret.NewBytes(make([]byte, 31))); err == nil || !strings.Contains(err.Error(), "31 bytes, want 32") {
		t.Errorf("31 bytes: %v", err)
	}
	alias := s
	alias.Erase()
	if _, err := anchor.SeedFromBytes(s.Bytes()); err == nil || !strings.Contains(err.Error(), "erased") {
		t.Errorf("erased seed: %v", err)
	}
	for name, s := range map[string]anchor.Seed{"zero": {}, "erased": s} {
		if _, err := anchor.Generate(anchor.Spec{Kind: spec.Uniform}, s, 3); err == nil {
			t.Errorf("%s seed generates an anchor", name)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s seed has a name", name)
				}
			}()
			s.ID()
		}()
	}
}

func TestSeedPrintsNothing(t *testing.T) {
	s := seed(t)
	var out strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&out, verb+verb+verb+"\n", s, struct{ S anchor.Seed }{s}, struct{ s anchor.Seed }{s})
	}
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "seed", s)
	b := s.Bytes().Reveal()
	for _, leak := range []string{hex.EncodeToString(b), strings.Trim(fmt.Sprint(b[:4]), "[]"), fmt.Sprintf("%q", b)[1:12], fmt.Sprintf("%#v", b[:3])[7:18]} {
		if strings.Contains(out.String(), leak) {
			t.Errorf("the seed was printed: found %q", leak)
		}
	}
	if !strings.Contains(out.String(), "secret(32 bytes)") {
		t.Errorf("the size is not printed: %s", out.String())
	}
	if _, err := json.Marshal(s); !errors.Is(err, secret.ErrEncode) {
		t.Errorf("json.Marshal: %v", err)
	}
	if _, err := s.MarshalBinary(); !errors.Is(err, secret.ErrEncode) {
		t.Errorf("MarshalBinary: %v", err)
	}
}

func TestResolve(t *testing.T) {
	for _, c := range []struct {
		spec anchor.Spec
		m    int
		rows int
		err  string
	}{
		{anchor.Spec{Kind: "orthonormal"}, 30, 30, ""},
		{anchor.Spec{Kind: "uniform"}, 30, 1000, ""},
		{anchor.Spec{Kind: "uniform"}, 784, 1568, ""},
		{anchor.Spec{Kind: "normal"}, 1, 1000, ""},
		{anchor.Spec{Kind: "normal", Rows: 5}, 5, 5, ""},
		{anchor.Spec{Kind: "normal", Rows: 4}, 5, 0, "4 rows for 5 features: the anchor needs rank 5, so give at least 5 rows"},
		{anchor.Spec{Kind: "normal", Rows: -1}, 5, 0, "-1 rows"},
		{anchor.Spec{Kind: "smooth"}, 5, 0, `unknown kind "smooth", want one of orthonormal, uniform, normal`},
		{anchor.Spec{}, 5, 0, `unknown kind ""`},
		{anchor.Spec{Kind: "uniform"}, 0, 0, "0 columns"},
		{anchor.Spec{Kind: "uniform", Rows: math.MaxInt}, 5, 0, "exceed the limit"},
		{anchor.Spec{Kind: "uniform", Rows: spec.MaxElements}, 2, 0, "exceed the limit"},
		{anchor.Spec{Kind: "uniform"}, math.MaxInt, 0, "exceed the limit"},
		{anchor.Spec{Kind: "orthonormal"}, 20000, 0, "20000 rows of 20000 features exceed the limit"},
	} {
		got, err := c.spec.Resolve(c.m)
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%+v for %d columns: error %v, want one with %q", c.spec, c.m, err, c.err)
			}
			if _, err := anchor.Generate(c.spec, seed(t), c.m); err == nil {
				t.Errorf("%+v for %d columns was generated", c.spec, c.m)
			}
		case err != nil || got.Rows != c.rows || got.Kind != c.spec.Kind:
			t.Errorf("%+v for %d columns resolves to %+v, %v, want %d rows", c.spec, c.m, got, err, c.rows)
		}
	}
}

// TestGenerate checks what every kind promises over shapes: size, rank m,
// repeatability, dependence on the seed; and each kind's own property.
func TestGenerate(t *testing.T) {
	other, err := anchor.DeriveSeed([32]byte{2}, []anchor.Share{share(1), share(2)})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range spec.Seeded() {
		for _, s := range [][2]int{{1, 1}, {5, 1}, {6, 6}, {40, 7}, {0, 4}} {
			of := anchor.Spec{Kind: kind, Rows: s[0]}
			t.Run(fmt.Sprintf("%s %d x %d", kind, s[0], s[1]), func(t *testing.T) {
				a := generate(t, of, seed(t), s[1])
				resolved, err := of.Resolve(s[1])
				if err != nil {
					t.Fatal(err)
				}
				if r, c := a.Dims(); r != resolved.Rows || c != s[1] {
					t.Fatalf("shape %d × %d, want %d × %d", r, c, resolved.Rows, s[1])
				}
				if rank, err := linalg.Rank(a, 0); err != nil || rank != s[1] {
					t.Errorf("rank %d, %v, want %d", rank, err, s[1])
				}
				if !mat.Equal(a, generate(t, of, seed(t), s[1])) {
					t.Error("a second time gives another anchor")
				}
				if mat.Equal(a, generate(t, of, other, s[1])) && a.RawMatrix().Cols > 1 {
					t.Error("another seed gives the same anchor")
				}
				switch kind {
				case spec.Uniform:
					if mat.Min(a) < 0 || mat.Max(a) >= 1 {
						t.Error("an element is outside [0, 1)")
					}
				case spec.Orthonormal:
					var gram mat.Dense
					gram.Mul(a.T(), a)
					for i := range s[1] {
						gram.Set(i, i, gram.At(i, i)-float64(resolved.Rows))
					}
					// Householder Q is orthonormal to a few (a + m)·2⁻⁵²; AᵀA = a QᵀQ.
					if e := mat.Max(&gram) / float64(resolved.Rows); e > 8*float64(resolved.Rows+s[1])*linalg.Eps {
						t.Errorf("AᵀA differs from a·I by %g of a", e)
					}
				}
			})
		}
	}
}

// TestKindsDiffer holds that the kinds do not share a stream: a known uniform
// anchor tells nothing about the normal one.
func TestKindsDiffer(t *testing.T) {
	u := generate(t, anchor.Spec{Kind: "uniform", Rows: 4}, seed(t), 2)
	n := generate(t, anchor.Spec{Kind: "normal", Rows: 4}, seed(t), 2)
	// With one stream, the sign of every normal number would say whether its
	// uniform number is above one half (unless its pair was rejected).
	q := generate(t, anchor.Spec{Kind: "orthonormal", Rows: 4}, seed(t), 2)
	if mat.Equal(u, n) || mat.Equal(n, q) {
		t.Error("two kinds give the same anchor")
	}
	x, y := 2*u.At(0, 0)-1, 2*u.At(0, 1)-1
	if r := x*n.At(0, 1) - y*n.At(0, 0); math.Abs(r) < 1e-9 {
		t.Error("the first normal pair is a multiple of the first uniform pair: one stream for two kinds")
	}
}

func generate(t *testing.T, of anchor.Spec, s anchor.Seed, m int) *mat.Dense {
	t.Helper()
	a, err := anchor.Generate(of, s, m)
	if err != nil {
		t.Fatal(err)
	}
	return a.Reveal()
}

// TestNew: whatever kind a contract may name is made, of what the parties share, the same
// twice; and what is missing is said.
func TestNew(t *testing.T) {
	src := rand.NewChaCha8([32]byte{3})
	const m = 4
	sums, counts := mat.NewSymDense(m, nil), mat.NewSymDense(m, nil)
	for i := range m {
		for j := range i + 1 {
			counts.SetSym(i, j, 1)
		}
		sums.SetSym(i, i, 1)
	}
	all := anchor.Shared{
		Seed:   seed(t),
		Public: linalg.Normal(20, m, src),
		Pieces: []secret.Matrix{secret.NewMatrix(linalg.Normal(9, m, src)), secret.NewMatrix(linalg.Normal(9, m, src))},
		Pairs:  anchor.Pairs{Sums: sums, Counts: counts},
	}
	for _, kind := range spec.Kinds() {
		of := spec.Spec{Kind: kind, Rows: 12}
		a, err := anchor.New(of, all, m)
		if err != nil {
			t.Fatal(kind, err)
		}
		again, err := anchor.New(of, all, m)
		if r, c := a.Dims(); err != nil || r != 12 || c != m || !mat.Equal(a.Reveal(), again.Reveal()) {
			t.Errorf("%s: %d × %d, or another one the second time, %v", kind, r, c, err)
		}
		if _, err := anchor.New(of, anchor.Shared{Seed: all.Seed}, m); (err == nil) != of.Seeded() {
			t.Errorf("%s of a seed alone: %v", kind, err)
		}
		if _, err := anchor.New(of, anchor.Shared{Public: all.Public, Pieces: all.Pieces, Pairs: all.Pairs}, m); err == nil {
			t.Errorf("%s was made without a seed", kind)
		}
	}
	if _, err := anchor.New(spec.Spec{Kind: spec.SMOTE, Rows: 12}, all, m+1); err == nil || !strings.Contains(err.Error(), "piece 1 of the anchor has 4 columns, must have 5") {
		t.Errorf("pieces of another width: %v", err)
	}
}
