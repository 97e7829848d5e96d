package dataset

import (
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"concord/npy"
)

// openNPZ reads arrays X (n × m) and y (n) of numbers, as scikit-learn's users save them:
// columns x1 to xm and y, which is the label whatever the options say.
func openNPZ(path string, opt Options) (*frame, error) {
	a, done, err := openArchive(path)
	if err != nil {
		return nil, err
	}
	defer done()
	f := &frame{file: filepath.Base(path), place: "row"}
	if opt.Label != "" && opt.Label != "y" || opt.By != "" || len(opt.Drop) > 0 {
		return nil, f.errorf("an .npz file has the arrays X and y: the label is y, and no column can be dropped or grouped by")
	}
	names := a.Names()
	if !slices.Contains(names, "X") || !slices.Contains(names, "y") {
		return nil, f.errorf("the arrays must be X and y, there are %q", names[:min(len(names), 10)])
	}
	for _, array := range []struct {
		name string
		cols int
	}{{"X", maxColumns}, {"y", 1}} {
		var x *mat.Dense
		if err := a.Read(array.name, func(r io.Reader) (err error) {
			x, err = npy.ReadMatrix(r, npy.Limits{Cols: array.cols, Bytes: opt.maxBytes()})
			return err
		}); err != nil {
			return nil, f.errorf("%w", err)
		}
		n, m := 0, 0
		if !x.IsEmpty() {
			n, m = x.Dims()
		}
		if array.name == "X" {
			f.n = n
		} else if n != f.n {
			return nil, f.errorf("X has %d rows, y has %d", f.n, n)
		}
		for j := range m {
			c := newColumn("x"+strconv.Itoa(j+1), j+1, 0)
			if array.name == "y" {
				c = newColumn("y", len(f.columns)+1, 0)
			}
			c.many = true // numbers need no codes
			for i := range n {
				v := x.At(i, j)
				if math.IsInf(v, 0) {
					return nil, f.cellError(i+1, c, "the number is infinite")
				}
				c.addNumber(v, i+1)
			}
			f.columns = append(f.columns, c)
		}
	}
	return f, nil
}
