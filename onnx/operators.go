package onnx

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// An operator of the list: how its result's width follows from its arguments,
// and how it is computed. Semantics are those of operator set 13, restricted to
// what the comments say.
type operator struct {
	// least and most are the numbers of arguments.
	least, most int
	// label tells that the result is an int64 for each row.
	label bool
	// ints and floats are the attributes with the values they may have, of
	// which the first is written. Those in required have another default.
	ints     map[string][]int64
	floats   map[string]float32
	required []string
	// width returns the columns of the result and the multiplications a row.
	width func(args []value) (columns, work int, err error)
	// run computes the rows of the result; nil if label.
	run func(out *mat.Dense, args []operand)
}

// value is what is known of an argument before computing: either rows of a
// width, or a constant.
type value struct {
	name     string
	columns  int
	label    bool
	constant *constant
}

// operand is an argument while computing: N × w rows, or a constant as a
// matrix, with vectors and scalars as one row.
type operand struct {
	rows     *mat.Dense
	constant bool
}

var operators = map[string]operator{
	// Element by element; one argument may be a constant, of one number or of
	// one for each column.
	"Add": elementwise(func(a, b float64) float64 { return a + b }),
	"Sub": elementwise(func(a, b float64) float64 { return a - b }),
	"Mul": elementwise(func(a, b float64) float64 { return a * b }),
	"Div": elementwise(func(a, b float64) float64 { return a / b }),

	// Rows times a constant matrix.
	"MatMul": {least: 2, most: 2, width: product, run: func(out *mat.Dense, args []operand) {
		out.Mul(args[0].rows, args[1].rows)
	}},
	// The same plus a constant row: A B + C, without factors and transposes.
	"Gemm": {
		least: 2, most: 3,
		ints:   map[string][]int64{"transA": {0}, "transB": {0}},
		floats: map[string]float32{"alpha": 1, "beta": 1},
		width: func(args []value) (int, int, error) {
			columns, work, err := product(args[:2])
			if err == nil && len(args) == 3 {
				if args[2].constant == nil {
					return 0, 0, fmt.Errorf("argument 3 is computed, want a constant")
				}
				err = broadcasts(args[2].constant, columns)
			}
			return columns, work, err
		},
		run: func(out *mat.Dense, args []operand) {
			out.Mul(args[0].rows, args[1].rows)
			if len(args) == 3 {
				combine(out, operand{rows: out}, args[2], func(a, b float64) float64 { return a + b })
			}
		},
	},

	"Identity": unary(func(out, in []float64) { copy(out, in) }),
	"Sigmoid": unary(func(out, in []float64) {
		for j, v := range in {
			e := math.Exp(-math.Abs(v))
			if v >= 0 {
				out[j] = 1 / (1 + e)
			} else {
				out[j] = e / (1 + e)
			}
		}
	}),
	// Over the columns.
	"Softmax": withAxis(unary(func(out, in []float64) {
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
		least: 1, most: maxNodes, required: []string{"axis"},
		width: func(args []value) (columns, work int, err error) {
			for i, a := range args {
				if a.constant != nil {
					return 0, 0, fmt.Errorf("argument %d is a constant, want a computed value", i+1)
				}
				columns += a.columns // at most maxNodes·MaxWidth
			}
			return columns, 0, nil
		},
		run: func(out *mat.Dense, args []operand) {
			n, _ := out.Dims()
			for i := range n {
				row := out.RawRowView(i)
				for _, a := range args {
					row = row[copy(row, a.rows.RawRowView(i)):]
				}
			}
		},
	}, 1, -1),

	// The first largest column of each row.
	"ArgMax": withAxis(operator{
		least: 1, most: 1, label: true, required: []string{"axis", "keepdims"},
		ints: map[string][]int64{"keepdims": {0}, "select_last_index": {0}},
		width: func(args []value) (int, int, error) {
			if args[0].constant != nil {
				return 0, 0, fmt.Errorf("argument 1 is a constant, want a computed value")
			}
			return args[0].columns, 0, nil
		},
	}, 1, -1),
}

// operatorNames lists the operators for error texts.
func operatorNames() string {
	return strings.Join(slices.Sorted(maps.Keys(operators)), ", ")
}

func withAxis(op operator, axes ...int64) operator {
	ints := map[string][]int64{"axis": axes}
	maps.Copy(ints, op.ints)
	op.ints = ints
	return op
}

func unary(f func(out, in []float64)) operator {
	return operator{
		least: 1, most: 1,
		width: func(args []value) (int, int, error) {
			if args[0].constant != nil {
				return 0, 0, fmt.Errorf("argument 1 is a constant, want a computed value")
			}
			return args[0].columns, 0, nil
		},
		run: func(out *mat.Dense, args []operand) {
			n, _ := out.Dims()
			for i := range n {
				f(out.RawRowView(i), args[0].rows.RawRowView(i))
			}
		},
	}
}

func elementwise(f func(a, b float64) float64) operator {
	return operator{
		least: 2, most: 2,
		width: func(args []value) (int, int, error) {
			a, b := args[0], args[1]
			switch {
			case a.constant != nil && b.constant != nil:
				return 0, 0, fmt.Errorf("both arguments are constants")
			case a.constant != nil:
				return b.columns, b.columns, broadcasts(a.constant, b.columns)
			case b.constant != nil:
				return a.columns, a.columns, broadcasts(b.constant, a.columns)
			case a.columns != b.columns:
				return 0, 0, fmt.Errorf("arguments have %d and %d columns, want as many", a.columns, b.columns)
			}
			return a.columns, a.columns, nil
		},
		run: func(out *mat.Dense, args []operand) { combine(out, args[0], args[1], f) },
	}
}

// combine applies f element by element. A constant of one number serves all
// columns, and a constant serves all rows.
func combine(out *mat.Dense, a, b operand, f func(a, b float64) float64) {
	n, _ := out.Dims()
	line := func(o operand, i int) (row []float64, stride int) {
		if o.constant {
			i = 0
		}
		row = o.rows.RawRowView(i)
		if o.constant && len(row) == 1 {
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

// product is the width of rows times a constant matrix.
func product(args []value) (columns, work int, err error) {
	a, b := args[0], args[1]
	switch {
	case a.constant != nil:
		return 0, 0, fmt.Errorf("argument 1 is a constant, want a computed value")
	case b.constant == nil:
		return 0, 0, fmt.Errorf("argument 2 is computed, want a constant")
	case len(b.constant.dims) != 2:
		return 0, 0, fmt.Errorf("constant %q has %d dimensions, want 2", b.name, len(b.constant.dims))
	case b.constant.dims[0] != a.columns:
		return 0, 0, fmt.Errorf("constant %q has %d rows for %d columns", b.name, b.constant.dims[0], a.columns)
	}
	return b.constant.dims[1], len(b.constant.numbers()), nil
}
