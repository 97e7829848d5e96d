package anchor

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"concord/anchor/spec"
	"concord/linalg"
	"concord/secret"
)

// Anchors made of rows. Pieces of the low-rank and SMOTE kinds show near-raw rows to
// whoever gets them: with rank 2 of 4 and δ = 0.05 on NRI's patients, age and weight
// come out within 0.06 of the truth for every person.
//
// None of them is sure to have the rank m that the theory needs: the caller compares
// with linalg.Rank. Matrices that are passed are not changed. The errors name the
// numbers: no rows, NaN or Inf by row and column, a size that is below 1 or above
// what there is, more than [spec.MaxElements] elements. A nil source panics.

// Mix returns A = R P (rows × m) for public rows P (p × m): R has independent normal
// elements of variance 1/p, so that a column of A has the mean square of P's in
// expectation. R is secret with src. Known rows of P do not give F_j as [Sample]
// does; the second moments of A F_j are still about F_jᵀ(PᵀP/p)F_j, which P tells
// something of. Rows of A scatter around 0, not around P's mean: take P standardised.
// Its rank is almost surely the smaller of rows and Rank(P). Cost O(rows p m) time,
// O(rows (p + m)) memory.
func Mix(public *mat.Dense, rows int, src rand.Source) (secret.Matrix, error) {
	if src == nil {
		panic("anchor: nil source")
	}
	p, m, err := checkRows("public rows", public)
	if err == nil {
		err = spec.Fits(rows, m)
	}
	if err != nil {
		return secret.Matrix{}, err
	}
	if p > spec.MaxElements/rows {
		return secret.Matrix{}, fmt.Errorf("anchor: %d mixtures of %d rows exceed the limit of %d numbers: take fewer of either", rows, p, spec.MaxElements)
	}
	r := linalg.Normal(rows, p, src)
	r.Scale(1/math.Sqrt(float64(p)), r)
	var a mat.Dense
	a.Mul(r, public)
	r.Zero()
	if err := linalg.CheckFinite(&a); err != nil {
		a.Zero()
		return secret.Matrix{}, errors.New("anchor: mixtures of the rows overflow: scale the rows down")
	}
	return secret.NewMatrix(&a), nil
}

// Sample returns rows of P themselves (rows × m), drawn without replacement, in random
// order: the anchor of 3000 molecules of [nosaka2024odc]. For laboratories only: whoever knows P, the
// analyst too, has F_j = A⁺ A_j.
func Sample(public *mat.Dense, rows int, src rand.Source) (secret.Matrix, error) {
	if src == nil {
		panic("anchor: nil source")
	}
	p, m, err := checkRows("public rows", public)
	if err == nil {
		err = spec.Fits(rows, m)
	}
	if err != nil {
		return secret.Matrix{}, err
	}
	if rows > p {
		return secret.Matrix{}, fmt.Errorf("anchor: %d rows of %d public ones: choose at most %d", rows, p, p)
	}
	a := mat.NewDense(rows, m, nil)
	for i, row := range rand.New(src).Perm(p)[:rows] {
		a.SetRow(i, public.RawRowView(row))
	}
	return secret.NewMatrix(a), nil
}

// LowRankPiece is a party's piece of a low-rank anchor ([imakura2023],
// section 6.1): the truncated SVD
// of x (n × m), plus noise,
//
//	X^approx = U_r Σ_r V_rᵀ + δ E,  E uniform on [−1, 1]
//
// with r = rank and the published δ = 0.05. The noise comes after the truncation, as
// the paper prints it: the piece has full rank though its signal has not. The sum of
// squares is around 0 and δ in the units of x: take standardised rows. Row i of the
// piece is made of row i of x; [FromPieces] draws them in random order. Cost O(n m
// min(n, m)) time, O(n m) memory.
func LowRankPiece(x secret.Matrix, rank int, delta float64, src rand.Source) (secret.Matrix, error) {
	if src == nil {
		panic("anchor: nil source")
	}
	n, m, err := checkRows("rows", x.Reveal())
	if err != nil {
		return secret.Matrix{}, err
	}
	if rank < 1 || rank > min(n, m) {
		return secret.Matrix{}, fmt.Errorf("anchor: rank %d of %d × %d rows: choose 1 to %d", rank, n, m, min(n, m))
	}
	if !(delta >= 0) || math.IsInf(delta, 0) {
		return secret.Matrix{}, fmt.Errorf("anchor: delta is %v, must be finite and not negative", delta)
	}
	_, v, err := linalg.SVDRight(x.Reveal())
	if err != nil {
		return secret.Matrix{}, fmt.Errorf("anchor: rows: %v", err)
	}
	top := v.Slice(0, m, 0, rank)
	var image, piece mat.Dense
	image.Mul(x.Reveal(), top)
	piece.Mul(&image, top.T())
	image.Zero()
	v.Zero()
	e := linalg.Uniform(n, m, src)
	for i := range n {
		row, noise := piece.RawRowView(i), e.RawRowView(i)
		for j := range row {
			row[j] += delta * (2*noise[j] - 1)
		}
	}
	e.Zero()
	return secret.NewMatrix(&piece), nil
}

