package basis_test

import (
	"bytes"
	crand "crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"concord/basis"
	"concord/basis/spec"
	_ "concord/internal/repeatable" // the same cases every time
	"concord/linalg"
	"concord/secret"
)

func source(seed byte) *rand.ChaCha8 { return rand.NewChaCha8([32]byte{seed}) }

// rows makes n × m rows of rank at most k around a mean that is not zero.
func rows(n, m, k int, src rand.Source) *mat.Dense {
	x := mat.NewDense(n, m, nil)
	if k > 0 {
		x.Mul(linalg.Normal(n, k, src), linalg.Normal(k, m, src))
	}
	return x
}

func mul(a, b mat.Matrix) *mat.Dense {
	var p mat.Dense
	p.Mul(a, b)
	return &p
}

// difference is the largest element of |a − b|.
func difference(a, b mat.Matrix) float64 {
	var d mat.Dense
	d.Sub(a, b)
	return math.Max(mat.Max(&d), -mat.Min(&d))
}

func eye(n int) *mat.Dense {
	d := mat.NewDense(n, n, nil)
	for i := range n {
		d.Set(i, i, 1)
	}
	return d
}

// TestProperties checks over shapes what every kind promises: columns that are
// orthonormal, the reported sizes, the energy as ‖X F‖²/‖X‖², and that no basis
// of the same size keeps more than svd and pca do.
func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]string{spec.SVD, spec.PCA, spec.Random}).Draw(t, "kind")
		n := rapid.IntRange(2, 30).Draw(t, "n")
		m := rapid.IntRange(1, 12).Draw(t, "m")
		k := rapid.IntRange(1, min(n, m)).Draw(t, "rank")
		src := source(rapid.Byte().Draw(t, "seed"))
		x := rows(n, m, k, src)
		most := m
		switch kind {
		case spec.SVD:
			most = k
		case spec.PCA:
			most = min(k, n-1)
		}
		l := rapid.IntRange(1, most).Draw(t, "l")
		before := mat.DenseCopyOf(x)
		b, r, err := basis.New(spec.Spec{Kind: kind, Dim: l}, secret.NewMatrix(x), basis.Shared{}, src)
		if err != nil {
			t.Fatal(err)
		}
		if !mat.Equal(x, before) {
			t.Fatal("the rows were changed")
		}
		f := b.Matrix().Reveal()
		if bm, bl := b.Dims(); bm != m || bl != l {
			t.Fatalf("basis is %d × %d, want %d × %d", bm, bl, m, l)
		}
		// Orthonormal to a few eps for each of the m + l steps of QR, SVD and product.
		tol := 16 * float64(m+l) * linalg.Eps
		if e := difference(mul(f.T(), f), eye(l)); e > tol {
			t.Fatalf("orthonormal to %g only", e)
		}
		wantRank := k
		if kind == spec.PCA {
			wantRank = min(k, n-1)
		}
		if r.Kind != kind || r.Rows != n || r.Features != m || r.Dim != l || r.Rank != wantRank {
			t.Fatalf("report %+v of rank %d, n %d, m %d, l %d", r, wantRank, n, m, l)
		}
		c := x
		if kind == spec.PCA {
			c = centred(x)
		}
		energy := func(f *mat.Dense) float64 {
			return math.Pow(mat.Norm(mul(c, f), 2)/mat.Norm(c, 2), 2)
		}
		// Energies are sums of n m squares, each exact to a few eps.
		etol := 8 * float64(n*m) * linalg.Eps
		if math.Abs(r.Energy-energy(f)) > etol || r.Energy > 1 {
			t.Fatalf("energy %g, but F keeps %g", r.Energy, energy(f))
		}
		if kind != spec.Random {
			if rival := energy(linalg.Stiefel(m, l, src)); rival > r.Energy+etol {
				t.Fatalf("a random basis keeps %g, this one %g", rival, r.Energy)
			}
			if l == wantRank && math.Abs(r.Energy-1) > etol {
				t.Fatalf("all %d directions keep %g, want 1", l, r.Energy)
			}
		}
		if p := b.Project(secret.NewMatrix(x)); difference(p, mul(x, f)) != 0 {
			t.Fatal("Project is not X F")
		}
	})
}

