package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"concord/learn"
	"concord/table"
)

// Task says what is made of the label's column.
type Task int

const (
	// Auto makes classes of a label of texts, and of at most [AutoClasses]
	// different whole numbers; other numbers are learned as numbers.
	Auto Task = iota
	// Classes makes classes of every label.
	Classes
	// Regression learns the label's numbers; texts are an error.
	Regression
)

// AutoClasses is the most different whole numbers that count as classes unless
// told otherwise: digits and grades are below it, ages and counts above.
const AutoClasses = 20

// maxClasses bounds the classes of a label.
const maxClasses = 1000

// missingGroup is the group of rows whose cell in the column by is missing.
const missingGroup = "(missing)"

// Options say how a table is read. Only Label is required.
type Options struct {
	// Label is the column to be learned. "" means the one called label.
	Label string
	// Positive is the class to find, where there are two. "" means the second
	// in order.
	Positive string
	// Task is Auto by default.
	Task Task
	// By is a column whose levels become Data.Group; it is no feature. "" means
	// none.
	By string
	// Drop are columns that are not read.
	Drop []string
	// MaxLevels is the most levels of a category; 0 means 50.
	MaxLevels int
	// MaxBytes bounds the text (of CSV) and the decoded numbers; 0 means 4 GiB.
	MaxBytes int64
}

func (o Options) maxLevels() int {
	if o.MaxLevels <= 0 {
		return 50
	}
	return o.MaxLevels
}

func (o Options) maxBytes() int64 {
	if o.MaxBytes <= 0 {
		return defaultBytes
	}
	return o.MaxBytes
}

func (o Options) label() string {
	if o.Label == "" {
		return "label"
	}
	return o.Label
}

// most is how many different texts a column keeps.
func (o Options) most(name string) int {
	switch name {
	case o.label():
		return maxClasses
	case o.By:
		return math.MaxInt32
	}
	return o.maxLevels()
}

// Open reads a table that nobody prepared, of any format that [table.OpenSource] knows
// (CSV text, gzip-compressed or not, Parquet), or .npz with arrays X (n × m) and y (n).
//
// A column whose cells are all numbers is a feature. Any other is a category:
// its levels, sorted, become columns of 0 and 1, without the first. Empty cells,
// NA, N/A, NaN, null, ? and . are missing: NaN among numbers; a category with
// missing cells has a column for each of its levels, and a missing cell is 0 in
// all of them. Columns that do not vary are left out with a note.
//
// Errors name file, line and column, never what a cell holds.
func Open(path string, opt Options) (*Data, error) {
	var f *frame
	var err error
	if strings.EqualFold(filepath.Ext(path), ".npz") {
		opt.Label = cmp.Or(opt.Label, "y")
		f, err = openNPZ(path, opt)
	} else {
		f, err = readFrame(path, opt, opt.most)
	}
	if err != nil {
		return nil, err
	}
	d, err := f.code(opt)
	if err != nil {
		return nil, err
	}
	d.Name = filepath.Base(path)
	d.check()
	return d, nil
}

// code makes data of columns.
func (f *frame) code(opt Options) (*Data, error) {
	label, err := f.find(opt.label(), "label")
	if err != nil {
		return nil, err
	}
	not := append([]string{opt.label()}, opt.Drop...)
	for _, name := range opt.Drop {
		if _, err := f.find(name, "column to drop"); err != nil {
			return nil, err
		}
		if name == opt.label() || name == opt.By {
			return nil, f.errorf("column %q is to be dropped and used", name)
		}
	}
	if f.n < 2 {
		return nil, f.errorf("the number of rows is %d, there must be at least 2", f.n)
	}
	d := &Data{Positive: -1}
	if opt.By != "" {
		if err := f.group(d, opt.By); err != nil {
			return nil, err
		}
		not = append(not, opt.By)
	}
	if label.firstMissing > 0 {
		return nil, f.cellError(label.firstMissing, label, "the label is missing")
	}
	if d.Y, err = f.target(label, opt.Task); err != nil {
		return nil, err
	}
	if d.Positive, err = f.positive(d.Y.Classes, label, opt.Positive); err != nil {
		return nil, err
	}
	return d, f.features(d, f.others(not...), opt)
}

