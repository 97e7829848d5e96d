package basis_test

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"concord/basis"
	"concord/basis/spec"
	"concord/linalg"
	"concord/secret"
)

type known struct {
	X, Wide [][]float64
	WidePCA [][]float64 `json:"wide_pca"`
	Dims    []struct {
		Share float64
		L     int
	}
}

func readKnown(t *testing.T) (k known) {
	t.Helper()
	data, err := os.ReadFile("testdata/directions.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &k); err != nil {
		t.Fatal(err)
	}
	if len(k.Dims) == 0 {
		t.Fatal("no dimensions in testdata/directions.json")
	}
	return k
}

// TestDirections holds over shapes that directions are orthonormal, that New's basis
// of the kind is V E with the same source, and that rows do not change.
func TestDirections(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom(basis.DirectionKinds()).Draw(t, "kind")
		n, m := rapid.IntRange(2, 20).Draw(t, "n"), rapid.IntRange(1, 30).Draw(t, "m")
		most := min(n-1, m)
		if kind == spec.Random {
			most = m
		}
		l := rapid.IntRange(1, most).Draw(t, "l")
		seed := rapid.Byte().Draw(t, "seed")
		x := linalg.Normal(n, m, source(seed))
		before := mat.DenseCopyOf(x)
		v, r, err := basis.Directions(kind, secret.NewMatrix(x), l, 0.05, source(seed+1))
		if err != nil {
			t.Fatal(err)
		}
		if !mat.Equal(x, before) {
			t.Fatal("the rows were changed")
		}
		// As in TestProperties, without the product.
		tol := 16 * float64(m+l) * linalg.Eps
		if e := difference(mul(v.Reveal().T(), v.Reveal()), eye(l)); e > tol {
			t.Fatalf("orthonormal to %g only", e)
		}
		if r.Kind != kind || r.Dim != l || r.Features != m || r.Rows != n {
			t.Fatalf("report %+v", r)
		}
		if !slices.Contains([]string{spec.SVD, spec.PCA, spec.Random}, kind) {
			return
		}
		b, _, err := basis.New(spec.Spec{Kind: kind, Dim: l}, secret.NewMatrix(x), basis.Shared{}, source(seed+1))
		if err != nil {
			t.Fatal(err)
		}
		want := v.Reveal()
		if kind != spec.Random {
			want = mul(want, linalg.Haar(l, source(seed+1)))
		}
		if difference(b.Matrix().Reveal(), want) != 0 {
			t.Fatal("New's basis is not V E")
		}
	})
}

// TestPerturbed holds that pca-perturbed is the pca of X + δN, N the first normal
// numbers of the source.
func TestPerturbed(t *testing.T) {
	k := readKnown(t)
	x := dense(k.X)
	for _, delta := range []float64{1e-9, 0.05, 3} {
		v, r, err := basis.Directions(spec.Perturbed, secret.NewMatrix(x), 4, delta, source(5))
		if err != nil {
			t.Fatal(err)
		}
		z := linalg.Normal(30, 7, source(5))
		z.Scale(delta, z)
		z.Add(z, x)
		want, rw, err := basis.Directions(spec.PCA, secret.NewMatrix(z), 4, 0, source(6))
		if err != nil {
			t.Fatal(err)
		}
		if !mat.Equal(v.Reveal(), want.Reveal()) || r.Energy != rw.Energy || r.Rank != rw.Rank {
			t.Errorf("δ %g: not the principal components of X + δN", delta)
		}
		other, _, err := basis.Directions(spec.Perturbed, secret.NewMatrix(x), 4, delta, source(7))
		if err != nil || mat.Equal(v.Reveal(), other.Reveal()) {
			t.Errorf("δ %g: another source gives the same directions (%v)", delta, err)
		}
	}
	// Small noise turns the span by about δ√n over the gap of singular values, above 1.
	pca, _, err := basis.Directions(spec.PCA, secret.NewMatrix(x), 4, 0, source(5))
	if err != nil {
		t.Fatal(err)
	}
	v, _, err := basis.Directions(spec.Perturbed, secret.NewMatrix(x), 4, 1e-6, source(5))
	if err != nil {
		t.Fatal(err)
	}
	p, q := pca.Reveal(), v.Reveal()
	if e := difference(mul(p, p.T()), mul(q, q.T())); e > 1e-4 || e == 0 {
		t.Errorf("δ 1e-6 turns the span by %g", e)
	}
	// Noise is directions too: rows of low rank span all of them.
	flat := mat.NewDense(30, 7, nil)
	if _, r, err := basis.Directions(spec.Perturbed, secret.NewMatrix(flat), 7, 0.05, source(5)); err != nil || r.Rank != 7 {
		t.Errorf("perturbed zeros: rank %d, %v", r.Rank, err)
	}
}

