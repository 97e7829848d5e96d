package align

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// ODC aligns by the closed form of orthonormal data collaboration (Nosaka,
// Takano, Yoshise; ODC2 §IV, eq. 20, Theorem IV.3), party 1 being the reference:
//
//	Z = A_1 O
//	A_iᵀ Z = U Σ Vᵀ
//	G_i = U Vᵀ,  the minimiser of ‖A_i G − Z‖_F over orthogonal G (l × l)
//
// with O = I or O Haar-random in O(l) (Target Random). All l_i must be equal
// and d = l. G_i is orthogonal, so distances inside a party are kept.
//
// When F_i = F_1 E_i with E_i orthogonal and Rank(A) = m, the result is
// orthogonally concordant for every O: G_i = E_iᵀ O, and F_1 G_1 = … = F_c G_c.
//
// # Overlap
//
// Where the spans of F_i and F_1 are nearly orthogonal, A_iᵀZ is nearly zero in
// some direction: Procrustes is blind there and G_i fits the noise of the
// anchor. Result.Overlap measures it by
//
//	(σ_min(A_iᵀZ) / ‖A_i‖_F) / (σ_min(ZᵀZ) / ‖Z‖_F)
//
// which for an orthonormal anchor and orthonormal bases is the cosine of the
// largest angle between the two spans, and for any anchor 1 when the spans are
// equal. A warning is given below 0.01, that is 89.4 degrees. An anchor of a
// independent rows has noise of order √(l/a) in it, so it hides what an
// orthonormal anchor shows.
//
// Errors: no party; an A_i that is empty, has another shape than A_1, more
// columns than rows, or NaN or Inf; a dimension other than l; an unknown target;
// Target Random without a source. A rank-deficient A_iᵀZ has many orthogonal
// solutions: one is returned, with a warning.
//
// The cost is O(a c l² + c l³) in time and O(a l + c l²) in memory.
func ODC(a []*mat.Dense, opt Options) (*Result, error) {
	_, cols, err := check(a)
	if err != nil {
		return nil, err
	}
	l := cols[0]
	for i, c := range cols {
		if c != l {
			return nil, fmt.Errorf("align: A_%d has %d columns and A_1 has %d: method odc needs equal numbers, method ls does not", i+1, c, l)
		}
	}
	if opt.Dim != 0 && opt.Dim != l {
		return nil, fmt.Errorf("align: dimension %d, want %d: method odc keeps the number of columns", opt.Dim, l)
	}
	target, err := opt.target("odc", Identity, Random)
	if err != nil {
		return nil, err
	}
	z := a[0]
	if target == Random {
		z = new(mat.Dense)
		z.Mul(a[0], linalg.Haar(l, opt.Source))
	}
	res := &Result{Method: "odc", Dim: l, Target: target}
	var own float64 // σ_min(ZᵀZ) / ‖Z‖_F, since A_1ᵀZ = A_1ᵀA_1 O; 0 if singular
	for i, ai := range a {
		var m mat.Dense
		m.Mul(ai.T(), z)
		g, info, err := linalg.Polar(&m)
		if err != nil {
			return nil, fmt.Errorf("align: A_%dᵀA_1: %v", i+1, err)
		}
		seen := ratio(info.Smallest, mat.Norm(ai, 2))
		if i == 0 && info.Rank == l {
			own = seen
		}
		overlap := ratio(seen, own)
		res.G = append(res.G, g)
		res.Ranks = append(res.Ranks, info.Rank)
		res.Overlap = append(res.Overlap, overlap)
		res.Conds = append(res.Conds, info.Cond)
		switch {
		case info.Rank < l:
			res.warn("party %d: A_%dᵀA_1 has rank %d of %d: G_%d is one of many solutions", i+1, i+1, info.Rank, l, i+1)
		case overlap < blind:
			res.warn("party %d: overlap with party 1 is %.1e in the direction seen worst: the spans are nearly orthogonal there and G_%d fits noise", i+1, overlap, i+1)
		}
	}
	if err := res.measure(a, z); err != nil {
		return nil, err
	}
	return res, nil
}

// blind is the overlap below which a party is warned of; see [ODC].
const blind = 0.01

// ratio is x / y, and 0 for y = 0.
func ratio(x, y float64) float64 {
	if y == 0 {
		return 0
	}
	return x / y
}
