package align

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// quadratic is the map that the iterative methods iterate, on stacked matrices
// G (L × d):
//
//	M_i = A_iᵀ Σ_j A_j G_j,  that is M = K G with K = WᵀW
//
// The number of anchor rows drops out of an iteration when K is held.
type quadratic interface {
	// apply overwrites m (L × d) with K G.
	apply(m, g *mat.Dense)
	// diagonal is A_iᵀA_i; not to be changed.
	diagonal(i int) *mat.Dense
}

// The solvers of the iterative methods.
const (
	solverBlock = "block" // K is held: L² numbers, 2 L² d flops an iteration
	// solverDirect: the A_i are used as they are, 4 a L d flops an iteration.
)

// expected is the number of iterations over which the cost of K is spread when
// choosing between K and the A_i.
const expected = 50

// newQuadratic returns K or the A_i, whichever costs fewer flops over the
// expected iterations:
//
//	a L² + 2 L² d n  against  4 a L d n
//
// unless solver says which.
func newQuadratic(in *input, d int, solver string) (quadratic, string) {
	if solver == "" {
		a, l, k := float64(in.rows), float64(in.sum), float64(d*expected)
		solver = solverDirect
		if a*l+2*l*k <= 4*a*k {
			solver = solverBlock
		}
	}
	if solver == solverBlock {
		return &held{in, in.gram()}, solverBlock
	}
	return newDirect(in), solverDirect
}

// held has K.
type held struct {
	in *input
	k  *mat.Dense
}

func (h *held) diagonal(i int) *mat.Dense { return h.in.diagonal(h.k, i) }

func (h *held) apply(m, g *mat.Dense) {
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, h.k.RawMatrix(), g.RawMatrix(), 0, m.RawMatrix())
}

// direct has the A_i.
type direct struct{ in *input }

func newDirect(in *input) direct { return direct{in} }

func (q direct) diagonal(i int) *mat.Dense {
	k, _ := q.in.normal(i)
	return k
}

func (q direct) apply(m, g *mat.Dense) {
	z := q.in.combine(g)
	_ = q.in.each(func(i int) error {
		q.in.block(m, i).Mul(q.in.a[i].T(), z)
		return nil
	})
}
