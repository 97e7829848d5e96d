package basis

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"concord/basis/spec"
	"concord/linalg"
	"concord/secret"
)

// DirectionKinds lists the kinds that [Directions] knows.
func DirectionKinds() []string {
	return []string{spec.SVD, spec.PCA, spec.Perturbed, spec.Random}
}

// Directions returns V (m × l): orthonormal directions of the rows x (n × m), by one
// of [DirectionKinds]. delta is δ of pca-perturbed and unused otherwise. Randomness
// (N, or the random kind) comes from src; the signs of columns are free. Rank and energy
// in the report of pca-perturbed are those of the perturbed rows.
//
// Errors and cost are those of [New].
func Directions(kind string, x secret.Matrix, l int, delta float64, src rand.Source) (secret.Matrix, Report, error) {
	if !slices.Contains(DirectionKinds(), kind) {
		return secret.Matrix{}, Report{}, unknown(kind, DirectionKinds())
	}
	if kind == spec.Perturbed && (!(delta > 0) || math.IsInf(delta, 0)) {
		return secret.Matrix{}, Report{}, fmt.Errorf("basis: delta is %v, must be positive and finite", delta)
	}
	report, err := check(kind, x, l, src)
	if err != nil {
		return secret.Matrix{}, Report{}, err
	}
	v, err := directions(x.Reveal(), l, delta, src, &report)
	if err != nil {
		return secret.Matrix{}, Report{}, err
	}
	return secret.NewMatrix(v), report, nil
}

// directions makes V for all kinds and fills in the report.
func directions(x *mat.Dense, l int, delta float64, src rand.Source, report *Report) (*mat.Dense, error) {
	switch report.Kind {
	case spec.Random:
		_, m := x.Dims()
		v := linalg.Stiefel(m, l, src)
		return v, measure(x, v, report)
	case spec.Perturbed:
		n, m := x.Dims()
		noise := linalg.Normal(n, m, src)
		defer noise.Zero()
		noise.Scale(delta, noise)
		noise.Add(noise, x)
		return principal(noise, l, report)
	}
	return principal(x, l, report)
}

// Mixed returns the basis F = V E for directions v (m × l), which other parties may
// share: with the same V for all, the spans are identical, which is what ODC's theory
// assumes ([nosaka2025], theorem IV.3). E comes from src. The errors are those of
// [FromMatrix], and an unknown mix. v is not changed. A nil src panics. Cost O(m l²).
func Mixed(v secret.Matrix, mix spec.Mix, src rand.Source) (*Basis, error) {
	if src == nil {
		panic("basis: nil source")
	}
	m, l := v.Dims()
	if l == 0 || l > m {
		return nil, fmt.Errorf("basis: matrix is %d × %d, want at least one column and no more columns than rows", m, l)
	}
	f, err := mixed(v.Reveal(), mix, src)
	if err != nil {
		return nil, err
	}
	return FromMatrix(secret.NewMatrix(f))
}

// mixed is V E, a matrix of its own.
func mixed(v *mat.Dense, mix spec.Mix, src rand.Source) (*mat.Dense, error) {
	_, l := v.Dims()
	var e *mat.Dense
	switch mix {
	case spec.Haar:
		e = linalg.Haar(l, src)
	case spec.Uniform:
		e = linalg.Uniform(l, l, src)
	case spec.Normal:
		e = linalg.Normal(l, l, src)
	case spec.None:
		return mat.DenseCopyOf(v), nil
	default:
		return nil, fmt.Errorf("basis: unknown mix %q, want one of %v", mix, spec.Mixes())
	}
	defer e.Zero()
	var f mat.Dense
	f.Mul(v, e)
	return &f, nil
}

// fromPooled is F = V E for directions v (m × l) that the parties pooled, described for the
// rows x (n × m): their rank, and the share of their sum of squares that F keeps. v is not
// changed.
//
// The errors are those of [New] and [Mixed], and a v whose columns are not orthonormal to
// 10⁻⁹: F would not be either. Cost O(n m min(n, m) + m l²).
func fromPooled(kind spec.Kind, v, x secret.Matrix, src rand.Source) (*Basis, Report, error) {
	m, l := v.Dims()
	if _, cols := x.Dims(); cols != m {
		return nil, Report{}, fmt.Errorf("basis: shared directions are %d × %d, the rows have %d columns", m, l, cols)
	}
	report, err := check(kind.Name, x, l, src)
	if err != nil {
		return nil, Report{}, err
	}
	if err := linalg.CheckFinite(v.Reveal()); err != nil {
		return nil, Report{}, fmt.Errorf("basis: shared directions: %v", err)
	}
	var gram mat.Dense
	gram.Mul(v.Reveal().T(), v.Reveal())
	for i := range l {
		gram.Set(i, i, gram.At(i, i)-1)
	}
	if off := math.Max(mat.Max(&gram), -mat.Min(&gram)); off > sharedTol {
		return nil, Report{}, fmt.Errorf("basis: shared directions are orthonormal to %.1g only, must be to %g", off, sharedTol)
	}
	f, err := Mixed(v, kind.Mix, src)
	if err != nil {
		return nil, Report{}, err
	}
	if err := measure(x.Reveal(), f.f().Reveal(), &report); err != nil {
		return nil, Report{}, err
	}
	return f, report, nil
}

// sharedTol is how far VᵀV of shared directions may be from I.
const sharedTol = 1e-9

// DimVariance is the largest l with which the principal components of x keep less than the
// given share of the variance, at least 1 ([kawakami2024], section 5.3.2, takes .60, .75 and
// .90 of party 1's rows). The errors name the numbers: the share, fewer than two rows, NaN or
// Inf by row and column. Cost O(n m min(n, m)).
func DimVariance(x secret.Matrix, share float64) (int, error) {
	l, err := DimVariances(x, share)
	if err != nil {
		return 0, err
	}
	return l[0], nil
}

// DimVariances is DimVariance for several shares at the cost of one.
func DimVariances(x secret.Matrix, shares ...float64) ([]int, error) {
	for _, share := range shares {
		if !(share > 0 && share <= 1) {
			return nil, fmt.Errorf("basis: share of the variance is %v, must be above 0 and at most 1", share)
		}
	}
	if n, m := x.Dims(); n < 2 || m < 1 {
		return nil, fmt.Errorf("basis: %d × %d rows have no variance", n, m)
	}
	if err := linalg.CheckFinite(x.Reveal()); err != nil {
		return nil, fmt.Errorf("basis: rows: %v", err)
	}
	c := linalg.Centred(x.Reveal(), linalg.ColumnMeans(x.Reveal()))
	defer c.Zero()
	s, err := linalg.SingularValues(c)
	if err != nil {
		return nil, fmt.Errorf("basis: rows: %v", err)
	}
	var all float64
	for _, v := range s {
		all += v * v
	}
	out := make([]int, len(shares))
	for k, share := range shares {
		kept := 0.0
		out[k] = len(s)
		for i, v := range s {
			if kept += v * v; !(kept < share*all) {
				out[k] = max(i, 1)
				break
			}
		}
	}
	return out, nil
}
