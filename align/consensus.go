package align

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Consensus aligns by semi-orthogonal changes of basis into a space of more
// dimensions than any party has (this project, docs/methods.md sections 5.4 and 9.2;
// it is GOPP with d ≥ l_i and a spectral start):
//
//	minimise Σ_i ‖A_i G_i − Z‖_F²  over G_i (l_i × d) with G_iG_iᵀ = I and Z (a × d)
//	start     Z = U_d Σ_d
//	alternate G_i = polar(A_iᵀZ),  Z = mean_i A_i G_i
//
// G_iG_iᵀ = I keeps the distances inside a party, no party is the reference, and
// the l_i may differ. d runs from max l_i to min(a, L); Options.Dim zero means
// ⌈1.5 max l_i⌉, or min(a, L) if that is less. At d = l there are local minima that
// differ in the objective, so five random starts are tried beside the spectral one
// unless Options.Starts or Init says otherwise; from about 1.5 l on every start was seen to reach the
// same value, and more columns gain nothing.
//
// Acceleration, ends, solvers, Starts, Init and Overlap are those of [GOPP]. The
// objective stays as it is when some A_i is replaced by A_i E_i, E_i orthogonal.
//
// Errors: no party; an A_i that is empty, has another number of rows than A_1,
// more columns than rows, or NaN or Inf; a dimension out of range; an unknown
// solver; an Options.Init that does not fit.
func Consensus(a []*mat.Dense, opt Options) (*Result, error) {
	in, err := newInput(a, opt)
	if err != nil {
		return nil, err
	}
	low, high := slices.Max(in.cols), min(in.rows, in.sum)
	d := opt.Dim
	if d == 0 {
		d = min((3*low+1)/2, high)
	}
	if d < low || d > high {
		return nil, fmt.Errorf("align: dimension %d, want %d to %d, from the largest number of columns to the smaller of %d anchor rows and %d columns in all", d, low, high, in.rows, in.sum)
	}
	usual := 0
	if d == low {
		usual = 5
	}
	return generalised(in, "consensus", d, usual, func([]float64) {}) // Z = U_d Σ_d
}
