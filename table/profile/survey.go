package profile

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"concord/contract"
	"concord/table"
)

// Options say how a file is surveyed. The zero value reads training rows and knows no
// other site.
type Options struct {
	// Table says how the file is read; Survey in it is set here.
	Table table.Options
	// Pooled are the figures of all sites together, this one's file included, one for each
	// feature of the contract; nil where there are none.
	Pooled []contract.FeatureFigures
	// Preparation is what becomes of rows, where pooled figures decide it; nil for that of
	// the contract alone.
	Preparation *contract.Preparation
	// Visit sees each row after it was counted; nil for nobody.
	Visit func(*table.Row)
}

// Survey reads a file, or a database, in one pass and reports all that is wrong with it
// and all figures that can be had in spite of that: where columns are missing, those of
// the others, at the price of a second opening; where reading ends early, those of the
// rows before.
//
// An error is returned only where nothing could be read and the file's content is not
// why: it is not there, or may not be opened. Memory is bounded (see [table.Scan]; and
// up to 100 MB for eight million different rows).
func Survey(path string, c *contract.Contract, opt Options) (*Report, error) {
	r := &Report{Format: ReportFormat, Stays: stays, Study: c.Name, File: table.PublicName(path), Fits: true, Problems: []Finding{}, Remarks: []Finding{}, Complete: true}
	to := opt.Table
	to.Survey = true
	collector, sum, problems, err := scan(path, c, to, opt.Visit)
	if err != nil {
		return nil, err
	}
	kept := c
	if problems != nil {
		r.Complete = false
		header := collector.rows == 0 && ofHeader(problems)
		for _, e := range problems.Problems {
			if header || e.Name == "" { // others are of cells, and counted
				r.Problem(fromCell(e, header))
			}
		}
		if header {
			names := columnNames(path, opt.Table)
			kept = without(c, names, problems)
			if !slices.Contains(names, c.Subject) {
				kept.Subject = ""
			}
			collector = NewCollector(kept)
			if len(kept.Features) > 0 {
				to.AllowExtra = true
				if slices.ContainsFunc(problems.Problems, func(e *table.CellError) bool {
					return strings.Contains(e.Problem, c.Label.Name) || e.Name == c.Label.Name
				}) {
					to.Label = table.Ignored
				}
				if again, s, more, err := scan(path, kept, to, nil); err == nil && more == nil {
					collector, sum = again, s
				}
			}
		}
	}
	r.take(c, kept, collector, sum)
	r.judge(c, kept, collector, opt)
	if !strings.HasPrefix(r.Source, "CSV") {
		for _, list := range [][]Finding{r.Problems, r.Remarks} {
			for i := range list {
				list[i].Rows = len(list[i].Lines) > 0
			}
		}
	}
	return r, nil
}

// scan counts the rows of a file. Problems with its content are no error.
func scan(path string, c *contract.Contract, to table.Options, visit func(*table.Row)) (*Collector, *table.Summary, *table.Errors, error) {
	collector := NewCollector(c)
	sum, err := table.Scan(path, c, to, func(row *table.Row) error {
		if visit != nil {
			visit(row)
		}
		return collector.Add(row)
	})
	var problems *table.Errors
	if err != nil && !errors.As(err, &problems) {
		return nil, nil, nil, err
	}
	return collector, sum, problems, nil
}

// columnNames are those of a file, nil if they cannot be read.
func columnNames(path string, opt table.Options) []string {
	src, err := table.OpenSource(path, opt)
	if err != nil {
		return nil
	}
	defer src.Close()
	var names []string
	for _, column := range src.Columns() {
		names = append(names, strings.TrimSpace(column.Name))
	}
	return names
}

// ofHeader reports whether problems are of a header or of the whole file.
func ofHeader(problems *table.Errors) bool {
	return !slices.ContainsFunc(problems.Problems, func(e *table.CellError) bool { return e.Line > 1 || e.Row > 0 })
}

// without is the contract with the features that a header has and that no problem names.
func without(c *contract.Contract, names []string, problems *table.Errors) *contract.Contract {
	kept := *c
	kept.Features = nil
	for _, f := range c.Features {
		bad := slices.ContainsFunc(problems.Problems, func(e *table.CellError) bool { return e.Name == f.Name })
		if slices.Contains(names, f.Name) && !bad {
			kept.Features = append(kept.Features, f)
		}
	}
	return &kept
}

// take fills in the figures. kept has the features that were read, among those of c.
func (r *Report) take(c, kept *contract.Contract, collector *Collector, sum *table.Summary) {
	columns := make([]int, len(kept.Features))
	collector.summary = sum
	if sum != nil {
		r.Source, r.BadRows = sum.Format, sum.BadRows
		copy(columns, sum.Columns)
	} else if collector.rows > 0 {
		for j := range columns {
			columns[j] = j + 1 // somewhere
		}
	}
	collector.fill(r, columns)
	if len(kept.Features) == len(c.Features) {
		return
	}
	all := make([]FeatureReport, len(c.Features))
	for j, f := range c.Features {
		all[j] = FeatureReport{Name: f.Name, Type: f.Type, Unit: f.UnitText(), Rule: f.Missing}
		if i := slices.IndexFunc(r.Features, func(g FeatureReport) bool { return g.Name == f.Name }); i >= 0 {
			all[j] = r.Features[i]
		}
	}
	r.Features = all
}

// fromCell is a finding of what the table's reader reports.
func fromCell(e *table.CellError, header bool) Finding {
	f := Finding{Kind: "row", Text: e.Problem, Cure: e.Hint}
	switch {
	case header && (e.Line == 1 || e.Column > 0):
		f.Kind = "header"
		f.Feature = e.Name
		if e.Column > 0 {
			f.Text = fmt.Sprintf("column %d: %s", e.Column, e.Problem)
		}
	case e.Line == 0 && e.Row == 0:
		f.Kind = "file"
		if verb, _, _ := strings.Cut(e.Problem, " "); slices.Contains([]string{"is", "has", "cannot", "holds"}, verb) {
			what := "the file "
			if table.IsDatabase(e.File) {
				what = "the database "
			}
			f.Text = what + e.Problem
		}
	default:
		f.Lines = []int{max(e.Line, e.Row)}
	}
	return f
}