// TestWide compares the principal components of more columns than rows with
// scikit-learn's.
func TestWide(t *testing.T) {
	k := readKnown(t)
	v, _, err := basis.Directions(spec.PCA, secret.NewMatrix(dense(k.Wide)), 4, 0, source(1))
	if err != nil {
		t.Fatal(err)
	}
	// As in TestKnownAnswers.
	if e := difference(mul(v.Reveal(), v.Reveal().T()), dense(k.WidePCA)); e > 1e-12 {
		t.Errorf("V Vᵀ differs by %g", e)
	}
}

// TestMixed holds F = V E for every mix, its span, and that V stays.
func TestMixed(t *testing.T) {
	v := linalg.Stiefel(9, 4, source(1))
	before := mat.DenseCopyOf(v)
	for mix, e := range map[spec.Mix]*mat.Dense{
		spec.None:    eye(4),
		spec.Haar:    linalg.Haar(4, source(2)),
		spec.Normal:  linalg.Normal(4, 4, source(2)),
		spec.Uniform: linalg.Uniform(4, 4, source(2)),
	} {
		if !slices.Contains(spec.Mixes(), mix) {
			t.Errorf("%s is not listed", mix)
		}
		b, err := basis.Mixed(secret.NewMatrix(v), mix, source(2))
		if err != nil {
			t.Fatal(err)
		}
		f := b.Matrix().Reveal()
		if difference(f, mul(v, e)) > 16*linalg.Eps { // four products of numbers below 4
			t.Errorf("%s: F is not V E", mix)
		}
		var outside mat.Dense // (I − V Vᵀ) F
		outside.Mul(v, mul(v.T(), f))
		if d := difference(&outside, f); d > 64*linalg.Eps {
			t.Errorf("%s: F leaves the span of V by %g", mix, d)
		}
		b.Erase()
		if !mat.Equal(v, before) {
			t.Fatalf("%s: V was changed", mix)
		}
	}
	if len(spec.Mixes()) != 4 {
		t.Errorf("%d mixes, 4 are tested", len(spec.Mixes()))
	}
}

func TestDimVariance(t *testing.T) {
	k := readKnown(t)
	x := dense(k.X)
	for _, c := range k.Dims {
		if l, err := basis.DimVariance(secret.NewMatrix(x), c.Share); err != nil || l != c.L {
			t.Errorf("share %g: %d, %v, want %d", c.Share, l, err, c.L)
		}
	}
	shifted := mat.DenseCopyOf(x)
	shifted.Apply(func(_, j int, v float64) float64 { return v + 100*float64(j) }, shifted)
	if l, err := basis.DimVariance(secret.NewMatrix(shifted), 0.95); err != nil || l != 3 {
		t.Errorf("shifted rows: %d, %v, want 3 as before", l, err)
	}
}

