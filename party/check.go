package party

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"concord/study"
	"concord/table"
)

// Report holds the figures of a table that a person at the site looks at before
// anything leaves. They speak of the site's own rows; of them only Rows, Dim
// and the counts of the labels can be read off what leaves.
type Report struct {
	Rows     int     `json:"rows"`
	People   int     `json:"people"` // different subjects, or rows where the contract names none
	Features int     `json:"features"`
	Dim      int     `json:"dim"`               // l
	Classes  []int   `json:"classes,omitempty"` // rows of each level, in the contract's order
	Rank     int     `json:"rank,omitempty"`    // directions that the standardised rows span
	Energy   float64 `json:"energy,omitempty"`  // share of them that the basis keeps, 0 to 1
	// Exposed are the features that follow a direction of X̃ most closely.
	Exposed []Exposure `json:"exposed,omitempty"`
}

// FloorError says which floors of the contract a table does not reach.
type FloorError struct {
	Problems []string
}

// Error lists the problems, one a line.
func (e *FloorError) Error() string { return "party: " + strings.Join(e.Problems, "\nparty: ") }

// Hint says what can be done.
func (e *FloorError) Hint() string {
	return "bring more rows, or ask the analyst for a contract with other floors"
}

// Check compares a table with the contract's floors: rows, rows of each class,
// no feature and no number label with one value only. All problems are reported
// at once: a *FloorError, a *table.Errors, or both joined.
func Check(c *study.Contract, t *table.Table) (Report, error) {
	r := Report{Rows: t.Rows(), People: t.People(), Features: c.M(), Dim: c.Basis.Dim, Classes: t.ClassCounts()}
	var problems []string
	if r.Rows < c.Floors.Rows {
		problems = append(problems, fmt.Sprintf("the table has %d rows, the floor is %d", r.Rows, c.Floors.Rows))
	}
	if r.People < c.Floors.People {
		problems = append(problems, fmt.Sprintf("the table has rows of %d people, the floor is %d", r.People, c.Floors.People))
	}
	for k, n := range r.Classes {
		if n < c.Floors.PerClass {
			problems = append(problems, fmt.Sprintf("class %q has %d rows, the floor is %d", c.Label.Levels[k], n, c.Floors.PerClass))
		}
	}
	var columns table.Errors
	for _, j := range t.Constant() {
		columns.Problems = append(columns.Problems, t.ColumnError(j,
			fmt.Sprintf("the feature has the same value in all %d rows", r.Rows),
			"a feature that does not vary at a site says nothing there: bring rows in which it does, or ask the analyst for a contract without it"))
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
