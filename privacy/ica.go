package privacy

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// icaResult is an independent component analysis: the sources are the columns of t Wᵀ.
type icaResult struct {
	w          *mat.Dense // r × r, orthogonal
	iterations int
	converged  bool
}

// independent is FastICA with the contrast log cosh and symmetric decorrelation
// ([hyvarinen1999], eq. (20) and (45); α = 1) on whitened
// scores t (n × r, columns of mean 0, variance 1, uncorrelated), from the orthogonal start
// w (r × r):
//
//	U = t Wᵀ,  W ← polar( tanh(U)ᵀt / n − diag(1 − mean tanh²(U)) W )
//
// until no row of W turns by more than |1 − |cos|| = tol, or steps are done: components
// that are normal do not converge, and are then in no direction that means anything.
// A step costs O(n r²) and n r hyperbolic tangents.
func independent(t, w *mat.Dense, tol float64, steps int) (icaResult, error) {
	n, r := t.Dims()
	out := icaResult{w: mat.DenseCopyOf(w)}
	u, slope := mat.NewDense(n, r, nil), make([]float64, r)
	for out.iterations < steps && !out.converged {
		out.iterations++
		u.Mul(t, out.w.T())
		linalg.Parallel((n+blockRows-1)/blockRows, func(b int) {
			for i := b * blockRows; i < min(n, (b+1)*blockRows); i++ {
				row := u.RawRowView(i)
				for j, v := range row {
					row[j] = math.Tanh(v)
				}
			}
		})
		clear(slope)
		for i := range n {
			for j, g := range u.RawRowView(i) {
				slope[j] += (1 - g*g) / float64(n)
			}
		}
		next := mat.NewDense(r, r, nil)
		next.Mul(u.T(), t)
		for i := range r {
			row, old := next.RawRowView(i), out.w.RawRowView(i)
			for j := range row {
				row[j] = row[j]/float64(n) - slope[i]*old[j]
			}
		}
		q, _, err := linalg.Polar(next)
		if err != nil {
			return out, fmt.Errorf("privacy: independent components: %w", err)
		}
		turned := 0.0
		for i := range r {
			cos := mat.Dot(q.RowView(i), out.w.RowView(i))
			turned = max(turned, math.Abs(math.Abs(cos)-1))
		}
		out.w, out.converged = q, turned < tol
	}
	return out, nil
}