func TestDirectionsErrors(t *testing.T) {
	x := rows(10, 4, 4, source(1))
	nan := mat.DenseCopyOf(x)
	nan.Set(6, 2, math.NaN())
	s := secret.NewMatrix
	directions := func(kind string, x *mat.Dense, l int, delta float64) error {
		_, _, err := basis.Directions(kind, s(x), l, delta, source(1))
		return err
	}
	mixed := func(v *mat.Dense, mix spec.Mix) error { _, err := basis.Mixed(s(v), mix, source(1)); return err }
	dim := func(x *mat.Dense, share float64) error { _, err := basis.DimVariance(s(x), share); return err }
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"kind":        {directions("umap", x, 2, 0), `unknown kind "umap", want one of svd, pca, pca-perturbed, random`},
		"no noise":    {directions("pca-perturbed", x, 2, 0), "delta is 0, must be positive and finite"},
		"NaN noise":   {directions("pca-perturbed", x, 2, math.NaN()), "delta is NaN"},
		"infinite":    {directions("pca-perturbed", x, 2, math.Inf(1)), "delta is +Inf"},
		"few rows":    {directions("pca-perturbed", rows(3, 6, 3, source(1)), 3, 1), "dimension 3 exceeds the 2 directions that 3 rows can span after centring"},
		"NaN":         {directions("pca-perturbed", nan, 2, 1), "row 7, column 3 is not a finite number"},
		"no rows":     {directions("svd", nil, 2, 0), "no rows"},
		"dimension":   {directions("random", x, 5, 0), "dimension 5 of 4 features: choose 1 to 4"},
		"mix":         {mixed(x, "cauchy"), `unknown mix "cauchy"`},
		"no V":        {mixed(nil, spec.Haar), "matrix is 0 × 0"},
		"wide V":      {mixed(mat.NewDense(2, 3, nil), spec.Haar), "matrix is 2 × 3"},
		"dependent V": {mixed(rows(6, 3, 2, source(1)), spec.Normal), "matrix of 3 columns has rank 2"},
		"NaN V":       {mixed(nan, spec.None), "row 7, column 3 is not a finite number"},
		"share 0":     {dim(x, 0), "share of the variance is 0"},
		"share 2":     {dim(x, 2), "share of the variance is 2"},
		"share NaN":   {dim(x, math.NaN()), "share of the variance is NaN"},
		"one row":     {dim(rows(1, 4, 1, source(1)), 0.5), "1 × 4 rows have no variance"},
		"NaN rows":    {dim(nan, 0.5), "row 7, column 3 is not a finite number"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) || !strings.HasPrefix(c.err.Error(), "basis: ") {
			t.Errorf("%s: error %v, want one with %q", name, c.err, c.want)
		}
	}
	defer func() {
		if r := recover(); r != "basis: nil source" {
			t.Errorf("without a source: %v", r)
		}
	}()
	basis.Mixed(s(x), spec.None, nil)
}

// TestShared holds that a basis of shared directions is V times a Haar matrix of the
// source, that it is described for the rows, and what is refused.
func TestShared(t *testing.T) {
	src := source(5)
	v := linalg.Stiefel(8, 3, src)
	x := rows(30, 8, 6, src)
	before := mat.DenseCopyOf(v)
	f, about, err := basis.New(spec.Spec{Kind: spec.Common, Dim: 3}, secret.NewMatrix(x), basis.Shared{V: secret.NewMatrix(v)}, source(6))
	if err != nil {
		t.Fatal(err)
	}
	if want := mul(v, linalg.Haar(3, source(6))); !mat.Equal(f.Matrix().Reveal(), want) || !mat.Equal(v, before) {
		t.Error("F is not V E, or V was changed")
	}
	energy := math.Pow(mat.Norm(mul(x, v), 2)/mat.Norm(x, 2), 2)
	if about.Kind != "common" || about.Rank != 6 || about.Dim != 3 || math.Abs(about.Energy-energy) > 1e-13 {
		t.Errorf("%+v, want rank 6 and energy %g", about, energy)
	}
	// A party may have fewer rows than directions.
	if _, about, err = basis.New(spec.Spec{Kind: spec.Common, Dim: 3}, secret.NewMatrix(rows(2, 8, 2, src)), basis.Shared{V: secret.NewMatrix(v)}, src); err != nil || about.Rank != 2 {
		t.Error(about, err)
	}
	crooked := mat.DenseCopyOf(v)
	crooked.Set(0, 0, crooked.At(0, 0)+1e-6)
	nan := mat.DenseCopyOf(v)
	nan.Set(7, 2, math.NaN())
	for _, bad := range []struct {
		v    *mat.Dense
		want string
	}{
		{crooked, "orthonormal to"},
		{nan, "row 8, column 3 is not a finite number"},
		{linalg.Stiefel(7, 3, src), "shared directions are 7 × 3, the rows have 8 columns"},
		{&mat.Dense{}, "0 common directions for a basis of dimension 3"},
	} {
		if _, _, err := basis.New(spec.Spec{Kind: spec.Common, Dim: 3}, secret.NewMatrix(x), basis.Shared{V: secret.NewMatrix(bad.v)}, src); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%v, want %q", err, bad.want)
		}
	}
}
