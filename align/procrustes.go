package align

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// solverPolar is the one solver of the closed-form Procrustes methods.
const solverPolar = "polar"

// procrustes fills in G_i = polar(A_iᵀZ) for the target z (a × d), with ranks and
// condition numbers of A_iᵀZ, and returns σ_min(A_iᵀZ) / ‖A_i‖_F of every party.
//
// A_i is read once: its norm is summed up panel by panel while the panel is in
// the cache for the product. The cost is O(a l_i d + l_i² d) a party.
func (res *Result) procrustes(in *input, z *mat.Dense) (seen []float64, err error) {
	c := len(in.a)
	seen = make([]float64, c)
	res.G = make([]*mat.Dense, c)
	res.Ranks, res.Conds = make([]int, c), make([]float64, c)
	runs := in.runs(z)
	err = parallel(in.opt.Workers, len(runs), func(k int) error {
		return res.procrustesRun(in, runs[k][0], runs[k][1], z, seen)
	})
	return seen, err
}

// runs divides the parties into runs from ≤ i < to whose polar factors are found
// together.
func (in *input) runs(z *mat.Dense) [][2]int {
	_, d := z.Dims()
	for _, l := range in.cols {
		if l != d {
			return linalg.PolarRuns(len(in.a), 0)
		}
	}
	return linalg.PolarRuns(len(in.a), d)
}

// procrustesRun is procrustes for the parties from ≤ i < to.
func (res *Result) procrustesRun(in *input, from, to int, z *mat.Dense, seen []float64) error {
	m, squares, info := make([]*mat.Dense, to-from), make([]float64, to-from), make([]linalg.PolarInfo, to-from)
	_, d := z.Dims()
	buffer := scratch.Get().(*[]float64)
	defer scratch.Put(buffer)
	if size := slices.Max(in.cols[from:to]) * d * len(m); len(*buffer) < size {
		*buffer = make([]float64, size)
	}
	at := 0
	for k := range m {
		l := in.cols[from+k]
		m[k] = mat.NewDense(l, d, (*buffer)[at:at+l*d:at+l*d])
		at += l * d
		squares[k] = linalg.Cross(m[k], in.a[from+k], z)
		if err := in.finite(from+k, squares[k]); err != nil {
			return err
		}
	}
	g := res.G[from:to]
	if at, err := linalg.PolarBatch(g, info, m, linalg.PolarOptions{Estimate: in.opt.NoResidual}); err != nil {
		return fmt.Errorf("align: A_%dᵀZ: %v", from+at+1, err)
	}
	for k, i := range info {
		if i.Rank == min(g[k].Dims()) {
			seen[from+k] = ratio(i.Smallest, math.Sqrt(squares[k]))
		}
		res.Ranks[from+k], res.Conds[from+k] = i.Rank, i.Cond
	}
	return nil
}

// scratch holds the elements of matrices that are needed for a moment.
var scratch = sync.Pool{New: func() any { return new([]float64) }}
