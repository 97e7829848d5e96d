package profile

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"concord/contract"
	"concord/table"
)

// largest is the largest value that a prepared feature may have, as in package party:
// sums of its squares and their squares stay far from the end of float64.
const largest = 1e60

// judge adds what the figures say: problems first of rows, label and subject, then of
// the features in their order.
func (r *Report) judge(c, kept *contract.Contract, collector *Collector, opt Options) {
	var notes []*table.CellError
	if collector.summary != nil {
		notes = collector.summary.Problems
	}
	for _, e := range notes {
		if e.Name == "" {
			r.rowProblem(fromCell(e, false))
		}
	}
	if n := r.BadRows - told(r.Problems, "row"); n > 0 {
		r.Problem(Finding{Kind: "row", Text: fmt.Sprintf("%s more cannot be divided into the header's columns", rows(int64(n))), Count: int64(n)})
	}
	r.judgeLabel(c, collector, notes)
	if collector.noPerson > 0 {
		r.Problem(Finding{Kind: "subject", Feature: c.Subject, Count: int64(collector.noPerson),
			Text: fmt.Sprintf("%s not say whose row it is", do(int64(collector.noPerson), "row")), Cure: "fill the column in for every row"})
	}
	sizes := newSizes(c, opt.Preparation)
	at := 0
	for j, f := range c.Features {
		if at < len(kept.Features) && kept.Features[at].Name == f.Name {
			of := &collector.features[at]
			r.judgeFeature(f, of, &r.Features[j], notes, opt.Pooled != nil)
			sizes.judge(r, f, j, of)
			r.compare(f, of, j, opt.Pooled)
			at++
		}
	}
	if p := r.People; p != nil && p.Several > 0 {
		r.Remark(Finding{Kind: "subject", Feature: c.Subject, Count: int64(p.Several),
			Text: fmt.Sprintf("%s more than one row, at most %d; floors count people", have(int64(p.Several), "person", "people"), p.Most)})
	}
	if r.Equal > 0 && r.Complete {
		about := ""
		if r.EqualAbout {
			about = "about "
		}
		r.Remark(Finding{Kind: "equal", Count: r.Equal, Text: fmt.Sprintf("%s%s equal to an earlier one in all features and the label: were rows copied?", about, are(r.Equal, "row"))})
	}
}

func (r *Report) judgeLabel(c *contract.Contract, collector *Collector, notes []*table.CellError) {
	l := &collector.label
	name := c.Label.Name
	problem := func(fault table.Fault, text, cure string) {
		if n := l.faults[fault]; n > 0 {
			r.Problem(Finding{Kind: "label", Feature: name, Count: n, Lines: l.lines[fault], Text: text, Cure: cure})
		}
	}
	problem(table.Missing, fmt.Sprintf("%s no label", have(l.faults[table.Missing], "row", "rows")), "fill it in, or leave the rows out")
	problem(table.UnknownLevel, fmt.Sprintf("%s none of the contract's classes: %s", have(l.faults[table.UnknownLevel], "row", "rows"), list(c.Label.Levels)),
		"classes must be spelled as in the contract, capitals included")
	text, cure := explained(notes, name, l.lines[table.Malformed], "the label is not a number")
	problem(table.Malformed, fmt.Sprintf("%s a label that cannot be read: %s", have(l.faults[table.Malformed], "row", "rows"), text), cure)
	if l.levels == nil && l.moments.N() > 1 && l.moments.Constant() {
		r.Problem(Finding{Kind: "label", Feature: name, Text: "the label has the same value in all rows", Cure: "with one value there is nothing to learn: bring rows in which it differs"})
	}
}

