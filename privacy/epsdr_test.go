package privacy_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
	"concord/privacy"
)

// known is testdata/known.json, which known.py made with NumPy.
type known struct {
	X, F, Z, Guess [][]float64
	DR             []float64
	Correlations   [][]float64
	Features       []struct {
		RMSE, Trivial, Ratio float64
		Constant             bool
	}
	Rows struct {
		Min, Median, Under10, Under50 float64
	}
	Unexplained float64
	Linkage     struct {
		Rate, Median float64
	}
	Match []struct {
		Column      int
		Component   bool
		Correlation float64
		Exact, Near float64
	}
	Columns []struct {
		Distinct, Single           int
		Constant, Integer, Running bool
	}
	Rank int
}

func readKnown(t *testing.T) known {
	t.Helper()
	b, err := os.ReadFile("testdata/known.json")
	if err != nil {
		t.Fatal(err)
	}
	var k known
	if err := json.Unmarshal(b, &k); err != nil {
		t.Fatal(err)
	}
	if len(k.X) != 200 || len(k.DR) != 200 || len(k.Features) != 6 || len(k.Match) != 6 {
		t.Fatalf("known.json has %d rows, want 200 of 6 features", len(k.X))
	}
	return k
}

func matrix(rows [][]float64) *mat.Dense {
	m := mat.NewDense(len(rows), len(rows[0]), nil)
	for i, r := range rows {
		m.SetRow(i, r)
	}
	return m
}

func TestDRKnown(t *testing.T) {
	k := readKnown(t)
	got, err := privacy.DR(matrix(k.X), matrix(k.F))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range k.DR {
		// Elements of x up to 1300 leave residuals of rounding 1e-13 relative to x.
		if math.Abs(got[i]-want) > 1e-12 {
			t.Errorf("row %d: %.15g, want %.15g", i+1, got[i], want)
		}
	}
}

// TestDRProperties: the value depends on the span of F and the direction of x only; it
// is the error of what Reconstruct returns; it is 0 in the span and 1 beside it.
func TestDRProperties(t *testing.T) {
	src := rand.NewPCG(11, 12)
	const n, m, l = 1300, 9, 4 // more than two blocks of rows
	x, f := people(n, m, src), linalg.Stiefel(m, l, src)
	want, err := privacy.DR(x, f)
	if err != nil {
		t.Fatal(err)
	}
	back, err := privacy.Reconstruct(product(x, f), f)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		var d mat.VecDense
		d.SubVec(x.RowView(i), back.RowView(i))
		if e := mat.Norm(&d, 2) / mat.Norm(x.RowView(i), 2); math.Abs(e-want[i]) > 1e-13 {
			t.Fatalf("row %d: %v, the error of the reconstruction is %v", i+1, want[i], e)
		}
	}
	skewed := product(f, linalg.Normal(l, l, src))
	units := mat.DenseCopyOf(f)
	repeated := product(f, linalg.Normal(l, m, src)) // rank 4 in 9 columns
	scaled := mat.NewDense(n, m, nil)
	for i := range m {
		for j := range l {
			units.Set(i, j, f.At(i, j)*math.Pow(10, float64(70*j-140)))
		}
	}
	for i := range n {
		for j := range m {
			scaled.Set(i, j, x.At(i, j)*math.Pow(10, float64(i%500-250)))
		}
	}
	for _, c := range []struct {
		name string
		x, f *mat.Dense
	}{{"scrambled", x, skewed}, {"units", x, units}, {"repeated", x, repeated}, {"scaled rows", scaled, f}} {
		got, err := privacy.DR(c.x, c.f)
		if err != nil {
			t.Fatal(c.name, err)
		}
		for i := range n {
			// The scramblings have condition numbers below 1e3.
			if math.Abs(got[i]-want[i]) > 1e-12 {
				t.Errorf("%s, row %d: %v, want %v", c.name, i+1, got[i], want[i])
				break
			}
		}
	}

	// Rows within the span, beside it, and of zeros.
	q, _, err := linalg.QR(product(linalg.Normal(m, m, src), linalg.Normal(m, m, src)))
	if err != nil {
		t.Fatal(err)
	}
	f = mat.DenseCopyOf(q.Slice(0, m, 0, l))
	in := product(linalg.Normal(5, l, src), f.T())
	out := product(linalg.Normal(5, m-l, src), q.Slice(0, m, l, m).T())
	three := mat.NewDense(11, m, nil)
	three.Slice(0, 5, 0, m).(*mat.Dense).Copy(in)
	three.Slice(5, 10, 0, m).(*mat.Dense).Copy(out)
	dr, err := privacy.DR(three, f)
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range dr {
		switch {
		case i < 5 && d > 1e-14, i >= 5 && i < 10 && (d < 1-1e-14 || d > 1), i == 10 && d != 0:
			t.Errorf("row %d: %v", i+1, d)
		}
	}
	all, err := privacy.DR(three, mat.NewDense(m, 2, nil)) // F of zeros: nothing comes back
	if err != nil {
		t.Fatal(err)
	}
	if all[0] != 1 || all[10] != 0 {
		t.Errorf("a basis of zeros: %v", all)
	}
}

func TestBelow(t *testing.T) {
	dr := []float64{0.3, 0.1, math.NaN(), 0.2, 0}
	for _, c := range []struct {
		eps  float64
		want []int
	}{{0, []int{2}}, {0.2, []int{1, 2, 4}}, {2, []int{0, 1, 2, 3, 4}}, {math.NaN(), []int{0, 1, 2, 3, 4}}} {
		if got := privacy.Below(dr, c.eps); !slices.Equal(got, c.want) {
			t.Errorf("below %v: %v, want %v", c.eps, got, c.want)
		}
	}
	if got := privacy.Below(nil, 1); len(got) != 0 {
		t.Errorf("no rows: %v", got)
	}
}

func TestDRRefuses(t *testing.T) {
	src := rand.NewPCG(13, 14)
	x, f := linalg.Normal(7, 5, src), linalg.Normal(5, 2, src)
	bad := mat.DenseCopyOf(x)
	bad.Set(6, 0, math.Inf(1))
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"width", second(privacy.DR(x, linalg.Normal(4, 2, src))), "basis has 4 rows"},
		{"empty", second(privacy.DR(&mat.Dense{}, f)), "data is empty"},
		{"no basis", second(privacy.DR(x, nil)), "basis is empty"},
		{"infinite", second(privacy.DR(bad, f)), "row 7, column 1"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, c.err, c.want)
		}
	}
}
