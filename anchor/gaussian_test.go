package anchor_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/anchor"
	"concord/linalg"
	"concord/secret"
)

// pairs are the pooled moments of parties that each have some columns of rows of one law.
func pairs(m int, parties []*mat.Dense, has [][]int) anchor.Pairs {
	p := anchor.Pairs{Sums: mat.NewSymDense(m, nil), Counts: mat.NewSymDense(m, nil)}
	for i, x := range parties {
		n, _ := x.Dims()
		for _, j := range has[i] {
			for _, k := range has[i] {
				if k > j {
					continue
				}
				p.Sums.SetSym(j, k, p.Sums.At(j, k)+mat.Dot(x.ColView(j), x.ColView(k)))
				p.Counts.SetSym(j, k, p.Counts.At(j, k)+float64(n))
			}
		}
	}
	return p
}

func all(m int) []int {
	out := make([]int, m)
	for j := range out {
		out[j] = j
	}
	return out
}

func gaussianSeed(t *testing.T, b byte) anchor.Seed {
	t.Helper()
	key := make([]byte, anchor.SeedSize)
	key[0] = b
	s, err := anchor.SeedFromBytes(secret.NewBytes(key))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// correlated rows of m columns, made of three hidden ones and noise.
func correlated(n, m int, rnd rand.Source) *mat.Dense {
	var x mat.Dense
	x.Mul(linalg.Normal(n, 3, rnd), linalg.Normal(3, m, rand.NewChaCha8([32]byte{91})))
	x.Add(&x, linalg.Normal(n, m, rnd))
	return &x
}

// TestCovarianceWhole: where every party has all columns C is that of all rows.
func TestCovarianceWhole(t *testing.T) {
	const m = 6
	rnd := rand.NewChaCha8([32]byte{92})
	x, y := correlated(40, m, rnd), correlated(70, m, rnd)
	c, about, err := anchor.Covariance(pairs(m, []*mat.Dense{x, y}, [][]int{all(m), all(m)}))
	if err != nil {
		t.Fatal(err)
	}
	var stacked, want mat.Dense
	stacked.Stack(x, y)
	want.Mul(stacked.T(), &stacked)
	want.Scale(1./110, &want)
	if !mat.EqualApprox(c, &want, 1e-12*mat.Norm(&want, 2)) || about != (anchor.Completed{}) {
		t.Errorf("C is %.3e off, %+v", off(c, &want), about)
	}
}

func off(a, b mat.Matrix) float64 {
	var d mat.Dense
	d.Sub(a, b)
	return mat.Norm(&d, 2)
}

// TestCovarianceCompletes: pairs that nobody has get the closed form of the law of most
// entropy, C_ab = C_as C_ss⁻¹ C_sb, where two views share the columns s; C⁻¹ is 0 there.
func TestCovarianceCompletes(t *testing.T) {
	const m = 9
	rnd := rand.NewChaCha8([32]byte{93})
	x := correlated(200, m, rnd)
	views := [][]int{{0, 1, 2, 3, 4, 5}, {3, 4, 5, 6, 7, 8}}
	// The same rows in both views: figures that fit each other exactly.
	p := pairs(m, []*mat.Dense{x, x}, views)
	c, about, err := anchor.Covariance(p)
	if err != nil {
		t.Fatal(err)
	}
	if about.Missing != 9 || about.Blind != 0 || about.Shrunk != 0 {
		t.Errorf("%+v, want 9 missing pairs, none of them blind", about)
	}
	sub := func(rows, cols []int) *mat.Dense {
		out := mat.NewDense(len(rows), len(cols), nil)
		for i, j := range rows {
			for k, l := range cols {
				out.Set(i, k, p.Sums.At(j, l)/p.Counts.At(j, l))
			}
		}
		return out
	}
	a, s, b := []int{0, 1, 2}, []int{3, 4, 5}, []int{6, 7, 8}
	var beta, want mat.Dense
	if err := beta.Solve(sub(s, s), sub(s, b)); err != nil {
		t.Fatal(err)
	}
	want.Mul(sub(a, s), &beta)
	got := c.SliceSym(0, m).(*mat.SymDense)
	for i := range a {
		for k := range b {
			if d := math.Abs(got.At(a[i], b[k]) - want.At(i, k)); d > 1e-10 {
				t.Errorf("C of columns %d and %d is %.2e off the closed form", a[i]+1, b[k]+1, d)
			}
		}
	}
	var inverse mat.Dense
	if err := inverse.Inverse(c); err != nil {
		t.Fatal(err)
	}
	for _, i := range a {
		for _, k := range b {
			if v := math.Abs(inverse.At(i, k)); v > 1e-9 {
				t.Errorf("the inverse is %.2e at columns %d and %d, which nobody has together", v, i+1, k+1)
			}
		}
	}
}

// TestCovarianceBlind: nothing relates disjoint views, and that is said.
func TestCovarianceBlind(t *testing.T) {
	const m = 6
	rnd := rand.NewChaCha8([32]byte{94})
	x, y := correlated(50, m, rnd), correlated(50, m, rnd)
	c, about, err := anchor.Covariance(pairs(m, []*mat.Dense{x, y}, [][]int{{0, 1, 2}, {3, 4, 5}}))
	if err != nil {
		t.Fatal(err)
	}
	if about.Missing != 9 || about.Blind != 9 {
		t.Errorf("%+v, want 9 missing pairs, all blind", about)
	}
	if v := mat.Norm(c.SliceSym(0, m).(*mat.SymDense), 2); v == 0 {
		t.Error("C is zero")
	}
	for j := range 3 {
		for k := 3; k < 6; k++ {
			if c.At(j, k) != 0 {
				t.Errorf("C of columns %d and %d is %g, nothing is known of it", j+1, k+1, c.At(j, k))
			}
		}
	}
}

// TestCovarianceDisagreeing: figures of different rows that fit no law are shrunk until
// some law has them. Three columns of correlations .9, .9 and −.9, each of other rows,
// have none; with a fourth, unrelated one some pair is missing.
func TestCovarianceDisagreeing(t *testing.T) {
	sums, counts := mat.NewSymDense(4, nil), mat.NewSymDense(4, nil)
	for j := range 4 {
		for k := range j + 1 {
			counts.SetSym(j, k, 100)
		}
		sums.SetSym(j, j, 100)
	}
	sums.SetSym(0, 1, 90)
	sums.SetSym(1, 2, 90)
	sums.SetSym(0, 2, -90)
	for name, missing := range map[string]bool{"all pairs": false, "a missing pair": true} {
		counts.SetSym(3, 0, 100)
		if missing {
			counts.SetSym(3, 0, 0)
		}
		c, about, err := anchor.Covariance(anchor.Pairs{Sums: sums, Counts: counts})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if missing && about.Shrunk == 0 || !missing && about.Floored == 0 {
			t.Errorf("%s: %+v", name, about)
		}
		var chol mat.Cholesky
		if !chol.Factorize(c) {
			t.Errorf("%s: C is not positive definite", name)
		}
	}
}

func TestCovarianceRefuses(t *testing.T) {
	good := func() anchor.Pairs {
		return pairs(3, []*mat.Dense{correlated(20, 3, rand.NewChaCha8([32]byte{95}))}, [][]int{all(3)})
	}
	for _, tc := range []struct {
		want   string
		change func(*anchor.Pairs)
	}{
		{"moments and their counts are missing", func(p *anchor.Pairs) { p.Counts = nil }},
		{"of different sizes", func(p *anchor.Pairs) { p.Counts = mat.NewSymDense(2, nil) }},
		{"2 pooled means for 3 columns", func(p *anchor.Pairs) { p.Means = make([]float64, 2) }},
		{"nobody has column 2", func(p *anchor.Pairs) { p.Counts.SetSym(1, 1, 0) }},
		{"moments of column 3 are not finite", func(p *anchor.Pairs) { p.Sums.SetSym(2, 2, math.NaN()) }},
		{"moments of columns 3 and 1 are not finite", func(p *anchor.Pairs) { p.Sums.SetSym(2, 0, math.NaN()) }},
		{"count of columns 3 and 1 is no count", func(p *anchor.Pairs) { p.Counts.SetSym(2, 0, math.Inf(1)) }},
	} {
		p := good()
		tc.change(&p)
		if _, _, err := anchor.Covariance(p); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("error %v, want %q", err, tc.want)
		}
	}
	p := good()
	if _, _, err := anchor.Gaussian(gaussianSeed(t, 1), p, 2); err == nil || !strings.Contains(err.Error(), "2 rows for 3 features") {
		t.Errorf("too few rows: %v", err)
	}
	if _, _, err := anchor.Gaussian(anchor.Seed{}, p, 9); err == nil {
		t.Error("no seed is taken")
	}
}