// centred is X (I − 11ᵀ/n) written the other way round, as a projection.
func centred(x *mat.Dense) *mat.Dense {
	n, _ := x.Dims()
	h := eye(n)
	for i := range n {
		for j := range n {
			h.Set(i, j, h.At(i, j)-1/float64(n))
		}
	}
	return mul(h, x)
}

// TestScramble holds that the columns are turned by a Haar matrix of the
// caller's source: F = V E with E = Haar(l, src) and V repeatable.
func TestScramble(t *testing.T) {
	x := rows(25, 7, 7, source(1))
	for _, kind := range []string{spec.SVD, spec.PCA} {
		_, v, err := linalg.SVDRight(x)
		if kind == spec.PCA {
			_, v, err = linalg.SVDRight(centred(x))
		}
		if err != nil {
			t.Fatal(err)
		}
		b, _, err := basis.New(spec.Spec{Kind: kind, Dim: 3}, secret.NewMatrix(x), basis.Shared{}, source(2))
		if err != nil {
			t.Fatal(err)
		}
		want := mul(v.Slice(0, 7, 0, 3), linalg.Haar(3, source(2)))
		// Singular vectors are exact to eps times the norm over the gap between
		// singular values, which is above 1/100 for these rows.
		if e := difference(b.Matrix().Reveal(), want); e > 100*25*linalg.Eps {
			t.Errorf("%s: differs from V E by %g", kind, e)
		}
	}
}

// TestShift holds that a pca basis does not depend on the mean of the rows and
// an svd basis does.
func TestShift(t *testing.T) {
	x := rows(25, 7, 7, source(1))
	y := mat.DenseCopyOf(x)
	for i := range 25 {
		for j := range 7 {
			y.Set(i, j, y.At(i, j)+10*float64(j))
		}
	}
	for kind, want := range map[string]bool{spec.PCA: true, spec.SVD: false} {
		a, ra, err := basis.New(spec.Spec{Kind: kind, Dim: 3}, secret.NewMatrix(x), basis.Shared{}, source(2))
		if err != nil {
			t.Fatal(err)
		}
		b, rb, err := basis.New(spec.Spec{Kind: kind, Dim: 3}, secret.NewMatrix(y), basis.Shared{}, source(2))
		if err != nil {
			t.Fatal(err)
		}
		// As in TestScramble, with rounding relative to the shift of 60.
		same := difference(a.Matrix().Reveal(), b.Matrix().Reveal()) < 100*60*25*linalg.Eps && math.Abs(ra.Energy-rb.Energy) < 100*60*25*linalg.Eps
		if same != want {
			t.Errorf("%s: the same basis after a shift: %t, want %t", kind, same, want)
		}
	}
}

// TestKnownAnswers compares span and energy with NumPy and scikit-learn.
func TestKnownAnswers(t *testing.T) {
	data, err := os.ReadFile("testdata/known.json")
	if err != nil {
		t.Fatal(err)
	}
	var known struct {
		Cases []struct {
			Name        string
			X, SVD, PCA [][]float64
			L           int
			SVDEnergy   float64 `json:"svd_energy"`
			PCAEnergy   float64 `json:"pca_energy"`
		}
	}
	if err := json.Unmarshal(data, &known); err != nil {
		t.Fatal(err)
	}
	for _, c := range known.Cases {
		for _, k := range []struct {
			kind   string
			span   [][]float64
			energy float64
		}{{spec.SVD, c.SVD, c.SVDEnergy}, {spec.PCA, c.PCA, c.PCAEnergy}} {
			b, r, err := basis.New(spec.Spec{Kind: k.kind, Dim: c.L}, secret.NewMatrix(dense(c.X)), basis.Shared{}, source(1))
			if err != nil {
				t.Fatal(err)
			}
			f := b.Matrix().Reveal()
			// 1e-12: eps times the norm over the smallest gap of singular values
			// (about 1/50), with room for two SVD codes.
			if e := difference(mul(f, f.T()), dense(k.span)); e > 1e-12 {
				t.Errorf("%s %s: F Fᵀ differs by %g", c.Name, k.kind, e)
			}
			if math.Abs(r.Energy-k.energy) > 1e-12 {
				t.Errorf("%s %s: energy %g, want %g", c.Name, k.kind, r.Energy, k.energy)
			}
		}
	}
}

