package trees

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	_ "concord/internal/repeatable"
)

// drawn is a small data set of a kind of column and response, with the weights
// of a bootstrap.
type drawn struct {
	x [][]float32
	y Response
	g *grower
}

func draw(t *rapid.T) drawn {
	n := rapid.IntRange(2, 60).Draw(t, "rows")
	d := rapid.IntRange(1, 4).Draw(t, "columns")
	var s drawn
	for range d {
		levels := rapid.SampledFrom([]int{1, 2, 3, 10, 1000}).Draw(t, "levels")
		column := rapid.SliceOfN(rapid.IntRange(0, levels-1), n, n).Draw(t, "column")
		c := make([]float32, n)
		for i, v := range column {
			c[i] = float32(v) - 2
		}
		s.x = append(s.x, c)
	}
	switch k := rapid.SampledFrom([]int{-2, -1, 2, 3, 40}).Draw(t, "response"); {
	case k > 0:
		s.y.Classes = k
		for range n {
			s.y.Labels = append(s.y.Labels, int32(rapid.IntRange(0, k-1).Draw(t, "label")))
		}
	default:
		s.y.Outputs = -k
		for range -k * n {
			s.y.Values = append(s.y.Values, float64(rapid.IntRange(-9, 9).Draw(t, "value")))
		}
	}
	s.g = grower0(s.x, s.y, ForestConfig{Trees: 1,
		MinLeaf: rapid.IntRange(1, 4).Draw(t, "least"), MaxFeatures: d,
		Bootstrap: rapid.Bool().Draw(t, "bootstrap"), Seed: rapid.Uint64().Draw(t, "seed"),
	})
	return s
}

// grower0 is a grower whose samples are drawn.
func grower0(x [][]float32, y Response, set ForestConfig) *grower {
	var mean []float64
	if y.Classes == 0 {
		mean = columnMeans(y.Values, y.Outputs)
	}
	g := newGrower(rankColumns(x, 1), y, mean, set)
	g.rng = rand.New(rand.NewPCG(set.Seed, 0))
	g.draw()
	for i := range g.features {
		g.features[i] = int32(i)
	}
	return g
}

// weight is the weight of sample i.
func (s drawn) weight(i int) float64 {
	p := s.g.pay[i]
	if s.g.kind == twoClasses {
		return float64(p>>pairBits&pairMask + p>>(2*pairBits))
	}
	return float64(uint32(p))
}

// score of sending the samples with x[j] ≤ v left, from the definition; false
// if a side has too few rows. Numbers are shifted by their mean.
func (s drawn) score(j int, v float32) (float64, bool) {
	k := max(s.y.Classes, s.y.Outputs)
	sums, weights, rows := [2][]float64{make([]float64, k), make([]float64, k)}, [2]float64{}, [2]int{}
	for i, row := range s.g.rows {
		side := 0
		if s.x[j][row] > v {
			side = 1
		}
		w := s.weight(i)
		rows[side]++
		weights[side] += w
		if s.y.Classes > 0 {
			sums[side][s.y.Labels[row]] += w
			continue
		}
		for o := range k {
			sums[side][o] += w * (s.y.Values[int(row)*k+o] - s.g.mean[o])
		}
	}
	var score float64
	for side := range 2 {
		for _, v := range sums[side] {
			score += v * v / weights[side]
		}
	}
	return score, min(rows[0], rows[1]) >= s.g.set.MinLeaf
}

// Every search finds the best of all splits.
func TestSearchFindsTheBestSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := draw(t)
		root := task{hi: len(s.g.rows)}
		for _, p := range s.g.pay {
			root.pair += p
		}
		best, varies := math.Inf(-1), 0
		for j, c := range s.x {
			seen := map[float32]bool{}
			for _, row := range s.g.rows {
				seen[c[row]] = true
			}
			if len(seen) > 1 {
				varies++
			}
			for v := range seen {
				if score, ok := s.score(j, v); ok {
					best = max(best, score)
				}
			}
		}
		// Twice, since a search must leave its scratch space as it found it.
		for range 2 {
			s.g.totals(root)
			if constants := s.g.search(root); constants != len(s.x)-varies {
				t.Fatalf("%d constant columns, want %d", constants, len(s.x)-varies)
			}
			if math.IsInf(best, -1) {
				if !math.IsInf(s.g.best.score, -1) {
					t.Fatalf("split %+v where none is allowed", s.g.best)
				}
				return
			}
			// At most 60 rows with sums below 1e5.
			const tol = 60 * 1e5 * 2.3e-16
			if math.Abs(s.g.best.score-best) > tol {
				t.Fatalf("best score %g, want %g", s.g.best.score, best)
			}
			b := s.g.best
			c := s.g.cols[b.feature].values
			if score, ok := s.score(int(b.feature), c[b.left]); !ok || math.Abs(score-best) > tol {
				t.Fatalf("split %+v has the score %g, want %g", b, score, best)
			}
			for _, row := range s.g.rows {
				if v := s.x[b.feature][row]; v > c[b.left] && v < c[b.right] {
					t.Fatalf("a row lies between the sides of %+v", b)
				}
			}
		}
	})
}

