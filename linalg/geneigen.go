package linalg

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// ErrNotDefinite is returned for a matrix that must be positive definite and,
// as far as rounding shows, is not. The caller may drop directions or add a
// multiple of the identity.
var ErrNotDefinite = errors.New("linalg: matrix is not positive definite")

// EigGeneral solves the symmetric-definite generalised eigenproblem for the
// eigenvalues w_j, increasing, with lo ≤ j < hi, counted from 0:
//
//	A V = B V diag(w),  VᵀB V = I
//
// for a symmetric and b symmetric and positive definite (both n × n). The
// columns of V (n × (hi − lo)) are orthonormal in the inner product of b, not
// orthonormal as such, and their leading elements are positive, as in [SVD].
//
// With the Cholesky decomposition B = RᵀR it is the eigenproblem of
// R⁻ᵀA R⁻¹, and V = R⁻¹Y ([golub2013], section 8.7.2). Eigenvalues are exact to
// about ε ‖A‖ ‖B⁻¹‖. ErrNotDefinite is returned, wrapped, if b is not positive
// definite. It panics if the orders differ or the range is not within 0 to n.
//
// The cost is O(n³) in time and up to seven copies of a in memory.
func EigGeneral(a, b *mat.SymDense, lo, hi int) (w []float64, v *mat.Dense, err error) {
	n := order(a)
	if order(b) != n {
		panic(fmt.Sprintf("linalg: a generalised eigenproblem of orders %d and %d", n, order(b)))
	}
	if lo < 0 || hi < lo || hi > n {
		panic(fmt.Sprintf("linalg: eigenvalues %d to %d of %d", lo, hi, n))
	}
	if err := CheckFiniteSym(a); err != nil {
		return nil, nil, err
	}
	if hi == lo {
		return nil, &mat.Dense{}, nil
	}
	r, expB, err := scaledSym(b)
	if err != nil {
		return nil, nil, fmt.Errorf("second matrix: %w", err)
	}
	if !potrf(r, n) {
		return nil, nil, fmt.Errorf("second matrix: %w", ErrNotDefinite)
	}
	upper, expA, err := scaledSym(a)
	if err != nil {
		return nil, nil, err
	}
	mirror(upper, n)
	impl := blas64.Implementation()
	impl.Dtrsm(blas.Left, blas.Upper, blas.Trans, blas.NonUnit, n, n, 1, r, n, upper, n)
	impl.Dtrsm(blas.Right, blas.Upper, blas.NoTrans, blas.NonUnit, n, n, 1, r, n, upper, n)
	for i := range n { // rounding leaves it symmetric to eps only
		for j := i + 1; j < n; j++ {
			upper[i*n+j] = (upper[i*n+j] + upper[j*n+i]) / 2
		}
	}
	c := mat.NewSymDense(n, nil)
	c.SetRawSymmetric(blas64.Symmetric{N: n, Stride: n, Data: upper, Uplo: blas.Upper})
	w, v, err = EigSymRange(c, lo, hi)
	if err != nil {
		return nil, nil, err
	}
	raw := v.RawMatrix()
	impl.Dtrsm(blas.Left, blas.Upper, blas.NoTrans, blas.NonUnit, n, hi-lo, 1, r, n, raw.Data, raw.Stride)
	for i := range raw.Data { // B was scaled by 2^−expB
		raw.Data[i] *= math.Exp2(-float64(expB) / 2)
	}
	if CheckFinite(v) != nil {
		return nil, nil, errors.New("linalg: generalised eigenvectors overflow: scale the second matrix up")
	}
	fixSigns(v, nil)
	return w, v, unscale(w, expA-expB)
}

// CholeskySolve returns X with A X = B for a symmetric and positive definite a
// (n × n) and b (n × k), and an estimate of the condition number of a. It
// returns ErrNotDefinite if a is not positive definite. It panics if the
// numbers of rows differ.
//
// The cost is O(n³ + n²k).
func CholeskySolve(a *mat.SymDense, b *mat.Dense) (x *mat.Dense, cond float64, err error) {
	n := order(a)
	rows, _ := dims(b)
	if rows != n {
		panic(fmt.Sprintf("linalg: right-hand side has %d rows, the matrix has %d", rows, n))
	}
	if err := CheckFiniteSym(a); err != nil {
		return nil, 0, err
	}
	if err := CheckFinite(b); err != nil {
		return nil, 0, fmt.Errorf("linalg: right-hand side: %v", err)
	}
	if n == 0 {
		return &mat.Dense{}, 0, nil
	}
	var chol mat.Cholesky
	if !chol.Factorize(a) {
		return nil, 0, ErrNotDefinite
	}
	x = new(mat.Dense)
	var ill mat.Condition
	if err := chol.SolveTo(x, b); err != nil && !errors.As(err, &ill) {
		return nil, 0, fmt.Errorf("linalg: %v", err)
	}
	if CheckFinite(x) != nil {
		return nil, chol.Cond(), errors.New("linalg: solution overflows: scale the matrix up")
	}
	return x, chol.Cond(), nil
}
