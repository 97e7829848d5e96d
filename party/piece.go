package party

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"concord/anchor"
	"concord/privacy"
	"concord/secret"
	"concord/study"
	"concord/table"
)

// againstParties are who gets a piece: the other parties, each of them alone.
const againstParties = "every other party, alone"

// Piece makes this party's piece of a data-like anchor from a table that keeps the
// floors: near-raw rows, in random order, for the other parties and not for the
// analyst. The report says how near. src must be seeded by the operating system's
// entropy.
//
// Cost: O(n m min(n, m)) for low-rank, O(n² m) for smote, and as much for the report as
// n² distances.
func Piece(c *study.Contract, t *table.Table, floors Floors, src rand.Source) (secret.Matrix, Report, error) {
	report, err := Check(c, t, floors)
	if err != nil {
		return secret.Matrix{}, report, err
	}
	x := permuted(t, rand.New(src)).rows
	defer x.Erase()
	n, _ := x.Dims()
	var piece secret.Matrix
	most := min(n, c.Anchor.Rows) // no more than the whole anchor has
	switch c.Anchor.Kind {
	case "low-rank":
		if piece, err = anchor.LowRankPiece(x, min(c.Anchor.Rank, n), c.Anchor.Delta, src); err == nil && most < n {
			piece, x = firstRows(piece, most), firstRows(x, most)
			defer x.Erase()
		}
	case "smote":
		piece, err = anchor.SMOTEPiece(x, most, min(c.Anchor.Neighbours, n-1), src)
	default:
		return secret.Matrix{}, report, fmt.Errorf("party: an anchor of kind %s is not made of pieces", c.Anchor.Kind)
	}
	if err != nil {
		return secret.Matrix{}, report, fmt.Errorf("party: %w", err)
	}
	if err := report.nearness(c, x.Reveal(), piece.Reveal(), src); err != nil {
		piece.Erase()
		return secret.Matrix{}, report, fmt.Errorf("party: %w", err)
	}
	if floors.Linkage > 0 && report.Linked > floors.Linkage {
		piece.Erase()
		return secret.Matrix{}, report, &FloorError{[]string{fmt.Sprintf("%.1f %% of the rows of the piece lie nearest to a row of their own making, this site allows %g %%", 100*report.Linked, 100*floors.Linkage)}}
	}
	return piece, report, nil
}

// firstRows is a copy of the first rows of a; a is erased.
func firstRows(a secret.Matrix, rows int) secret.Matrix {
	defer a.Erase()
	_, m := a.Dims()
	return secret.NewMatrix(mat.DenseCopyOf(a.Reveal().Slice(0, rows, 0, m)))
}

// nearestWork bounds the products for distances between all rows: of many rows only some
// are compared with all others.
const nearestWork = 2e9

// nearness says how far the rows of a piece are from the nearest true row, beside how
// far true rows are from their nearest neighbours; and for low-rank pieces, of which
// row i is made of row i, how they link and what of each feature they show.
func (r *Report) nearness(c *study.Contract, x, piece *mat.Dense, src rand.Source) error {
	toTrue, among := nearestDistances(piece, x, false), nearestDistances(x, x, true)
	ratio := 0.0
	if among > 0 {
		ratio = toTrue / among
	}
	r.Findings = append(r.Findings, Finding{"piece-distance", againstParties, ratio,
		fmt.Sprintf("half of the piece's rows lie within %.3g of a true row, in standardised units, where true rows have their nearest neighbour at %.3g", toTrue, among), ratio < 1})
	if c.Anchor.Kind != "low-rank" {
		return nil
	}
	link, err := privacy.Linkage(x, piece, linkedGuesses, src)
	if err != nil {
		return err
	}
	errs, err := privacy.Compare(x, piece)
	if err != nil {
		return err
	}
	r.Linked = link.Rate
	for j, e := range errs.Features {
		if !e.Constant {
			r.Reconstructed = append(r.Reconstructed, FeatureRatio{c.Features[j].Name, e.Ratio})
		}
	}
	sortRatios(r.Reconstructed)
	r.Findings = append(r.Findings, Finding{"piece-linkage", againstParties, link.Rate,
		fmt.Sprintf("%.1f %% of the piece's rows are nearest to the person they are made of, among %d (by chance %.2g %%)%s",
			100*link.Rate, link.Rows, 100*link.Chance, bestKnown(r.Reconstructed)), link.Rate > warnLinked})
	return nil
}

// nearestDistances is the median distance from rows of a to the nearest row of b; to
// another row where they are the same.
func nearestDistances(a, b *mat.Dense, same bool) float64 {
	n, m := a.Dims()
	rows, _ := b.Dims()
	var all []float64
	step := max(1, int(float64(n)*float64(rows)*float64(m)/nearestWork))
	for i := 0; i < n; i += step {
		best := math.Inf(1)
		for k := range rows {
			if same && k == i {
				continue
			}
			var sum float64
			for j := range m {
				d := a.At(i, j) - b.At(k, j)
				sum += d * d
			}
			best = min(best, sum)
		}
		all = append(all, math.Sqrt(best))
	}
	return median(all)
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}
