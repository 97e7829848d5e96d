package anchor

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
	"concord/secret"
)

// defaultNeighbours is k in Chawla et al.
const defaultNeighbours = 5

// SMOTEPiece returns a party's piece of a SMOTE anchor (rows × m), made of its rows
// X (n × m) as Chawla, Bowyer, Hall and Kegelmeyer make new samples (2002,
// doi:10.1613/jair.953; cited for anchors by GEP and ODC). Each new row lies on the
// way from a row to one of its k nearest others,
//
//	x + u (y − x),   u uniform on [0, 1),   y uniform among the k nearest of x
//
// by Euclidean distance, equal ones in their order. The rows x are taken in random
// order, all once before any is taken again. neighbours is k; 0 means 5, or n − 1
// if that is less.
//
// A piece shows near-raw rows to whoever gets the anchor, that is to every other
// party, and a row that x holds k + 1 times comes out as it is: only by explicit
// agreement, and with a report of the distance from each of its rows to the nearest
// real row. The piece spans no more than X does.
//
// The errors name the numbers: fewer than two rows, NaN or Inf by row and column,
// rows below 1, neighbours outside 1 … n − 1, more than [MaxElements] elements. A
// nil src panics. Cost O(min(rows, n) n (m + log n)) time, O(n) memory a core.
func SMOTEPiece(x secret.Matrix, rows, neighbours int, src rand.Source) (secret.Matrix, error) {
	if src == nil {
		panic("anchor: nil source")
	}
	data := x.Reveal()
	n, m, err := checkRows("rows", data)
	if err != nil {
		return secret.Matrix{}, err
	}
	if err := checkSize(rows, m); err != nil {
		return secret.Matrix{}, err
	}
	if n < 2 {
		return secret.Matrix{}, fmt.Errorf("anchor: %d row has no neighbours: at least 2 are needed", n)
	}
	if neighbours == 0 {
		neighbours = min(defaultNeighbours, n-1)
	}
	if neighbours < 1 || neighbours > n-1 {
		return secret.Matrix{}, fmt.Errorf("anchor: %d neighbours among %d rows: choose 1 to %d, or 0 for the default", neighbours, n, n-1)
	}
	rnd := rand.New(src)
	order := rnd.Perm(n)
	near := make([][]int, min(rows, n)) // of row order[i]
	linalg.Parallel(len(near), func(i int) { near[i] = nearest(data, order[i], neighbours) })
	piece := mat.NewDense(rows, m, nil)
	for i := range rows {
		at := i % n
		y := data.RawRowView(near[at][rnd.IntN(neighbours)])
		between(piece.RawRowView(i), data.RawRowView(order[at]), y, rnd.Float64())
	}
	return secret.NewMatrix(piece), nil
}

// nearest are the k rows of x nearest to row i, other than i.
func nearest(x *mat.Dense, i, k int) []int {
	n, _ := x.Dims()
	own := x.RawRowView(i)
	square := make([]float64, n)
	others := make([]int, 0, n-1)
	for j := range n {
		if j == i {
			continue
		}
		others = append(others, j)
		for l, v := range x.RawRowView(j) {
			square[j] += (v - own[l]) * (v - own[l])
		}
	}
	slices.SortStableFunc(others, func(a, b int) int { return cmp.Compare(square[a], square[b]) })
	return slices.Clone(others[:k])
}

// between puts (1 − u) x + u y in to: no difference that could overflow, and the
// same bits on every machine.
func between(to, x, y []float64, u float64) {
	for j := range to {
		to[j] = float64((1-u)*x[j]) + float64(u*y[j])
	}
}
