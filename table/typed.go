package table

import (
	"bytes"
	"math"
	"unicode/utf8"

	"concord/contract"
)

// Fault is what can be wrong with a cell.
type Fault uint8

const (
	// None is a cell that the contract takes, a missing one included where it says
	// what to do about it.
	None Fault = iota
	// Missing is a missing cell where the contract wants a value.
	Missing
	// Outside is a value outside the feature's range.
	Outside
	// UnknownLevel is a level, class or spelling of a truth value that the contract
	// does not have.
	UnknownLevel
	// Malformed is what cannot be read as the contract says.
	Malformed
	// Faults is the number of kinds.
	Faults = iota
)

var faultNames = [Faults]string{"right", "missing", "outside the range", "an unknown level", "malformed"}

// String names the fault for people.
func (f Fault) String() string {
	if int(f) < len(faultNames) {
		return faultNames[f]
	}
	return "unknown"
}

// form is what the cells of one column of the contract are.
type form uint8

const (
	numbers form = iota
	levels
	dates
)

// typed reads the cells of one column of the contract: a feature, or the label.
type typed struct {
	name string
	form form
	// what is the feature, nil for the label.
	what  *contract.Feature
	comma bool // decimal
	// min and max are the range, infinite without one.
	min, max float64
	missing  *marks
	// impute says that the contract takes missing cells.
	impute bool
	level  map[string]int
	names  []string // of the levels
	wide   bool     // one of them has letters beyond ASCII
	dates  dateLayout
}

func newTyped(c *contract.Contract, f *contract.Feature, missing *marks, opt Options) typed {
	t := typed{name: f.Name, what: f, comma: opt.DecimalComma, min: math.Inf(-1), max: math.Inf(1), missing: missing}
	t.impute = f.Missing != contract.MissingRefuse
	if f.Range != nil {
		t.min, t.max = f.Range.Min, f.Range.Max
	}
	switch f.Type {
	case contract.Category, contract.Ordinal:
		t.setLevels(f.Levels)
	case contract.Boolean:
		t.setTruth(f.Levels)
	case contract.Date:
		t.form, t.dates = dates, newDateLayout(f)
	}
	return t
}

func newLabel(c *contract.Contract, missing *marks, opt Options) typed {
	t := typed{name: c.Label.Name, comma: opt.DecimalComma, min: math.Inf(-1), max: math.Inf(1), missing: missing}
	if c.Label.Type != "number" {
		t.setLevels(c.Label.Levels)
	}
	return t
}

func (t *typed) setLevels(names []string) {
	t.form, t.names, t.level = levels, names, make(map[string]int, len(names))
	for k, name := range names {
		t.level[name] = k
		t.wide = t.wide || !ascii([]byte(name))
	}
}

// truths are the spellings of truth values where the contract names none.
var truths = map[string]int{"false": 0, "False": 0, "FALSE": 0, "0": 0, "true": 1, "True": 1, "TRUE": 1, "1": 1}

func (t *typed) setTruth(names []string) {
	if len(names) > 0 {
		t.setLevels(names)
		return
	}
	t.form, t.names, t.level = levels, []string{"false", "true"}, truths
}

// boolean says whether the column holds truth values.
func (t *typed) boolean() bool { return t.what != nil && t.what.Type == contract.Boolean }

// value reads a cell. A missing cell is NaN, with the fault Missing where the contract
// wants a value.
func (t *typed) value(c *Cell) (float64, Fault) {
	if c.Kind == Text {
		cell := trim(c.text)
		if t.form == numbers && (len(cell) == 0 || !t.missing.may[cell[0]]) {
			// The most frequent case first.
			if x, ok := readNumber(cell, t.comma); ok {
				return t.inRange(x)
			}
		}
		if t.missing.text(cell) {
			return t.absent()
		}
		return t.text(cell)
	}
	if c.Kind == Null || c.Kind == Number && math.IsNaN(c.Float()) || t.missing.number(c) {
		return t.absent()
	}
	switch {
	case t.form == numbers && (c.Kind == Number || c.Kind == Whole):
		x := c.Float()
		if math.IsInf(x, 0) {
			return math.NaN(), Malformed
		}
		return t.inRange(x)
	case t.form == dates && c.Kind == Day:
		return t.inRange(t.dates.value(c.Int()))
	case t.boolean() && c.Kind == Truth:
		return c.Float(), None
	case t.form == levels:
		var spelled [24]byte
		if b, ok := c.spelled(spelled[:0]); ok {
			return t.text(b)
		}
		return math.NaN(), UnknownLevel
	}
	return math.NaN(), Malformed
}

// text reads a trimmed cell that is not missing.
func (t *typed) text(cell []byte) (float64, Fault) {
	switch t.form {
	case numbers:
		if x, ok := readNumber(cell, t.comma); ok {
			return t.inRange(x)
		}
	case dates:
		if day, ok := t.dates.read(cell); ok {
			return t.inRange(t.dates.value(day))
		}
	default:
		if k, ok := t.level[string(cell)]; ok {
			return float64(k), None
		}
		if utf8.Valid(cell) && bytes.IndexByte(cell, 0) < 0 {
			return math.NaN(), UnknownLevel
		}
	}
	return math.NaN(), Malformed
}

func (t *typed) inRange(x float64) (float64, Fault) {
	if t.missing.numeric && t.missing.value(x) {
		return t.absent()
	}
	if x < t.min || x > t.max {
		return x, Outside
	}
	return x, None
}

func (t *typed) absent() (float64, Fault) {
	if t.impute {
		return math.NaN(), None
	}
	return math.NaN(), Missing
}

// marks are the cells that mean a missing value: the empty one and those that the
// contract names. Those that are numbers mean it in any spelling and in columns of
// numbers too.
type marks struct {
	set     map[string]bool
	may     [256]bool // the bytes with which a mark may begin
	numeric bool
	values  []float64
}

func newMarks(values []string) *marks {
	m := &marks{set: make(map[string]bool, len(values))}
	for _, v := range values {
		if v == "" {
			continue
		}
		m.set[v] = true
		m.may[v[0]] = true
		if x, ok := readNumber([]byte(v), false); ok {
			m.values, m.numeric = append(m.values, x), true
		}
	}
	return m
}

func (m *marks) text(cell []byte) bool {
	return len(cell) == 0 || m.may[cell[0]] && m.set[string(cell)]
}

func (m *marks) value(x float64) bool {
	for _, v := range m.values {
		if x == v {
			return true
		}
	}
	return false
}

func (m *marks) number(c *Cell) bool {
	return m.numeric && (c.Kind == Number || c.Kind == Whole) && m.value(c.Float())
}

// trim cuts white space off both ends.
func trim(b []byte) []byte {
	for len(b) > 0 && b[0] <= ' ' && isSpace[b[0]] {
		b = b[1:]
	}
	for len(b) > 0 && b[len(b)-1] <= ' ' && isSpace[b[len(b)-1]] {
		b = b[:len(b)-1]
	}
	if len(b) > 0 && (b[0] >= utf8.RuneSelf || b[len(b)-1] >= utf8.RuneSelf) {
		return bytes.TrimSpace(b)
	}
	return b
}

var isSpace = [' ' + 1]bool{'\t': true, '\n': true, '\v': true, '\f': true, '\r': true, ' ': true}

func ascii(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
