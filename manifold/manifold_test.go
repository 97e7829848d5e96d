package manifold_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
	"concord/manifold"
)

func source(seed byte) *rand.ChaCha8 { return rand.NewChaCha8([32]byte{seed}) }

// each runs f on manifolds of every kind: 1 × 1, a row, a column, square, tall
// and wide. tol is the rounding of one product or decomposition: a few eps for
// each term of a sum.
func each(t *testing.T, f func(t *testing.T, s manifold.Stiefel, src rand.Source, tol float64)) {
	for _, n := range [][2]int{{1, 1}, {1, 6}, {6, 1}, {2, 2}, {5, 5}, {9, 3}, {3, 9}, {4, 5}, {60, 40}} {
		t.Run(fmt.Sprintf("%dx%d", n[0], n[1]), func(t *testing.T) {
			f(t, manifold.New(n[0], n[1]), source(1), 32*float64(n[0]+n[1])*linalg.Eps)
		})
	}
}

func minus(a, b mat.Matrix) *mat.Dense {
	var d mat.Dense
	d.Sub(a, b)
	return &d
}

func plus(a *mat.Dense, t float64, v *mat.Dense) *mat.Dense {
	var s mat.Dense
	s.Scale(t, v)
	s.Add(a, &s)
	return &s
}

func TestDimension(t *testing.T) {
	each(t, func(t *testing.T, s manifold.Stiefel, src rand.Source, tol float64) {
		// The projections of a basis of all matrices span the tangent space: their
		// rank is its dimension.
		r, c := s.Dims()
		if r*c > 400 {
			return // the rank of a 2400 × 2400 matrix takes long and says no more
		}
		x := s.Random(src)
		all := mat.NewDense(r*c, r*c, nil)
		for k := range r * c {
			e := mat.NewDense(r, c, nil)
			e.Set(k/c, k%c, 1)
			all.SetRow(k, s.Tangent(x, e).RawMatrix().Data)
		}
		// Rounding leaves about r·c·eps where a projection is 0 and 1 elsewhere.
		if rank, err := linalg.Rank(all, 1e-9); err != nil || rank != s.Dim() {
			t.Errorf("rank of the tangent projection %d, %v, want %d", rank, err, s.Dim())
		}
	})
}

func TestRandom(t *testing.T) {
	each(t, func(t *testing.T, s manifold.Stiefel, src rand.Source, tol float64) {
		x := s.Random(src)
		if d := s.Defect(x); d > tol {
			t.Errorf("a random point is off by %g", d)
		}
		if mat.Equal(x, s.Random(src)) && s.Dim() > 0 {
			t.Error("two random points are equal")
		}
		v := s.RandomTangent(x, src)
		if n := math.Sqrt(s.Inner(v, v)); s.Dim() > 0 && math.Abs(n-1) > tol || s.Dim() == 0 && n != 0 {
			t.Errorf("a random tangent vector has norm %g", n)
		}
		if d := mat.Norm(minus(s.Tangent(x, v), v), 2); d > tol {
			t.Errorf("a random tangent vector is off the tangent space by %g", d)
		}
	})
}

// TestProject checks that the projection is on the manifold, leaves points
// where they are and is nearer than other points.
func TestProject(t *testing.T) {
	each(t, func(t *testing.T, s manifold.Stiefel, src rand.Source, tol float64) {
		r, c := s.Dims()
		y := linalg.Normal(r, c, src)
		x, info, err := s.Project(y)
		if err != nil {
			t.Fatal(err)
		}
		if d := s.Defect(x); d > tol {
			t.Errorf("the projection is off by %g", d)
		}
		if info.Rank != min(r, c) {
			t.Errorf("rank %d of a normal matrix", info.Rank)
		}
		again, _, err := s.Project(x)
		if err != nil {
			t.Fatal(err)
		}
		if d := mat.Norm(minus(again, x), 2); d > tol {
			t.Errorf("projecting twice moves by %g", d)
		}
		near := mat.Norm(minus(y, x), 2)
		for range 20 {
			if far := mat.Norm(minus(y, s.Random(src)), 2); near > far+tol*mat.Norm(y, 2) {
				t.Errorf("a random point is at %g, the projection at %g", far, near)
			}
			q, err := s.Retract(x, plus(mat.NewDense(r, c, nil), 1e-3, s.RandomTangent(x, src)))
			if err != nil {
				t.Fatal(err)
			}
			if far := mat.Norm(minus(y, q), 2); near > far+tol*mat.Norm(y, 2) {
				t.Errorf("a near point is at %g, the projection at %g", far, near)
			}
		}
	})
}

