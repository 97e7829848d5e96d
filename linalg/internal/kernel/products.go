package kernel

import "gonum.org/v1/gonum/blas"

// Products are the routines of level 3 of BLAS that an engine computes in a way of
// its own; see blas.Float64Level3. Everything else, of whatever engine, is gonum's:
// a routine that becomes an engine's own must be added here, and the compiler then
// asks for it wherever engines are put in place.
type Products interface {
	Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int,
		beta float64, c []float64, ldc int)
	Dsyrk(ul blas.Uplo, t blas.Transpose, n, k int, alpha float64, a []float64, lda int,
		beta float64, c []float64, ldc int)
	Dtrsm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64,
		a []float64, lda int, b []float64, ldb int)
	Dtrmm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64,
		a []float64, lda int, b []float64, ldb int)
}

// Factors are the routines of LAPACK that an engine computes in a way of its own;
// see lapack.Float64.
type Factors interface {
	Dpotrf(ul blas.Uplo, n int, a []float64, lda int) (ok bool)
	Dgeqrf(m, n int, a []float64, lda int, tau, work []float64, lwork int)
	Dorgqr(m, n, k int, a []float64, lda int, tau, work []float64, lwork int)
}
