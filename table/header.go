package table

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"concord/study"
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

// checkFirstLine recognises text with other separators or line ends than are
// read, before it is taken for one wide column or a header with rows in it.
func checkFirstLine(first string, c *study.Contract) *CellError {
	if strings.Contains(first, "\r") {
		return &CellError{Line: 1, Problem: "the lines end with carriage returns only", Hint: "save the file with line feeds (Unix) or both (Windows)"}
	}
	name := strings.Trim(strings.TrimSpace(first), `"`)
	known := name == c.Label.Name || c.Subject != "" && name == c.Subject
	for _, f := range c.Features {
		known = known || name == f.Name
	}
	if known || strings.Contains(first, ",") {
		return nil
	}
	for _, d := range []struct{ mark, name string }{{";", "semicolons"}, {"\t", "tabs"}, {"|", "vertical bars"}} {
		if n := strings.Count(first, d.mark); n > 0 {
			return &CellError{
				Line:    1,
				Problem: fmt.Sprintf("the header has %d %s and no comma; this version reads columns separated by commas", n, d.name),
				Hint:    "save the file with commas between columns and points in numbers",
			}
		}
	}
	return nil
}

// columns is how many columns the contract names: features, label, subject.
func columns(c *study.Contract) int {
	if c.Subject != "" {
		return c.M() + 2
	}
	return c.M() + 1
}

// readHeader finds the contract's columns among the header's fields and adds
// what is wrong to p.
func readHeader(header []string, c *study.Contract, opt Options, p *problems) layout {
	wanted := make(map[string]int, c.M()+2) // the label is wanted[name] = m, the subject m + 1
	for j, f := range c.Features {
		wanted[f.Name] = j
	}
	wanted[c.Label.Name] = c.M()
	names := append(c.FeatureNames(), c.Label.Name)
	if c.Subject != "" {
		wanted[c.Subject] = c.M() + 1
		names = append(names, c.Subject)
	}

	for i, field := range header {
		if !utf8.ValidString(field) {
			p.add(CellError{Line: 1, Column: i + 1, Problem: "the name is not valid UTF-8", Hint: hintUTF8})
		}
	}
	found := make([]int, c.M()+2) // fields from 1, 0 is none
	known := 0
	for i, field := range header {
		j, ok := wanted[strings.TrimSpace(field)]
		if !ok {
			continue
		}
		if found[j] > 0 {
			p.add(CellError{Line: 1, Column: i + 1, Name: strings.TrimSpace(field),
				Problem: fmt.Sprintf("the name stands in the header twice, first in column %d", found[j]),
				Hint:    "keep one of the two columns"})
			continue
		}
		found[j] = i + 1
		known++
	}
	if known == 0 {
		p.add(noneKnown(header, c))
		return layout{}
	}
	var missing []string
	for j, name := range names {
		if found[j] == 0 && (j < c.M() || opt.Label == Required) {
			missing = append(missing, name)
		}
	}
	switch {
	case len(missing) == 1:
		p.add(CellError{Line: 1, Problem: "a column is missing: " + missing[0], Hint: spelling(missing, header, wanted)})
	case len(missing) > 1:
		p.add(CellError{Line: 1, Problem: fmt.Sprintf("%d columns are missing: %s", len(missing), listNames(missing)), Hint: spelling(missing, header, wanted)})
	}
	if !opt.AllowExtra {
		extraColumns(header, wanted, p)
	}
	at := layout{width: len(header), features: make([]int, c.M()), label: -1, subject: -1}
	for j := range c.M() {
		at.features[j] = found[j] - 1
	}
	if opt.Label != Ignored {
		at.label = found[c.M()] - 1
	}
	if opt.Label == Required {
		at.subject = found[c.M()+1] - 1
	}
	return at
}

// noneKnown describes a first line with none of the contract's names. It may be
// a row, so nothing of it is shown.
func noneKnown(header []string, c *study.Contract) CellError {
	e := CellError{Line: 1, Problem: fmt.Sprintf("none of the contract's %d columns is in the header", columns(c)), Hint: hintHeader}
	values := 0
	for _, field := range header {
		if looksLikeValue(strings.TrimSpace(field)) {
			values++
		}
	}
	switch {
	case strings.HasPrefix(strings.ToLower(header[0]), "sep="):
		e.Problem, e.Hint = "the first line is not the header; it names the separator", "remove the first line"
	case values > 0:
		e.Problem = fmt.Sprintf("the header is missing: the first line has %s and none of the contract's names", count(values, "value"))
	}
	return e
}

// extraColumns adds a problem for each column that is not in the contract.
func extraColumns(header []string, wanted map[string]int, p *problems) {
	for i, field := range header {
		name := strings.TrimSpace(field)
		if _, ok := wanted[name]; ok {
			continue
		}
		e := CellError{Line: 1, Column: i + 1, Hint: hintExtra}
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
		}
		p.add(e)
	}
}

// spelling looks for a missing name among the unknown ones, spelled otherwise.
func spelling(missing, header []string, wanted map[string]int) string {
	for _, want := range missing {
		for _, field := range header {
			got := strings.TrimSpace(field)
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
