package onnx

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/learn"
)

// tied is a forest of so many trees with close votes for k classes, since there
// was nothing to learn, with small leaves of several classes; and the 27 rows that
// there are.
func tied(t *testing.T, k, trees int) (*learn.TreeEnsemble, *mat.Dense) {
	t.Helper()
	src := rand.New(rand.NewPCG(20240601, uint64(100*k+trees)))
	x := mat.NewDense(60, 3, nil)
	x.Apply(func(int, int, float64) float64 { return float64(src.IntN(3)) }, x)
	y := learn.Target{Classes: []string{"a", "b", "c", "d", "e", "f"}[:k]}
	for range 60 {
		y.Labels = append(y.Labels, src.IntN(k))
	}
	m, err := learn.Forest{Trees: trees}.Fit(context.Background(), x, y)
	if err != nil {
		t.Fatal(err)
	}
	rows := mat.NewDense(27, 3, nil)
	rows.Apply(func(i, j int, _ float64) float64 { return float64(i / []int{1, 3, 9}[j] % 3) }, rows)
	return m.(*learn.TreeEnsemble), rows
}

// TestForestShares: the leaves of these forests hold shares like 1/3 and 1/2, and
// many rows have two classes with equal sums of them. The graph, read back, gives
// the classes of the model, and so does a machine that adds in 32 bits, in
// whichever order of the trees.
func TestForestShares(t *testing.T) {
	ties := 0
	for _, k := range []int{2, 3, 6} {
		for _, trees := range []int{1, 2, 3, 4, 5, 6, 10, 30, 100} {
			m, rows := tied(t, k, trees)
			g, err := FromModel(m)
			if err != nil {
				t.Fatal(err)
			}
			if g, err = Decode(g.Encode()); err != nil {
				t.Fatal(err)
			}
			want, err := m.Scores(rows)
			if err != nil {
				t.Fatal(err)
			}
			out, err := g.Run(rows)
			if err != nil {
				t.Fatal(err)
			}
			agree(t, out, want)
			labels := learn.Predicted(want)
			for _, backwards := range []bool{false, true} {
				for i := range labels {
					if c := narrowVote(m, rows.RawRowView(i), backwards); c != labels[i] {
						t.Errorf("%d classes, %d trees, row %d, backwards %v: class %d in 32 bits, want %d",
							k, trees, i+1, backwards, c, labels[i])
					}
				}
			}
			for i := range labels {
				row := slices.Clone(want.RawRowView(i))
				slices.Sort(row)
				if row[k-1] == row[k-2] {
					ties++
				}
			}
		}
	}
	if ties < 10 {
		t.Errorf("%d rows have a tie, want more to tell anything", ties)
	}
}

// narrowVote is the class of a row by the mean over the trees of m, all of it in
// float32.
func narrowVote(m *learn.TreeEnsemble, row []float64, backwards bool) int {
	sum := make([]float32, len(m.Base))
	roots := slices.Clone(m.Roots)
	if backwards {
		slices.Reverse(roots)
	}
	for _, at := range roots {
		for m.Nodes[at].Feature != learn.TreeLeaf {
			n := &m.Nodes[at]
			if float32(row[n.Feature]) <= n.Threshold {
				at = n.Left
			} else {
				at = n.Right
			}
		}
		for c, v := range m.Values.RawRowView(int(m.Nodes[at].Left)) {
			sum[c] += float32(v)
		}
	}
	best := 0
	for c := range sum {
		sum[c] /= float32(len(roots))
		if sum[c] > sum[best] {
			best = c
		}
	}
	return best
}

// TestKernelFar: rows that lie far from the origin keep their distances, and a
// machine without vectors says its intercepts.
func TestKernelFar(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 3))
	x, y := drawn(src, 200, 4, 4)
	for i := range 200 {
		for j := range 4 {
			x.Set(i, j, float64(float32(x.At(i, j)+1000*float64(j+1))))
		}
	}
	for _, l := range []learn.Learner{learn.SVM{}, learn.KNN{}} {
		m, err := l.Fit(context.Background(), x, y)
		if err != nil {
			t.Fatal(err)
		}
		g, err := FromModel(m)
		if err != nil {
			t.Fatal(err)
		}
		agrees(t, g, x, m, x)
	}

	flat := &learn.KernelMachine{Columns: 2, Intercept: []float64{1, -2, 0.5}, Gamma: 1, Centre: []float64{0, 0},
		Pairs: [][2]int{{0, 1}, {0, 2}, {1, 2}}, Levels: []string{"a", "b", "c"}}
	g, err := FromModel(flat)
	if err != nil {
		t.Fatal(err)
	}
	rows := random(src, 3, 2)
	agrees(t, g, rows, flat, rows)
}

// TestNeighboursTies: among whole numbers distances are often equal; the lower
// row counts, as in the model.
func TestNeighboursTies(t *testing.T) {
	src := rand.New(rand.NewPCG(2, 3))
	whole := func(n int) *mat.Dense {
		x := mat.NewDense(n, 3, nil)
		x.Apply(func(int, int, float64) float64 { return float64(1000 + src.IntN(4)) }, x)
		return x
	}
	x := whole(150)
	y := learn.Target{Classes: []string{"a", "b", "c"}}
	for range 150 {
		y.Labels = append(y.Labels, src.IntN(3))
	}
	for _, k := range []int{1, 4, 150} {
		m, err := learn.KNN{Neighbours: k}.Fit(context.Background(), x, y)
		if err != nil {
			t.Fatal(err)
		}
		g, err := FromModel(m)
		if err != nil {
			t.Fatal(err)
		}
		rows := whole(1000)
		agrees(t, g, rows, m, rows)
	}
}
