package table

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"concord/contract"
)

// layout says where a file keeps what the contract asks for.
type layout struct {
	width    int   // fields of the header
	features []int // for each feature its field, from 0
	label    int   // the label's field from 0, or -1
	subject  int   // the subject's field from 0, or -1
}

const (
	hintSpelling = "names must be spelled as in the contract, capitals and spaces included"
	hintExtra    = "remove the column; if it ought to be used, ask the analyst for a contract that has it"
	hintHeader   = "the first line must be the header with the columns' names"
)

// columns is how many columns the contract names: features, label, subject.
func columns(c *contract.Contract) int {
	if c.Subject != "" {
		return len(c.Features) + 2
	}
	return len(c.Features) + 1
}

// wantedNames are the contract's names.
func wantedNames(c *contract.Contract) map[string]bool {
	names := make(map[string]bool, columns(c))
	for _, f := range c.Features {
		names[f.Name] = true
	}
	names[c.Label.Name] = true
	if c.Subject != "" {
		names[c.Subject] = true
	}
	return names
}

// readHeader finds the contract's columns among those of a source and adds what is
// wrong to p. line is that of the header, 0 where the source has no lines.
func readHeader(header []Column, line int, c *contract.Contract, opt Options, p *problems) layout {
	m := len(c.Features)
	wanted := make(map[string]int, m+2) // the label is wanted[name] = m, the subject m + 1
	for j, f := range c.Features {
		wanted[f.Name] = j
	}
	wanted[c.Label.Name] = m
	names := append(c.FeatureNames(), c.Label.Name)
	if c.Subject != "" {
		wanted[c.Subject] = m + 1
		names = append(names, c.Subject)
	}

	for i, column := range header {
		if !utf8.ValidString(column.Name) {
			p.add(CellError{Line: line, Column: i + 1, Problem: "the name is not valid UTF-8", Hint: encodingHint(column.Name)})
		}
	}
	found := make([]int, m+2) // fields from 1, 0 is none
	known := 0
	for i, column := range header {
		j, ok := wanted[strings.TrimSpace(column.Name)]
		if !ok {
			continue
		}
		if found[j] > 0 {
			p.add(CellError{Line: line, Column: i + 1, Name: strings.TrimSpace(column.Name),
				Problem: fmt.Sprintf("the name stands in the header twice, first in column %d", found[j]),
				Hint:    "keep one of the two columns"})
			continue
		}
		found[j] = i + 1
		known++
	}
	if known == 0 {
		p.add(noneKnown(header, line, c))
		return layout{}
	}
	var missing []string
	for j, name := range names {
		if found[j] == 0 && (j < m || opt.Label == Required) {
			missing = append(missing, name)
		}
	}
	switch {
	case len(missing) == 1:
		p.add(CellError{Line: line, Problem: "a column is missing: " + missing[0], Hint: spelling(missing, header, wanted)})
	case len(missing) > 1:
		p.add(CellError{Line: line, Problem: fmt.Sprintf("%d columns are missing: %s", len(missing), listNames(missing)), Hint: spelling(missing, header, wanted)})
	}
	if !opt.AllowExtra {
		extraColumns(header, line, wanted, missing, c, p)
	}
	at := layout{width: len(header), features: make([]int, m), label: -1, subject: -1}
	for j := range m {
		at.features[j] = found[j] - 1
	}
	if opt.Label != Ignored {
		at.label = found[m] - 1
	}
	if opt.Label == Required {
		at.subject = found[m+1] - 1
	}
	return at
}

// noneKnown describes a first line with none of the contract's names. It may be
// a row, so nothing of it is shown.
func noneKnown(header []Column, line int, c *contract.Contract) CellError {
	e := CellError{Line: line, Problem: fmt.Sprintf("none of the contract's %d columns is in the header", columns(c)), Hint: hintHeader}
	values := 0
	for _, column := range header {
		if looksLikeValue(strings.TrimSpace(column.Name)) {
			values++
		}
	}
	if len(header) == 1 {
		e.Hint += "; it was read as one column: --delimiter says what separates columns"
	}
	switch {
	case line == 0:
		e.Problem, e.Hint = fmt.Sprintf("none of the contract's %d columns is in it", columns(c)), hintSpelling
	case strings.HasPrefix(strings.ToLower(header[0].Name), "sep="):
		e.Problem, e.Hint = "the first line is not the header; it names the separator", "remove the first line"
	case values > 0:
		e.Problem = fmt.Sprintf("the header is missing: the first line has %s and none of the contract's names", count(values, "value"))
	}
	return e
}

// extraColumns adds a problem for each column that is not in the contract. Features that
// the site's view lacks are in it.
func extraColumns(header []Column, line int, wanted map[string]int, missing []string, c *contract.Contract, p *problems) {
	elsewhere := map[string]bool{}
	if c.Within != nil {
		for _, f := range c.Whole().Features {
			elsewhere[f.Name] = true
		}
	}
	for i, column := range header {
		name := strings.TrimSpace(column.Name)
		if _, ok := wanted[name]; ok || elsewhere[name] {
			continue
		}
		e := CellError{Line: line, Column: i + 1, Hint: hintExtra}
		switch {
		case name == "":
			e.Problem = "the column has no name"
			e.Hint = "remove the column; spreadsheets write one for a comma at the line's end, other programs for row numbers"
		case !utf8.ValidString(name):
			continue // has been reported
		case strings.ContainsFunc(name, unicode.IsControl):
			e.Problem = "the column is not in the contract; its name has line ends or control characters and is not shown"
			e.Hint = `look for a quotation mark (") that is not closed; or remove the column`
		case looksLikeValue(name):
			e.Problem = "the column is not in the contract; its name looks like a value and is not shown"
		default:
			e.Problem = fmt.Sprintf("the column %q is not in the contract", shorten(name))
			if i := slices.IndexFunc(missing, func(want string) bool { return fold(name) != "" && fold(want) == fold(name) }); i >= 0 {
				e.Hint = fmt.Sprintf("rename it if it is the contract's %q", missing[i])
			}
		}
		p.add(e)
	}
}

// spelling looks for a missing name among the unknown ones, spelled otherwise.
func spelling(missing []string, header []Column, wanted map[string]int) string {
	for _, want := range missing {
		for _, column := range header {
			got := strings.TrimSpace(column.Name)
			if _, ok := wanted[got]; !ok && !strings.ContainsFunc(got, unicode.IsControl) && fold(got) != "" && fold(got) == fold(want) {
				return fmt.Sprintf("%s: the file has %q, the contract %q", hintSpelling, shorten(got), want)
			}
		}
	}
	return hintSpelling
}

// fold keeps of a name what remains the same under the usual respellings.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// shorten bounds a name that the file chose.
func shorten(name string) string {
	const most = 60
	if r := []rune(name); len(r) > most {
		return string(r[:most]) + "…"
	}
	return name
}
