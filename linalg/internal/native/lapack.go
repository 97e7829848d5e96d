//go:build !noblas && (linux || darwin) && (amd64 || arm64)

package native

import (
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/lapack/gonum"

	"concord/linalg/internal/kernel"
)

// factors are gonum's factorizations but for those whose transposed problem a
// loaded library solves in place.
type factors struct {
	gonum.Implementation
	f *Library
}

// Factors are the library's factorizations.
func (f *Library) Factors() kernel.Factors { return factors{f: f} }

// Dpotrf is the Cholesky decomposition in place; see lapack.Float64.
func (fl factors) Dpotrf(ul blas.Uplo, n int, a []float64, lda int) bool {
	if n < 32 {
		return fl.Implementation.Dpotrf(ul, n, a, lda)
	}
	kernel.CheckUplo(ul)
	kernel.CheckMatrix("A", n, n, a, lda)
	p := newArgs(other(ul), n, lda)
	purego.SyscallN(fl.f.potrf, uintptr(unsafe.Pointer(&p.c[0])), uintptr(unsafe.Pointer(&p.i[0])),
		uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&p.i[1])), uintptr(unsafe.Pointer(&p.info)), one)
	runtime.KeepAlive(a)
	return p.status("dpotrf") == 0
}

// Dgeqrf is the QR decomposition in place, as LQ of the transpose; see
// lapack.Float64. The reflectors are the same numbers in the same places.
func (fl factors) Dgeqrf(m, n int, a []float64, lda int, tau, work []float64, lwork int) {
	if lwork == -1 || min(m, n) < 16 {
		fl.Implementation.Dgeqrf(m, n, a, lda, tau, work, lwork)
		return
	}
	kernel.CheckMatrix("A", m, n, a, lda)
	kernel.CheckMatrix("tau", 1, min(m, n), tau, min(m, n))
	fl.f.reflect(fl.f.gelqf, []int{n, m, lda}, a, tau)
}

// Dorgqr makes Q of the reflectors of Dgeqrf; see
// lapack.Float64.
func (fl factors) Dorgqr(m, n, k int, a []float64, lda int, tau, work []float64, lwork int) {
	if lwork == -1 || k < 16 {
		fl.Implementation.Dorgqr(m, n, k, a, lda, tau, work, lwork)
		return
	}
	kernel.CheckMatrix("A", m, n, a, lda)
	kernel.CheckMatrix("tau", 1, k, tau, k)
	// dorglq takes the rows of Qᵀ first: n × m with k reflectors.
	fl.f.reflect(fl.f.orglq, []int{n, m, k, lda}, a, tau)
}

// reflect calls dgelqf (rows, columns, stride) or dorglq (rows, columns,
// reflectors, stride), first for the size of its workspace.
func (f *Library) reflect(routine uintptr, sizes []int, a, tau []float64) {
	p := newArgs("", sizes...)
	work := make([]float64, 1)
	for _, size := range []int64{-1, 0} {
		if size == 0 {
			size = int64(work[0])
			work = make([]float64, size)
		}
		p.i[4] = size
		if len(sizes) == 3 {
			purego.SyscallN(routine, uintptr(unsafe.Pointer(&p.i[0])), uintptr(unsafe.Pointer(&p.i[1])),
				uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&p.i[2])), uintptr(unsafe.Pointer(&tau[0])),
				uintptr(unsafe.Pointer(&work[0])), uintptr(unsafe.Pointer(&p.i[4])), uintptr(unsafe.Pointer(&p.info)))
		} else {
			purego.SyscallN(routine, uintptr(unsafe.Pointer(&p.i[0])), uintptr(unsafe.Pointer(&p.i[1])),
				uintptr(unsafe.Pointer(&p.i[2])), uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&p.i[3])),
				uintptr(unsafe.Pointer(&tau[0])),
				uintptr(unsafe.Pointer(&work[0])), uintptr(unsafe.Pointer(&p.i[4])), uintptr(unsafe.Pointer(&p.info)))
		}
	}
	runtime.KeepAlive(a)
	runtime.KeepAlive(tau)
	runtime.KeepAlive(work)
	p.status("dgelqf or dorglq")
}
