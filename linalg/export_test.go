package linalg

import (
	"fmt"
	"runtime"

	"gonum.org/v1/gonum/mat"
)

// Engine is a backend that the tests can put in place.
type Engine struct {
	Name string
	e    *engine
}

// Engines lists every backend that this build can run on this machine: gonum,
// each micro-kernel, the library found by the usual order, and that library
// with its products by the fastest kernel. The note says why there is no
// library.
func Engines() (list []Engine, note string) {
	list = append(list, Engine{"gonum", gonumEngine()})
	for _, mk := range kernels() {
		list = append(list, Engine{"kernel " + mk.name, kernelEngine(mk)})
	}
	e, note := firstLibrary(libraries[runtime.GOOS])
	if e == nil {
		return list, note
	}
	for name, e := range variants(e.native) {
		list = append(list, Engine{name, e})
	}
	return list, ""
}

// Use puts the backend in place and returns a function that restores the
// former one.
func (e Engine) Use() (restore func()) {
	before := current.Load()
	e.e.use()
	return before.use
}

// Native says whether a loaded library computes.
func (e Engine) Native() bool { return e.e.native != nil }

// CanLoad says whether this build can load a library.
const CanLoad = canLoad

// Load is what the program's start does with the value of EnvBLAS.
func Load(choice string) (name, note string) {
	e, note := load(choice)
	if e == nil {
		e = goEngine()
	}
	return e.info.Name, note
}

// EigReduced is the symmetric eigenproblem of a of any order n ≥ 1 by
// tridiagonal form and divide and conquer, scaled as EigSym does.
func EigReduced(a *mat.SymDense, lo, hi int, vectors bool) (w []float64, v *mat.Dense, ok bool) {
	data, exp, err := scaledSym(a)
	if err != nil {
		return nil, nil, false
	}
	n := order(a)
	w, rows, ok := eigReduced(data, n, lo, hi, vectors)
	if !ok || unscale(w, exp) != nil {
		return nil, nil, false
	}
	if vectors && hi > lo {
		v = mat.DenseCopyOf(mat.NewDense(hi-lo, n, rows).T())
	}
	return w, v, true
}

// EigByGonum returns the eigenvalues of a by QL iterations.
func EigByGonum(a *mat.SymDense) (w []float64, ok bool) {
	data, exp, err := scaledSym(a)
	if err != nil {
		return nil, false
	}
	w, _, ok = eigByGonum(data, order(a), 0, order(a))
	return w, ok && unscale(w, exp) == nil
}

// Accepted says whether the checks of EigReduced pass w and rows as eigenvalues
// and eigenvectors of the tridiagonal matrix with the diagonal d and e above it.
func Accepted(d, e, w, rows []float64) (pairs, orthonormal bool) {
	t := &tridiagonal{n: len(d), d: d, e: e}
	return t.holds(w, rows), orthonormalRows(rows, len(d))
}

// SecularRoot is root i of 1/ρ + Σ z_j²/(d_j − λ), and the d_j − λ.
func SecularRoot(d, z []float64, rho float64, i int) (lambda float64, delta []float64, ok bool) {
	delta = make([]float64, len(d))
	lambda, ok = (&secular{d: d, z: z, rho: rho}).root(i, delta)
	return lambda, delta, ok
}

// RowKernel is a kernel of products of a few rows with vectors.
type RowKernel struct {
	Name        string
	Lanes, Rows int
	k           *rowKernel
}

// RowKernels lists those that this machine can run.
func RowKernels() []RowKernel {
	list := []RowKernel{{"plain", plainRows.lanes, plainRows.rows, plainRows}}
	for _, k := range rowKernels() {
		list = append(list, RowKernel{fmt.Sprint(k.lanes, " lanes"), k.lanes, k.rows, k})
	}
	return list
}

// Both, Dot and Add are the three products of a kernel.
func (r RowKernel) Both(n int, a []float64, ld int, x, y, c, sum []float64) {
	r.k.both(n, a, ld, x, y, (*[maxRows]float64)(c), (*[maxRows]float64)(sum))
}

func (r RowKernel) Dot(n int, a []float64, ld int, x, sum []float64) {
	r.k.dot(n, a, ld, x, (*[maxRows]float64)(sum))
}

func (r RowKernel) Add(n int, a []float64, ld int, y, c []float64) {
	r.k.add(n, a, ld, y, (*[maxRows]float64)(c))
}

// MaxRows is the length of c and sum.
const MaxRows = maxRows
