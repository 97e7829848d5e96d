package align

import (
	"fmt"
	"math"

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
	for k := range m {
		m[k], squares[k] = in.against(from+k, z)
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

// polarOne returns polar(A_iᵀZ) and ‖A_i‖_F². Singular values are estimates with
// Options.NoResidual, which saves half of the time of the factor.
func (in *input) polarOne(i int, z *mat.Dense) (g *mat.Dense, info linalg.PolarInfo, square float64, err error) {
	m, square := in.against(i, z)
	if err := in.finite(i, square); err != nil {
		return nil, info, 0, err
	}
	g, info, err = linalg.PolarWith(m, linalg.PolarOptions{Estimate: in.opt.NoResidual})
	if err != nil {
		return nil, info, 0, fmt.Errorf("align: A_%dᵀZ: %v", i+1, err)
	}
	return g, info, square, nil
}

// against returns A_iᵀZ (l_i × d) and ‖A_i‖_F².
func (in *input) against(i int, z *mat.Dense) (m *mat.Dense, square float64) {
	_, d := z.Dims()
	m = mat.NewDense(in.cols[i], d, nil)
	for from := 0; from < in.rows; from += panelRows {
		to := min(from+panelRows, in.rows)
		for r := from; r < to; r++ {
			row := in.a[i].RawRowView(r)
			square += dot(row, row)
		}
		accumulate(m, in.a[i].Slice(from, to, 0, in.cols[i]).T(), z.Slice(from, to, 0, d).(*mat.Dense))
	}
	return m, square
}
