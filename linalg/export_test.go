package linalg

import (
	"gonum.org/v1/gonum/mat"

	"concord/linalg/internal/engine"
	"concord/linalg/internal/symeig"
)

// EigReduced is the symmetric eigenproblem of a of any order n ≥ 1 by
// tridiagonal form and divide and conquer, scaled as EigSym does.
func EigReduced(a *mat.SymDense, lo, hi int, vectors bool) (w []float64, v *mat.Dense, ok bool) {
	data, exp, err := scaledSym(a)
	if err != nil {
		return nil, nil, false
	}
	n := order(a)
	w, rows, ok := symeig.Reduced(engine.Active().Rows, data, n, lo, hi, vectors)
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
