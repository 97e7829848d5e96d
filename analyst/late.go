package analyst

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"concord/contract"
	"concord/linalg"
)

// Target is what a party that comes later is aligned to: the mean of the aligned anchors,
//
//	Z = (1/c) Σᵢ Ãᵢ Gᵢ   (a × d)
//
// the same for every method. (A method's own target, A_1 O of ODC or U_l of OPP, differs
// from it where the spans of the parties do, and the model was trained on what the mean
// is the middle of.)
func Target(parts []Contribution, g []*mat.Dense) *mat.Dense {
	a, _ := parts[0].A.Dims()
	_, d := g[0].Dims()
	z := mat.NewDense(a, d, nil)
	var image mat.Dense
	for i, p := range parts {
		image.Reset()
		image.Mul(p.A, g[i])
		z.Add(z, &image)
	}
	z.Scale(1/float64(len(parts)), z)
	return z
}

// AlignLate finds the change of basis G (l × d) of a party that comes after the others
// were aligned, without moving theirs:
//
//	orthogonal methods (odc, opp, gopp):  min ‖Ã G − Z‖_F, GᵀG = I   [schonemann1966]
//	consensus:                            the same with GGᵀ = I, l ≤ d
//	the others:                           G = Ã⁺ Z
//
// The notes say what is deficient. Cost: O(a l d).
func AlignLate(c *contract.Contract, z *mat.Dense, p Contribution) (g *mat.Dense, notes []string, err error) {
	if err := p.Check(c); err != nil {
		return nil, nil, err
	}
	za, d := z.Dims()
	a, l := p.A.Dims()
	if a != za {
		return nil, nil, fmt.Errorf("analyst: A of %q has %d rows, the target has %d", p.Party, a, za)
	}
	rank := 0
	switch c.Alignment.Method {
	case "odc", "opp", "gopp", "consensus":
		if l > d || l < d && c.Alignment.Method != "consensus" {
			return nil, nil, fmt.Errorf("analyst: A of %q has %d columns, the target has %d", p.Party, l, d)
		}
		var m mat.Dense
		m.Mul(p.A.T(), z)
		q, info, err := linalg.Polar(&m)
		if err != nil {
			return nil, nil, fmt.Errorf("analyst: %w", err)
		}
		g, rank = q, info.Rank
	default:
		x, fit, err := linalg.LeastSquares(p.A, z, 0)
		if err != nil {
			return nil, nil, fmt.Errorf("analyst: %w", err)
		}
		g, rank = x, fit.Rank
	}
	if rank < l {
		notes = append(notes, fmt.Sprintf("%q was aligned with rank %d of %d: one of many solutions was taken", p.Party, rank, l))
	}
	var off mat.Dense
	off.Mul(p.A, g)
	off.Sub(&off, z)
	if size := mat.Norm(z, 2); size > 0 && mat.Norm(&off, 2) > 0.5*size {
		notes = append(notes, fmt.Sprintf("the anchor of %q lies %.0f %% off the target: its basis has directions that the others lack, and the model knows little of its rows", p.Party, 100*mat.Norm(&off, 2)/size))
	}
	return g, notes, nil
}
