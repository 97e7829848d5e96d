package basis

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"concord/basis/spec"
	"concord/linalg"
)

// principal makes the directions of the kinds svd, pca and pca-perturbed:
//
//	X or X − 1 x̄ᵀ = U diag(s) Vᵀ,  V_l
//
// and fills in the rank and energy of the report. Matrices from which V could
// be repeated are overwritten before it returns.
func principal(x *mat.Dense, l int, report *Report) (*mat.Dense, error) {
	n, m := x.Dims()
	span, centred := n, ""
	pca := report.Kind != spec.SVD
	if pca {
		span, centred = n-1, " after centring"
	}
	if l > span {
		return nil, fmt.Errorf("basis: dimension %d exceeds the %d directions that %d rows can span%s: choose at most %d, or add rows", l, span, n, centred, min(span, m))
	}
	scale := mat.Norm(x, 2)
	if pca {
		x = linalg.Centred(x, linalg.ColumnMeans(x))
		defer x.Zero()
	}
	s, v, err := linalg.SVDRight(x)
	if err != nil {
		return nil, fmt.Errorf("basis: rows: %v", err)
	}
	defer v.Zero()
	report.Rank = spanned(s, n, m, scale)
	if l > report.Rank {
		return nil, fmt.Errorf("basis: dimension %d exceeds the rank %d of %d rows of %d features%s: choose at most %d, or add rows", l, report.Rank, n, m, centred, report.Rank)
	}
	report.Energy = share(s, l)
	return mat.DenseCopyOf(v.Slice(0, m, 0, l)), nil
}

// measure fills in the rank of x and the energy that f keeps, for a basis that
// was made without looking at x.
func measure(x, f *mat.Dense, report *Report) error {
	s, err := linalg.SingularValues(x)
	if err != nil {
		return fmt.Errorf("basis: rows: %v", err)
	}
	n, m := x.Dims()
	scale := mat.Norm(x, 2)
	report.Rank = spanned(s, n, m, scale)
	if scale > 0 {
		var kept mat.Dense
		kept.Mul(x, f)
		r := mat.Norm(&kept, 2) / scale
		report.Energy = min(r*r, 1)
	}
	return nil
}

// spanned counts the singular values above max(n, m)·2⁻⁵² times scale, the
// norm of the rows before centring: what centring leaves of a constant column
// is rounding, and must not count as a direction.
func spanned(s []float64, n, m int, scale float64) int {
	cut := float64(max(n, m)) * linalg.Eps * scale
	for i, v := range s {
		if v <= cut {
			return i
		}
	}
	return len(s)
}

// share is Σ_{j≤l} sⱼ² / Σ sⱼ², computed relative to s₁ so that squares do not
// overflow. s must be decreasing with s₁ > 0.
func share(s []float64, l int) float64 {
	var kept, all float64
	for j, v := range s {
		r := v / s[0]
		all += r * r
		if j < l {
			kept = all
		}
	}
	return kept / all
}
