//go:build !noblas && (linux || darwin) && (amd64 || arm64)

package native

import (
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
	"gonum.org/v1/gonum/mat"
)

// SVD is the singular value decomposition by divide and conquer (LAPACK
// dgesdd). It overwrites a (m × n, contiguous). Parts that were not asked for
// are nil; ok is false if it does not converge.
//
// By columns, LAPACK sees Aᵀ = V S Uᵀ: where it returns the left vectors by
// columns they are the rows of Vᵀ, and where it returns the right vectors
// transposed they are U by rows. With one side only, the larger of the two
// overwrites a and is dropped if it is not the one wanted.
func (f *Library) SVD(a *mat.Dense, wantU, wantV bool) (u *mat.Dense, s []float64, v *mat.Dense, ok bool) {
	m, n := a.Dims()
	k := min(m, n)
	s = make([]float64, k)
	job, left, right := "N", []float64{0}, []float64{0}
	switch {
	case wantU && wantV:
		job, left, right = "S", make([]float64, k*n), make([]float64, m*k)
	case (wantU || wantV) && n >= m:
		job, right = "O", make([]float64, m*m)
	case wantU || wantV:
		job, left = "O", make([]float64, n*n)
	}
	data := a.RawMatrix().Data
	iwork := make([]int64, 8*k)
	work := make([]float64, 1)
	p := newArgs(job, n, m, n, n, k)
	for _, size := range []int64{-1, 0} {
		if size == 0 {
			size = int64(work[0])
			work = make([]float64, size)
		}
		p.i[5] = size
		purego.SyscallN(f.gesdd, uintptr(unsafe.Pointer(&p.c[0])), uintptr(unsafe.Pointer(&p.i[0])),
			uintptr(unsafe.Pointer(&p.i[1])),
			uintptr(unsafe.Pointer(&data[0])), uintptr(unsafe.Pointer(&p.i[2])), uintptr(unsafe.Pointer(&s[0])),
			uintptr(unsafe.Pointer(&left[0])), uintptr(unsafe.Pointer(&p.i[3])), uintptr(unsafe.Pointer(&right[0])),
			uintptr(unsafe.Pointer(&p.i[4])),
			uintptr(unsafe.Pointer(&work[0])), uintptr(unsafe.Pointer(&p.i[5])), uintptr(unsafe.Pointer(&iwork[0])),
			uintptr(unsafe.Pointer(&p.info)), one)
	}
	runtime.KeepAlive(data)
	runtime.KeepAlive(iwork)
	if p.status("dgesdd") > 0 {
		return nil, nil, nil, false
	}
	switch {
	case job == "S":
		u, v = mat.NewDense(m, k, right), mat.DenseCopyOf(mat.NewDense(k, n, left).T())
	case wantU && n >= m:
		u = mat.NewDense(m, m, right)
	case wantU:
		u = a
	case wantV && n >= m:
		v = mat.DenseCopyOf(a.T())
	case wantV:
		v = mat.DenseCopyOf(mat.NewDense(n, n, left).T())
	}
	return u, s, v, true
}

// EigSym returns the eigenvalues lo ≤ j < hi, increasing, of the symmetric
// matrix whose upper triangle by rows is in a (n × n, contiguous, overwritten),
// and the eigenvectors as rows; nil if they are not wanted.
func (f *Library) EigSym(a []float64, n, lo, hi int, vectors bool) (w, rows []float64, ok bool) {
	// Divide and conquer beats bisection when more than a quarter is wanted.
	if 4*(hi-lo) > n {
		return f.eigSymAll(a, n, lo, hi, vectors)
	}
	k := hi - lo
	w = make([]float64, n)
	job, z := "N", []float64{0}
	if vectors {
		job, z = "V", make([]float64, k*n)
	}
	support := make([]int64, 2*n)
	var found int64
	p := newArgs(job+"IL", n, n, lo+1, hi, n)
	count := &found
	work, iwork := make([]float64, 1), make([]int64, 1)
	for _, query := range []bool{true, false} {
		p.i[5], p.i[6] = -1, -1
		if !query {
			p.i[5], p.i[6] = int64(work[0]), int64(int32(iwork[0]))
			work, iwork = make([]float64, p.i[5]), make([]int64, p.i[6])
		}
		purego.SyscallN(f.syevr, uintptr(unsafe.Pointer(&p.c[0])), uintptr(unsafe.Pointer(&p.c[1])),
			uintptr(unsafe.Pointer(&p.c[2])), uintptr(unsafe.Pointer(&p.i[0])),
			uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&p.i[1])), uintptr(unsafe.Pointer(&p.x[0])),
			uintptr(unsafe.Pointer(&p.x[0])),
			uintptr(unsafe.Pointer(&p.i[2])), uintptr(unsafe.Pointer(&p.i[3])), uintptr(unsafe.Pointer(&p.x[1])),
			uintptr(unsafe.Pointer(count)),
			uintptr(unsafe.Pointer(&w[0])), uintptr(unsafe.Pointer(&z[0])), uintptr(unsafe.Pointer(&p.i[4])),
			uintptr(unsafe.Pointer(&support[0])),
			uintptr(unsafe.Pointer(&work[0])), uintptr(unsafe.Pointer(&p.i[5])), uintptr(unsafe.Pointer(&iwork[0])),
			uintptr(unsafe.Pointer(&p.i[6])),
			uintptr(unsafe.Pointer(&p.info)), one, one, one)
	}
	runtime.KeepAlive(a)
	runtime.KeepAlive(support)
	ok = p.status("dsyevr") == 0 && int(int32(found)) == k
	if !vectors {
		z = nil
	}
	return w[:k], z, ok
}

// eigSymAll finds all eigenpairs by divide and conquer (dsyevd) and returns
// some.
func (f *Library) eigSymAll(a []float64, n, lo, hi int, vectors bool) (w, rows []float64, ok bool) {
	w = make([]float64, n)
	job := "N"
	if vectors {
		job = "V"
	}
	p := newArgs(job+"L", n, n)
	work, iwork := make([]float64, 1), make([]int64, 1)
	for _, query := range []bool{true, false} {
		p.i[2], p.i[3] = -1, -1
		if !query {
			p.i[2], p.i[3] = int64(work[0]), int64(int32(iwork[0]))
			work, iwork = make([]float64, p.i[2]), make([]int64, p.i[3])
		}
		purego.SyscallN(f.syevd, uintptr(unsafe.Pointer(&p.c[0])), uintptr(unsafe.Pointer(&p.c[1])),
			uintptr(unsafe.Pointer(&p.i[0])),
			uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&p.i[1])), uintptr(unsafe.Pointer(&w[0])),
			uintptr(unsafe.Pointer(&work[0])), uintptr(unsafe.Pointer(&p.i[2])), uintptr(unsafe.Pointer(&iwork[0])),
			uintptr(unsafe.Pointer(&p.i[3])),
			uintptr(unsafe.Pointer(&p.info)), one, one)
	}
	runtime.KeepAlive(a)
	ok = p.status("dsyevd") == 0
	if !vectors {
		return w[lo:hi], nil, ok
	}
	return w[lo:hi], a[lo*n : hi*n], ok
}