// TestTangent checks that the tangent projection is linear, idempotent and
// symmetric, that its complement is normal, and that a tangent vector leaves XᵀX
// unchanged in first order.
func TestTangent(t *testing.T) {
	each(t, func(t *testing.T, s manifold.Stiefel, src rand.Source, tol float64) {
		r, c := s.Dims()
		x := s.Random(src)
		y, z := linalg.Normal(r, c, src), linalg.Normal(r, c, src)
		v, w := s.Tangent(x, y), s.Tangent(x, z)
		scale := mat.Norm(y, 2) * mat.Norm(z, 2)
		if d := mat.Norm(minus(s.Tangent(x, v), v), 2); d > tol*mat.Norm(y, 2) {
			t.Errorf("not idempotent: %g", d)
		}
		if d := math.Abs(s.Inner(v, z) - s.Inner(y, w)); d > tol*scale {
			t.Errorf("not symmetric: %g", d)
		}
		if d := math.Abs(s.Inner(minus(y, v), w)); d > tol*scale {
			t.Errorf("the rest is not normal to a tangent vector: %g", d)
		}
		both := s.Tangent(x, plus(y, 2, z))
		if d := mat.Norm(minus(both, plus(v, 2, w)), 2); d > tol*(mat.Norm(y, 2)+2*mat.Norm(z, 2)) {
			t.Errorf("not linear: %g", d)
		}
		var m mat.Dense
		if r >= c {
			m.Mul(x.T(), v)
		} else {
			m.Mul(v, x.T())
		}
		var sym mat.Dense
		sym.Add(&m, m.T())
		if d := mat.Norm(&sym, 2); d > tol*mat.Norm(y, 2) {
			t.Errorf("XᵀV is skew to %g only", d)
		}
	})
}

// TestRetract checks the order of the retraction by slopes: with the step t,
// the distance from X + tV falls as t², and its tangent part as t³, as for
// every retraction of second order.
func TestRetract(t *testing.T) {
	each(t, func(t *testing.T, s manifold.Stiefel, src rand.Source, tol float64) {
		x := s.Random(src)
		v := s.RandomTangent(x, src)
		zero := plus(v, -1, v)
		still, err := s.Retract(x, zero)
		if err != nil {
			t.Fatal(err)
		}
		if d := mat.Norm(minus(still, x), 2); d > tol {
			t.Errorf("a zero step moves by %g", d)
		}
		if s.Dim() == 0 {
			return
		}
		errors := func(h float64) (all, tangent float64) {
			q, err := s.Retract(x, plus(zero, h, v))
			if err != nil {
				t.Fatal(err)
			}
			if d := s.Defect(q); d > tol {
				t.Errorf("a step of %g leaves the manifold by %g", h, d)
			}
			d := minus(q, plus(x, h, v))
			return mat.Norm(d, 2), mat.Norm(s.Tangent(x, d), 2)
		}
		const h = 1e-2
		all, tangent := errors(h)
		all2, tangent2 := errors(h / 4)
		// The next term of the series is smaller by h² or so: slopes are exact to 1%;
		// 0.05 leaves room for the constants.
		if slope := math.Log(all/all2) / math.Log(4); math.Abs(slope-2) > 0.05 {
			t.Errorf("the error falls with slope %g, want 2", slope)
		}
		if slope := math.Log(tangent/tangent2) / math.Log(4); math.Abs(slope-3) > 0.05 {
			t.Errorf("the tangent error falls with slope %g, want 3", slope)
		}
	})
}

// TestGradient checks on f(X) = ½‖X − B‖² that Tangent of the gradient predicts
// f along a retraction: the error of the prediction falls as t².
func TestGradient(t *testing.T) {
	each(t, func(t *testing.T, s manifold.Stiefel, src rand.Source, tol float64) {
		if s.Dim() == 0 {
			return
		}
		r, c := s.Dims()
		b := linalg.Normal(r, c, src)
		f := func(x *mat.Dense) float64 { n := mat.Norm(minus(x, b), 2); return n * n / 2 }
		x := s.Random(src)
		grad := s.Tangent(x, minus(x, b))
		v := s.RandomTangent(x, src)
		off := func(h float64) float64 {
			q, err := s.Retract(x, plus(minus(x, x), h, v))
			if err != nil {
				t.Fatal(err)
			}
			return math.Abs(f(q) - f(x) - h*s.Inner(grad, v))
		}
		// The terms of third order bend the slope by about h.
		if slope := math.Log(off(1e-3)/off(1e-4)) / math.Log(10); math.Abs(slope-2) > 0.05 {
			t.Errorf("slope %g, want 2", slope)
		}
	})
}

func TestMisuse(t *testing.T) {
	for _, c := range []struct {
		name string
		f    func()
		want string
	}{
		{"size", func() { manifold.New(0, 3) }, "manifold: size 0 × 3"},
		{"shape", func() { manifold.Orthogonal(2).Defect(mat.NewDense(3, 2, nil)) }, "manifold: point is 3 × 2, want 2 × 2"},
	} {
		func() {
			defer func() {
				if text, ok := recover().(string); !ok || !strings.Contains(text, c.want) {
					t.Errorf("%s: panic %q, want %q", c.name, text, c.want)
				}
			}()
			c.f()
		}()
	}
	if d := manifold.Orthogonal(1).Defect(mat.NewDense(1, 1, []float64{math.NaN()})); !math.IsNaN(d) {
		t.Errorf("defect of NaN is %g", d)
	}
}
