package align

import (
	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// ODC aligns by the closed form of orthonormal data collaboration ([nosaka2025],
// section IV, eq. (20) and theorem IV.3; docs/methods.md section 5.3), party 1 being
// the reference:
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
	in, err := newInput(a, opt)
	if err != nil {
		return nil, err
	}
	l, err := in.sameDim("odc")
	if err != nil {
		return nil, err
	}
	target, err := opt.target("odc", Identity, Random)
	if err != nil {
		return nil, err
	}
	if _, err := opt.solver("odc", solverPolar); err != nil {
		return nil, err
	}
	z := a[0]
	if target == Random {
		z = new(mat.Dense)
		z.Mul(a[0], linalg.Haar(l, opt.Source))
	}
	res := &Result{Method: "odc", Solver: solverPolar, Dim: l, Target: target, Converged: true}
	seen, err := res.procrustes(in, z)
	if err != nil {
		return nil, err
	}
	res.overlapsWithFirst(seen)
	if opt.NoResidual {
		return res, nil
	}
	return res, res.measure(in, z)
}

// overlapsWithFirst fills in Overlap from σ_min(A_iᵀZ) / ‖A_i‖_F, and warns.
func (res *Result) overlapsWithFirst(seen []float64) {
	l := res.Dim
	// σ_min(ZᵀZ) / ‖Z‖_F, since A_1ᵀZ = A_1ᵀA_1 O; 0 if singular.
	own := 0.0
	if res.Ranks[0] == l {
		own = seen[0]
	}
	res.Overlap = make([]float64, len(seen))
	for i := range seen {
		res.Overlap[i] = ratio(seen[i], own)
	}
	for i, o := range res.Overlap {
		switch {
		case res.Ranks[i] < l:
			res.warn("party %d: A_%dᵀA_1 has rank %d of %d: G_%d is one of many solutions", i+1, i+1, res.Ranks[i], l, i+1)
		case o < blind:
			res.warn("party %d: overlap with party 1 is %.1e in the direction seen worst: the spans are nearly orthogonal there and G_%d fits noise", i+1, o, i+1)
		}
	}
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
