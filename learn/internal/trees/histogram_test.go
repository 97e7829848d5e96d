package trees

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The cells of all groups are the sums over the rows, and the difference of two
// histograms is that of the rows that remain. Gradients are whole numbers, so
// that sums are exact.
func TestHistogram(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 400).Draw(t, "rows")
		d := rapid.IntRange(1, 11).Draw(t, "columns")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		x := make([][]float32, d)
		for j := range x {
			levels := rapid.SampledFrom([]int{1, 2, 7, 1 << 20}).Draw(t, "levels")
			x[j] = make([]float32, n)
			for i := range x[j] {
				x[j][i] = float32(max(0, r.IntN(2*levels)-levels))
			}
		}
		limit := rapid.IntRange(2, 255).Draw(t, "bins")
		b := bin(x, limit, 1, r)
		grad := make([]gradient, n)
		var all, some, rest []uint32
		for i := range grad {
			grad[i] = gradient{float32(r.IntN(9) - 4), float32(r.IntN(9))}
			all = append(all, uint32(i))
			if r.IntN(3) == 0 {
				some = append(some, uint32(i))
			} else {
				rest = append(rest, uint32(i))
			}
		}
		sums := func(rows []uint32) []cell {
			hist := make([]cell, b.bins)
			for _, row := range rows {
				for j := range x {
					i := 0
					for i < len(b.thresholds[j]) && x[j][row] > b.thresholds[j][i] {
						i++
					}
					hist[b.offsets[j]+i].add(float64(grad[row].g), float64(grad[row].h))
				}
			}
			return hist
		}
		whole, part := make([]cell, b.bins+255), make([]cell, b.bins+255)
		for i := range whole {
			whole[i], part[i] = cell{1, 2, 3}, cell{4, 5, 6} // what was there before
		}
		for group := range b.words {
			b.fill(whole, group, all, grad)
			b.fill(part, group, some, grad)
		}
		if want := sums(all); !slices.Equal(whole[:b.bins], want) {
			t.Fatalf("cells %v, want %v", whole[:b.bins], want)
		}
		for group := range b.words {
			b.subtract(whole, part, group)
		}
		if want := sums(rest); !slices.Equal(whole[:b.bins], want) {
			t.Fatalf("difference %v, want %v", whole[:b.bins], want)
		}
		for j, c := range b.thresholds {
			if len(c) >= limit {
				t.Fatalf("column %d has %d thresholds for %d bins", j, len(c), limit)
			}
			for i := 1; i < len(c); i++ {
				if c[i] <= c[i-1] {
					t.Fatalf("thresholds %v do not ascend", c)
				}
			}
		}
	})
}

// Bins of more rows than are looked at hold about as many rows each. Of 200,000
// rows a bin has 784 on average, with a standard deviation of 28 in what share
// of all rows it stands for: 200 are seven of those.
func TestBinsOfManyRows(t *testing.T) {
	const n = 230000
	r := rand.New(rand.NewPCG(1, 2))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	b := bin([][]float32{x}, 255, 2, r)
	if b.bins != 255 {
		t.Fatalf("%d bins, want 255", b.bins)
	}
	count := make([]float64, b.bins)
	for _, w := range b.words[0] {
		count[w]++
	}
	for i, c := range count {
		if want := float64(n) / 255; math.Abs(c-want) > 200*float64(n)/binSample {
			t.Errorf("bin %d has %g rows, want about %g", i, c, want)
		}
	}
}

// Derivatives agree with differences of the loss.
func TestGradients(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, y := range []Response{
		{Classes: 2, Labels: []int32{0, 1, 1}},
		{Classes: 4, Labels: []int32{3, 0, 1}},
		{Outputs: 2, Values: []float64{1, 2, -3, 4, 0, 5}},
	} {
		l := newLoss(y)
		for range 50 {
			raw := make([]float64, 3*l.k)
			for i := range raw {
				raw[i] = 3 * r.NormFloat64()
			}
			grad := make([][]gradient, l.k)
			for j := range grad {
				grad[j] = make([]gradient, 3)
			}
			l.gradients(grad, raw, 0, 3)
			for i := range raw {
				at := func(h float64) float64 {
					moved := slices.Clone(raw)
					moved[i] += h
					return 3 * l.mean(moved)
				}
				const h = 1e-4
				g := (at(h) - at(-h)) / (2 * h)
				c := (at(h) - 2*at(0) + at(-h)) / (h * h)
				got := grad[i%l.k][i/l.k]
				// Differences are off by h² times a third or fourth derivative below
				// 1, by roundings of losses below 200 over h and h², and gradients by
				// 2⁻²⁴ of numbers below 20.
				if math.Abs(g-float64(got.g)) > 2e-6 || math.Abs(c-float64(got.h)) > 4*200*2.3e-16/(h*h)+1e-7 {
					t.Fatalf("%+v: derivatives %+v, differences %g and %g", y, got, g, c)
				}
			}
		}
	}
}

// Far out nothing overflows and nothing cancels.
func TestBinomialTails(t *testing.T) {
	for _, f := range []float64{-800, -40, 40, 800} {
		p := math.Exp(-math.Abs(f))
		for _, y := range []bool{false, true} {
			got := binomial(f, y)
			want := p
			if y == (f < 0) {
				want = 1
			}
			if y {
				want = -want
			}
			if got.g != float32(want) || got.h != float32(p) {
				t.Errorf("f = %g, y = %t: %+v, want %g and %g", f, y, got, want, p)
			}
		}
	}
}
