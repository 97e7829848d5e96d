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
	err = in.each(func(i int) error {
		g, info, square, err := in.polarOne(i, z)
		if err != nil {
			return err
		}
		if info.Rank == min(g.Dims()) {
			seen[i] = ratio(info.Smallest, math.Sqrt(square))
		}
		res.G[i], res.Ranks[i], res.Conds[i] = g, info.Rank, info.Cond
		return nil
	})
	return seen, err
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
