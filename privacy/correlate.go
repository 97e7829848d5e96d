package privacy

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Correlations returns |r| (m × l), the magnitude of Pearson's correlation of every
// feature of x (n × m) with every column of z (n × l), over rows matched by person:
// row i of z is that of row i of x. A constant column has none, and gets 0.
//
// A value near 1 says that whoever holds z knows that feature up to scale and offset,
// whatever was mixed into z: [imakura2023], section 6.2.1, asks for less than 0.4, but compares x with
// rows that were permuted, which hides any correlation; see
// docs/methods.md section 7.4.
//
// The columns are centred and scaled before they are multiplied, block by block, so
// that neither units nor a large mean cost digits. The cost is O(n m l) in time,
// without a copy of the arguments.
func Correlations(x, z *mat.Dense) (*mat.Dense, error) {
	if err := checkRows("data", x, "representation", z); err != nil {
		return nil, err
	}
	r := correlate(x, z)
	r.Apply(func(_, _ int, v float64) float64 { return math.Abs(v) }, r)
	return r, nil
}

// correlate is Correlations with signs, for matrices that were checked.
func correlate(x, z *mat.Dense) *mat.Dense {
	n, m := x.Dims()
	_, l := z.Dims()
	sx, sz := momentsOf(x), momentsOf(z)
	// Products of tall blocks use all cores by themselves. The block is so tall that
	// adding the m × l of each costs little.
	const rows = 8 * blockRows
	xs, zs := mat.NewDense(min(rows, n), m, nil), mat.NewDense(min(rows, n), l, nil)
	r, part := mat.NewDense(m, l, nil), mat.NewDense(m, l, nil)
	for from := 0; from < n; from += rows {
		k := min(rows, n-from)
		eachBlock(k, func(_, a, b int) {
			sx.standard(xs.Slice(a, b, 0, m).(*mat.Dense), x, from+a, from+b)
			sz.standard(zs.Slice(a, b, 0, l).(*mat.Dense), z, from+a, from+b)
		})
		part.Mul(xs.Slice(0, k, 0, m).T(), zs.Slice(0, k, 0, l))
		r.Add(r, part)
	}
	r.Apply(func(_, _ int, v float64) float64 { return max(-1, min(1, v/float64(n))) }, r)
	return r
}