func (r *Report) judgeFeature(f contract.Feature, of *collected, out *FeatureReport, notes []*table.CellError, pooled bool) {
	problem := func(kind string, fault table.Fault, text, cure string) {
		if n := of.faults[fault]; n > 0 {
			r.Problem(Finding{Kind: kind, Feature: f.Name, Count: n, Lines: of.lines[fault], Text: text, Cure: cure})
		}
	}
	n := of.faults[table.Malformed]
	text, cure := explained(notes, f.Name, of.lines[table.Malformed], "not of type "+f.Type)
	problem("malformed", table.Malformed, fmt.Sprintf("%s cannot be read: %s", cells(n), text), cure)
	problem("level", table.UnknownLevel, fmt.Sprintf("%s none of the contract's levels: %s", have(of.faults[table.UnknownLevel], "cell", "cells"), list(f.Spellings())),
		"spell them as in the contract, capitals included; if a level is missing there, ask the analyst for a contract that has it")
	problem("missing", table.Missing, fmt.Sprintf("%s missing, and the contract wants a value", are(of.faults[table.Missing], "cell")),
		"fill them in or leave the rows out, or agree on a rule for missing values in the contract")
	suspicion := AgainstRange(f, &of.moments, of.faults[table.Outside])
	if n := of.faults[table.Outside]; n > 0 {
		cure := "correct them or leave the rows out; if they are right, the contract's range is too narrow"
		text := fmt.Sprintf("%s outside the contract's range, %s to %s", lie(n, "value"), spell(f.Range.Min), spell(f.Range.Max))
		if u := f.UnitText(); u != "" {
			text += " " + u
		}
		finding := Finding{Kind: "outside", Feature: f.Name, Count: n, Lines: of.lines[table.Outside]}
		if suspicion != nil {
			text += "; nearly all would lie inside if the column is in another unit: " + named(suspicion.Conversions)
			cure = "look at the unit in which the column is written, and convert it to the contract's"
			finding.Factor, finding.Offset = suspicion.Conversions[0].Factor, suspicion.Conversions[0].Offset
		}
		finding.Text, finding.Cure = text, cure
		r.Problem(finding)
	} else if suspicion != nil && !pooled { // the others tell more than the range
		c := suspicion.Conversions[0]
		r.Remark(Finding{Kind: "unit", Feature: f.Name, Factor: c.Factor, Offset: c.Offset,
			Text: fmt.Sprintf("all values lie within %s of the contract's range: is the column in another unit? (%s)", spell(c.Factor), c.Name)})
	}
	// What concord prepare refuses is a number that is the same in every row, no gap among them.
	switch {
	case out.Constant && r.Rows > 1 && out.Missing == 0 && f.Spellings() == nil:
		r.Problem(Finding{Kind: "constant", Feature: f.Name, Text: fmt.Sprintf("the feature has the same value in all %s", rows(out.Count)),
			Cure: "a feature that does not vary at a site says nothing there: bring rows in which it does, or ask the analyst for a contract without it"})
	case out.Constant && r.Rows > 1:
		r.Remark(Finding{Kind: "constant", Feature: f.Name, Text: fmt.Sprintf("all of %s that have a value have the same", rows(out.Count))})
	case out.Count == 0 && r.Rows > 0 && of.faults[table.Missing] == 0:
		r.Remark(Finding{Kind: "constant", Feature: f.Name, Count: out.Missing, Text: "the feature has no value in any row: what fills gaps stands in all of them"})
	case 2*out.Missing >= int64(r.Rows) && of.faults[table.Missing] == 0 && r.Rows > 0:
		r.Remark(Finding{Kind: "missing", Feature: f.Name, Count: out.Missing, Text: fmt.Sprintf("%s of %d are missing", cells(out.Missing), r.Rows)})
	}
}

// sizes knows what a feature's values become before anything is computed with them.
type sizes struct {
	prep *contract.Preparation
	at   []int // the first column of each feature
}

func newSizes(c *contract.Contract, prep *contract.Preparation) sizes {
	if prep == nil {
		prep, _ = c.Preparation(nil) // nil where pooled figures are still to come
	}
	s := sizes{prep: prep}
	column := 0
	for _, f := range c.Features {
		s.at = append(s.at, column)
		column += f.Columns()
	}
	return s
}

// judge says whether a feature has values with which nothing can be computed.
func (s sizes) judge(r *Report, f contract.Feature, j int, of *collected) {
	if s.prep == nil || of.levels != nil || of.moments.N() == 0 {
		return
	}
	centre, scale := s.prep.Centre[s.at[j]], s.prep.Scale[s.at[j]]
	most := max(math.Abs((of.moments.Min()-centre)/scale), math.Abs((of.moments.Max()-centre)/scale))
	if most > largest || most > 0 && most < 1/largest {
		r.Problem(Finding{Kind: "size", Feature: f.Name, Text: fmt.Sprintf("the feature has values beyond %g or all below %g, with which nothing can be computed", largest, 1/largest),
			Cure: "give the column in other units, or ask the analyst for a contract with its range"})
	}
}

