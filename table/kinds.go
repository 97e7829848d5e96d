package table

import (
	"fmt"
	"strconv"
)

// checkKinds compares what the source's columns hold with what the contract wants, by
// name, before a row is read. Text and columns of any kind are judged cell by cell.
func (s *scanner) checkKinds(columns []Column) {
	check := func(i int, name, wants string, fits func(Kind) string) {
		at := s.field(i)
		if at < 0 {
			return
		}
		if c := columns[at]; c.Type != "" && c.Kind != Any {
			if hint := fits(c.Kind); hint != "" {
				s.add(CellError{Column: at + 1, Name: name, Hint: hint,
					Problem: fmt.Sprintf("the column is of type %s, and the contract wants %s", c.Type, wants)})
			}
		}
	}
	for j := range s.features {
		t := &s.features[j]
		check(j, t.name, t.described(), t.fits)
	}
	p := len(s.features)
	check(p, s.label.name, s.label.described(), s.label.fits)
	check(p+1, s.contract.Subject, "text or whole numbers that tell people apart", func(k Kind) string {
		if k == Text || k == Whole || k == Number {
			return ""
		}
		return "give each person a text or a whole number"
	})
}

// described says what the contract wants in a column.
func (t *typed) described() string {
	switch {
	case t.what == nil && t.form == levels:
		return "a class: " + listNames(t.names)
	case t.form == numbers:
		return "numbers"
	case t.form == dates:
		return "dates"
	case t.boolean():
		return "truth values"
	}
	return fmt.Sprintf("a level: %s", listNames(t.names))
}

// fits says how to cure that a column of the kind cannot hold what the contract wants,
// or "" if it can.
func (t *typed) fits(k Kind) string {
	switch k {
	case Other:
		return "turn the column into numbers, text, truth values or dates before"
	case Text:
		if t.form == numbers {
			return "write the column as numbers: text is not converted"
		}
		return ""
	}
	switch t.form {
	case numbers:
		if k != Number && k != Whole {
			return "write the column as numbers, in the unit of the contract"
		}
	case dates:
		if k != Day {
			return "write the column as dates, or as text in the contract's layout"
		}
	default:
		return t.fitsLevels(k)
	}
	return ""
}

// fitsLevels compares the spelling of a kind's values with the levels.
func (t *typed) fitsLevels(k Kind) string {
	if t.boolean() && k == Truth {
		return ""
	}
	spelled := func(level string) bool { return false }
	switch k {
	case Whole, Number:
		spelled = func(level string) bool {
			v, err := strconv.ParseInt(level, 10, 64)
			return err == nil && strconv.FormatInt(v, 10) == level
		}
	case Truth:
		spelled = func(level string) bool { return level == "false" || level == "true" }
	}
	for level := range t.level {
		if spelled(level) {
			return ""
		}
	}
	return "no level of the contract is spelled as such values are: write the column as text, spelled as in the contract"
}
