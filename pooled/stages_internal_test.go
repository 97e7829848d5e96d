package pooled

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/masked"
	"concord/study"
)

// TestStagesHaveSumsInCommon holds why sums of different stages are of one topic in the
// ledger, and why a later stage begins with those whose figures were summed: second moments
// of fewer parties than the figures, or of more, show how many rows of the one that makes
// the difference have each level, and its second moments.
func TestStagesHaveSumsInCommon(t *testing.T) {
	c := contractOf(t, "basis: {kind: common, dim: 2}\n", "{name: age, range: [18, 100]}", "{name: ward, type: category, levels: [A, B, C]}")
	c.Standardise = "range" // under pooled it takes solving three linear equations
	rnd := rand.New(source(3))
	var parts []*mat.Dense
	for _, n := range []int{40, 57, 33, 23, 19} {
		x := mat.NewDense(n, 2, nil)
		for i := range n {
			x.SetRow(i, []float64{18 + 82*rnd.Float64(), float64(rnd.IntN(3))})
		}
		parts = append(parts, x)
	}
	p, err := New(c, seedOf(t, 9))
	if err != nil {
		t.Fatal(err)
	}
	sum := func(stage study.Stage, parts []*mat.Dense) masked.Sums {
		statistics, err := p.Statistics(stage)
		if err != nil {
			t.Fatal(err)
		}
		var vectors []masked.Vector
		for _, x := range parts {
			v, err := p.Local(stage, MatrixRows(x))
			if err != nil {
				t.Fatal(err)
			}
			vectors = append(vectors, v)
		}
		return sumMasked(t, 1, statistics, vectors)[0]
	}
	if err := p.Take(p.Stages()[0], sum(p.Stages()[0], parts)); err != nil {
		t.Fatal(err)
	}
	f := p.Figures()
	// The last party does not go on: the moments are those of the others.
	if err := p.Take(p.Stages()[1], sum(p.Stages()[1], parts[:4])); err != nil {
		t.Fatal(err)
	}
	s := p.known().moments.(dense).s
	var counts [3]float64
	squares := 0.0
	for i := range 19 {
		z := (parts[4].At(i, 0) - 59) / 41
		counts[int(parts[4].At(i, 1))]++
		squares += z * z
	}
	for k, want := range counts {
		if got := float64(f.Features[1].Levels[k]) - s.At(1+k, 1+k); math.Abs(got-want) > 1e-9 {
			t.Errorf("level %d of the last party: %g by subtraction, it has %g rows", k, got, want)
		}
	}
	mean, variance := (f.Features[0].Mean-59)/41, f.Features[0].Variance/(41*41)
	if got := float64(f.Features[0].Count)*(variance+mean*mean) - s.At(0, 0); math.Abs(got-squares) > 1e-9*squares {
		t.Errorf("sum of squares of the last party: %g by subtraction, it has %g", got, squares)
	}
}
