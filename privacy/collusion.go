package privacy

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// The collusion attack: a party and the analyst put together what each of them holds,
// the anchor A and the images A_j, X̃_j of another party ([nosaka2025], section
// II-B; [nosaka2024mm], section 2.3; docs/methods.md section 7.2).
// Every party can run it on itself before it sends.

// RecoverBasis returns the secret basis F (m × l) that maps the anchor a (a × m) to
// its image (a × l), by least squares:
//
//	F = A⁺ A_j
//
// It is exact up to rounding, about 2⁻⁵² times the condition number of A, when
// Rank(A) = m. An anchor of lower rank is an error that names the rank: it determines
// F on the span of its rows only. The cost is O(a m (m + l)).
func RecoverBasis(a, image *mat.Dense) (*mat.Dense, error) {
	if err := checkRows("anchor", a, "image", image); err != nil {
		return nil, err
	}
	rows, m := a.Dims()
	if rows < m {
		return nil, fmt.Errorf("privacy: anchor has %d rows, at least its %d columns are needed to recover the basis", rows, m)
	}
	even, inverse := evened(a)
	f, fit, err := linalg.LeastSquares(even, image, 0)
	if err != nil {
		return nil, fmt.Errorf("privacy: recover the basis: %v", err)
	}
	if fit.Rank < m {
		return nil, fmt.Errorf("privacy: anchor has rank %d, its %d columns are needed to recover the basis", fit.Rank, m)
	}
	for i, d := range inverse {
		row := f.RawRowView(i)
		for j := range row {
			row[j] *= d
		}
	}
	return f, nil
}

// Reconstruct returns the rows (n × m) of least norm that the basis f (m × l) maps
// to z (n × l):
//
//	X' = Z F⁺
//
// For Z = X F they are the projections of the rows of X onto the span of F, exactly X
// if that holds them, as it does for l = m. What F leaves out is taken as zero; an
// attacker who knows the mean does better, see [ReconstructAround].
//
// The cost is O(n m l + m l²) in time; the result is the only storage of the size of
// X, so a report on many rows reconstructs some of them.
func Reconstruct(z, f *mat.Dense) (*mat.Dense, error) {
	if err := checkMatrix("basis", f); err != nil {
		return nil, err
	}
	if err := checkMatrix("representation", z); err != nil {
		return nil, err
	}
	_, l := f.Dims()
	if _, k := z.Dims(); k != l {
		return nil, fmt.Errorf("privacy: representation has %d columns, the basis has %d", k, l)
	}
	// With F = F' D, F⁺ = D⁻¹ F'⁺ where F has full column rank. Below that the two
	// differ, but not on the rows of Z = X F: both give the projection.
	even, inverse := evened(f)
	plus, _, err := linalg.Pinv(even, 0)
	if err != nil {
		return nil, fmt.Errorf("privacy: basis: %v", err)
	}
	for j, d := range inverse {
		row := plus.RawRowView(j)
		for i := range row {
			row[i] *= d
		}
	}
	x := new(mat.Dense)
	x.Mul(z, plus)
	if linalg.CheckFinite(x) != nil {
		return nil, errors.New("privacy: reconstruction overflows: scale the data")
	}
	return x, nil
}

// ReconstructAround is [Reconstruct] by an attacker who also knows the mean μ of the
// features (m of them), from a public source or from what was published of the data,
// and puts it where F says nothing:
//
//	X' = 1μᵀ + (Z − 1μᵀF) F⁺ = Z F⁺ + 1μᵀ(I − F F⁺)
//
// Cost and storage are those of Reconstruct.
func ReconstructAround(z, f *mat.Dense, mean []float64) (*mat.Dense, error) {
	x, err := Reconstruct(z, f)
	if err != nil {
		return nil, err
	}
	n, m := x.Dims()
	if len(mean) != m {
		return nil, fmt.Errorf("privacy: mean has %d features, the basis has %d", len(mean), m)
	}
	row := mat.NewDense(1, m, append([]float64(nil), mean...))
	if err := checkMatrix("mean", row); err != nil {
		return nil, err
	}
	var known mat.Dense
	known.Mul(row, f)
	seen, err := Reconstruct(&known, f)
	if err != nil {
		return nil, err
	}
	row.Sub(row, seen)
	rest := row.RawRowView(0)
	for i := range n {
		to := x.RawRowView(i)
		for j, v := range rest {
			to[j] += v
		}
	}
	return x, nil
}
