package onnx

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"concord/onnx/internal/onnxpb"
)

// mlDomain is the domain of the operators that are not ONNX's own.
const mlDomain = "ai.onnx.ml"

// An operator of the list: what it takes, what its results are, and how they
// are computed. Semantics are those of operator set 13, for mlDomain of set 3,
// restricted to what the comments say.
type operator struct {
	// domain is "" or mlDomain.
	domain string
	// takes says for each argument what it may be; the last holds for all
	// further ones.
	takes []kind
	// least and most are the numbers of arguments.
	least, most int
	// ints, floats and texts are the attributes with the values they may have,
	// of which the first is written. Those in required have another default.
	ints     map[string][]int64
	floats   map[string]float32
	texts    map[string]string
	required []string
	// tables are the attributes that hold a tree ensemble; see trees.go.
	tables map[string]onnxpb.AttributeProto_AttributeType
	// infer returns what is computed (names are filled in later) and the
	// multiplications a row.
	infer func(n *node, args []value) (results []value, work int, err error)
	// run computes the results, whose shapes infer gave; nil for a label.
	run func(n *node, out []*mat.Dense, args []operand)
}

// kind is what a value is, or a set of what it may be. N is the number of rows
// that are scored.
type kind uint

const (
	aConstant kind = 1 << iota // float32, of at most two dimensions
	aList                      // int64, a constant of at most one dimension
	aMatrix                    // N × columns, float32
	aGap                       // N × columns, bool: where a feature is not a number
	aFlag                      // N × columns, bool
	anIndex                    // N × columns, int64
	aStack                     // N × layers × columns, float32
	aLabel                     // N, int64
)

// String names the kinds of the set.
func (k kind) String() string {
	names := []string{
		"a constant", "a list of whole numbers", "computed numbers", "the gaps of the input",
		"truth values", "indices", "stacked numbers", "a label",
	}
	var said []string
	for i, name := range names {
		if k&(1<<i) != 0 {
			said = append(said, name)
		}
	}
	return strings.Join(said, " or ")
}

// value is what is known of an argument or a result before computing.
type value struct {
	name     string
	kind     kind
	columns  int // 0 for constants
	layers   int // of a stack
	bound    int // indices are below it
	spare    bool
	constant *constant
}

// cells are the numbers a row takes while computing.
func (v value) cells() int {
	switch v.kind {
	case aLabel:
		return 0
	case aStack:
		return v.layers * v.columns
	}
	return v.columns
}

// operand is an argument while computing: N × w rows, a stack with its layers
// side by side, truth as 0 and 1; or a constant as a matrix, with vectors and
// scalars as one row.
type operand struct {
	rows     *mat.Dense
	constant bool
}

// operators is the list.
var operators = union(arithmetic, selection, treeOperators)

func union(parts ...map[string]operator) map[string]operator {
	all := make(map[string]operator)
	for _, part := range parts {
		maps.Copy(all, part)
	}
	return all
}

// operatorNames lists the operators for error texts.
func operatorNames() string {
	return strings.Join(slices.Sorted(maps.Keys(operators)), ", ")
}

// accepts says whether the arguments are of the kinds that the operator takes.
func (op operator) accepts(args []value) error {
	if len(args) < op.least || len(args) > op.most {
		return fmt.Errorf("%d arguments, want %d to %d", len(args), op.least, op.most)
	}
	for j, a := range args {
		if takes := op.takes[min(j, len(op.takes)-1)]; a.kind&takes == 0 {
			return fmt.Errorf("argument %d is %v, want %v", j+1, a.kind, takes)
		}
	}
	return nil
}

// withAxis adds the attribute axis.
func withAxis(op operator, axes ...int64) operator {
	ints := map[string][]int64{"axis": axes}
	maps.Copy(ints, op.ints)
	op.ints = ints
	return op
}

// one is a single result of a kind and width.
func one(k kind, columns int) []value { return []value{{kind: k, columns: columns}} }
