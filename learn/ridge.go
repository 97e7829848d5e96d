package learn

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Ridge is linear least squares with a penalty on the weights but not on the
// intercept [hoerl1970]. With
// X꜀ and Y꜀ the columns less their means, it minimises
//
//	‖Y꜀ − X꜀ W‖² + α ‖W‖²,   b = ȳ − x̄ W
//
// For classes Y is one-hot, n × k with 0 and 1, and the regression outputs are
// the scores ([imakura2023], section 6): they sum to 1 over the classes but may lie outside
// [0, 1]. A class without rows scores 0. The weights are those of
// scikit-learn's Ridge.
//
// The normal equations (X꜀ᵀX꜀ + αI) W = X꜀ᵀY꜀ are solved by Cholesky, cost
// O(n d² + d³). Where they are singular or their condition exceeds 10⁸, or
// where d > n, a singular value decomposition of X꜀ takes their place, cost
// O(n d min(n, d)); without a penalty it gives the solution of least norm.
type Ridge struct {
	// Alpha is α, finite and not negative; 0 means 1.
	Alpha float64
	// Unpenalised asks for α = 0; Alpha must then be 0.
	Unpenalised bool
}

// maxCondition is where the normal equations give way to the decomposition:
// they lose log₁₀(condition) of 16 digits, and 8 are wanted.
const maxCondition = 1e8

func (r Ridge) check() error {
	switch {
	case math.IsNaN(r.Alpha) || math.IsInf(r.Alpha, 0) || r.Alpha < 0:
		return fmt.Errorf("learn: ridge's Alpha is %g, want a finite number that is not negative", r.Alpha)
	case r.Unpenalised && r.Alpha != 0:
		return fmt.Errorf("learn: ridge is unpenalised and has Alpha %g, want one of the two", r.Alpha)
	}
	return nil
}

// Name is "ridge".
func (Ridge) Name() string { return "ridge" }

// CarriesRows is false.
func (Ridge) CarriesRows() bool { return false }

// Fit returns a *Linear with the link Identity.
func (r Ridge) Fit(ctx context.Context, x *mat.Dense, y Target) (Model, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	if err := checkData(x, y); err != nil {
		return nil, err
	}
	alpha := r.Alpha
	if alpha == 0 && !r.Unpenalised {
		alpha = 1
	}
	values := y.Values
	if y.Classification() {
		values = y.oneHot()
	}
	xc, xMean, err := centred("x", x)
	if err != nil {
		return nil, err
	}
	yc, b, err := centred("target", values)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n, d := xc.Dims()
	_, k := yc.Dims()
	report := Report{Rows: n, Inputs: d, Outputs: k, Status: Exact}
	var w *mat.Dense
	if d <= n {
		w = normalEquations(xc, yc, alpha, &report)
	}
	if w == nil {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if w, err = bySVD(xc, yc, alpha, &report); err != nil {
			return nil, err
		}
	}
	// b = ȳ − x̄ W
	for j := range b {
		for i, v := range xMean {
			b[j] -= v * w.At(i, j)
		}
	}
	var residual mat.Dense
	residual.Mul(xc, w)
	residual.Sub(yc, &residual)
	squares := func(a mat.Matrix) float64 { f := mat.Norm(a, 2); return f * f }
	report.Objective = squares(&residual) + alpha*squares(w)

	m := &Linear{Kind: r.Name(), W: w, B: b, Link: Identity, Fitted: report}
	if y.Classification() {
		m.Levels = append([]string(nil), y.Classes...)
	}
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("learn: ridge overflows, scale the columns of x or y down: %v", err)
	}
	if math.IsInf(report.Objective, 0) {
		return nil, fmt.Errorf("learn: ridge's sum of squares overflows, scale y down")
	}
	return m, nil
}

// normalEquations solves (XᵀX + αI) W = XᵀY; nil when that would lose digits.
func normalEquations(x, y *mat.Dense, alpha float64, report *Report) *mat.Dense {
	_, d := x.Dims()
	gram := mat.NewSymDense(d, nil)
	gram.SymOuterK(1, x.T())
	for i := range d {
		gram.SetSym(i, i, gram.At(i, i)+alpha)
	}
	var chol mat.Cholesky
	if !chol.Factorize(gram) || !(chol.Cond() <= maxCondition) {
		return nil
	}
	var moment, w mat.Dense
	moment.Mul(x.T(), y)
	if err := chol.SolveTo(&w, &moment); err != nil {
		return nil
	}
	report.Rank, report.Condition = d, chol.Cond()
	return &w
}

// bySVD is W = V diag(s/(s² + α)) Uᵀ Y with X = U diag(s) Vᵀ, over the s that
// exceed max(n, d)·2⁻⁵² of the largest.
func bySVD(x, y *mat.Dense, alpha float64, report *Report) (*mat.Dense, error) {
	n, d := x.Dims()
	var svd mat.SVD
	if !svd.Factorize(x, mat.SVDThin) {
		return nil, fmt.Errorf("learn: ridge's singular value decomposition of %d × %d did not converge", n, d)
	}
	s := svd.Values(nil)
	var u, v, uy, w mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	uy.Mul(u.T(), y)
	least := s[0] * float64(max(n, d)) * 0x1p-52
	for i, si := range s {
		factor := 0.0
		if si > least {
			factor = 1 / (si + alpha/si)
			report.Rank++
			root := math.Sqrt(alpha)
			ratio := math.Hypot(s[0], root) / math.Hypot(si, root) // squares could overflow
			report.Condition = ratio * ratio
		}
		row := uy.RawRowView(i)
		for j := range row {
			row[j] *= factor
		}
	}
	w.Mul(&v, &uy)
	return &w, nil
}
