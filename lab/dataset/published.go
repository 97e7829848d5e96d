package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"concord/learn"
)

// Info describes a published set.
type Info struct {
	// Name is what Load and Fetch take.
	Name string
	// Files are in the data folder; none for a set that is simulated.
	Files []File
	// Rows and Cols are n and m after coding. Rows is 0 where the number is not
	// known for certain.
	Rows, Cols int
	// Source says where the data come from, Licence under which terms.
	Source, Licence string
	// StandIn says what the data stand in for and why; "" for the data
	// themselves.
	StandIn string
}

// File is one of a set's files.
type File struct {
	// Path is below the data folder, with slashes.
	Path string
	// SHA256 is the hexadecimal hash of the content, unpacked where the name
	// ends in .gz; "" where no copy was at hand to compute it from.
	SHA256 string
	// Size is the content's number of bytes; 0 where SHA256 is "".
	Size int64
	// URLs are homes of a file with this content, in the order in which they
	// are tried.
	URLs []string
}

// published is a set and how it is read from its folder.
type published struct {
	Info
	load func(dir string) (*Data, error)
}

// Published lists the sets that [Load] knows, in the order of their names.
func Published() []Info {
	list := make([]Info, len(sets))
	for i, s := range sets {
		list[i] = s.Info
	}
	slices.SortFunc(list, func(a, b Info) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func find(name string) (published, error) {
	var names []string
	for _, s := range sets {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	slices.Sort(names)
	return published{}, fmt.Errorf("dataset: no set is called %q, there are %s", name, strings.Join(names, " "))
}

// Load reads a published set from the data folder dir, coded as the
// experiments have it. A simulated set does not look at dir.
//
// Errors: a name that is not known; a file that is absent (it matches
// fs.ErrNotExist and says where the file comes from), malformed, or not of the
// size that it must have.
func Load(dir, name string) (*Data, error) {
	set, err := find(name)
	if err != nil {
		return nil, err
	}
	for _, file := range set.Files {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(file.Path))); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("dataset: %s: %s is not in %s: %s: %w", name, file.Path, dir, set.whence(file), fs.ErrNotExist)
		}
	}
	d, err := set.load(dir)
	if err != nil {
		return nil, err
	}
	d.Name, d.StandIn = name, set.StandIn
	d.check()
	n, m := d.X.Dims()
	if set.Rows > 0 && n != set.Rows || m != set.Cols {
		return nil, fmt.Errorf("dataset: %s: %d rows and %d features, must have %d and %d", name, n, m, set.Rows, set.Cols)
	}
	return d, nil
}

// whence says how a file is come by.
func (set published) whence(file File) string {
	what := "it comes from " + set.Source
	if len(file.URLs) > 0 {
		what += ", home " + file.URLs[0]
	}
	if file.SHA256 != "" {
		what += ", and its content has SHA-256 " + file.SHA256
	}
	return what
}

// tableOf reads one of the folder's CSV files.
func tableOf(dir, path string) (*frame, error) {
	return readFrame(filepath.Join(dir, filepath.FromSlash(path)), Options{}, func(string) int { return math.MaxInt32 })
}

// coding turns columns of a frame into features.
type coding struct {
	*frame
	names []string
	cols  [][]float64
	err   error // the first
}

func (c *coding) want(name string) *column {
	col := c.frame.column(name)
	if col == nil && c.err == nil {
		c.err = c.errorf("there is no column %q", name)
	}
	return col
}

// numbers takes columns as they are.
func (c *coding) numbers(names ...string) {
	for _, name := range names {
		col := c.want(name)
		if col == nil {
			return
		}
		if col.firstText > 0 && c.err == nil {
			c.err = c.cellError(col.firstText, col, "must be a number")
			return
		}
		c.names = append(c.names, name)
		c.cols = append(c.cols, slices.Clone(col.numbers))
	}
}

// levels takes categories: a column of 0 and 1 for every level from skip on. A
// missing cell is 0 in all of them.
func (c *coding) levels(skip int, names ...string) {
	for _, name := range names {
		col := c.want(name)
		if col == nil {
			return
		}
		levels, of, err := col.levels(math.MaxInt)
		if err != nil {
			panic(err) // no table has more
		}
		for k := skip; k < len(levels); k++ {
			c.names = append(c.names, name+"="+levels[k])
			c.cols = append(c.cols, indicator(of, k))
		}
	}
}

func indicator(of []int, level int) []float64 {
	x := make([]float64, len(of))
	for i, k := range of {
		if k == level {
			x[i] = 1
		}
	}
	return x
}

// others are the columns that are not named, in the file's order.
func (f *frame) others(not ...string) []string {
	var names []string
	for _, c := range f.columns {
		if !slices.Contains(not, c.name) {
			names = append(names, c.name)
		}
	}
	return names
}

// x is the n × m matrix of the features so far, of the rows that are named; nil
// means all.
func (c *coding) x(rows []int) *mat.Dense {
	if rows == nil {
		rows = upTo(c.n)
	}
	if len(rows) == 0 || len(c.cols) == 0 {
		return nil
	}
	x := mat.NewDense(len(rows), len(c.cols), nil)
	for j, col := range c.cols {
		for i, r := range rows {
			x.Set(i, j, col[r])
		}
	}
	return x
}

// data has the features of the rows that are named (nil means all) and classes.
func (c *coding) data(rows []int, y learn.Target, positive int, notes ...string) (*Data, error) {
	if c.err != nil {
		return nil, c.err
	}
	x := c.x(rows)
	if x == nil {
		return nil, c.errorf("there are no rows")
	}
	return &Data{Features: c.names, X: Dense(x), Y: y, Positive: positive, Notes: notes}, nil
}

// label reads a column of classes without missing cells.
func (c *coding) label(name string) learn.Target {
	col := c.want(name)
	if col == nil {
		return learn.Target{}
	}
	if col.firstMissing > 0 && c.err == nil {
		c.err = c.cellError(col.firstMissing, col, "the label is missing")
	}
	classes, of, err := col.levels(math.MaxInt)
	if err != nil {
		panic(err) // no table has more
	}
	return learn.Target{Classes: classes, Labels: of}
}

// binary has the classes 0 and 1.
func binary(is []bool) learn.Target {
	y := learn.Target{Classes: []string{"0", "1"}, Labels: make([]int, len(is))}
	for i, b := range is {
		if b {
			y.Labels[i] = 1
		}
	}
	return y
}

func upTo(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// imputed puts fill(the numbers that are there) where a number is missing.
func imputed(col []float64, fill func([]float64) float64) {
	there := slices.DeleteFunc(slices.Clone(col), math.IsNaN)
	if len(there) == 0 {
		return
	}
	v := fill(there)
	for i := range col {
		if math.IsNaN(col[i]) {
			col[i] = v
		}
	}
}

func mean(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		s += x
	}
	return s / float64(len(v))
}

// median sorts v.
func median(v []float64) float64 {
	slices.Sort(v)
	k := len(v) / 2
	if len(v)%2 == 1 {
		return v[k]
	}
	return (v[k-1] + v[k]) / 2
}
