package privacy_test

import (
	"encoding/csv"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
	"concord/privacy"
)

func TestCorrelationsKnown(t *testing.T) {
	k := readKnown(t)
	got, err := privacy.Correlations(matrix(k.X), matrix(k.Z))
	if err != nil {
		t.Fatal(err)
	}
	// Sums of 200 products of numbers near 1; column 4 is constant.
	for j, row := range k.Correlations {
		for c, want := range row {
			if math.Abs(got.At(j, c)-want) > 1e-13 {
				t.Errorf("feature %d, column %d: %.15g, want %.15g", j+1, c+1, got.At(j, c), want)
			}
		}
	}
}

// TestCorrelationsProperties: each column with itself is 1, and nothing changes under
// scaling, shifting by a mean a thousand million times the deviation, or the order of
// rows, over several blocks of rows.
func TestCorrelationsProperties(t *testing.T) {
	src := rand.NewPCG(31, 32)
	const n, m, l = 9000, 5, 3
	x, z := people(n, m, src), linalg.Normal(n, l, src)
	z.Slice(0, n, 0, 2).(*mat.Dense).Mul(x, linalg.Normal(m, 2, src))
	self, err := privacy.Correlations(x, x)
	if err != nil {
		t.Fatal(err)
	}
	for j := range m {
		// 9000 squares that sum to 1.
		if math.Abs(self.At(j, j)-1) > 1e-13 || self.At(j, j) > 1 {
			t.Errorf("feature %d with itself: %.16g", j+1, self.At(j, j))
		}
	}
	want, err := privacy.Correlations(x, z)
	if err != nil {
		t.Fatal(err)
	}
	moved, turned := mat.NewDense(n, m, nil), mat.NewDense(n, l, nil)
	for i := range n {
		for j := range m {
			moved.Set(n-1-i, j, 1e9*math.Pow(10, float64(j%3))-x.At(i, j))
		}
		for c := range l {
			turned.Set(n-1-i, c, z.At(i, c)*math.Pow(10, float64(150*c-150)))
		}
	}
	got, err := privacy.Correlations(moved, turned)
	if err != nil {
		t.Fatal(err)
	}
	// 1e9 leaves seven digits of the deviations of features.
	if !mat.EqualApprox(got, want, 1e-7) {
		t.Errorf("moved: %v, want %v", mat.Formatted(got), mat.Formatted(want))
	}
	for _, v := range []float64{0, 7.1} {
		for i := range n {
			z.Set(i, 1, v)
		}
		got, err := privacy.Correlations(x, z)
		if err != nil {
			t.Fatal(err)
		}
		for j := range m {
			if got.At(j, 1) != 0 || got.At(j, 0) != want.At(j, 0) && math.Abs(got.At(j, 0)-want.At(j, 0)) > 1e-13 {
				t.Errorf("beside a constant column: %v", got.RawRowView(j))
			}
		}
	}
}

func TestCorrelationsRefuse(t *testing.T) {
	x := linalg.Normal(5, 3, rand.NewPCG(1, 1))
	bad := mat.DenseCopyOf(x)
	bad.Set(4, 2, math.Inf(-1))
	for _, c := range []struct {
		err  error
		want string
	}{
		{second(privacy.Correlations(x, bad)), "representation: linalg"},
		{second(privacy.Correlations(bad, x)), "data: linalg"},
		{second(privacy.Correlations(x, linalg.Normal(4, 3, rand.NewPCG(1, 1)))), "representation has 4"},
		{second(privacy.Correlations(nil, x)), "data is empty"},
		{second(privacy.RankMatching(x, bad)), "representation: linalg"},
		{second(privacy.RankMatching(x, &mat.Dense{})), "representation is empty"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", c.err, c.want)
		}
	}
}

// patients are tables 1 to 3 of [imakura2023] for one party, in the order of the persons and in
// that in which the tables of representations print them.
type patients struct{ x, share, aligned, sharePrinted *mat.Dense }

func readPatients(t *testing.T, party int) patients {
	t.Helper()
	file, err := os.Open("../lab/patients/nri.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r := csv.NewReader(file)
	r.Comment = '#'
	lines, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	p := patients{mat.NewDense(10, 4, nil), mat.NewDense(10, 3, nil), mat.NewDense(10, 3, nil), mat.NewDense(10, 3, nil)}
	found := 0
	for _, line := range lines[1:] {
		v := make([]float64, len(line))
		for i, s := range line {
			if v[i], err = strconv.ParseFloat(s, 64); err != nil {
				t.Fatal(err)
			}
		}
		if int(v[0]) == party {
			i := int(v[1]) - 1
			p.x.SetRow(i, v[2:6])
			p.share.SetRow(i, v[7:10])
			p.sharePrinted.SetRow(int(v[6])-1, v[7:10])
			p.aligned.SetRow(i, v[10:13])
			found++
		}
	}
	if found != 10 {
		t.Fatalf("%d patients of party %d, want 10", found, party)
	}
	return p
}

const weight = 2 // the feature of the patients of [imakura2023]

// TestCorrelationsNRI: the patients of [imakura2023]. Its statement, all correlations below 0.4,
// holds by position of the rows; matched by person, weight is in the shared columns.
func TestCorrelationsNRI(t *testing.T) {
	for party := 1; party <= 2; party++ {
		p := readPatients(t, party)
		position, err := privacy.Correlations(p.x, p.sharePrinted)
		if err != nil {
			t.Fatal(err)
		}
		if top := mat.Max(position); !(top < 0.4) {
			t.Errorf("party %d by position: %.3f, want below 0.4 as published", party, top)
		}
		matched, err := privacy.Correlations(p.x, p.share)
		if err != nil {
			t.Fatal(err)
		}
		// NumPy on the same table: −0.9986 in the first column of party 1, −0.9997 in
		// the third of party 2.
		column, want := []int{0, 2}[party-1], []float64{0.9986, 0.9997}[party-1]
		if got := matched.At(weight, column); math.Abs(got-want) > 1e-4 {
			t.Errorf("party %d: weight and column %d by person: %.5f, want %.4f", party, column+1, got, want)
		}
		aligned, err := privacy.Correlations(p.x, p.aligned)
		if err != nil {
			t.Fatal(err)
		}
		if got := aligned.At(weight, 0); !(got > 0.99) {
			t.Errorf("party %d: weight and the first aligned column by person: %.5f, above 0.99 in NumPy", party, got)
		}
	}
}
