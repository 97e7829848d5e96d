package party

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"concord/contract"
	"concord/table"
)

// FloorError says which floors a table does not reach.
type FloorError struct {
	Problems []string
}

// Error lists the problems, one a line.
func (e *FloorError) Error() string { return "party: " + strings.Join(e.Problems, "\nparty: ") }

// Hint says what can be done.
func (e *FloorError) Hint() string {
	return "bring more rows, or do not take part; the contract, this site's policy.yaml and the program each set floors, and the strictest counts"
}

// Check compares a table with the floors: rows, people, rows of each class; and
// no feature and no number label has one value only. All problems are reported
// at once: a *FloorError, a *table.Errors, or both joined.
func Check(c *contract.Contract, t *table.Table, floors Floors) (Report, error) {
	r := Report{Rows: t.Rows(), People: t.People(), Features: len(c.Features), Dim: c.Basis.Dim, Classes: t.ClassCounts()}
	problems := r.counts(c, floors)
	var columns table.Errors
	for _, j := range t.Constant() {
		if c.Features[j].Spellings() != nil {
			continue // all rows of a site may have one level of a category: others have others
		}
		columns.Problems = append(columns.Problems, t.ColumnError(j,
			fmt.Sprintf("the feature has the same value in all %d rows", r.Rows),
			"a number that does not vary at a site says nothing there: bring rows in which it does, or ask the analyst for a contract without it"))
	}
	for _, j := range outsized(c, t) {
		columns.Problems = append(columns.Problems, t.ColumnError(j,
			fmt.Sprintf("the feature has values beyond %g or all below %g, with which nothing can be computed", largest, 1/largest),
			"give the column in other units, or ask the analyst for a contract with its range"))
	}
	if values := t.Values(); len(values) > 1 && slices.Min(values) == slices.Max(values) {
		problems = append(problems, fmt.Sprintf("the label %q has the same value in all %d rows", c.Label.Name, r.Rows))
	}
	var errs []error
	if columns.Problems != nil {
		errs = append(errs, &columns)
	}
	if problems != nil {
		errs = append(errs, &FloorError{problems})
	}
	return r, errors.Join(errs...)
}

// CheckCounts compares a report's rows, people and classes with the floors: nil, or a
// *FloorError with all that are not reached.
func CheckCounts(c *contract.Contract, r Report, floors Floors) error {
	if problems := r.counts(c, floors); problems != nil {
		return &FloorError{problems}
	}
	return nil
}

// Shares are the shares of variation of which people are told how many directions keep
// less: what somebody needs who chooses a basis's dimension ([kawakami2024], section 5.3.2).
var Shares = []float64{0.60, 0.75, 0.90}

// largest is the largest value that a standardised feature may have: sums of its
// squares and their squares stay far from the end of float64.
const largest = 1e60

// outsized lists the features whose largest value is beyond what can be computed with.
// Only numbers can be, and only where the contract has no range for them or does not use
// it: pooled figures are of values within ranges.
func outsized(c *contract.Contract, t *table.Table) []int {
	x := t.X().Reveal()
	n, p := x.Dims()
	most := make([]float64, p)
	for j, f := range c.Features {
		centre, scale := 0.0, 1.0
		if lo, hi, ok := f.Bounds(); ok && c.Standardise != "none" {
			centre, scale = lo/2+hi/2, hi/2-lo/2
		}
		for i := range n {
			if v := x.At(i, j); !math.IsNaN(v) {
				most[j] = max(most[j], math.Abs((v-centre)/scale))
			}
		}
	}
	var out []int
	for j, v := range most {
		if v > largest || v > 0 && v < 1/largest {
			out = append(out, j)
		}
	}
	return out
}
