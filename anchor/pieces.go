package anchor

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"concord/secret"
)

// FromPieces returns the anchor A (rows × m) made of all parties' pieces ([LowRankPiece]
// or [SMOTEPiece], n_i × m each, n = Σ n_i rows in all; NRI §6.1). Up to n rows are
// drawn at random without replacement. If more are wanted, A holds all n and then
// random linear combinations. NRI does not say which; here they are
//
//	u x + (1 − u) y,   u uniform on [0, 1),   x and y two rows drawn at random
//
// so that they stay where the rows are. Rows of pieces are in random order, so that
// their place does not tell the party. All parties make the same A, to the last
// bit, if they hold the same pieces in the same order and src starts alike.
//
// Rank(A) is at most that of the pooled pieces. The theory needs m; the caller
// compares with [linalg.Rank]. What the pieces show of real rows, A shows too.
//
// The errors name the numbers: no pieces, a piece without rows, with another number
// of columns, or with NaN or Inf by row and column, rows below 1 or more than n if n
// is 1, more than [MaxElements] elements. A nil src panics. Cost O((n + rows) m).
func FromPieces(pieces []secret.Matrix, rows int, src rand.Source) (secret.Matrix, error) {
	if src == nil {
		panic("anchor: nil source")
	}
	if len(pieces) == 0 {
		return secret.Matrix{}, fmt.Errorf("anchor: no pieces: at least one is needed")
	}
	var pool [][]float64
	columns := 0
	for i, p := range pieces {
		n, m, err := checkRows(fmt.Sprintf("rows in piece %d", i+1), p.Reveal())
		if err != nil {
			return secret.Matrix{}, err
		}
		if i == 0 {
			columns = m
		}
		if m != columns {
			return secret.Matrix{}, fmt.Errorf("anchor: piece %d has %d columns, piece 1 has %d", i+1, m, columns)
		}
		for j := range n {
			pool = append(pool, p.Reveal().RawRowView(j))
		}
	}
	if err := checkSize(rows, columns); err != nil {
		return secret.Matrix{}, err
	}
	n := len(pool)
	if n == 1 && rows > 1 {
		return secret.Matrix{}, fmt.Errorf("anchor: %d rows wanted of one pooled row: at least 2 are needed to combine", rows)
	}
	rnd := rand.New(src)
	a := mat.NewDense(rows, columns, nil)
	for i, from := range rnd.Perm(n)[:min(n, rows)] {
		a.SetRow(i, pool[from])
	}
	for i := n; i < rows; i++ {
		x := rnd.IntN(n)
		y := rnd.IntN(n - 1)
		if y >= x {
			y++
		}
		between(a.RawRowView(i), pool[y], pool[x], rnd.Float64())
	}
	return secret.NewMatrix(a), nil
}
