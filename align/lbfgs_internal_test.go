package align

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// TestMinimise checks on functions with known minima that the search finds
// them, and stays inside the domain of one with a barrier.
func TestMinimise(t *testing.T) {
	for _, c := range []struct {
		name  string
		f     func(x, g []float64) float64
		start []float64
		want  []float64
	}{
		{"quadratic", func(x, g []float64) float64 {
			sum := 0.0
			for i, v := range x {
				w := float64(i*i*i + 1)
				g[i] = w * (v - 1)
				sum += w * (v - 1) * (v - 1) / 2
			}
			return sum + 1
		}, make([]float64, 12), []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
		{"Rosenbrock", func(x, g []float64) float64 {
			a, b := 1-x[0], x[1]-x[0]*x[0]
			g[0], g[1] = -2*a-400*x[0]*b, 200*b
			return a*a + 100*b*b
		}, []float64{-1.2, 1}, []float64{1, 1}},
		{"barrier", func(x, g []float64) float64 {
			if x[0] <= 0 {
				return math.Inf(1)
			}
			l := math.Log(x[0])
			g[0] = 2*l/x[0] + 0.02*(x[0]+30)
			return l*l + 0.01*(x[0]+30)*(x[0]+30)
		}, []float64{50}, []float64{0.785257529007}}, // log x = −0.01 x (x + 30), by bisection
		{"at the minimum", func(x, g []float64) float64 { g[0] = 2 * x[0]; return x[0] * x[0] }, []float64{0}, []float64{0}},
	} {
		x := append([]float64(nil), c.start...)
		_, n, converged := minimise(c.f, x, 1e-14, 500)
		if !converged {
			t.Errorf("%s: not at an end after %d iterations", c.name, n)
		}
		for i := range x {
			// The value is exact to 1e-14 or so, the point to its root.
			if math.Abs(x[i]-c.want[i]) > 1e-6 {
				t.Errorf("%s: x = %g after %d, want %g", c.name, x, n, c.want)
				break
			}
		}
		if _, n, converged := minimise(c.f, append([]float64(nil), c.start...), 1e-14, 0); n != 0 || converged {
			t.Errorf("%s: %d iterations, converged %t, where none are allowed", c.name, n, converged)
		}
	}
}

// TestRDPGradient checks the gradient by slope: the error of the linear
// prediction of f falls as t². Over both solvers, which must agree.
func TestRDPGradient(t *testing.T) {
	src := rand.NewChaCha8([32]byte{5})
	for _, n := range [][3]int{{3, 1, 2}, {9, 3, 4}, {30, 5, 3}, {5, 4, 1}} {
		rows, l, c := n[0], n[1], n[2]
		var a []*mat.Dense
		for range c {
			a = append(a, linalg.Normal(rows, l, src))
		}
		in, err := newInput(a, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var values []float64
		x := linalg.Normal(1, in.sum*l, src).RawMatrix().Data
		v := linalg.Normal(1, in.sum*l, src).RawMatrix().Data
		for _, solver := range []string{solverBlock, solverDirect} {
			p := &penalised{in: in, l: l, eta: 0.7}
			p.q, _ = newQuadratic(in, l, solver)
			p.prepare()
			if !p.enter(x) {
				t.Fatal("a random matrix is singular")
			}
			grad := make([]float64, len(x))
			f := p.value(x, grad)
			values = append(values, f)
			slope := dot(grad, v)
			off := func(h float64) float64 {
				y := append([]float64(nil), x...)
				add(y, h, v)
				return math.Abs(p.value(y, make([]float64, len(x))) - f - h*slope)
			}
			// The terms of third order bend the slope by about h times the size of the
			// inverse; a wrong gradient gives slope 1.
			if s := math.Log(off(1e-4)/off(1e-5)) / math.Log(10); math.Abs(s-2) > 0.1 {
				t.Errorf("%d × %d, %d parties, %s: slope %g, want 2", rows, l, c, solver, s)
			}
			// The definition, in full.
			want := 0.0
			for i := range c {
				var xi mat.Dense
				xi.Mul(a[i], mat.NewDense(l, l, p.part(x, i)))
				for j := range c {
					var xj mat.Dense
					xj.Mul(a[j], mat.NewDense(l, l, p.part(x, j)))
					xj.Sub(&xi, &xj)
					want += math.Pow(mat.Norm(&xj, 2), 2) / 2
				}
				ld, _ := mat.LogDet(mat.NewDense(l, l, p.part(x, i)))
				want += 0.7 * 4 * ld * ld
			}
			if math.Abs(f-want) > 1e-10*want { // sums of at most 1e4 terms
				t.Errorf("%d × %d, %d parties, %s: f = %g, by definition %g", rows, l, c, solver, f, want)
			}
			// A singular point, and one beyond it, are outside.
			flip := append([]float64(nil), x...)
			for k := range l {
				flip[k] = -flip[k]
			}
			if f := p.value(flip, grad); !math.IsInf(f, 1) {
				t.Errorf("%s: value %g with another sign of det G_1", solver, f)
			}
			for k := range l {
				flip[k] = 0
			}
			if f := p.value(flip, grad); !math.IsInf(f, 1) {
				t.Errorf("%s: value %g at a singular G_1", solver, f)
			}
		}
		if math.Abs(values[0]-values[1]) > 1e-12*values[0] {
			t.Errorf("the solvers differ: %g", values)
		}
	}
}
