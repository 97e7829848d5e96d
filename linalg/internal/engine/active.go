package engine

import (
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	gonumblas "gonum.org/v1/gonum/blas/gonum"
	gonumlapack "gonum.org/v1/gonum/lapack/gonum"
	"gonum.org/v1/gonum/lapack/lapack64"

	"concord/linalg/internal/kernel"
)

// active is the engine that computes; nil between [UseBest] and the first operation.
var active atomic.Pointer[Engine]

func init() { active.Store(Gonum()) } // a variable of this package, nothing of the process

var (
	mutex  sync.Mutex
	chosen bool   // UseBest was called
	choice string // its argument
)

// UseBest puts forwarders in the place of gonum's BLAS and LAPACK, and has the first
// operation afterwards choose and load the engine by the rules of [Choose]. Later
// calls do nothing.
//
// gonum's packages read their implementation from plain variables, so the forwarders
// are never replaced: another engine is put behind them.
func UseBest(by string) {
	mutex.Lock()
	defer mutex.Unlock()
	if chosen {
		return
	}
	chosen, choice = true, by
	blas64.Use(blasForwarder{})
	lapack64.Use(lapackForwarder{})
	active.Store(nil)
}

// Active returns the engine that computes, and loads it if need be.
func Active() *Engine {
	if e := active.Load(); e != nil {
		return e
	}
	mutex.Lock()
	defer mutex.Unlock()
	if e := active.Load(); e != nil {
		return e
	}
	e := Choose(choice)
	e.use()
	return e
}

// Use puts e in place, for tests, and returns what restores the former engine. It is
// for a process that has called [UseBest], and not for tests that run side by side.
func (e *Engine) Use() (restore func()) {
	before := Active()
	e.use()
	return before.use
}

func (e *Engine) use() {
	kernel.OnThreads(nil)
	if e.Native != nil {
		kernel.OnThreads(e.Native.SetThreads)
	}
	active.Store(e)
}

// blasForwarder is gonum's BLAS with the routines that engines compute in ways of
// their own forwarded to the active one.
type blasForwarder struct{ gonumblas.Implementation }

var _ kernel.Products = blasForwarder{}

// Dgemm is the active engine's, loaded by the first call.
func (blasForwarder) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64,
	ldb int,
	beta float64, c []float64, ldc int) {
	Active().products.Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

// Dsyrk is the active engine's, as Dgemm.
func (blasForwarder) Dsyrk(ul blas.Uplo, t blas.Transpose, n, k int, alpha float64, a []float64, lda int,
	beta float64, c []float64, ldc int) {
	Active().products.Dsyrk(ul, t, n, k, alpha, a, lda, beta, c, ldc)
}

// Dtrsm is the active engine's, as Dgemm.
func (blasForwarder) Dtrsm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64,
	a []float64, lda int, b []float64, ldb int) {
	Active().products.Dtrsm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
}

// Dtrmm is the active engine's, as Dgemm.
func (blasForwarder) Dtrmm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64,
	a []float64, lda int, b []float64, ldb int) {
	Active().products.Dtrmm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
}

// lapackForwarder is the same for LAPACK.
type lapackForwarder struct{ gonumlapack.Implementation }

var _ kernel.Factors = lapackForwarder{}

// Dpotrf is the active engine's, loaded by the first call.
func (lapackForwarder) Dpotrf(ul blas.Uplo, n int, a []float64, lda int) bool {
	return Active().factors.Dpotrf(ul, n, a, lda)
}

// Dgeqrf is the active engine's, as Dpotrf.
func (lapackForwarder) Dgeqrf(m, n int, a []float64, lda int, tau, work []float64, lwork int) {
	Active().factors.Dgeqrf(m, n, a, lda, tau, work, lwork)
}

// Dorgqr is the active engine's, as Dpotrf.
func (lapackForwarder) Dorgqr(m, n, k int, a []float64, lda int, tau, work []float64, lwork int) {
	Active().factors.Dorgqr(m, n, k, a, lda, tau, work, lwork)
}