// Two classes are searched in another way if there are too many rows to pack
// their weights: the trees are the same.
func TestPackedClassesMakeTheSameTrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := draw(t)
		if s.y.Classes != 2 {
			s.y = Response{Classes: 2, Labels: make([]int32, len(s.x[0]))}
			for i := range s.y.Labels {
				s.y.Labels[i] = int32(rapid.IntRange(0, 1).Draw(t, "label"))
			}
		}
		cols := rankColumns(s.x, 1)
		packed := newGrower(cols, s.y, nil, s.g.set)
		y := s.y
		y.Classes = 3 // the third has no rows
		plain := newGrower(cols, y, nil, s.g.set)
		a, err := packed.grow(context.Background(), 0)
		if err != nil {
			t.Fatal(err)
		}
		b, err := plain.grow(context.Background(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(a.nodes, b.nodes) {
			t.Fatalf("nodes differ:\n%v\n%v", a.nodes, b.nodes)
		}
		for i := range a.rows {
			// Both are quotients of the same whole numbers.
			if !slices.Equal(a.values[2*i:2*i+2], b.values[3*i:3*i+2]) {
				t.Fatalf("values differ:\n%v\n%v", a.values, b.values)
			}
		}
	})
}

// A column of more than 65,536 distinct numbers has ranks of 32 bits; a full
// tree tells all its rows apart.
func TestWideRanks(t *testing.T) {
	const n = 70000
	r := rand.New(rand.NewPCG(5, 6))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(i) / 7
	}
	r.Shuffle(n, func(i, j int) { x[i], x[j] = x[j], x[i] })
	for _, y := range []Response{{Classes: 2}, {Classes: 3}, {Outputs: 1}, {Outputs: 2}} {
		for i := range n {
			if y.Classes > 0 {
				y.Labels = append(y.Labels, int32(i%y.Classes))
			}
			for j := range y.Outputs {
				y.Values = append(y.Values, float64((i+j)%5))
			}
		}
		e, err := GrowForest(context.Background(), [][]float32{x}, y, ForestConfig{Trees: 1, MinLeaf: 1, MaxFeatures: 1, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		k := max(y.Classes, y.Outputs)
		z := make([]float64, n*k)
		e.Sum(z, k, x, 1)
		for i := range n {
			for j, v := range z[i*k : (i+1)*k] {
				want := 0.
				switch {
				case y.Outputs > 0:
					want = y.Values[i*k+j]
				case int(y.Labels[i]) == j:
					want = 1
				}
				if v != want {
					t.Fatalf("row %d has %g, want %g", i, v, want)
				}
			}
		}
	}
}

func TestRanks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		few := rapid.SampledFrom([]float32{0, float32(math.Copysign(0, -1)), 1, -1, 1e-45, -1e-45, math.MaxFloat32, -math.MaxFloat32})
		any := rapid.Float32Range(-math.MaxFloat32, math.MaxFloat32)
		x := rapid.SliceOfN(rapid.OneOf(few, any), 1, 600).Draw(t, "x")
		c := ranked(x)
		want := slices.Clone(x)
		slices.Sort(want)
		want = slices.Compact(want)
		if !slices.Equal(c.values, want) {
			t.Fatalf("values %v, want %v", c.values, want)
		}
		for i, v := range x {
			var r int
			if c.narrow != nil {
				r = int(c.narrow[i])
			} else {
				r = int(c.middle[i])
			}
			if c.values[r] != v {
				t.Fatalf("row %d has the rank of %g, want %g", i, c.values[r], v)
			}
		}
	})
}

func TestBetween(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.Float32Range(-math.MaxFloat32, math.MaxFloat32).Draw(t, "a")
		b := rapid.Float32Range(-math.MaxFloat32, math.MaxFloat32).Draw(t, "b")
		if rapid.Bool().Draw(t, "near") {
			b = math.Nextafter32(a, math.MaxFloat32)
		}
		if a == b {
			return
		}
		a, b = min(a, b), max(a, b)
		m := between(a, b)
		middle := float64(a)/2 + float64(b)/2
		if m < a || m >= b || float64(m) > middle || float64(math.Nextafter32(m, float32(math.Inf(1)))) <= middle {
			t.Fatalf("between %g and %g is %g, the middle is %g", a, b, m, middle)
		}
	})
}