func dense(rows [][]float64) *mat.Dense {
	m := mat.NewDense(len(rows), len(rows[0]), nil)
	for i, r := range rows {
		m.SetRow(i, r)
	}
	return m
}

func TestErrors(t *testing.T) {
	full := rows(10, 4, 4, source(1))
	nan := mat.DenseCopyOf(full)
	nan.Set(6, 2, math.NaN())
	constant := mat.NewDense(10, 3, nil)
	for i := range 10 {
		constant.SetRow(i, []float64{0.1, 0.7, 1e6 + 0.3})
	}
	for _, c := range []struct {
		name string
		kind string
		x    *mat.Dense
		l    int
		want string
	}{
		{"unknown kind", "umap", full, 2, `unknown kind "umap", want one of svd, pca, pca-perturbed, scrambled, random, common-random, common`},
		{"no rows", "svd", nil, 2, "no rows"},
		{"zero dimension", "svd", full, 0, "dimension 0 of 4 features: choose 1 to 4"},
		{"dimension above m", "random", full, 5, "dimension 5 of 4 features: choose 1 to 4"},
		{"NaN", "pca", nan, 2, "row 7, column 3 is not a finite number"},
		{"NaN for random", "random", nan, 2, "row 7, column 3 is not a finite number"},
		{"few rows, svd", "svd", rows(2, 6, 2, source(1)), 3, "dimension 3 exceeds the 2 directions that 2 rows can span: choose at most 2"},
		{"few rows, pca", "pca", rows(3, 6, 3, source(1)), 3, "dimension 3 exceeds the 2 directions that 3 rows can span after centring: choose at most 2"},
		{"one row, pca", "pca", rows(1, 6, 1, source(1)), 1, "exceeds the 0 directions that 1 rows can span"},
		{"low rank", "svd", rows(9, 5, 2, source(1)), 3, "dimension 3 exceeds the rank 2 of 9 rows of 5 features: choose at most 2"},
		{"constant rows, pca", "pca", constant, 1, "dimension 1 exceeds the rank 0 of 10 rows of 3 features after centring"},
		{"zero rows", "svd", mat.NewDense(5, 2, nil), 1, "exceeds the rank 0"},
	} {
		if _, _, err := basis.New(spec.Spec{Kind: c.kind, Dim: c.l}, secret.NewMatrix(c.x), basis.Shared{}, source(1)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
	// A random basis needs no rank.
	if _, r, err := basis.New(spec.Spec{Kind: "random", Dim: 2}, secret.NewMatrix(mat.NewDense(5, 2, nil)), basis.Shared{}, source(1)); err != nil || r.Energy != 0 || r.Rank != 0 {
		t.Errorf("random basis for zero rows: %+v, %v", r, err)
	}
}

func TestFromMatrix(t *testing.T) {
	b, _, err := basis.New(spec.Spec{Kind: "svd", Dim: 2}, secret.NewMatrix(rows(10, 4, 4, source(1))), basis.Shared{}, source(1))
	if err != nil {
		t.Fatal(err)
	}
	back, err := basis.FromMatrix(b.Matrix())
	if err != nil || !mat.Equal(back.Matrix().Reveal(), b.Matrix().Reveal()) {
		t.Errorf("a stored basis does not come back: %v", err)
	}
	for name, c := range map[string]struct {
		f    *mat.Dense
		want string
	}{
		"empty": {nil, "matrix is 0 × 0"},
		"wide":  {mat.NewDense(2, 3, nil), "matrix is 2 × 3"},
		"zero":  {mat.NewDense(3, 2, nil), "has rank 0"},
		"NaN":   {mat.NewDense(2, 1, []float64{1, math.NaN()}), "row 2, column 1 is not a finite number"},
	} {
		if _, err := basis.FromMatrix(secret.NewMatrix(c.f)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
	b.Erase()
	if mat.Norm(back.Matrix().Reveal(), 2) != 0 {
		t.Error("Erase left a value")
	}
}

func TestProjectMisuse(t *testing.T) {
	b, err := basis.FromMatrix(secret.NewMatrix(linalg.Stiefel(4, 2, source(1))))
	if err != nil {
		t.Fatal(err)
	}
	if p := b.Project(secret.Matrix{}); !p.IsEmpty() {
		t.Error("no rows project to some")
	}
	for name, f := range map[string]func(){
		"x has 5 columns, the basis takes 4": func() { b.Project(secret.NewMatrix(mat.NewDense(1, 5, nil))) },
		"nil source":                         func() { _, _, _ = basis.New(spec.Spec{Kind: "svd", Dim: 1}, secret.Matrix{}, basis.Shared{}, nil) },
	} {
		func() {
			defer func() {
				if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), name) {
					t.Errorf("recovered %v, want a panic with %q", r, name)
				}
			}()
			f()
		}()
	}
}

// TestNewSource: the source is ChaCha8 with 32 bytes of the operating system's entropy as
// its seed, all of them, and each time others. Comparing what sources draw would tell
// little: a seed of 2 bytes gives 65,536 different ones.
func TestNewSource(t *testing.T) {
	entropy := make([]byte, 64)
	for i := range entropy {
		entropy[i] = byte(i + 1)
	}
	before := crand.Reader
	crand.Reader = bytes.NewReader(entropy)
	defer func() { crand.Reader = before }()
	for i := range 2 {
		got, want := basis.NewSource(), rand.NewChaCha8([32]byte(entropy[32*i:]))
		for range 4 {
			if got.Uint64() != want.Uint64() {
				t.Fatalf("source %d is not seeded with the %d bytes of entropy that are its own", i+1, 32)
			}
		}
	}
}

func TestPrintsNothing(t *testing.T) {
	b, err := basis.FromMatrix(secret.NewMatrix(mat.NewDense(2, 1, []float64{31.25, 31.25})))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%g"} {
		fmt.Fprintf(&out, verb+verb+verb+verb+"\n", b, *b, struct{ B *basis.Basis }{b}, struct{ b basis.Basis }{*b})
	}
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "basis", b)
	if strings.Contains(out.String(), "31.25") {
		t.Errorf("the basis was printed: %s", out.String())
	}
	if !strings.Contains(out.String(), "secret(2 × 1 matrix)") {
		t.Errorf("the size is not printed: %s", out.String())
	}
	if _, err := json.Marshal(b); !errors.Is(err, secret.ErrEncode) {
		t.Errorf("json.Marshal: %v", err)
	}
	if _, err := b.MarshalBinary(); !errors.Is(err, secret.ErrEncode) {
		t.Errorf("MarshalBinary: %v", err)
	}
}

