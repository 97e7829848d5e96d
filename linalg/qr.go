package linalg

import (
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// QR is the thin QR decomposition of a (m × n), k = min(m, n), by Householder
// reflections, or by Cholesky decompositions of the Gram matrix where a is tall
// and these are as exact:
//
//	A = Q R
//
// Q (m × k) has orthonormal columns, R (k × n) is upper triangular (upper
// trapezoidal when A is wide) and its diagonal is not negative. With that sign
// the decomposition of a matrix of full column rank is unique.
//
// The cost is O(m n k) in time and one copy of a in memory.
func QR(a *mat.Dense) (q, r *mat.Dense, err error) {
	rows, cols := dims(a)
	if rows == 0 {
		return &mat.Dense{}, &mat.Dense{}, nil
	}
	if err := CheckFinite(a); err != nil {
		return nil, nil, err
	}
	if q, r, ok := cholQR(a); ok {
		return q, r, nil
	}
	k := min(rows, cols)
	f := mat.DenseCopyOf(a)
	tau := make([]float64, k)
	query := []float64{0}
	lapack64.Geqrf(f.RawMatrix(), tau, query, -1)
	work := make([]float64, int(query[0]))
	lapack64.Geqrf(f.RawMatrix(), tau, work, len(work))

	r = mat.NewDense(k, cols, nil)
	for i := range k {
		copy(r.RawRowView(i)[i:], f.RawRowView(i)[i:])
	}

	q = f
	if cols > k {
		q = mat.DenseCopyOf(f.Slice(0, rows, 0, k))
	}
	lapack64.Orgqr(q.RawMatrix(), tau, query, -1)
	if n := int(query[0]); n > len(work) {
		work = make([]float64, n)
	}
	lapack64.Orgqr(q.RawMatrix(), tau, work, len(work))

	for j := range k {
		if r.At(j, j) >= 0 {
			continue
		}
		row := r.RawRowView(j)
		for i := j; i < cols; i++ {
			row[i] = -row[i]
		}
		negateColumn(q, j)
	}
	return q, r, nil
}
