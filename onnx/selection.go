package onnx

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// selection are the operators that compare and choose. They stand in two
// patterns only: gaps of the input filled with constants,
//
//	Where(IsNaN(features), fill, features)
//
// and the rows of a constant that belong to the k smallest columns, added up,
//
//	ReduceSum(Gather(constant, TopK(columns, k)), 1)
var selection = map[string]operator{
	// Where a feature is not a number.
	"IsNaN": {
		takes: []kind{aMatrix}, least: 1, most: 1,
		infer: func(_ *node, args []value) ([]value, int, error) {
			if args[0].name != inputName {
				return nil, 0, fmt.Errorf("argument 1 is %q, want %q", args[0].name, inputName)
			}
			return one(aGap, args[0].columns), 0, nil
		},
		run: func(_ *node, out []*mat.Dense, args []operand) {
			combine(out[0], args[0], args[0], func(v, _ float64) float64 { return truth(math.IsNaN(v)) })
		},
	},
	// The constant where the input has a gap, else the input. NaN in the
	// constant leaves the gap.
	"Where": {
		takes: []kind{aGap, aConstant, aMatrix}, least: 3, most: 3,
		infer: func(_ *node, args []value) ([]value, int, error) {
			if args[2].name != inputName {
				return nil, 0, fmt.Errorf("argument 3 is %q, want %q", args[2].name, inputName)
			}
			return one(aMatrix, args[2].columns), 0, broadcasts(args[1].constant, args[2].columns)
		},
		run: func(_ *node, out []*mat.Dense, args []operand) {
			combine(out[0], args[2], args[1], func(v, fill float64) float64 {
				if math.IsNaN(v) {
					return fill
				}
				return v
			})
		},
	},

	// Which numbers equal those of a constant.
	"Equal": {
		takes: []kind{aMatrix, aConstant}, least: 2, most: 2,
		infer: func(_ *node, args []value) ([]value, int, error) {
			return one(aFlag, args[0].columns), 0, broadcasts(args[1].constant, args[0].columns)
		},
		run: func(_ *node, out []*mat.Dense, args []operand) {
			combine(out[0], args[0], args[1], func(a, b float64) float64 { return truth(a == b) })
		},
	},
	// Truth as 0 and 1.
	"Cast": {
		takes: []kind{aFlag}, least: 1, most: 1,
		ints: map[string][]int64{"to": {typeFloat}}, required: []string{"to"},
		infer: func(_ *node, args []value) ([]value, int, error) {
			return one(aMatrix, args[0].columns), 0, nil
		},
		run: func(_ *node, out []*mat.Dense, args []operand) { out[0].Copy(args[0].rows) },
	},

	// The k smallest numbers of each row, ascending, and their columns; of
	// equal numbers the lower column.
	"TopK": withAxis(operator{
		takes: []kind{aMatrix, aList}, least: 2, most: 2,
		ints: map[string][]int64{"largest": {0}, "sorted": {1}}, required: []string{"largest"},
		infer: func(_ *node, args []value) ([]value, int, error) {
			k, err := single(args[1].constant)
			if err != nil {
				return nil, 0, err
			}
			columns := args[0].columns
			if k < 1 || k > int64(columns) {
				return nil, 0, fmt.Errorf("k is %d, want 1 to %d", k, columns)
			}
			return []value{
				{kind: aMatrix, columns: int(k), spare: true},
				{kind: anIndex, columns: int(k), bound: columns},
			}, columns * int(k), nil
		},
		run: func(_ *node, out []*mat.Dense, args []operand) {
			n, _ := out[0].Dims()
			for i := range n {
				smallest(out[0].RawRowView(i), out[1].RawRowView(i), args[0].rows.RawRowView(i))
			}
		},
	}, -1, 1),
	// A row of a constant matrix for each index.
	"Gather": withAxis(operator{
		takes: []kind{aConstant, anIndex}, least: 2, most: 2,
		infer: func(_ *node, args []value) ([]value, int, error) {
			c := args[0].constant
			switch {
			case len(c.dims) != 2:
				return nil, 0, fmt.Errorf("constant %q has %d dimensions, want 2", c.name, len(c.dims))
			case args[1].bound > c.dims[0]:
				return nil, 0, fmt.Errorf("constant %q has %d rows for indices below %d", c.name, c.dims[0], args[1].bound)
			}
			return []value{{kind: aStack, layers: args[1].columns, columns: c.dims[1]}}, args[1].columns * c.dims[1], nil
		},
		run: func(_ *node, out []*mat.Dense, args []operand) {
			n, _ := out[0].Dims()
			for i := range n {
				row := out[0].RawRowView(i)
				for _, at := range args[1].rows.RawRowView(i) {
					row = row[copy(row, args[0].rows.RawRowView(int(at))):]
				}
			}
		},
	}, 0),
	// The sum over the layers of a stack.
	"ReduceSum": {
		takes: []kind{aStack, aList}, least: 2, most: 2,
		ints: map[string][]int64{"keepdims": {0}, "noop_with_empty_axes": {0}}, required: []string{"keepdims"},
		infer: func(_ *node, args []value) ([]value, int, error) {
			axis, err := single(args[1].constant)
			if err == nil && axis != 1 {
				err = fmt.Errorf("axis is %d, want 1", axis)
			}
			return one(aMatrix, args[0].columns), args[0].cells(), err
		},
		run: func(_ *node, out []*mat.Dense, args []operand) {
			n, columns := out[0].Dims()
			for i := range n {
				row := out[0].RawRowView(i)
				for at, v := range args[0].rows.RawRowView(i) {
					row[at%columns] += v
				}
			}
		},
	},
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// single is the number in a list of one.
func single(c *constant) (int64, error) {
	if len(c.dims) != 1 || len(c.whole) != 1 {
		return 0, fmt.Errorf("constant %q has the dimensions %d, want [1]", c.name, c.dims)
	}
	return c.whole[0], nil
}

// smallest fills least and at with the smallest numbers of row, ascending, and
// their columns.
func smallest(least, at, row []float64) {
	found := least[:0]
	for j, v := range row {
		if len(found) == len(least) {
			if v >= found[len(found)-1] {
				continue
			}
			found = found[:len(found)-1]
		}
		// Behind equal ones, which have lower columns.
		p, _ := slices.BinarySearchFunc(found, v, func(f, v float64) int {
			if f <= v {
				return -1
			}
			return 1
		})
		n := len(found)
		found = found[:n+1]
		copy(found[p+1:], found[p:n])
		copy(at[p+1:n+1], at[p:n])
		found[p], at[p] = v, float64(j)
	}
}