// seed gives the same directions again and again.
type seed byte

func (s seed) CommonBasis() *rand.ChaCha8 { return source(byte(s)) }

// TestKinds: whatever kind a contract may name is made, of its own size and name; directions
// that are common span the same for two parties, others do not.
func TestKinds(t *testing.T) {
	shared := basis.Shared{Seed: seed(7), V: secret.NewMatrix(linalg.Stiefel(6, 3, source(8)))}
	for _, kind := range spec.Kinds() {
		s := spec.Spec{Kind: kind}.Defaults(6)
		s.Dim = 3
		var f [2]*mat.Dense
		for i := range f {
			b, r, err := basis.New(s, secret.NewMatrix(rows(30, 6, 6, source(byte(i)))), shared, source(byte(10+i)))
			if err != nil {
				t.Fatal(kind, err)
			}
			f[i] = b.Matrix().Reveal()
			if m, l := b.Dims(); m != 6 || l != 3 || r.Kind != kind || r.Dim != 3 || r.Rank != 6 {
				t.Errorf("%s: %d × %d, %+v", kind, m, l, r)
			}
		}
		var both mat.Dense
		both.Augment(f[0], f[1])
		rank, err := linalg.Rank(&both, 1e-9) // far above rounding, far below a random angle
		if k, _ := spec.Named(kind); err != nil || (rank == 3) != (k.From != spec.Own) {
			t.Errorf("%s: two parties' bases span %d directions, %v", kind, rank, err)
		}
	}
}
