package align

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// scripted is a map whose f is what a script says: of unit vectors it makes f/c times
// themselves, so that Σ g·(f/c)g = f.
type scripted struct {
	f []float64
	k int
}

func (q *scripted) apply(m, g *mat.Dense) {
	c, _ := g.Dims()
	m.Scale(q.f[q.k]/float64(c), g)
	q.k++
}

func (q *scripted) diagonal(int) *mat.Dense { panic("not used") }

// climb runs the power method of four parties with one column each over a script,
// whose numbers must be exact after division by four.
func climb(t *testing.T, f []float64, total, tol float64) *powered {
	t.Helper()
	const c = 4
	a := make([]*mat.Dense, c)
	for i := range a {
		a[i] = mat.NewDense(1, 1, []float64{1})
	}
	in, err := newInput(a, Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	m := mat.NewDense(c, 1, []float64{1, 1, 1, 1})
	p, err := power(in, &scripted{f: f}, m, total, tol, len(f), true)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPowerEnds holds when the power method ends: after three iterations in a row
// in which the objective total − f/c has fallen by no more than tol times itself, or
// than four units in the last place of total.
func TestPowerEnds(t *testing.T) {
	// rise is a script of n values that begins at from and grows by step.
	rise := func(from, step float64, n int) []float64 {
		f := make([]float64, n)
		for k := range f {
			f[k] = from + float64(k)*step
		}
		return f
	}
	const total, eps = 1024, linalg.Eps
	for _, c := range []struct {
		name       string
		f          []float64
		tol        float64
		iterations int
		converged  bool
		best       float64
	}{
		// The objective is 1024 − 2048/4 = 512, and tol makes 0.5 of it negligible:
		// a change of f by 2. The first iteration has nothing to compare with.
		{"gains below the tolerance", rise(2048, 1.75, 20), 1. / 1024, 4, true, 2048 + 3*1.75},
		{"gains above the tolerance", rise(2048, 2.25, 20), 1. / 1024, 20, false, 2048 + 19*2.25},
		{"a gain in between", []float64{2048, 2049, 2050, 2064, 2065, 2066, 2067, 2068, 2069}, 1. / 1024, 7, true, 2067},
		{"a gain after each pair", []float64{2048, 2048, 2048, 2064, 2064, 2064, 2080, 2080, 2080}, 1. / 1024, 9, false,
			2080},
		{"no gain", []float64{2048, 2048, 2048, 2048, 2048}, 1. / 1024, 4, true, 2048},
		{"a fall", []float64{2048, 2000, 1900, 1800, 1700}, 1. / 1024, 4, true, 2048},
		// Nothing is left of the objective but rounding, of which 4 ε total are allowed:
		// 16 ε total of f.
		{"gains below rounding", rise(4*total-1<<20*eps, 12*total*eps, 20), 1e-30, 4, true,
			4*total - 1<<20*eps + 36*total*eps},
		{"gains above rounding", rise(4*total-1<<20*eps, 24*total*eps, 20), 1e-30, 20, false,
			4*total - 1<<20*eps + 456*total*eps},
	} {
		p := climb(t, c.f, total, c.tol)
		if p.iterations != c.iterations || p.converged != c.converged {
			t.Errorf("%s: %d iterations, converged %t, want %d and %t", c.name, p.iterations, p.converged, c.iterations,
				c.converged)
		}
		if p.f != c.best {
			t.Errorf("%s: ends at %g, want %g", c.name, p.f, c.best)
		}
		if math.Abs(p.g.At(0, 0)) != 1 {
			t.Errorf("%s: G is %g", c.name, p.g.At(0, 0))
		}
	}
}
