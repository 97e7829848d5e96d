package align

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// choleskyLimit is the condition number of A_iᵀA_i, the square of that of A_i, up
// to which G_i comes from the normal equations. Their solution is exact to
// eps·cond(A_i)², here 2e-10; beyond it the singular value decomposition of A_i
// is used, which is exact to eps·cond(A_i) and finds the rank.
const choleskyLimit = 1e6

// solve fills in G_i = A_i⁺ Z with ranks and condition numbers:
//
//	(A_iᵀA_i) G_i = A_iᵀZ  by Cholesky where A_i is well conditioned,
//	V_r Σ_r⁻¹ U_rᵀ Z  from the singular value decomposition otherwise
//
// exact asks for the second at once. The cost is O(a l_i (l_i + d)) a party.
func (res *Result) solve(in *input, z *mat.Dense, exact bool) error {
	c := len(in.a)
	res.G = make([]*mat.Dense, c)
	res.Ranks, res.Conds = make([]int, c), make([]float64, c)
	err := in.each(func(i int) error {
		var err error
		res.G[i], res.Ranks[i], res.Conds[i], err = in.solveOne(i, z, exact)
		return err
	})
	if err != nil {
		return err
	}
	res.warnRanks(in)
	return nil
}

// solveOne returns G_i with rank and condition number of A_i.
func (in *input) solveOne(i int, z *mat.Dense, exact bool) (g *mat.Dense, rank int, cond float64, err error) {
	if !exact {
		k, sum := in.normal(i)
		if err := in.finite(i, sum); err != nil {
			return nil, 0, 0, err
		}
		if f, ok := cholesky(k, choleskyLimit); ok {
			g = new(mat.Dense)
			g.Mul(in.a[i].T(), z)
			f.solve(g)
			return g, in.cols[i], f.cond, nil
		}
	}
	g, fit, err := linalg.LeastSquares(in.a[i], z, 0)
	if err != nil {
		return nil, 0, 0, fmt.Errorf("align: A_%d: %v", i+1, err)
	}
	return g, fit.Rank, fit.Cond, nil
}

// warnRanks warns of every A_i of deficient rank or bad condition.
func (res *Result) warnRanks(in *input) {
	for i := range in.a {
		switch {
		case res.Ranks[i] < in.cols[i]:
			res.warn("party %d: A_%d has rank %d of %d columns: G_%d is the solution of least norm", i+1, i+1, res.Ranks[i], in.cols[i], i+1)
		case res.Conds[i] > illConditioned:
			res.warn("party %d: A_%d has condition number %.1e: G_%d has lost half of its digits", i+1, i+1, res.Conds[i], i+1)
		}
	}
}

// normal returns A_iᵀA_i (l_i × l_i, both halves) and the sum of its elements'
// diagonal, ‖A_i‖_F², which is not finite if anything in A_i is not.
func (in *input) normal(i int) (k *mat.Dense, sum float64) {
	raw := in.a[i].RawMatrix()
	n := in.cols[i]
	k = mat.NewDense(n, n, nil)
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, raw, raw, 0, k.RawMatrix())
	for j := range n {
		sum += k.At(j, j)
	}
	return k, sum
}
