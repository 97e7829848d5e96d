package dataset

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/mat"

	"concord/npy"
)

// openNPZ reads arrays X (n × m) and y (n) of numbers. Features are called x1
// to xm and the label y, whatever the options say.
func openNPZ(path string, opt Options) (*Data, error) {
	a, done, err := openArchive(path)
	if err != nil {
		return nil, err
	}
	defer done()
	return codeNPZ(a, filepath.Base(path), opt)
}

func codeNPZ(a *npy.Archive, name string, opt Options) (*Data, error) {
	f := &frame{file: name}
	if opt.Label != "" && opt.Label != "y" || opt.By != "" || len(opt.Drop) > 0 {
		return nil, f.errorf("an .npz file has the arrays X and y: the label is y, and no column can be dropped or grouped by")
	}
	names := a.Names()
	if !slices.Contains(names, "X") || !slices.Contains(names, "y") {
		return nil, f.errorf("the arrays must be X and y, there are %q", names[:min(len(names), 10)])
	}
	x, err := a.Matrix("X", npy.Limits{Cols: maxColumns, Bytes: opt.maxBytes()})
	if err != nil {
		return nil, f.errorf("%w", err)
	}
	var n, m int
	if !x.IsEmpty() {
		n, m = x.Dims()
	}
	y, err := a.Matrix("y", npy.Limits{Cols: 1, Bytes: opt.maxBytes()})
	if err != nil {
		return nil, f.errorf("%w", err)
	}
	rows := 0
	if !y.IsEmpty() {
		rows, _ = y.Dims()
	}
	switch {
	case rows != n:
		return nil, f.errorf("X has %d rows, y has %d", n, rows)
	case n < 2:
		return nil, f.errorf("the number of rows is %d, there must be at least 2", n)
	}
	label := newColumn("y", 1, maxClasses)
	f.n, f.columns = n, []*column{label}
	for i := range n {
		v := y.At(i, 0)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, f.errorf("y: row %d is not a finite number", i+1)
		}
		label.addNumber(v)
	}
	d := &Data{}
	if d.Y, err = f.target(label, opt.Task); err != nil {
		return nil, err
	}
	if d.Positive, err = f.positive(d.Y.Classes, label, opt.Positive); err != nil {
		return nil, err
	}
	keep, err := varying(x, f)
	if err != nil {
		return nil, err
	}
	if len(keep) == 0 {
		return nil, f.errorf("no column is left to learn from")
	}
	if len(keep) < m {
		d.Notes = append(d.Notes, fmt.Sprintf("Left out because they do not vary: %d of %d columns.", m-len(keep), m))
		kept := mat.NewDense(n, len(keep), nil)
		for i := range n {
			from, to := x.RawRowView(i), kept.RawRowView(i)
			for k, j := range keep {
				to[k] = from[j]
			}
		}
		x = kept
	}
	for _, j := range keep {
		d.Features = append(d.Features, fmt.Sprintf("x%d", j+1))
	}
	d.X = Dense(x)
	return d, nil
}

// varying lists the columns of x that tell rows apart. An infinite number is an
// error; NaN is missing.
func varying(x *mat.Dense, f *frame) (keep []int, err error) {
	n, m := x.Dims()
	first := make([]float64, m)
	varies, top := make([]bool, m), make([]float64, m)
	for j := range first {
		first[j] = math.NaN()
	}
	for i := range n {
		for j, v := range x.RawRowView(i) {
			switch {
			case math.IsInf(v, 0):
				return nil, f.errorf("X: row %d, column %d is infinite", i+1, j+1)
			case math.Abs(v) > tooLarge:
				return nil, f.errorf("X: row %d, column %d is beyond ±%g, too large to compute with", i+1, j+1, tooLarge)
			case math.IsNaN(v):
			case math.IsNaN(first[j]):
				first[j] = v
			case v != first[j]:
				varies[j] = true
			}
			if !math.IsNaN(v) {
				top[j] = max(top[j], math.Abs(v))
			}
		}
	}
	for j := range varies {
		if varies[j] {
			if top[j] < tooSmall {
				return nil, f.errorf("X: no number in column %d is larger than %g, too small to compute with: take another unit", j+1, tooSmall)
			}
			keep = append(keep, j)
		}
	}
	return keep, nil
}
