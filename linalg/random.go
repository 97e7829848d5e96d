package linalg

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// Random matrices are made of 64-bit words of a source that the caller passes,
// a seeded *rand.ChaCha8 where the result must repeat. Elements are filled row
// by row. With source words u, the uniform number is
//
//	uniform(u) = ⌊u / 2¹¹⌋ · 2⁻⁵³,
//
// a multiple of 2⁻⁵³ in [0, 1): exact on every machine.

// Uniform returns a rows × cols matrix of independent numbers, uniform on
// [0, 1), one source word each: the same to the last bit on every machine. It
// panics if a size is negative.
func Uniform(rows, cols int, src rand.Source) *mat.Dense {
	m := allocate(rows, cols)
	if m.IsEmpty() {
		return m
	}
	data := m.RawMatrix().Data
	for i := range data {
		data[i] = uniform(src)
	}
	return m
}

// Normal returns a rows × cols matrix of independent standard normal numbers
// by the polar method [marsaglia1964]: pairs x = 2·uniform − 1, y = 2·uniform − 1
// are drawn until 0 < q = x² + y² < 1, and give the two numbers
//
//	x √(−2 ln q / q),  y √(−2 ln q / q)
//
// in this order. A last number without a partner is the first of its pair; the
// second is dropped.
//
// The products are rounded before they are added, so the choice of pairs is
// the same on every machine. The logarithm may differ in its last bit, so
// elements agree to within a few units in the last place, not bit for bit. It
// panics if a size is negative.
func Normal(rows, cols int, src rand.Source) *mat.Dense {
	m := allocate(rows, cols)
	if m.IsEmpty() {
		return m
	}
	data := m.RawMatrix().Data
	for i := 0; i < len(data); i += 2 {
		x, y := normalPair(src)
		data[i] = x
		if i+1 < len(data) {
			data[i+1] = y
		}
	}
	return m
}

// Stiefel returns a rows × cols matrix with orthonormal columns, rows ≥ cols,
// uniformly distributed (Haar) over all such matrices: Q of the QR
// decomposition, with a positive diagonal of R, of a [Normal] matrix
// [mezzadri2007]. Elements agree between machines to
// about rows·2⁻⁵² times the condition of the normal matrix. It panics if rows <
// cols or a size is negative.
//
// The cost is O(rows cols²).
func Stiefel(rows, cols int, src rand.Source) *mat.Dense {
	if rows < cols {
		panic(fmt.Sprintf("linalg: Stiefel needs rows >= cols, have %d and %d", rows, cols))
	}
	q, _, err := QR(Normal(rows, cols, src))
	if err != nil {
		panic("linalg: normal numbers are not finite: " + err.Error())
	}
	return q
}

// Haar returns a random orthogonal matrix (l × l), uniformly distributed over
// the orthogonal group O(l), reflections included: [Stiefel] with rows = cols.
func Haar(l int, src rand.Source) *mat.Dense { return Stiefel(l, l, src) }

// allocate makes a zero matrix, the empty one if a size is zero.
func allocate(rows, cols int) *mat.Dense {
	if rows < 0 || cols < 0 {
		panic(fmt.Sprintf("linalg: negative size %d × %d", rows, cols))
	}
	if rows == 0 || cols == 0 {
		return &mat.Dense{}
	}
	return mat.NewDense(rows, cols, nil)
}

func uniform(src rand.Source) float64 { return float64(src.Uint64()>>11) * 0x1p-53 }

func normalPair(src rand.Source) (float64, float64) {
	for {
		x := 2*uniform(src) - 1 // exact, hence the same with or without fusing
		y := 2*uniform(src) - 1
		q := float64(x*x) + float64(y*y)
		if q > 0 && q < 1 {
			f := math.Sqrt(-2 * math.Log(q) / q)
			return x * f, y * f
		}
	}
}
