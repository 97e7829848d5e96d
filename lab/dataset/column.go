package dataset

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"concord/table"
)

// column gathers the cells of one column, before it is known whether they are
// numbers or categories.
type column struct {
	name string
	at   int // the column's place in the file, from 1
	// numbers has NaN where a cell is missing or is no number.
	numbers []float64
	// codes are indices into texts, -1 where a cell is missing. Beyond most
	// different texts both are given up, and many is true.
	codes []int32
	texts []string
	index map[string]int32
	most  int
	many  bool
	// The first line with a text that is no number, and with a missing cell;
	// 0 where there is none.
	firstText, firstMissing int
}

func newColumn(name string, at, most int) *column {
	return &column{name: name, at: at, most: most, index: map[string]int32{}}
}

// take takes the next cell, which stands in a line, or row, of the file.
func (c *column) take(cell table.Cell, at int) error {
	switch cell.Kind {
	case table.Null:
		c.addMissing(at)
	case table.Number, table.Whole:
		x := cell.Float()
		if math.IsInf(x, 0) {
			return errors.New("the cell is infinite")
		}
		c.addNumber(x, at)
	case table.Truth:
		c.addText([]byte(strconv.FormatBool(cell.Int() != 0)), at)
	case table.Text:
		b := cell.Text()
		if len(b) > maxCell {
			return fmt.Errorf("the cell has %d bytes, at most %d are read", len(b), maxCell)
		}
		if !utf8.Valid(b) {
			return errors.New("the cell is not UTF-8 text")
		}
		c.addText(bytes.TrimSpace(b), at)
	default:
		return fmt.Errorf("the cell holds %s, and numbers or text are read", cell.Kind)
	}
	return nil
}

// addText takes a text, which is not kept unless it is new.
func (c *column) addText(text []byte, at int) {
	if isMissing(text) {
		c.addMissing(at)
		return
	}
	v, ok := table.ParseNumber(text, false)
	if !ok {
		v = math.NaN()
		if c.firstText == 0 {
			c.firstText = at
		}
	}
	c.numbers = append(c.numbers, v)
	c.code(text)
}

// addNumber takes a number that is not infinite; NaN is a missing one.
func (c *column) addNumber(v float64, at int) {
	if math.IsNaN(v) {
		c.addMissing(at)
		return
	}
	c.numbers = append(c.numbers, v)
	if !c.many {
		var room [32]byte
		c.code(strconv.AppendFloat(room[:0], v+0, 'f', -1, 64))
	}
}

func (c *column) addMissing(at int) {
	if c.firstMissing == 0 {
		c.firstMissing = at
	}
	c.numbers = append(c.numbers, math.NaN())
	if !c.many {
		c.codes = append(c.codes, -1)
	}
}

func (c *column) code(text []byte) {
	if c.many {
		return
	}
	k, ok := c.index[string(text)]
	if !ok {
		if len(c.texts) == c.most {
			c.many, c.codes, c.texts, c.index = true, nil, nil, nil
			return
		}
		k = int32(len(c.texts))
		c.texts = append(c.texts, string(text))
		c.index[c.texts[k]] = k
	}
	c.codes = append(c.codes, k)
}

// numeric tells whether all cells that are there are numbers.
func (c *column) numeric() bool { return c.firstText == 0 && (c.many || len(c.texts) > 0) }

// constant tells whether the column tells rows apart in no way.
func (c *column) constant() bool {
	switch {
	case c.many:
		return c.numeric() && !differ(c.numbers)
	case c.numeric():
		return !differ(c.numbers)
	case c.firstMissing > 0:
		return len(c.texts) == 0
	}
	return len(c.texts) < 2
}

// differ tells whether there are two different numbers among v.
func differ(v []float64) bool {
	first := math.NaN()
	for _, x := range v {
		switch {
		case math.IsNaN(x):
		case math.IsNaN(first):
			first = x
		case x != first:
			return true
		}
	}
	return false
}

// levels are the different cells, sorted as numbers if all are numbers, else
// as texts, and for each row the index of its level, -1 for a missing cell. It
// fails when there are more than most.
func (c *column) levels(most int) (names []string, of []int, err error) {
	of = make([]int, len(c.numbers))
	if c.numeric() {
		values := slices.DeleteFunc(slices.Clone(c.numbers), math.IsNaN)
		slices.Sort(values)
		if values = slices.Compact(values); len(values) > most {
			return nil, nil, c.tooMany(most)
		}
		for i, v := range c.numbers {
			of[i] = -1
			if !math.IsNaN(v) {
				of[i], _ = slices.BinarySearch(values, v)
			}
		}
		for _, v := range values {
			names = append(names, formatNumber(v))
		}
		return names, of, nil
	}
	if c.many || len(c.texts) > most {
		return nil, nil, c.tooMany(most)
	}
	order := make([]int, len(c.texts))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(c.texts[a], c.texts[b]) })
	rank := make([]int, len(order))
	for r, k := range order {
		rank[k] = r
		names = append(names, c.texts[k])
	}
	for i, k := range c.codes {
		of[i] = -1
		if k >= 0 {
			of[i] = rank[k]
		}
	}
	return names, of, nil
}

func (c *column) tooMany(most int) error {
	what := "numbers"
	if c.firstText > 0 {
		what = fmt.Sprintf("cells, the first that is no number in line %d", c.firstText)
	}
	return fmt.Errorf("column %d (%q) has more than %d different %s", c.at, c.name, most, what)
}

// missing are the usual ways to write that a cell is missing, in lower case.
var missing = map[string]bool{"": true, "?": true, ".": true, "na": true, "nan": true, "n/a": true, "null": true}

func isMissing(text []byte) bool {
	return len(text) <= 4 && missing[string(bytes.ToLower(text))]
}

// formatNumber is the shortest decimal that is read back as v; -0 is 0.
func formatNumber(v float64) string { return strconv.FormatFloat(v+0, 'f', -1, 64) }
