package privacy_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
	"concord/privacy"
)

// skewed are n rows of m features: independent exponential factors about their mean,
// whose deviation falls by ratio, seen through one fixed orthogonal matrix.
func skewed(n, m int, ratio float64, src rand.Source) *mat.Dense {
	rng := rand.New(src)
	s := mat.NewDense(n, m, nil)
	for i := range n {
		for j := range m {
			s.Set(i, j, math.Pow(ratio, float64(j))*(rng.ExpFloat64()-1))
		}
	}
	var x mat.Dense
	x.Mul(s, linalg.Haar(m, rand.NewPCG(99, uint64(m))))
	return &x
}

// TestMatchPCA: a second sample of 2000 rows reads rows behind an orthonormally
// scrambled basis of principal axes nearly as well as the basis itself would.
func TestMatchPCA(t *testing.T) {
	src := rand.NewPCG(8, 1)
	x, public := skewed(1500, 12, 0.7, src), skewed(2000, 12, 0.7, src)
	f := principal(t, x, 6, src)
	z := image(x, f)
	match, err := privacy.MatchPCA(z, public, src)
	if err != nil {
		t.Fatal(err)
	}
	got, err := match.Judge(x, z, src)
	if err != nil {
		t.Fatal(err)
	}
	var projection, missing mat.Dense
	projection.Mul(z, f.T())
	missing.Sub(&projection, x)
	left := mat.Norm(&missing, 2) / mat.Norm(x, 2)
	// Axes of two samples differ by angles of about √(λᵢλⱼ)/(λᵢ−λⱼ)/√n: .07 for
	// neighbours at ratio .7, each in both directions; twice their sum is allowed.
	if got.Error > left+0.2 || got.Error > 0.6*got.Trivial {
		t.Errorf("%+v, want an error near %.3f, which the projection leaves", got, left)
	}
	if got.Linked < 20*got.Chance || got.Knows != 2000 || match.Matched != 6 || !match.Converged {
		t.Errorf("%+v, %+v: want links well above chance", got, match)
	}
	// Quantiles of 1500 and 2000 rows differ by about .05 deviations of an exponential.
	if match.Shape > 0.15 {
		t.Errorf("shapes differ by %g", match.Shape)
	}
}

// TestMatchPCASame: with the rows themselves as the public sample, in another order, and
// a square orthogonal map the rows come back exactly.
func TestMatchPCASame(t *testing.T) {
	src := rand.NewPCG(8, 2)
	x := skewed(400, 7, 0.6, src)
	order := rand.New(src).Perm(400)
	public := mat.NewDense(400, 7, nil)
	for i, r := range order {
		public.SetRow(i, x.RawRowView(r))
	}
	z := image(x, linalg.Haar(7, src))
	match, err := privacy.MatchPCA(z, public, src)
	if err != nil {
		t.Fatal(err)
	}
	got, err := match.Judge(x, z, src)
	if err != nil {
		t.Fatal(err)
	}
	// Axes are exact to rounding over the relative gap of eigenvalues, above .1 here.
	if got.Error > 1e-12 || got.Linked != 1 || match.Shape > 1e-12 {
		t.Errorf("%+v, shape %g: want the rows themselves", got, match.Shape)
	}
	var diff mat.Dense
	diff.Sub(match.Rows(z), x)
	if mat.Norm(&diff, 2) > 1e-12*mat.Norm(x, 2) {
		t.Errorf("guessed rows differ by %g", mat.Norm(&diff, 2))
	}
}