// SMOTEPiece is a party's piece of a SMOTE anchor [chawla2002]: each of its
// rows lies at a uniformly random place between a random row of x (n × m) and one of
// that row's nearest neighbours, by Euclidean distance. Rows are drawn with
// replacement. A row that x holds more than neighbours times comes out as it is. The
// piece spans no more than x does. The cost is O(n² m).
func SMOTEPiece(x secret.Matrix, rows, neighbours int, src rand.Source) (secret.Matrix, error) {
	piece, _, err := SMOTEPieceOf(x, rows, neighbours, src)
	return piece, err
}

// SMOTEPieceOf is [SMOTEPiece], and says for each row of the piece which two rows of x
// it lies between.
func SMOTEPieceOf(x secret.Matrix, rows, neighbours int, src rand.Source) (secret.Matrix, [][2]int, error) {
	if src == nil {
		panic("anchor: nil source")
	}
	n, m, err := checkRows("rows", x.Reveal())
	if err == nil {
		err = spec.Fits(rows, m)
	}
	if err != nil {
		return secret.Matrix{}, nil, err
	}
	if neighbours < 1 || neighbours > n-1 {
		return secret.Matrix{}, nil, fmt.Errorf("anchor: %d neighbours among %d rows: choose 1 to %d, or add rows", neighbours, n, n-1)
	}
	rnd := rand.New(src)
	raw := x.Reveal()
	near := make([][]int, n) // by row, made when the row is drawn first
	piece, between := mat.NewDense(rows, m, nil), make([][2]int, rows)
	for i := range rows {
		from := rnd.IntN(n)
		if near[from] == nil {
			near[from] = nearest(raw, from, neighbours)
		}
		to := near[from][rnd.IntN(neighbours)]
		at := rnd.Float64()
		a, b, out := raw.RawRowView(from), raw.RawRowView(to), piece.RawRowView(i)
		for j := range out {
			out[j] = a[j] + at*(b[j]-a[j])
		}
		between[i] = [2]int{from, to}
	}
	return secret.NewMatrix(piece), between, nil
}

// nearest are the k rows of x closest to row i, without itself; of rows equally far
// the first ones.
func nearest(x *mat.Dense, i, k int) []int {
	n, _ := x.Dims()
	distance := make([]float64, n)
	order := make([]int, 0, n-1)
	row := x.RawRowView(i)
	for r := range n {
		if r == i {
			continue
		}
		for j, v := range x.RawRowView(r) {
			distance[r] += (v - row[j]) * (v - row[j])
		}
		order = append(order, r)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(distance[a], distance[b]) })
	return order[:k:k]
}

// FromPieces returns an anchor (rows × m) of all parties' pieces: rows drawn without
// replacement, in random order; if more are wanted than there are, all of them and
// then random linear combinations ([imakura2023], section 6.1,
// does not say of which law): rᵀP with
// independent normal r of variance 1/n over the n pooled rows, which keep their mean
// square. Parties make the same A, to 1e-12 where combinations are needed, if they hold
// the same pieces in the same order and src starts alike. Cost O(rows m), and O(n m) for each
// row beyond n.
func FromPieces(pieces []secret.Matrix, rows int, src rand.Source) (secret.Matrix, error) {
	if src == nil {
		panic("anchor: nil source")
	}
	var all []*mat.Dense
	n, m := 0, 0
	for i, p := range pieces {
		count, columns, err := checkRows(fmt.Sprintf("piece %d", i+1), p.Reveal())
		if err != nil {
			return secret.Matrix{}, err
		}
		if i > 0 && columns != m {
			return secret.Matrix{}, fmt.Errorf("anchor: piece %d has %d columns, piece 1 has %d", i+1, columns, m)
		}
		n, m = n+count, columns
		all = append(all, p.Reveal())
	}
	if n == 0 {
		return secret.Matrix{}, fmt.Errorf("anchor: no pieces")
	}
	if err := spec.Fits(rows, m); err != nil {
		return secret.Matrix{}, err
	}
	pool := mat.NewDense(n, m, nil)
	at := 0
	for _, p := range all {
		count, _ := p.Dims()
		pool.Slice(at, at+count, 0, m).(*mat.Dense).Copy(p)
		at += count
	}
	defer pool.Zero()
	drawn, err := Sample(pool, min(rows, n), src)
	if err != nil || rows <= n {
		return drawn, err
	}
	more, err := Mix(pool, rows-n, src)
	if err != nil {
		return secret.Matrix{}, err
	}
	var a mat.Dense
	a.Stack(drawn.Reveal(), more.Reveal())
	return secret.NewMatrix(&a), nil
}

func checkRows(what string, x *mat.Dense) (n, m int, err error) {
	if x == nil || x.IsEmpty() {
		return 0, 0, fmt.Errorf("anchor: %s: none", what)
	}
	if err := linalg.CheckFinite(x); err != nil {
		return 0, 0, fmt.Errorf("anchor: %s: %v", what, err)
	}
	n, m = x.Dims()
	return n, m, nil
}