// TestConstantColumn: a level that nobody has is an independent column, and the others
// are as without it.
func TestConstantColumn(t *testing.T) {
	x := correlated(50, 3, rand.NewChaCha8([32]byte{97}))
	with := mat.NewDense(50, 4, nil)
	for i := range 50 {
		with.SetRow(i, append(append([]float64(nil), x.RawRowView(i)...), 0))
	}
	want, _, err := anchor.Covariance(pairs(3, []*mat.Dense{x}, [][]int{all(3)}))
	if err != nil {
		t.Fatal(err)
	}
	got, about, err := anchor.Covariance(pairs(4, []*mat.Dense{with}, [][]int{all(4)}))
	if err != nil || about.Constant != 1 {
		t.Fatalf("%+v, %v", about, err)
	}
	for j := range 4 {
		for k := range j + 1 {
			expected := 0.0
			switch {
			case j < 3:
				expected = want.At(j, k)
			case k == 3:
				expected = 1
			}
			if math.Abs(got.At(j, k)-expected) > 1e-12 {
				t.Errorf("covariance of %d and %d is %v, want %v", j+1, k+1, got.At(j, k), expected)
			}
		}
	}
}

// TestGaussian: the anchor has the pooled means and covariances, as 40,000 rows show them:
// entries of the sample covariance have a deviation of at most √2·max C/200, and 21 of
// them lie beyond 5.5 deviations with a probability of 8e-7. Another seed is another
// anchor, the same is the same.
func TestGaussian(t *testing.T) {
	const m, rows = 6, 40_000
	x := correlated(300, m, rand.NewChaCha8([32]byte{96}))
	p := pairs(m, []*mat.Dense{x}, [][]int{all(m)})
	p.Means = []float64{1, -2, 0, 0, 3, 0}
	for j := range m { // moments around 0, of columns with these means
		for k := range j + 1 {
			p.Sums.SetSym(j, k, p.Sums.At(j, k)+300*p.Means[j]*p.Means[k])
		}
	}
	c, _, err := anchor.Covariance(p)
	if err != nil {
		t.Fatal(err)
	}
	a, _, err := anchor.Gaussian(gaussianSeed(t, 7), p, rows)
	if err != nil {
		t.Fatal(err)
	}
	largest := mat.Max(c)
	bound := 5.5 * math.Sqrt(2) * largest / math.Sqrt(rows)
	for j := range m {
		if d := math.Abs(mat.Sum(a.Reveal().ColView(j))/rows - p.Means[j]); d > bound {
			t.Errorf("the mean of column %d is %.3f off", j+1, d)
		}
		for k := range j + 1 {
			v := mat.Dot(a.Reveal().ColView(j), a.Reveal().ColView(k))/rows - p.Means[j]*p.Means[k]
			if d := math.Abs(v - c.At(j, k)); d > bound*(1+math.Abs(p.Means[j])+math.Abs(p.Means[k])) {
				t.Errorf("the covariance of columns %d and %d is %.3f off", j+1, k+1, d)
			}
		}
	}
	again, _, err := anchor.Gaussian(gaussianSeed(t, 7), p, rows)
	if err != nil || !mat.Equal(a.Reveal(), again.Reveal()) {
		t.Errorf("the same seed and moments make another anchor: %v", err)
	}
	other, _, err := anchor.Gaussian(gaussianSeed(t, 8), p, rows)
	if err != nil || mat.Equal(a.Reveal(), other.Reveal()) {
		t.Errorf("another seed makes the same anchor: %v", err)
	}
}