// TestMatchPCAMeans: normal rows have no third moments, and their signs are known only
// where the features were not centred.
func TestMatchPCAMeans(t *testing.T) {
	normal := func(n int, mean float64, src rand.Source) *mat.Dense {
		x := linalg.Normal(n, 8, src)
		for i := range n {
			for j := range 8 {
				x.Set(i, j, math.Pow(0.6, float64(j))*(x.At(i, j)+mean))
			}
		}
		return x
	}
	var errs [2]float64
	for try := range 16 {
		for i, mean := range []float64{0, 1} {
			src := rand.NewPCG(8, uint64(10+try))
			x, public := normal(1000, mean, src), normal(1000, mean, src)
			z := image(x, linalg.Haar(8, src))
			match, err := privacy.MatchPCA(z, public, src)
			if err != nil {
				t.Fatal(err)
			}
			got, err := match.Judge(x, z, src)
			if err != nil {
				t.Fatal(err)
			}
			errs[i] += got.Error / got.Trivial / 16
		}
	}
	// A wrong sign of an axis with the share λ of the variance gives an error of 2√λ: of
	// 1.6 for the first axis and .96 for the second. With signs by chance the mean over 16
	// tries is 1.04 or more with a deviation of .16, below .5 with probability 5e-4.
	if errs[0] < 0.5 || errs[1] > 0.3 {
		t.Errorf("errors in units of the trivial one are %.2f centred and %.2f not, want 1 or more and near 0", errs[0], errs[1])
	}
}

// TestMatchPCARandom: a random basis of half the columns does not keep the axes, so
// the attack has little of what it has against principal axes.
func TestMatchPCARandom(t *testing.T) {
	src := rand.NewPCG(8, 3)
	x, public := skewed(1500, 12, 0.9, src), skewed(2000, 12, 0.9, src)
	z := image(x, linalg.Stiefel(12, 4, src))
	match, err := privacy.MatchPCA(z, public, src)
	if err != nil {
		t.Fatal(err)
	}
	got, err := match.Judge(x, z, src)
	if err != nil {
		t.Fatal(err)
	}
	if got.Error < 0.8*got.Trivial {
		t.Errorf("%+v: a random basis should not keep principal axes", got)
	}
}

func TestMatchDegenerate(t *testing.T) {
	src := rand.NewPCG(8, 4)
	constant := mat.NewDense(30, 4, nil)
	for i := range 30 {
		constant.SetRow(i, []float64{1, 2, 3, 4})
	}
	z := image(constant, linalg.Stiefel(4, 2, src))
	match, err := privacy.MatchPCA(z, constant, src)
	if err != nil {
		t.Fatal(err)
	}
	got, err := match.Judge(constant, z, src)
	if err != nil {
		t.Fatal(err)
	}
	if match.Matched != 0 || got.Error > 1e-12 {
		t.Errorf("constant rows: %d axes, %+v", match.Matched, got)
	}
	// Fewer public rows than axes, and images wider than the public rows.
	for _, c := range [][3]int{{2, 5, 9}, {40, 9, 3}, {2, 2, 2}} {
		public := linalg.Normal(c[0], c[2], src)
		match, err := privacy.MatchPCA(linalg.Normal(50, c[1], src), public, src)
		if err != nil || match.Matched > min(c[0]-1, c[1], c[2]) {
			t.Errorf("%v: %+v, %v", c, match, err)
		}
	}
}

func TestMatchRefuses(t *testing.T) {
	src := rand.NewPCG(8, 5)
	z, public := linalg.Normal(20, 3, src), linalg.Normal(20, 5, src)
	bad := linalg.Normal(20, 3, src)
	bad.Set(4, 2, math.Inf(1))
	if _, err := privacy.MatchPCA(bad, public, src); err == nil {
		t.Error("infinite image: no error")
	}
	if _, err := privacy.MatchPCA(z, &mat.Dense{}, src); err == nil {
		t.Error("no public rows: no error")
	}
	if _, err := privacy.MatchPCA(linalg.Normal(1, 3, src), public, src); err == nil {
		t.Error("one image: no error")
	}
	match, err := privacy.MatchPCA(z, public, src)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := match.Judge(public, linalg.Normal(20, 4, src), src); err == nil {
		t.Error("images of other width: no error")
	}
	if _, err := match.Judge(linalg.Normal(19, 5, src), z, src); err == nil {
		t.Error("other number of rows: no error")
	}
	if _, err := match.Judge(mat.NewDense(20, 5, nil), z, src); err == nil {
		t.Error("rows of zero: no error")
	}
}
