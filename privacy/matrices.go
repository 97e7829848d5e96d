package privacy

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// checkMatrix returns an error if a has no elements or one that is not a number.
func checkMatrix(name string, a *mat.Dense) error {
	if a == nil || a.IsEmpty() {
		return fmt.Errorf("privacy: %s is empty, it must have rows and columns", name)
	}
	if err := linalg.CheckFinite(a); err != nil {
		return fmt.Errorf("privacy: %s: %v", name, err)
	}
	return nil
}

// checkRows returns an error unless a and b are matrices of the same number of rows.
func checkRows(nameA string, a *mat.Dense, nameB string, b *mat.Dense) error {
	if err := checkMatrix(nameA, a); err != nil {
		return err
	}
	if err := checkMatrix(nameB, b); err != nil {
		return err
	}
	n, _ := a.Dims()
	if k, _ := b.Dims(); k != n {
		return fmt.Errorf("privacy: %s has %d rows and %s has %d, they must have the same rows", nameA, n, nameB, k)
	}
	return nil
}

// checkShapes returns an error unless a and b are matrices of the same shape.
func checkShapes(nameA string, a *mat.Dense, nameB string, b *mat.Dense) error {
	if err := checkRows(nameA, a, nameB, b); err != nil {
		return err
	}
	_, m := a.Dims()
	if _, k := b.Dims(); k != m {
		return fmt.Errorf("privacy: %s has %d columns and %s has %d, they must have the same features", nameA, m, nameB, k)
	}
	return nil
}

// blockRows is how many rows are worked on at once: a block of 200 columns is
// 800 KB, which stays in the second-level cache or near it, and a product of it
// is long enough to run at full speed.
const blockRows = 512

// eachBlock calls f for the rows from ≤ i < to of every block of n rows, on all
// cores. The blocks depend on n alone.
func eachBlock(n int, f func(block, from, to int)) {
	linalg.Parallel(blocksOf(n), func(b int) { f(b, b*blockRows, min((b+1)*blockRows, n)) })
}

// blocksOf is the number of blocks of n rows.
func blocksOf(n int) int { return (n + blockRows - 1) / blockRows }

// powerOf2 is 2^−e for the magnitude v = f·2^e, ½ ≤ f < 1, within what a float64
// and its reciprocal can hold: v·powerOf2(v) is about 1 and exact, so its square
// neither overflows nor vanishes. It is 1 for zero.
func powerOf2(v float64) float64 {
	if v == 0 {
		return 1
	}
	_, e := math.Frexp(v)
	return math.Ldexp(1, -max(-1000, min(1000, e)))
}

// maxAbs is the largest magnitude in x.
func maxAbs(x []float64) float64 {
	var top float64
	for _, v := range x {
		top = max(top, math.Abs(v))
	}
	return top
}

// evened returns F D⁻¹ with columns of magnitudes near 1, and the diagonal of D⁻¹,
// powers of 2. The span of the columns is that of F, and its rank can be told from
// rounding although columns are of different units.
func evened(f *mat.Dense) (*mat.Dense, []float64) {
	m, l := f.Dims()
	inverse := columnScales(f)
	g := mat.NewDense(m, l, nil)
	for i := range m {
		to := g.RawRowView(i)
		for j, v := range f.RawRowView(i) {
			to[j] = v * inverse[j]
		}
	}
	return g, inverse
}

// columnScales are the powers of 2 that bring the columns of f to magnitudes near 1.
func columnScales(f *mat.Dense) []float64 {
	m, l := f.Dims()
	scales := make([]float64, l)
	for i := range m {
		for j, v := range f.RawRowView(i) {
			if v = math.Abs(v); v > scales[j] {
				scales[j] = v
			}
		}
	}
	for j, v := range scales {
		scales[j] = powerOf2(v)
	}
	return scales
}
