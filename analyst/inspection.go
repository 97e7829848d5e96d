package analyst

import (
	"fmt"
	"math"

	"concord/contract"
)

// Inspection is [Contribution.Check] for a contribution that lies in a file and may
// be larger than the memory: the caller hands over elements as it reads them, part
// by part, and then asks for the verdict. It keeps counts only.
type Inspection struct {
	c      *contract.Contract
	party  string
	counts []int // of labels, by class
	err    error // the first element that is wrong
}

// Inspect begins to inspect a contribution of a party, under a checked contract.
func Inspect(c *contract.Contract, party string) *Inspection {
	return &Inspection{c: c, party: party, counts: make([]int, len(c.Label.Levels))}
}

func (s *Inspection) wrong(format string, args ...any) error {
	return fmt.Errorf("analyst: contribution of %q: %w", s.party, fmt.Errorf(format, args...))
}

// Numbers takes elements of X, A or of Y where it holds numbers. position gives the
// row and the column of the part's i-th element, both from 1.
func (s *Inspection) Numbers(member string, part []float64, position func(i int) (row, col int64)) {
	if s.err != nil || finite(part) {
		return
	}
	for i, v := range part {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			row, col := position(i)
			s.err = s.wrong("%s: element at row %d, column %d is not a finite number", member, row, col)
			return
		}
	}
}

// finite says whether all elements are: x − x is 0 for those and NaN for others.
func finite(part []float64) bool {
	var sum float64
	for _, v := range part {
		sum += v - v
	}
	return sum == 0
}

// Labels takes indices of classes; first is the row of the first one, from 0.
func (s *Inspection) Labels(first int64, part []int64) {
	if s.err != nil {
		return
	}
	for i, k := range part {
		if k < 0 || k >= int64(len(s.counts)) {
			s.err = s.wrong("the label of row %d is none of the %d classes", first+int64(i)+1, len(s.counts))
			return
		}
		s.counts[k]++
	}
}

// Shape is rows and columns of a member.
type Shape struct{ Rows, Cols int }

// Verdict compares the members' shapes, and what has been counted, with the contract, of
// which the party has the named view, or "" where there are none.
func (s *Inspection) Verdict(view string, x, a, y Shape) error {
	c, err := s.c.Through(view)
	if err != nil {
		return s.wrong("%w", err)
	}
	switch {
	case x.Cols != c.Basis.Dim || a.Cols != x.Cols:
		return s.wrong("X is %d × %d and A is %d × %d, the contract says %d columns", x.Rows, x.Cols, a.Rows, a.Cols, c.Basis.Dim)
	case a.Rows != c.Anchor.Rows:
		return s.wrong("A has %d rows, the contract says %d", a.Rows, c.Anchor.Rows)
	case x.Rows < c.Floors.Rows || x.Rows > c.MaxRows:
		return s.wrong("X has %d rows, the contract says %d to %d", x.Rows, c.Floors.Rows, c.MaxRows)
	case c.Label.Type == "class" && (y.Rows != x.Rows || y.Cols != 1):
		return s.wrong("Y has %d labels, X has %d rows", y.Rows*y.Cols, x.Rows)
	case c.Label.Type != "class" && (y.Rows != x.Rows || y.Cols != 1):
		return s.wrong("Y is %d × %d, X has %d rows", y.Rows, y.Cols, x.Rows)
	case s.err != nil:
		return s.err
	}
	for k, count := range s.counts {
		if count < c.Floors.PerClass {
			return s.wrong("class %q has %d rows, the floor is %d", c.Label.Levels[k], count, c.Floors.PerClass)
		}
	}
	return nil
}
