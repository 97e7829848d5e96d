package align

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// frame is an orthonormal basis of the span of A_i: A_i T = Q.
type frame struct {
	q *mat.Dense // a × r; nil where A_i T is orthonormal enough and not put together
	t *mat.Dense // l_i × r; nil for rank 0

	gram *mat.Dense // between take and find
}

// simpleCond is the condition number of A_i up to which Cholesky once is enough:
// A_i T is orthonormal to eps·cond², here 2e-13.
const simpleCond = 32

// identity returns the n × n identity.
func identity(n int) *mat.Dense {
	m := mat.NewDense(n, n, nil)
	for j := range n {
		m.Set(j, j, 1)
	}
	return m
}

// take computes AᵀA of a (a × l) and returns its trace, ‖A‖_F².
func (f *frame) take(a *mat.Dense) float64 {
	f.gram = mul(a.T(), a)
	return mat.Trace(f.gram)
}

// find finds a basis of the span of the a that was taken, with rank and condition
// number. It comes from Cholesky of AᵀA, twice (CholeskyQR2, [yamamoto2015]),
// which is orthonormal to eps where a is well conditioned, once where it is very
// well conditioned, and from the singular value decomposition otherwise. The cost
// is O(a l²).
func (f *frame) find(a *mat.Dense) (rank int, cond float64, err error) {
	rows, l := a.Dims()
	t, gram := identity(l), f.gram
	f.gram = nil
	if r, ok := cholesky(gram, choleskyLimit); ok {
		r.right(t)
		if r.cond <= simpleCond {
			f.t = t
			return l, r.cond, nil
		}
		q := mat.DenseCopyOf(a)
		r.right(q)
		// What is left is close to the identity.
		if again, ok := cholesky(mul(q.T(), q), 2*float64(l*l)); ok {
			again.right(q)
			again.right(t)
			f.q, f.t = q, t
			return l, r.cond, nil
		}
	}
	u, s, v, err := linalg.SVD(a)
	if err != nil {
		return 0, 0, err
	}
	rank = linalg.NumericalRank(s, rows, l, 0)
	if rank == 0 {
		return 0, 0, nil
	}
	t = mat.DenseCopyOf(v.Slice(0, l, 0, rank))
	inverse := make([]float64, rank)
	for j := range rank {
		inverse[j] = 1 / s[j]
	}
	scaleColumns(t, inverse)
	f.q, f.t = mat.DenseCopyOf(u.Slice(0, rows, 0, rank)), t
	return rank, s[0] / s[rank-1], nil
}

// whiten returns T (l × r) with TᵀKT = I for the Gram matrix k (l × l, overwritten)
// of a matrix of so many rows, its rank r, and the square root of its condition
// number.
func whiten(k *mat.Dense, rows int) (t *mat.Dense, rank int, cond float64, err error) {
	l, _ := k.Dims()
	if r, ok := cholesky(mat.DenseCopyOf(k), choleskyLimit); ok {
		t = identity(l)
		r.right(t)
		return t, l, r.cond, nil
	}
	w, v, err := symmetric(k, l)
	if err != nil {
		return nil, 0, 0, err
	}
	rank = linalg.NumericalRank(w, rows, l, 0)
	if rank == 0 {
		return nil, 0, 0, nil
	}
	t = mat.DenseCopyOf(v.Slice(0, l, 0, rank))
	scale := make([]float64, rank)
	for j := range rank {
		scale[j] = 1 / math.Sqrt(w[j])
	}
	scaleColumns(t, scale)
	return t, rank, math.Sqrt(w[0] / w[rank-1]), nil
}
