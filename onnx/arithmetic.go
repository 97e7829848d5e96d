package onnx

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// arithmetic are the operators from numbers to numbers, and ArgMax.
var arithmetic = map[string]operator{
	// Element by element; one argument may be a constant, of one number or of
	// one for each column, and a computed one may have a single column.
	"Add": elementwise(func(a, b float64) float64 { return a + b }),
	"Sub": elementwise(func(a, b float64) float64 { return a - b }),
	"Mul": elementwise(func(a, b float64) float64 { return a * b }),
	"Div": elementwise(func(a, b float64) float64 { return a / b }),

	// Rows times a constant matrix.
	"MatMul": {
		takes: []kind{aMatrix, aConstant}, least: 2, most: 2,
		infer: func(_ *node, args []value) ([]value, int, error) { return product(args) },
		run: func(_ *node, out []*mat.Dense, args []operand) {
			out[0].Mul(args[0].rows, args[1].rows)
		},
	},
	// The same plus a constant row: A B + C, without factors and transposes.
	"Gemm": {
		takes: []kind{aMatrix, aConstant, aConstant}, least: 2, most: 3,
		ints:   map[string][]int64{"transA": {0}, "transB": {0}},
		floats: map[string]float32{"alpha": 1, "beta": 1},
		infer: func(_ *node, args []value) ([]value, int, error) {
			results, work, err := product(args[:2])
			if err == nil && len(args) == 3 {
				err = broadcasts(args[2].constant, results[0].columns)
			}
			return results, work, err
		},
		run: func(_ *node, out []*mat.Dense, args []operand) {
			out[0].Mul(args[0].rows, args[1].rows)
			if len(args) == 3 {
				combine(out[0], operand{rows: out[0]}, args[2], func(a, b float64) float64 { return a + b })
			}
		},
	},

	"Identity": rowwise(func(out, in []float64) { copy(out, in) }),
	"Relu":     each(func(v float64) float64 { return max(0, v) }),
	"Exp":      each(math.Exp),
	"Abs":      each(math.Abs),
	"Cos":      each(math.Cos),
	// −1, 0 or 1.
	"Sign": each(func(v float64) float64 {
		switch {
		case v > 0:
			return 1
		case v < 0:
			return -1
		}
		return 0
	}),
	"Sigmoid": each(func(v float64) float64 {
		e := math.Exp(-math.Abs(v))
		if v >= 0 {
			return 1 / (1 + e)
		}
		return e / (1 + e)
	}),
	// Over the columns.
	"Softmax": withAxis(rowwise(func(out, in []float64) {
		top := slices.Max(in)
		var sum float64
		for j, v := range in {
			out[j] = math.Exp(v - top)
			sum += out[j]
		}
		for j := range out {
			out[j] /= sum
		}
	}), 1, -1),

	// Columns side by side.
	"Concat": withAxis(operator{
		takes: []kind{aMatrix}, least: 1, most: maxNodes, required: []string{"axis"},
		infer: func(_ *node, args []value) ([]value, int, error) {
			columns := 0
			for _, a := range args {
				columns += a.columns // at most maxNodes·MaxWidth
			}
			return one(aMatrix, columns), 0, nil
		},
		run: func(_ *node, out []*mat.Dense, args []operand) {
			n, _ := out[0].Dims()
			for i := range n {
				row := out[0].RawRowView(i)
				for _, a := range args {
					row = row[copy(row, a.rows.RawRowView(i)):]
				}
			}
		},
	}, 1, -1),

	// The first largest column of each row.
	"ArgMax": withAxis(operator{
		takes: []kind{aMatrix}, least: 1, most: 1, required: []string{"axis", "keepdims"},
		ints: map[string][]int64{"keepdims": {0}, "select_last_index": {0}},
		infer: func(_ *node, args []value) ([]value, int, error) {
			return one(aLabel, args[0].columns), 0, nil
		},
	}, 1, -1),
}

func rowwise(f func(out, in []float64)) operator {
	return operator{
		takes: []kind{aMatrix}, least: 1, most: 1,
		infer: func(_ *node, args []value) ([]value, int, error) {
			return one(aMatrix, args[0].columns), args[0].columns, nil
		},
		run: func(_ *node, out []*mat.Dense, args []operand) {
			n, _ := out[0].Dims()
			for i := range n {
				f(out[0].RawRowView(i), args[0].rows.RawRowView(i))
			}
		},
	}
}

func each(f func(v float64) float64) operator {
	return rowwise(func(out, in []float64) {
		for j, v := range in {
			out[j] = f(v)
		}
	})
}

func elementwise(f func(a, b float64) float64) operator {
	return operator{
		takes: []kind{aMatrix | aConstant}, least: 2, most: 2,
		infer: func(_ *node, args []value) ([]value, int, error) {
			columns, err := pairwise(args[0], args[1])
			return one(aMatrix, columns), columns, err
		},
		run: func(_ *node, out []*mat.Dense, args []operand) { combine(out[0], args[0], args[1], f) },
	}
}

// pairwise is the width of what is computed from a and b element by element.
func pairwise(a, b value) (columns int, err error) {
	switch {
	case a.constant != nil && b.constant != nil:
		return 0, fmt.Errorf("both arguments are constants")
	case a.constant != nil:
		return b.columns, broadcasts(a.constant, b.columns)
	case b.constant != nil:
		return a.columns, broadcasts(b.constant, a.columns)
	case a.columns != b.columns && a.columns != 1 && b.columns != 1:
		return 0, fmt.Errorf("arguments have %d and %d columns, want as many or one", a.columns, b.columns)
	}
	return max(a.columns, b.columns), nil
}

// combine applies f element by element. A single column serves all columns, and
// a constant all rows.
func combine(out *mat.Dense, a, b operand, f func(a, b float64) float64) {
	n, _ := out.Dims()
	line := func(o operand, i int) (row []float64, stride int) {
		if o.constant {
			i = 0
		}
		if row = o.rows.RawRowView(i); len(row) == 1 {
			return row, 0
		}
		return row, 1
	}
	for i := range n {
		ra, sa := line(a, i)
		rb, sb := line(b, i)
		row := out.RawRowView(i)
		for j := range row {
			row[j] = f(ra[j*sa], rb[j*sb])
		}
	}
}

// broadcasts wants c to be one number or one for each column.
func broadcasts(c *constant, columns int) error {
	if len(c.dims) == 2 && c.dims[0] != 1 {
		return fmt.Errorf("constant %q has %d rows, want one", c.name, c.dims[0])
	}
	if n := len(c.numbers()); n != 1 && n != columns {
		return fmt.Errorf("constant %q has %d numbers, want 1 or %d", c.name, n, columns)
	}
	return nil
}

// product is rows times a constant matrix.
func product(args []value) (results []value, work int, err error) {
	a, b := args[0], args[1]
	switch {
	case len(b.constant.dims) != 2:
		return nil, 0, fmt.Errorf("constant %q has %d dimensions, want 2", b.name, len(b.constant.dims))
	case b.constant.dims[0] != a.columns:
		return nil, 0, fmt.Errorf("constant %q has %d rows for %d columns", b.name, b.constant.dims[0], a.columns)
	}
	return one(aMatrix, b.constant.dims[1]), len(b.constant.numbers()), nil
}
