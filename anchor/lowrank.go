package anchor

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
	"concord/secret"
)

// Delta is the size of the noise in the published low-rank anchors (NRI §6.1).
const Delta = 0.05

// LowRankPiece returns a party's piece of a low-rank anchor (n × m): its rows X (n
// × m), less what the largest singular values do not hold, plus noise (NRI §6.1),
//
//	X = U diag(s) Vᵀ,   piece = U_r diag(s_r) V_rᵀ + δ E
//
// with r = rank and E independent, uniform on [−1, 1]. The noise comes after the
// truncation, as NRI prints it, so for δ > 0 the piece has almost surely the rank
// min(n, m), and for δ = 0 at most r. The sum of squares is taken around 0 and not
// around the mean: take standardised rows, or δ is small or large by accident. The
// published δ is [Delta]. Row i of the piece is made of row i of X; [FromPieces]
// pools and shuffles.
//
// A piece shows near-raw rows to whoever gets the anchor, that is to every other
// party: only by explicit agreement, and with a report of the distance from each
// of its rows to the nearest real row.
//
// The errors name the numbers: no rows, NaN or Inf by row and column, rank outside
// 1 … min(n, m), a δ that is negative or not finite, more than [MaxElements]
// elements. A nil src panics. Cost O(n m min(n, m)) time, O(n m) memory.
func LowRankPiece(x secret.Matrix, rank int, delta float64, src rand.Source) (secret.Matrix, error) {
	if src == nil {
		panic("anchor: nil source")
	}
	n, m, err := checkRows("rows", x.Reveal())
	if err != nil {
		return secret.Matrix{}, err
	}
	if err := checkSize(n, m); err != nil {
		return secret.Matrix{}, err
	}
	if rank < 1 || rank > min(n, m) {
		return secret.Matrix{}, fmt.Errorf("anchor: rank %d of %d rows of %d features: choose 1 to %d", rank, n, m, min(n, m))
	}
	if !(delta >= 0) || math.IsInf(delta, 0) {
		return secret.Matrix{}, fmt.Errorf("anchor: noise %g, want a finite number that is not negative", delta)
	}
	u, s, v, err := linalg.SVD(x.Reveal())
	if err != nil {
		return secret.Matrix{}, fmt.Errorf("anchor: rows: %v", err)
	}
	defer u.Zero()
	defer v.Zero()
	for i := range n {
		row := u.RawRowView(i)
		for j := range rank {
			row[j] *= s[j]
		}
	}
	piece := new(mat.Dense)
	piece.Mul(u.Slice(0, n, 0, rank), v.Slice(0, m, 0, rank).T())
	if delta > 0 {
		noise := linalg.Uniform(n, m, src)
		defer noise.Zero()
		for i := range n {
			row, e := piece.RawRowView(i), noise.RawRowView(i)
			for j := range row {
				row[j] += delta * (2*e[j] - 1)
			}
		}
	}
	if err := linalg.CheckFinite(piece); err != nil {
		piece.Zero()
		return secret.Matrix{}, errors.New("anchor: the piece overflows: scale rows and noise down")
	}
	return secret.NewMatrix(piece), nil
}