// find looks a column up by name.
func (f *frame) find(name, what string) (*column, error) {
	if c := f.column(name); c != nil {
		return c, nil
	}
	if first := f.unnamed(); first > 0 { // what it lists would be cells
		return nil, f.errorf("there is no column %q (the %s), and column %d has a number as its name: the first line must name the columns", name, what, first)
	}
	names := f.others()
	for i, n := range names {
		if quoted := strconv.Quote(n); quoted != `"`+n+`"` {
			names[i] = quoted
		}
	}
	if len(names) > 20 {
		names = append(names[:20], fmt.Sprintf("... %d in all", len(f.columns)))
	}
	return nil, f.errorf("there is no column %q (the %s), the columns are: %s", name, what, strings.Join(names, ", "))
}

// unnamed is the place of the first column whose name is a number, 0 if none has one:
// the first line may then be one of data.
func (f *frame) unnamed() int {
	for _, c := range f.columns {
		if _, ok := table.ParseNumber(c.name, false); ok {
			return c.at
		}
	}
	return 0
}

func (f *frame) group(d *Data, by string) error {
	c, err := f.find(by, "one that rows are grouped by")
	if err != nil {
		return err
	}
	names, of, err := c.levels(math.MaxInt)
	if err != nil {
		return f.errorf("%w", err) // the label, when it has very many levels
	}
	if c.firstMissing > 0 {
		for i, k := range of {
			if k < 0 {
				of[i] = len(names)
			}
		}
		names = append(names, missingGroup)
		d.Notes = append(d.Notes, fmt.Sprintf("Rows without %s are a group of their own.", by))
	}
	d.Groups, d.Group = names, of
	return nil
}

// target decides what is learned.
func (f *frame) target(c *column, task Task) (learn.Target, error) {
	if task == Auto {
		task = Classes
		if c.numeric() && !wholeClasses(c.numbers) {
			task = Regression
		}
	}
	if task == Regression {
		if c.firstText > 0 {
			return learn.Target{}, f.cellError(c.firstText, c, "the label must be a number to be learned as one")
		}
		if !differ(c.numbers) {
			return learn.Target{}, f.errorf("column %d (%q): the label is the same in all %d rows", c.at, c.name, f.n)
		}
		for i, v := range c.numbers {
			if math.Abs(v) > tooLarge {
				return learn.Target{}, f.errorf("column %d (%q): the label in row %d is beyond ±%g, too large to compute with: correct it, or take another unit", c.at, c.name, i+1, tooLarge)
			}
		}
		return learn.Target{Values: mat.NewDense(f.n, 1, slices.Clone(c.numbers))}, nil
	}
	classes, of, err := c.levels(maxClasses)
	if err != nil {
		return learn.Target{}, f.errorf("the label's %w: is it an identifier, or numbers with a text among them?", err)
	}
	if len(classes) < 2 {
		return learn.Target{}, f.errorf("column %d (%q): the label is the same in all %d rows", c.at, c.name, f.n)
	}
	if len(classes) > AutoClasses && len(classes) > f.n/2 {
		return learn.Target{}, f.errorf("column %d (%q): the label has %d classes in %d rows, fewer than two rows each: is it an identifier, or numbers with a text among them?", c.at, c.name, len(classes), f.n)
	}
	return learn.Target{Classes: classes, Labels: of}, nil
}

// wholeClasses tells whether v are at most AutoClasses different whole numbers.
func wholeClasses(v []float64) bool {
	seen := map[float64]bool{}
	for _, x := range v {
		if seen[x] = true; x != math.Trunc(x) || len(seen) > AutoClasses {
			return false
		}
	}
	return true
}

