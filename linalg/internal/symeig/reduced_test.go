package symeig

import (
	"math"
	"testing"
)

// TestRefused holds that what is no eigendecomposition is not taken.
func TestRefused(t *testing.T) {
	const n = 60
	d, e := make([]float64, n), make([]float64, n-1)
	w, rows := make([]float64, n), make([]float64, n*n)
	for i := range n {
		w[i], rows[i*n+i] = float64(i)/n, 1
	}
	copy(d, w)
	check := func(name string, wantPairs, wantOrthonormal bool) {
		t.Helper()
		if pairs, orthonormal := (&tridiagonal{n: n, d: d, e: e}).holds(w, rows), orthonormalRows(rows,
			n); pairs != wantPairs || orthonormal != wantOrthonormal {
			t.Errorf("%s: pairs accepted %v, orthonormal %v", name, pairs, orthonormal)
		}
	}
	check("exact", true, true)
	w[7] += 1e-9
	check("wrong value", false, true)
	w[7] = math.NaN()
	check("value not a number", false, true)
	w[7] = d[8]
	check("value of another vector", false, true)
	w[7] = d[7]
	e[20] = 1e-9
	check("wrong vectors", false, true)
	e[20] = 0
	rows[3*n+3] = 1 + 1e-9
	check("wrong length", true, false)
	rows[3*n+3] = math.NaN()
	check("vector not a number", false, false)
	rows[3*n+3], rows[3*n+4] = 1, 1e-8
	check("not orthogonal", false, false)
}
