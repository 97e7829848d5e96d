package privacy_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
	"concord/privacy"
)

func TestColumnsKnown(t *testing.T) {
	k := readKnown(t)
	got, err := privacy.Columns(matrix(k.X))
	if err != nil {
		t.Fatal(err)
	}
	for j, want := range k.Columns {
		c := got[j]
		if c.Distinct != want.Distinct || c.Single != want.Single || c.Constant != want.Constant || c.Integer != want.Integer || c.Running != want.Running || c.Identifier {
			t.Errorf("feature %d: %+v, want %+v", j+1, c, want)
		}
	}
	d, err := privacy.Dimensions(matrix(k.X), 3)
	if err != nil || d != (privacy.Dimension{Features: 6, Rank: k.Rank, Shared: 3, OfFeatures: 0.5, OfRank: 3 / float64(k.Rank)}) {
		t.Errorf("dimensions %+v, %v, want rank %d", d, err, k.Rank)
	}
}

func TestColumnsKinds(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 62))
	const n = 400
	shuffled := r.Perm(n)
	for _, c := range []struct {
		name string
		at   func(i int) float64
		want privacy.Column
	}{
		{"running number", func(i int) float64 { return float64(i) }, privacy.Column{Distinct: n, Single: n, Integer: true, Running: true, Identifier: true}},
		{"number backwards", func(i int) float64 { return float64(-7 * i) }, privacy.Column{Distinct: n, Single: n, Integer: true, Running: true, Identifier: true}},
		{"patient number", func(i int) float64 { return float64(90000 + 3*shuffled[i]) }, privacy.Column{Distinct: n, Single: n, Integer: true, Identifier: true}},
		{"twice entered", func(i int) float64 { return float64(shuffled[max(i, 10)]) }, privacy.Column{Distinct: n - 10, Single: n - 11, Integer: true, Identifier: true}},
		{"time", func(i int) float64 { return math.Sqrt(float64(i)) }, privacy.Column{Distinct: n, Single: n, Running: true, Identifier: true}},
		{"measurement", func(i int) float64 { return math.Sqrt(float64(shuffled[i])) }, privacy.Column{Distinct: n, Single: n}},
		{"age", func(i int) float64 { return float64(20 + shuffled[i]%50) }, privacy.Column{Distinct: 50, Integer: true}},
		{"class", func(i int) float64 { return float64(min(i, 1)) }, privacy.Column{Distinct: 2, Single: 1, Integer: true}},
		{"constant", func(int) float64 { return 0.5 }, privacy.Column{Distinct: 1, Constant: true}},
		{"zeros", func(i int) float64 { return math.Copysign(0, float64(i%2)-0.5) }, privacy.Column{Distinct: 1, Constant: true, Integer: true}},
	} {
		x := mat.NewDense(n, 1, nil)
		for i := range n {
			x.Set(i, 0, c.at(i))
		}
		got, err := privacy.Columns(x)
		if err != nil {
			t.Fatal(err)
		}
		if got[0] != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got[0], c.want)
		}
	}
	few, err := privacy.Columns(mat.NewDense(1, 2, []float64{1, 2.5}))
	if err != nil || few[0] != (privacy.Column{Distinct: 1, Single: 1, Constant: true, Integer: true}) {
		t.Errorf("one row: %+v, %v", few, err)
	}
}

func TestRareCells(t *testing.T) {
	labels := []string{"b", "a", "b", "c", "b", "a"}
	for _, c := range []struct {
		least int
		want  []privacy.Cell[string]
	}{
		{1, nil},
		{2, []privacy.Cell[string]{{"c", 1}}},
		{3, []privacy.Cell[string]{{"a", 2}, {"c", 1}}},
		{9, []privacy.Cell[string]{{"b", 3}, {"a", 2}, {"c", 1}}},
	} {
		if got := privacy.RareCells(labels, c.least); !slices.Equal(got, c.want) {
			t.Errorf("fewer than %d: %v, want %v", c.least, got, c.want)
		}
	}
	if got := privacy.RareCells([]int(nil), 5); len(got) != 0 {
		t.Errorf("no labels: %v", got)
	}
	pairs := privacy.RareCells([][2]int{{0, 1}, {0, 1}, {1, 0}}, 2)
	if !slices.Equal(pairs, []privacy.Cell[[2]int]{{[2]int{1, 0}, 1}}) {
		t.Errorf("pairs: %v", pairs)
	}
	if got := privacy.RareCells([]float64{math.NaN(), math.NaN(), 1, 1}, 2); len(got) != 2 || got[0].Count != 1 {
		t.Errorf("NaN: %v", got)
	}
}

// TestDimensions: products of known rank, in few rows and in several blocks of rows,
// in units 10^±60 apart; the rank decides whether collusion gives back all.
func TestDimensions(t *testing.T) {
	src := rand.NewPCG(63, 64)
	for _, n := range []int{3, 50, 9001} {
		const m, rank = 8, 5
		x := product(linalg.Normal(n, rank, src), linalg.Normal(rank, m, src))
		for i := range n {
			for j := range m {
				// Powers of 2: powers of 10 would add rounding of their own.
				x.Set(i, j, math.Ldexp(x.At(i, j), 100*j-400))
			}
		}
		d, err := privacy.Dimensions(x, 4)
		want := min(n, rank)
		if err != nil || d.Rank != want || d.Features != m || d.Shared != 4 || d.OfFeatures != 0.5 || d.OfRank != 4/float64(want) {
			t.Errorf("%d rows of rank %d: %+v, %v", n, want, d, err)
		}
	}
	zero, err := privacy.Dimensions(mat.NewDense(4, 3, nil), 2)
	if err != nil || zero.Rank != 0 || !math.IsInf(zero.OfRank, 1) {
		t.Errorf("zeros: %+v, %v", zero, err)
	}

	// Rank 5 of 8 features: 5 shared columns give every row back, 4 do not.
	x := product(linalg.Normal(60, 5, src), linalg.Normal(5, 8, src))
	_, v, err := linalg.SVDRight(x)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []int{4, 5} {
		f := product(v.Slice(0, 8, 0, l), linalg.Normal(l, l, src))
		back, err := privacy.Reconstruct(product(x, f), f)
		if err != nil {
			t.Fatal(err)
		}
		e, err := privacy.Compare(x, back)
		if err != nil {
			t.Fatal(err)
		}
		d, err := privacy.Dimensions(x, l)
		if err != nil {
			t.Fatal(err)
		}
		if exact := e.Unexplained < 1e-20; exact != (d.OfRank >= 1) {
			t.Errorf("%d columns: unexplained %.3g, l/rank %v", l, e.Unexplained, d.OfRank)
		}
	}
}

func TestColumnsRefuse(t *testing.T) {
	bad := mat.NewDense(2, 2, []float64{1, 2, 3, math.NaN()})
	for _, c := range []struct {
		err  error
		want string
	}{
		{second(privacy.Columns(bad)), "row 2, column 2"},
		{second(privacy.Columns(nil)), "data is empty"},
		{second(privacy.Dimensions(bad, 1)), "row 2, column 2"},
		{second(privacy.Dimensions(mat.NewDense(2, 2, nil), 0)), "0 columns"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", c.err, c.want)
		}
	}
}