// positive is the index of the class to find.
func (f *frame) positive(classes []string, label *column, name string) (int, error) {
	if name == "" {
		if len(classes) == 2 {
			return 1, nil
		}
		return -1, nil
	}
	if classes == nil {
		return -1, f.errorf("column %d (%q): the label is learned as a number, which has no positive class", label.at, label.name)
	}
	if len(classes) != 2 {
		return -1, f.errorf("column %d (%q): the label has %d classes, a positive one is for two", label.at, label.name, len(classes))
	}
	if v, ok := table.ParseNumber(name, false); ok && label.numeric() {
		name = formatNumber(v)
	}
	if k := slices.Index(classes, name); k >= 0 {
		return k, nil
	}
	return -1, f.errorf("column %d (%q): the label has no class %q", label.at, label.name, name)
}

// features codes the named columns.
func (f *frame) features(d *Data, names []string, opt Options) error {
	c := &coding{frame: f}
	var refused []error
	var constant, categories, identifiers []string
	for _, name := range names {
		col := f.column(name)
		switch {
		case col.constant():
			constant = append(constant, name)
		case col.numeric():
			if err := f.scale(col); err != nil {
				refused = append(refused, err)
			}
			if identifies(col.numbers) {
				identifiers = append(identifiers, name)
			}
			c.names = append(c.names, name)
			c.cols = append(c.cols, col.numbers)
		default:
			levels, of, err := col.levels(opt.maxLevels())
			if err != nil {
				refused = append(refused, f.errorf("%w: leave it out with --drop %q, make it fewer levels, or, if it is one of numbers, correct that cell (1.5, not 1,5)", err, name))
				continue
			}
			skip := 1
			if col.firstMissing > 0 {
				skip = 0
			}
			for k := skip; k < len(levels); k++ {
				c.names = append(c.names, name+"="+levels[k])
				c.cols = append(c.cols, indicator(of, k))
			}
			categories = append(categories, name)
		}
		if int64(f.n)*int64(len(c.cols)) > opt.maxBytes()/8 {
			return f.errorf("the table is larger than %d bytes", opt.maxBytes())
		}
	}
	if refused != nil {
		return errors.Join(refused...)
	}
	if len(c.cols) == 0 {
		return f.errorf("no column is left to learn from")
	}
	if len(constant) > 0 {
		d.Notes = append(d.Notes, "Left out because they do not vary: "+strings.Join(constant, ", ")+".")
	}
	if len(identifiers) > 0 {
		d.Notes = append(d.Notes, "A different whole number in every row, to be left out with --drop where they are identifiers: "+strings.Join(identifiers, ", ")+".")
	}
	if len(categories) > 0 {
		d.Notes = append(d.Notes, "Categories, one-hot without the first level (with all levels where cells are missing): "+strings.Join(categories, ", ")+".")
	}
	d.Features, d.X = c.names, Dense(c.x(nil))
	return nil
}

// tooLarge and tooSmall bound numbers of which squares and their sums can be taken, as
// every deviation and distance does.
const tooLarge, tooSmall = 1e100, 1e-100

// scale refuses a column of numbers that are too large or too small to compute with.
func (f *frame) scale(c *column) error {
	var top float64
	for i, v := range c.numbers {
		if math.Abs(v) > tooLarge {
			return f.errorf("column %d (%q): the number in row %d is beyond ±%g, too large to compute with: correct it, or leave the column out with --drop %q", c.at, c.name, i+1, tooLarge, c.name)
		}
		if !math.IsNaN(v) {
			top = max(top, math.Abs(v))
		}
	}
	if top < tooSmall {
		return f.errorf("column %d (%q): no number is larger than %g, too small to compute with: take another unit, or leave the column out with --drop %q", c.at, c.name, tooSmall, c.name)
	}
	return nil
}

// identifies tells whether v are as many different whole numbers as there are rows, as
// those of an identifier are; few rows say nothing.
func identifies(v []float64) bool {
	const few = 50
	if len(v) < few || slices.ContainsFunc(v, func(x float64) bool { return x != math.Trunc(x) }) {
		return false
	}
	sorted := slices.Sorted(slices.Values(v))
	return len(slices.Compact(sorted)) == len(v)
}
