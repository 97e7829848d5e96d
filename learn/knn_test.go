package learn_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/learn"
)

// TestKNN compares with a plain search over all rows, with ties among them: rows
// on a small grid, far from the origin, where products of rows lose digits.
func TestKNN(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 5))
	for _, offset := range []float64{0, 1e6} {
		const n, d = 300, 3
		x, probe := mat.NewDense(n, d, nil), mat.NewDense(40, d, nil)
		grid := func(_, _ int, _ float64) float64 { return offset + float64(src.IntN(5)) }
		x.Apply(grid, x)
		probe.Apply(grid, probe)
		y := learn.Target{Classes: names(3), Labels: make([]int, n)}
		values := mat.NewDense(n, 2, nil)
		for i := range n {
			y.Labels[i] = src.IntN(3)
			values.SetRow(i, []float64{src.Float64(), src.Float64()})
		}
		for _, k := range []int{1, 5, 300} {
			for _, target := range []learn.Target{y, {Values: values}} {
				m := fitModel(t, learn.KNN{Neighbours: k}, x, target).(*learn.Neighbours)
				if err := m.Check(); err != nil {
					t.Fatal(err)
				}
				s, err := m.Scores(probe)
				if err != nil {
					t.Fatal(err)
				}
				for i := range 40 {
					order := make([]int, n)
					dist := make([]float64, n)
					for j := range n {
						order[j] = j
						for c := range d {
							dist[j] += math.Pow(probe.At(i, c)-x.At(j, c), 2)
						}
					}
					slices.SortStableFunc(order, func(a, b int) int {
						if dist[a] != dist[b] {
							return int(dist[a] - dist[b])
						}
						return a - b
					})
					_, outputs := s.Dims()
					want := make([]float64, outputs)
					for _, j := range order[:k] {
						for c := range want {
							switch {
							case target.Values != nil:
								want[c] += values.At(j, c) / float64(k)
							case y.Labels[j] == c:
								want[c] += 1 / float64(k)
							}
						}
					}
					for c, w := range want {
						if math.Abs(s.At(i, c)-w) > 1e-12 {
							t.Fatalf("offset %g, %d neighbours, row %d: %v, want %v", offset, k, i+1, s.RawRowView(i), want)
						}
					}
				}
			}
		}
	}
}

func TestKNNRefuses(t *testing.T) {
	x, y := ring(4, 1)
	for name, l := range map[string]learn.KNN{"more neighbours than rows": {}, "negative": {Neighbours: -1}} {
		if _, err := l.Fit(t.Context(), x, y); err == nil {
			t.Errorf("%s is no error", name)
		}
	}
	m := fitModel(t, learn.KNN{Neighbours: 2}, x, y)
	if _, err := m.Scores(mat.NewDense(1, 5, nil)); err == nil {
		t.Error("five columns are no error")
	}
}
