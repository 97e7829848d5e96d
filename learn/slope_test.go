package learn

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestSlope checks the gradient of the logistic loss: along any line the
// remainder f(θ+ts) − f(θ) − t⟨g, s⟩ must fall as t².
func TestSlope(t *testing.T) {
	for _, k := range []int{2, 3, 5} {
		src := rand.New(rand.NewPCG(uint64(k), 2))
		const n, d = 40, 3
		x := mat.NewDense(n, d, nil)
		labels := make([]int, n)
		for i := range n {
			labels[i] = i % k
			for j := range d {
				x.Set(i, j, src.NormFloat64()+float64(labels[i]))
			}
		}
		f, err := newLogisticLoss(x, labels, k, 0.5)
		if err != nil {
			t.Fatal(err)
		}
		random := func() *mat.Dense {
			rows, cols := f.theta.Dims()
			m := mat.NewDense(rows, cols, nil)
			m.Apply(func(int, int, float64) float64 { return src.NormFloat64() }, m)
			return m
		}
		f.direct(random())
		f.move(1) // away from the start, which is a special point
		step := random()
		g := f.gradient()
		f.direct(step)
		value0, slope0 := f.along(0)
		if want := dot(g, step); math.Abs(slope0-want) > 1e-13*math.Abs(want)+1e-13 { // n rounded terms of order 1/n
			t.Errorf("k = %d: slope %v, gradient gives %v", k, slope0, want)
		}
		remainder := func(h float64) float64 {
			v, _ := f.along(h)
			return math.Abs(v - value0 - h*slope0)
		}
		// Between 1e-2 and 1e-3 neither rounding (1e-16/1e-6) nor the third
		// order (1e-2) hides the exponent 2.
		if order := math.Log10(remainder(1e-2) / remainder(1e-3)); math.Abs(order-2) > 0.05 {
			t.Errorf("k = %d: the remainder falls as t^%.3f, want t²", k, order)
		}
	}
}
