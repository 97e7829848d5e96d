package pooled

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// TestClear holds that directions of rows in the clear are those that masked sums of the
// same rows agree, to 1e-12, for both weights, all moments and sketches.
func TestClear(t *testing.T) {
	rnd := rand.New(source(21))
	var parts []*mat.Dense
	for _, n := range []int{120, 35, 60, 81} {
		parts = append(parts, mixedRows(n, rnd))
	}
	for _, pooling := range []struct {
		yaml string
		opt  ClearOptions
	}{
		{"", ClearOptions{}},
		{"pooling: {weights: equal}\n", ClearOptions{Equal: true}},
		{"pooling: {sketch: 4, power: 0}\n", ClearOptions{Sketch: 4}},
		{"pooling: {sketch: 5, power: 2, weights: equal}\n", ClearOptions{Sketch: 5, Power: 2, Equal: true}},
	} {
		c := mixedContract(t, "basis: {kind: common, dim: 3}\n"+pooling.yaml)
		p := playMasked(t, c, parts)[0]
		var prepared []*mat.Dense
		for _, x := range parts {
			prepared = append(prepared, stacked(p, []*mat.Dense{x}))
		}
		opt := pooling.opt
		if opt.Sketch > 0 {
			opt.Source = seedOf(t, 9).Sketch()
		}
		v, about, err := Clear(prepared, 3, opt)
		if err != nil {
			t.Fatal(err)
		}
		if about.Gap < 1e-3 {
			t.Fatalf("the rows of this test have a gap of %g", about.Gap)
		}
		if d := difference(outer(v), outer(p.V().Reveal())); d > 1e-12/about.Gap {
			t.Errorf("%s: projections differ by %g, the gap is %g", strings.TrimSpace(pooling.yaml), d, about.Gap)
		}
	}
}

func TestClearErrors(t *testing.T) {
	var low mat.Dense
	low.Mul(lowRank(20, 2, source(1)), lowRank(2, 6, source(2)))
	nan := mat.NewDense(2, 2, []float64{1, 2, math.NaN(), 3})
	for _, bad := range []struct {
		x    []*mat.Dense
		l    int
		want string
	}{
		{nil, 1, "no party's rows"},
		{[]*mat.Dense{lowRank(5, 3, source(1)), lowRank(5, 2, source(1))}, 1, "party 2 has 5 × 2 rows, the first has 3 columns"},
		{[]*mat.Dense{&low}, 3, "span 2 directions"},
		{[]*mat.Dense{nan}, 1, "column 1"},
		{[]*mat.Dense{mat.NewDense(3, 4, nil)}, 1, "span 0 directions"},
		{[]*mat.Dense{lowRank(5, 3, source(1))}, 4, "dimension 4 of 3 columns"},
	} {
		if _, _, err := Clear(bad.x, bad.l, ClearOptions{}); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%v, want %q", err, bad.want)
		}
	}
	var few *RankError
	if _, _, err := Clear([]*mat.Dense{&low}, 3, ClearOptions{}); !errors.As(err, &few) || few.Rank != 2 {
		t.Error(err)
	}
}

// BenchmarkStage measures one party's part of each stage, its numbers a million, and what
// the first party and each other compute at the end. Rows are 1000.
func BenchmarkStage(b *testing.B) {
	for _, m := range []int{100, 500, 1000, 2000} {
		const n = 1000
		x := linalg.Normal(n, m, source(1)) // all directions, where decay would end before l
		exps := exponents(x)
		f := fraction(n*5, 0)
		b.Run(fmt.Sprintf("moments/m=%d", m), func(b *testing.B) {
			for b.Loop() {
				s, rows, err := gram(MatrixRows(x), exps, column)
				if err != nil {
					b.Fatal(err)
				}
				momentWords(s, rows, false, f)
			}
			b.ReportMetric(float64(triangle(m)*16)/1e6, "MB")
		})
		s := symmetric(x)
		l := m / 10
		b.Run(fmt.Sprintf("directions/m=%d/l=%d", m, l), func(b *testing.B) {
			for b.Loop() {
				if _, _, err := principal(dense{s}, l); err != nil {
					b.Fatal(err)
				}
			}
		})
		v, _, err := principal(dense{s}, l)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("check/m=%d/l=%d", m, l), func(b *testing.B) {
			for b.Loop() {
				if _, err := verify(dense{s}, l, v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	for _, m := range []int{2000, 20000} {
		const n, l = 1000, 50
		x := mat.NewDense(n, m, nil)
		rnd := rand.New(source(2))
		for i := range n {
			for j := range m {
				x.Set(i, j, rnd.NormFloat64())
			}
		}
		exps := exponents(x)
		f := fraction(n*5, 0)
		q := testMatrix(m, l+Oversample, source(3))
		var words []Word
		b.Run(fmt.Sprintf("sketch/m=%d/k=%d", m, l+Oversample), func(b *testing.B) {
			for b.Loop() {
				s, err := sketch(MatrixRows(x), exps, q, column)
				if err != nil {
					b.Fatal(err)
				}
				words = sketchWords(s, false, f)
			}
			b.ReportMetric(float64(len(words)*16)/1e6, "MB")
		})
		b.Run(fmt.Sprintf("orthonormal/m=%d/k=%d", m, l+Oversample), func(b *testing.B) {
			y, _, err := sketchOf(words, exps, q, f)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				orthonormal(y)
			}
		})
	}
}

// BenchmarkFigures measures the stage figures on 10,000 rows of 100 columns.
func BenchmarkFigures(b *testing.B) {
	var features []string
	for j := range 100 {
		features = append(features, fmt.Sprintf("{name: c%d, range: [-10, 10], missing: mean}", j+1))
	}
	c := contractOf(b, basisYAML, features...)
	rnd := rand.New(source(1))
	x := mat.NewDense(10000, 100, nil)
	for i := range 10000 {
		for j := range 100 {
			x.Set(i, j, rnd.NormFloat64())
		}
	}
	b.SetBytes(8 * 100 * 10000)
	for b.Loop() {
		if _, err := sumFigures(c, MatrixRows(x)); err != nil {
			b.Fatal(err)
		}
	}
}
