package privacy

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// DR returns, for each row of x (n × m), how far it lies from what anybody who knows
// the basis f (m × l) can reconstruct of it:
//
//	‖x − x F F⁺‖ / ‖x‖
//
// X has ε-DR privacy under F if no row is below ε ([nosaka2024mm], definition 2.6, after
// [nguyen2020]; docs/methods.md section 7.3); see [Below]. 0 is a row that comes back exactly,
// 1 one that F maps to zero. A row of zeros comes back exactly, so it is 0 by definition.
//
// The measure speaks against collusion of a party with the analyst, who then know F.
// It does not cover what an attacker knows besides: x counts from the origin, so
// that the same data with a larger mean has other values. [Compare] measures
// against the mean.
//
// F F⁺ is formed from an orthonormal basis of the span of F, whose columns are first
// brought to one magnitude: F need be neither orthonormal nor of full rank, and a
// direction counts as in the span if rounding lets it be told (see
// [linalg.NumericalRank]). The cost is O(n m l + m l²) in time; rows are worked on in
// blocks, so there is no copy of x.
func DR(x, f *mat.Dense) ([]float64, error) {
	if err := checkMatrix("data", x); err != nil {
		return nil, err
	}
	if err := checkMatrix("basis", f); err != nil {
		return nil, err
	}
	n, m := x.Dims()
	if k, _ := f.Dims(); k != m {
		return nil, fmt.Errorf("privacy: basis has %d rows, the data has %d features", k, m)
	}
	q, err := span(f)
	if err != nil {
		return nil, err
	}
	dr := make([]float64, n)
	eachBlock(n, func(_, from, to int) {
		// Rows are scaled to magnitudes near 1, which changes no ratio, so that
		// squares neither overflow nor vanish.
		rows := mat.NewDense(to-from, m, nil)
		for i := range to - from {
			row := x.RawRowView(from + i)
			scale := powerOf2(maxAbs(row))
			for j, v := range row {
				rows.Set(i, j, v*scale)
			}
		}
		left := rows
		if q != nil {
			// The difference itself: ‖x‖² − ‖xQ‖² would lose half of the digits.
			var z mat.Dense
			z.Mul(rows, q)
			left = new(mat.Dense)
			left.Mul(&z, q.T())
			left.Sub(rows, left)
		}
		for i := range to - from {
			if whole := sumSquares(rows.RawRowView(i)); whole > 0 {
				dr[from+i] = min(1, math.Sqrt(sumSquares(left.RawRowView(i))/whole))
			}
		}
	})
	return dr, nil
}

// Below returns the rows, from 0 and increasing, whose value is not at least eps, NaN
// included: those to drop before sending ([nosaka2024mm], section 2.3, down-sampling).
func Below(dr []float64, eps float64) []int {
	var rows []int
	for i, d := range dr {
		if !(d >= eps) {
			rows = append(rows, i)
		}
	}
	return rows
}

// span returns an orthonormal basis Q (m × r) of the span of the columns of f (m × l)
// of rank r, F F⁺ = Q Qᵀ; nil for r = 0.
func span(f *mat.Dense) (*mat.Dense, error) {
	even, _ := evened(f)
	u, s, err := linalg.SVDLeft(even)
	if err != nil {
		return nil, fmt.Errorf("privacy: basis: %v", err)
	}
	m, l := f.Dims()
	r := linalg.NumericalRank(s, m, l, 0)
	if r == 0 {
		return nil, nil
	}
	return mat.DenseCopyOf(u.Slice(0, m, 0, r)), nil
}

func sumSquares(x []float64) float64 {
	var s float64
	for _, v := range x {
		s += v * v
	}
	return s
}
