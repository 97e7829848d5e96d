package party

import (
	"fmt"
	"strings"

	"concord/study"
	"concord/table"
)

// Report holds the figures of a table that a person at the site looks at before
// anything leaves. They speak of the site's own rows; of them only Rows, Dim
// and the counts of the labels can be read off what leaves.
type Report struct {
	Rows     int     `json:"rows"`
	Features int     `json:"features"`
	Dim      int     `json:"dim"`               // l
	Classes  []int   `json:"classes,omitempty"` // rows of each level, in the contract's order
	Rank     int     `json:"rank,omitempty"`    // directions that the standardised rows span
	Energy   float64 `json:"energy,omitempty"`  // share of them that the basis keeps, 0 to 1
}

// FloorError says which floors of the contract a table does not reach.
type FloorError struct {
	Problems []string
}

// Error lists the problems, one a line.
func (e *FloorError) Error() string { return "party: " + strings.Join(e.Problems, "\nparty: ") }

// Hint says what can be done.
func (e *FloorError) Hint() string {
	return "nothing was prepared; bring more rows, or ask the analyst for a contract with other floors"
}

// Check compares a table with the contract's floors: rows, rows of each class,
// no constant feature. All problems are reported at once.
func Check(c *study.Contract, t *table.Table) (Report, error) {
	r := Report{Rows: t.Rows(), Features: c.M(), Dim: c.Basis.Dim, Classes: t.ClassCounts()}
	var problems []string
	if r.Rows < c.Floors.Rows {
		problems = append(problems, fmt.Sprintf("the table has %d rows, the floor is %d", r.Rows, c.Floors.Rows))
	}
	for k, n := range r.Classes {
		if n < c.Floors.PerClass {
			problems = append(problems, fmt.Sprintf("class %q has %d rows, the floor is %d", c.Label.Levels[k], n, c.Floors.PerClass))
		}
	}
	for _, j := range t.Constant() {
		problems = append(problems, fmt.Sprintf("feature %q has the same value in all %d rows", c.Features[j].Name, r.Rows))
	}
	if problems != nil {
		return r, &FloorError{problems}
	}
	return r, nil
}
