package dataset

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
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

// add takes the next cell. text is not kept unless it is new.
func (c *column) add(text string, line int) {
	if isMissing(text) {
		c.addMissing(line)
		return
	}
	v, ok := parseNumber(text)
	if !ok {
		v = math.NaN()
		if c.firstText == 0 {
			c.firstText = line
		}
	}
	c.numbers = append(c.numbers, v)
	c.code(text)
}

// addNumber takes a cell that is a finite number.
func (c *column) addNumber(v float64) {
	c.numbers = append(c.numbers, v)
	if !c.many {
		c.code(formatNumber(v))
	}
}

func (c *column) addMissing(line int) {
	if c.firstMissing == 0 {
		c.firstMissing = line
	}
	c.numbers = append(c.numbers, math.NaN())
	if !c.many {
		c.codes = append(c.codes, -1)
	}
}

func (c *column) code(text string) {
	if c.many {
		return
	}
	k, ok := c.index[text]
	if !ok {
		if len(c.texts) == c.most {
			c.many, c.codes, c.texts, c.index = true, nil, nil, nil
			return
		}
		k = int32(len(c.texts))
		text = strings.Clone(text)
		c.texts = append(c.texts, text)
		c.index[text] = k
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

// isMissing knows the usual ways to write that a cell is missing.
func isMissing(text string) bool {
	switch len(text) {
	case 0:
		return true
	case 1:
		return text == "?" || text == "."
	case 2:
		return strings.EqualFold(text, "NA")
	case 3:
		return strings.EqualFold(text, "NaN") || strings.EqualFold(text, "N/A")
	case 4:
		return strings.EqualFold(text, "null")
	}
	return false
}

// parseNumber reads a finite decimal number; strconv alone would also take
// hexadecimal, infinities and underscores.
func parseNumber(text string) (float64, bool) {
	for i := range len(text) {
		switch c := text[i]; {
		case c >= '0' && c <= '9', c == '+', c == '-', c == '.', c == 'e', c == 'E':
		default:
			return 0, false
		}
	}
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil
}

// formatNumber is the shortest decimal that is read back as v; -0 is 0.
func formatNumber(v float64) string { return strconv.FormatFloat(v+0, 'f', -1, 64) }
