package privacy_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
	"concord/privacy"
)

func TestCompareKnown(t *testing.T) {
	k := readKnown(t)
	got, err := privacy.Compare(matrix(k.X), matrix(k.Guess))
	if err != nil {
		t.Fatal(err)
	}
	// Sums of 200 squares of numbers near 1.
	const tol = 1e-12
	for j, want := range k.Features {
		f := got.Features[j]
		if math.Abs(f.RMSE-want.RMSE) > tol*want.RMSE || math.Abs(f.Trivial-want.Trivial) > tol*want.Trivial || math.Abs(f.Ratio-want.Ratio) > tol || f.Constant != want.Constant {
			t.Errorf("feature %d: %+v, want %+v", j+1, f, want)
		}
	}
	if math.Abs(got.Unexplained-k.Unexplained) > tol {
		t.Errorf("unexplained %v, want %v", got.Unexplained, k.Unexplained)
	}
	r := got.Rows
	if math.Abs(r.Min-k.Rows.Min) > tol || math.Abs(r.Median-k.Rows.Median) > tol || r.Under10 != k.Rows.Under10 || r.Under50 != k.Rows.Under50 {
		t.Errorf("rows %+v, want %+v", r, k.Rows)
	}
}

// TestCompareEnds: the exact guess has no error, the mean has ratio 1 everywhere, and
// units change nothing.
func TestCompareEnds(t *testing.T) {
	src := rand.NewPCG(51, 52)
	const n, m = 1100, 6
	x := people(n, m, src)
	for i := range n {
		x.Set(i, 4, 0.1)
	}
	mean := mat.NewDense(n, m, nil)
	for j := range m {
		v := mat.Sum(x.ColView(j)) / n
		for i := range n {
			mean.Set(i, j, v)
		}
	}
	exact, err := privacy.Compare(x, x)
	if err != nil {
		t.Fatal(err)
	}
	if exact.Unexplained != 0 || exact.Rows != (privacy.RowErrors{Under10: 1, Under50: 1}) {
		t.Errorf("exact: %+v", exact)
	}
	trivial, err := privacy.Compare(x, mean)
	if err != nil {
		t.Fatal(err)
	}
	// The mean of the test and that of the package differ by rounding.
	const tol = 1e-12
	if math.Abs(trivial.Unexplained-1) > tol || math.Abs(trivial.Rows.Median-1) > tol || trivial.Rows.Under50 != 0 {
		t.Errorf("the mean: %+v", trivial)
	}
	for j, f := range trivial.Features {
		if math.Abs(f.Ratio-1) > tol || f.Constant != (j == 4) || exact.Features[j].RMSE != 0 {
			t.Errorf("feature %d: %+v", j+1, f)
		}
	}
	if f := exact.Features[4]; f.Ratio != 1 || f.Trivial != 0 {
		t.Errorf("constant: %+v", f)
	}

	var guess mat.Dense
	guess.Add(x, linalg.Normal(n, m, src))
	want, err := privacy.Compare(x, &guess)
	if err != nil {
		t.Fatal(err)
	}
	units := mat.NewDense(n, m, nil)
	for i := range n {
		for j := range m {
			unit := math.Ldexp(1, 300*j-700)
			units.Set(i, j, x.At(i, j)*unit)
			guess.Set(i, j, guess.At(i, j)*unit)
		}
	}
	got, err := privacy.Compare(units, &guess)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(got.Unexplained-want.Unexplained) > tol*want.Unexplained || math.Abs(got.Rows.Median-want.Rows.Median) > tol*want.Rows.Median {
		t.Errorf("other units: %+v, want %+v", got, want)
	}
	if f, w := got.Features[4], want.Features[4]; math.Abs(f.RMSE/math.Ldexp(1, 500)-w.RMSE) > tol*w.RMSE || !f.Constant {
		t.Errorf("constant in other units: %+v, want %+v", f, w)
	}
}

// TestCompareNoNaN: constant data, rows at the mean and guesses beyond all measure
// have the values that are defined for them.
func TestCompareNoNaN(t *testing.T) {
	zeros := mat.NewDense(3, 2, nil)
	ones := mat.NewDense(3, 2, []float64{1, 1, 1, 1, 1, 1})
	got, err := privacy.Compare(zeros, ones)
	if err != nil {
		t.Fatal(err)
	}
	if f := got.Features[0]; got.Unexplained != 1 || f.RMSE != 1 || f.Ratio != 1 || !f.Constant || got.Rows != (privacy.RowErrors{Min: 1, Median: 1}) {
		t.Errorf("constant: %+v", got)
	}
	x := mat.NewDense(3, 1, []float64{-1, 0, 1}) // row 2 is the mean
	got, err = privacy.Compare(x, mat.NewDense(3, 1, []float64{-1, 0.5, 1}))
	if err != nil {
		t.Fatal(err)
	}
	if got.Rows.Under50 != 2./3 || got.Rows.Min != 0 {
		t.Errorf("a row at the mean: %+v", got)
	}
	got, err = privacy.Compare(x, mat.NewDense(3, 1, []float64{-1, math.MaxFloat64, -math.MaxFloat64}))
	if err != nil {
		t.Fatal(err)
	}
	if math.IsNaN(got.Unexplained) || got.Unexplained < 1e100 || math.IsNaN(got.Rows.Median) || math.IsNaN(got.Features[0].RMSE) {
		t.Errorf("far guesses: %+v", got)
	}
}

func TestCompareRefuses(t *testing.T) {
	x := linalg.Normal(5, 3, rand.NewPCG(1, 1))
	bad := mat.DenseCopyOf(x)
	bad.Set(4, 2, math.NaN())
	for _, c := range []struct {
		err  error
		want string
	}{
		{second(privacy.Compare(x, bad)), "row 5, column 3"},
		{second(privacy.Compare(bad, x)), "data"},
		{second(privacy.Compare(x, linalg.Normal(5, 4, rand.NewPCG(1, 1)))), "guess has 4"},
		{second(privacy.Compare(x, linalg.Normal(6, 3, rand.NewPCG(1, 1)))), "guess has 6"},
		{second(privacy.Compare(&mat.Dense{}, &mat.Dense{})), "data is empty"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", c.err, c.want)
		}
	}
}
