package linalg

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"concord/linalg/internal/engine"
	"concord/linalg/internal/kernel"
	"concord/linalg/internal/symeig"
)

// EigSym returns all eigenvalues of a symmetric a (n × n), increasing, and the
// eigenvectors as the columns of an orthogonal matrix (n × n):
//
//	A V = V diag(w)
//
// The sign of each column is such that its leading element is positive, as in
// [SVD]. The cost is O(n³) in time and up to six copies of a in memory.
func EigSym(a *mat.SymDense) (w []float64, v *mat.Dense, err error) {
	return EigSymRange(a, 0, order(a))
}

// EigSymRange returns the eigenvalues w_j and eigenvectors of a, as [EigSym]
// orders them, for lo ≤ j < hi, counted from 0: the k largest are n − k to n.
// A few of many cost less than half of all. It panics unless 0 ≤ lo ≤ hi ≤ n.
func EigSymRange(a *mat.SymDense, lo, hi int) (w []float64, v *mat.Dense, err error) {
	n := order(a)
	if lo < 0 || hi < lo || hi > n {
		panic(fmt.Sprintf("linalg: eigenvalues %d to %d of %d", lo, hi, n))
	}
	data, exp, err := scaledSym(a)
	if err != nil {
		return nil, nil, err
	}
	if hi == lo {
		return nil, &mat.Dense{}, nil
	}
	w, rows, ok := eigSym(data, n, lo, hi, true)
	if !ok {
		return nil, nil, errors.New("linalg: symmetric eigenvalues did not converge")
	}
	if err := unscale(w, exp); err != nil {
		return nil, nil, err
	}
	v = mat.DenseCopyOf(mat.NewDense(hi-lo, n, rows).T())
	fixSigns(v, nil)
	return w, v, nil
}

// EigSymValues returns the eigenvalues of a, increasing, without the vectors,
// in about half of the time.
func EigSymValues(a *mat.SymDense) ([]float64, error) {
	data, exp, err := scaledSym(a)
	if err != nil || len(data) == 0 {
		return nil, err
	}
	w, _, ok := eigSym(data, order(a), 0, order(a), false)
	if !ok {
		return nil, errors.New("linalg: symmetric eigenvalues did not converge")
	}
	return w, unscale(w, exp)
}

// order is the order of a, 0 for nil.
func order(a *mat.SymDense) int {
	if a == nil || a.IsEmpty() {
		return 0
	}
	return a.SymmetricDim()
}

// scaledSym returns the upper triangle of a by rows, times 2^−exp so that the
// largest element is in [1/2, 1): gonum's iteration fails on tiny matrices.
func scaledSym(a *mat.SymDense) (data []float64, exp int, err error) {
	n := order(a)
	if err := CheckFiniteSym(a); err != nil {
		return nil, 0, err
	}
	data = make([]float64, n*n)
	largest := 0.0
	for i := range n {
		for j, v := range upperRow(a, i) {
			data[i*n+i+j] = v
			largest = max(largest, math.Abs(v))
		}
	}
	if largest > 0 {
		_, exp = math.Frexp(largest)
		kernel.Shift(data, data, -exp)
	}
	return data, exp, nil
}

// upperRow is row i of the upper triangle, from the diagonal on.
func upperRow(a *mat.SymDense, i int) []float64 {
	raw := a.RawSymmetric()
	return raw.Data[i*raw.Stride+i : i*raw.Stride+raw.N]
}

func unscale(w []float64, exp int) error {
	for i, v := range w {
		w[i] = math.Ldexp(v, exp)
		if math.IsInf(w[i], 0) {
			return errors.New("linalg: an eigenvalue overflows: scale the matrix down")
		}
	}
	return nil
}

// CheckFiniteSym is [CheckFinite] for a symmetric matrix.
func CheckFiniteSym(a *mat.SymDense) error {
	for i := range order(a) {
		for j, v := range upperRow(a, i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("linalg: element at row %d, column %d is not a finite number", i+1, i+j+1)
			}
		}
	}
	return nil
}

// ownEigen is the largest order for which own kernels find eigenvectors even if a
// library is loaded: dsyevr and dsyevd of OpenBLAS 0.3.21 took 1.1 to 1.9 times as
// long for orders from 50 to 800 on two cores where it takes the processor for Haswell,
// and about as long on one thread where it does not, or for larger orders.
const ownEigen = 800

// eigSym finds the eigenvalues lo ≤ j < hi of the symmetric matrix with the
// upper triangle a (n × n, overwritten), and the eigenvectors as rows.
func eigSym(a []float64, n, lo, hi int, vectors bool) (w, rows []float64, ok bool) {
	e := engine.Active()
	own := vectors && n <= ownEigen && e.Rows != symeig.Plain
	if own {
		if w, rows, ok = symeig.Reduced(e.Rows, a, n, lo, hi, vectors); ok {
			return w, rows, true
		}
	}
	if e.Native != nil {
		saved := append([]float64(nil), a...) // for when dsyevd or dsyevr does not converge
		if w, rows, ok = e.Native.EigSym(a, n, lo, hi, vectors); ok {
			return w, rows, true
		}
		copy(a, saved)
	}
	if !own {
		if w, rows, ok = symeig.Reduced(e.Rows, a, n, lo, hi, vectors); ok {
			return w, rows, true
		}
	}
	return eigByGonum(a, n, lo, hi)
}

// eigByGonum is eigSym, with vectors, by QL iterations.
func eigByGonum(a []float64, n, lo, hi int) (w, rows []float64, ok bool) {
	var eig mat.EigenSym
	sym := mat.NewSymDense(n, nil)
	sym.SetRawSymmetric(blas64.Symmetric{N: n, Stride: n, Data: a, Uplo: blas.Upper})
	if !eig.Factorize(sym, true) {
		return nil, nil, false
	}
	w = eig.Values(nil)[lo:hi]
	var v mat.Dense
	eig.VectorsTo(&v)
	rows = make([]float64, (hi-lo)*n)
	for i := range n {
		for j := lo; j < hi; j++ {
			rows[(j-lo)*n+i] = v.At(i, j)
		}
	}
	return w, rows, true
}
