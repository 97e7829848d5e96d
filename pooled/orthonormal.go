package pooled

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// reduced is the share of a column's length below which what is left of it, after the
// columns before it are taken out, counts as rounding: the column is dropped. Rounding of
// the products of a pooled sketch is some 2⁻⁵² of its columns; what a direction below
// 2⁻⁴⁰ would add to the energy is below 2⁻⁸⁰ of the pooled one's.
const reduced = 0x1p-40

// orthonormal returns an orthonormal basis Q (m × k′) of the columns of y (m × k), by
// Gram and Schmidt's method with every column orthogonalised twice ([giraud2005]:
// twice is enough), k′ ≤ k: a column
// that depends on those before it is dropped.
//
// All parties make Q of the same y, and must make the same Q: products are rounded before
// they are added, sums have a fixed order, and nothing but the four operations and the
// square root is used, which IEEE 754 rounds in one way. So the result has the same bits
// on every machine, whatever BLAS it has, and no party need be believed for it.
//
// Cost: 4 m k² operations on one core; columns are kept as rows meanwhile.
func orthonormal(y *mat.Dense) *mat.Dense {
	m, k := y.Dims()
	var q [][]float64
	for j := range k {
		v := make([]float64, m)
		for i := range m {
			v[i] = y.At(i, j)
		}
		scaleDown(v)
		before := math.Sqrt(dot(v, v))
		for range 2 {
			for _, u := range q {
				r := dot(u, v)
				for i, x := range u {
					v[i] -= float64(r * x)
				}
			}
		}
		left := math.Sqrt(dot(v, v))
		if !(left > before*reduced) {
			continue
		}
		for i := range v {
			v[i] /= left
		}
		q = append(q, v)
	}
	if len(q) == 0 {
		return &mat.Dense{}
	}
	out := mat.NewDense(m, len(q), nil)
	for j, v := range q {
		for i, x := range v {
			out.Set(i, j, x)
		}
	}
	return out
}

// scaleDown multiplies v by the power of two that brings its largest element to [1/2, 1),
// so that no square overflows or vanishes. It is exact but for what becomes subnormal.
func scaleDown(v []float64) {
	largest := 0.0
	for _, x := range v {
		largest = max(largest, math.Abs(x))
	}
	if largest == 0 {
		return
	}
	_, exp := math.Frexp(largest)
	for i, x := range v {
		v[i] = math.Ldexp(x, -exp)
	}
}

// dot is uᵀv in four sums of a fixed order, the same bits on every machine.
func dot(u, v []float64) float64 {
	var a, b, c, d float64
	for len(u) >= 4 && len(v) >= 4 {
		a += float64(u[0] * v[0])
		b += float64(u[1] * v[1])
		c += float64(u[2] * v[2])
		d += float64(u[3] * v[3])
		u, v = u[4:], v[4:]
	}
	for i, x := range u {
		a += float64(x * v[i])
	}
	return (a + b) + (c + d)
}
