package pooled

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/contract"
	"concord/masked"
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
	sum := func(stage contract.Stage, parts []*mat.Dense) masked.Sums {
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

// TestMomentsOfFewer holds that second moments over fewer parties than the figures are those of
// a law with the figures' variances: each column's mean square is that of the figures to 1e-12,
// every product keeps its ratio to the squares, and with all parties nothing is changed.
func TestMomentsOfFewer(t *testing.T) {
	c := contractOf(t, "", "{name: age, range: [18, 100]}", "{name: crp, range: [0, 500], missing: mean}", "{name: ward, type: category, levels: [A, B, C], missing: common}", "{name: constant, range: [0, 1]}")
	c.Standardise = "range"
	c.Anchor.Kind, c.Anchor.Rows = "gaussian", 100
	rnd := rand.New(source(4))
	p, err := New(c, seedOf(t, 9))
	if err != nil {
		t.Fatal(err)
	}
	var parts []Rows
	var last *mat.Dense
	for _, n := range []int{40, 57, 33, 23, 90} {
		last = mat.NewDense(n, 4, nil)
		for i := range n {
			hidden := rnd.Float64()
			crp, ward := 400+100*hidden*rnd.Float64(), float64(rnd.IntN(3))
			if i%7 == 0 {
				crp, ward = math.NaN(), math.NaN()
			}
			last.SetRow(i, []float64{80 + 20*hidden, crp, ward, 0.875})
		}
		parts = append(parts, MatrixRows(last))
	}
	// A stage's sums in the clear, over some of the parties.
	sum := func(stage contract.Stage, parts []Rows) []Word {
		var out []Word
		for _, rows := range parts {
			words, err := p.words(stage, rows)
			if err != nil {
				t.Fatal(err)
			}
			if out == nil {
				out = make([]Word, len(words))
			}
			for j, w := range words {
				out[j] = out[j].Add(w)
			}
		}
		return out
	}
	stages := p.Stages()
	if err := p.take(stages[0], sum(stages[0], parts), 5); err != nil {
		t.Fatal(err)
	}
	all, fewer := sum(stages[1], parts), sum(stages[1], parts[:4])
	if err := p.take(stages[1], all, 5); err != nil {
		t.Fatal(err)
	}
	whole, _ := p.Moments()
	sums := p.known().moments.(dense).s
	for i := range c.M() {
		for j := range c.M() {
			if whole.At(i, j) != (1.0/243)*sums.At(i, j) {
				t.Fatalf("columns %d and %d: moments of all parties are not the sums over the rows", i+1, j+1)
			}
		}
	}
	p.known().taken = 1
	if err := p.take(stages[1], fewer, 4); err != nil {
		t.Fatal(err)
	}
	some, ok := p.Moments()
	if !ok {
		t.Fatal("no moments")
	}
	sums = p.known().moments.(dense).s
	for i := range c.M() {
		if got, want := some.At(i, i), whole.At(i, i); math.Abs(got-want) > 1e-12*want {
			t.Errorf("column %d: mean square %g, the figures say %g", i+1, got, want)
		}
		for j := range i {
			got := some.At(i, j) / math.Sqrt(some.At(i, i)*some.At(j, j))
			if want := sums.At(i, j) / math.Sqrt(sums.At(i, i)*sums.At(j, j)); math.Abs(got-want) > 1e-12 {
				t.Errorf("columns %d and %d: %g of the root of the squares, summed %g", i+1, j+1, got, want)
			}
		}
	}
}
