package party

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"concord/contract"
	"concord/linalg"
)

// TheirPiece says what another party's piece of the anchor is like: what can be known of
// it without its owner's rows.
type TheirPiece struct {
	// Rows it has, of which Different are not the same as another.
	Rows, Different int
	// Rank is how many directions they span, of m.
	Rank int
	// Largest is its largest absolute number, in standardised units.
	Largest float64
	// Odd says what no honest piece is like and yet does not stop the study; "" if nothing.
	Odd string
}

// LookAtPiece refuses what no site's piece can be under this contract, and says what
// the rest is like. A party whose piece is absurd cannot learn anything by it that it
// would not know (it has the anchor anyway); it can spoil the anchor, on which all
// alignment rests.
//
// The errors say which: another width, more rows than the anchor, one row or the same
// row again and again, numbers beyond what the contract's ranges let a piece have.
func LookAtPiece(c *contract.Contract, rows *mat.Dense) (TheirPiece, error) {
	if rows.IsEmpty() {
		return TheirPiece{}, fmt.Errorf("party: it has no rows")
	}
	n, m := rows.Dims()
	look := TheirPiece{Rows: n}
	if m != c.M() || n > c.Anchor.Rows {
		return look, fmt.Errorf("party: it is %d × %d, must have %d columns and at most %d rows", n, m, c.M(), c.Anchor.Rows)
	}
	most := pieceBound(c)
	for i := range n {
		for j, x := range rows.RawRowView(i) {
			if !(math.Abs(x) <= most) {
				return look, fmt.Errorf("party: the number at row %d, column %d is beyond what rows within the contract's ranges give", i+1, j+1)
			}
			look.Largest = max(look.Largest, math.Abs(x))
		}
	}
	look.Different = different(rows)
	if look.Different < 2 {
		return look, fmt.Errorf("party: it is one row, %d times; a piece is made of at least %d rows", n, min(leastRows, c.Anchor.Rows))
	}
	var err error
	if look.Rank, err = linalg.Rank(rows, 0); err != nil {
		return look, fmt.Errorf("party: %w", err)
	}
	var odd []string
	if least := min(leastRows, c.Anchor.Rows); n < least {
		odd = append(odd, fmt.Sprintf("it has %d rows, where sites have %d at least", n, least))
	}
	if 2*look.Different < n {
		odd = append(odd, "most of its rows are there several times")
	}
	spans := min(n, m) / 2 // features that follow from others are honest
	if c.Anchor.Kind == "low-rank" {
		spans = min(spans, c.Anchor.Rank)
	}
	if look.Rank < spans {
		odd = append(odd, fmt.Sprintf("its rows vary in %d directions of %d only", look.Rank, m))
	}
	look.Odd = strings.Join(odd, "; ")
	return look, nil
}

// pieceBound is the largest number that a piece can hold: rows within the ranges are
// within 1 of 0 in each feature. Those of smote lie between such rows; a low-rank row is
// no longer than the row it is made of, √m at most, and has noise of at most delta.
func pieceBound(c *contract.Contract) float64 {
	switch {
	case c.Standardise != "range":
		return largest
	case c.Anchor.Kind == "smote":
		return 1 + 1e-9
	}
	return math.Sqrt(float64(c.M()))*(1+1e-9) + c.Anchor.Delta
}

// different counts the rows that are not the same as another one.
func different(rows *mat.Dense) int {
	n, _ := rows.Dims()
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return slices.Compare(rows.RawRowView(a), rows.RawRowView(b)) })
	count := 1
	for i := 1; i < n; i++ {
		if !slices.Equal(rows.RawRowView(order[i]), rows.RawRowView(order[i-1])) {
			count++
		}
	}
	return count
}