// compare holds a feature against the other sites'.
func (r *Report) compare(f contract.Feature, of *collected, j int, pooled []contract.FeatureFigures) {
	if pooled == nil {
		return
	}
	if of.levels != nil {
		r.compareLevels(f, of, pooled[j])
		return
	}
	own := of.side()
	rest, ok := pooledSide(pooled[j]).Without(own)
	if !ok {
		return
	}
	r.Features[j].Rest = &RestReport{Count: rest.N, Mean: rest.Mean, Deviation: math.Sqrt(rest.Variance)}
	s := AgainstRest(f, own, rest)
	if s == nil {
		return
	}
	figures := fmt.Sprintf("mean %.4g and deviation %.4g here, %.4g and %.4g at the other sites together", own.Mean, math.Sqrt(own.Variance), rest.Mean, math.Sqrt(rest.Variance))
	if u := f.UnitText(); u != "" {
		figures += " (" + u + " in the contract)"
	}
	if s.Conversions == nil {
		r.Remark(Finding{Kind: "differs", Feature: f.Name, Evidence: s.Evidence, Text: figures + ": far more than sites usually differ, and no usual change of units explains it",
			Cure: "look at the column; who is wrong, here or elsewhere, the figures do not say"})
		return
	}
	c := s.Conversions[0]
	r.Remark(Finding{Kind: "unit", Feature: f.Name, Evidence: s.Evidence, Factor: c.Factor, Offset: c.Offset,
		Text: fmt.Sprintf("%s: as if one side were in another unit, %s", figures, named(s.Conversions)),
		Cure: "look at the unit of the column here; if it is the contract's, tell the others: their rows may be in another"})
}

// explained is what the reader said of the first cell with a fault, if it was among
// those that it described.
func explained(notes []*table.CellError, name string, lines []int, otherwise string) (text, cure string) {
	for _, e := range notes {
		if e.Name == name && len(lines) > 0 && (e.Line == lines[0] || e.Row == lines[0]) {
			return e.Problem, e.Hint
		}
	}
	return otherwise, ""
}

func named(list []Conversion) string {
	var names []string
	for _, c := range list {
		names = append(names, c.Name)
	}
	return strings.Join(names, ", or ")
}

// rowProblem adds a problem of one line, to the same problem of earlier lines if there is
// one.
func (r *Report) rowProblem(f Finding) {
	if f.Kind != "row" || len(f.Lines) != 1 {
		r.Problem(f)
		return
	}
	for i := range r.Problems {
		if g := &r.Problems[i]; g.Kind == f.Kind && g.Text == f.Text && g.Cure == f.Cure && len(g.Lines) > 0 {
			if g.Count++; len(g.Lines) < mostRowLines {
				g.Lines = append(g.Lines, f.Lines[0])
			}
			return
		}
	}
	f.Count = 1
	r.Problem(f)
}

// mostRowLines is how many lines of the same problem are told.
const mostRowLines = 5

// told is how many rows findings of a kind are about.
func told(list []Finding, kind string) int {
	n := 0
	for _, f := range list {
		if f.Kind == kind {
			n += int(max(1, f.Count))
		}
	}
	return n
}

// list names some levels.
func list(names []string) string {
	const most = 12
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

func spell(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// The following say "1 row is", "2 rows are" and so on.

func counted(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func rows(n int64) string                   { return counted(n, "row", "rows") }
func cells(n int64) string                  { return counted(n, "cell", "cells") }
func are(n int64, noun string) string       { return counted(n, noun+" is", noun+"s are") }
func do(n int64, noun string) string        { return counted(n, noun+" does", noun+"s do") }
func lie(n int64, noun string) string       { return counted(n, noun+" lies", noun+"s lie") }
func have(n int64, one, many string) string { return counted(n, one+" has", many+" have") }
