package onnx

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
	"google.golang.org/protobuf/proto"

	"concord/learn"
	"concord/onnx/internal/onnxpb"
)

// Limits of the trees of one operator.
const (
	maxTreeNodes   = learn.MaxTreeNodes
	maxTreeEntries = 1 << 23 // numbers in leaves that are written
	// maxTreeCells bounds the numbers in leaves when scoring, where equal leaves
	// are one and zeros count: 128 MiB for a whole file.
	maxTreeCells = 1 << 24
)

// treeOperators has the one operator that is not ONNX's own: a plain form of
// trees would compare every row with every node.
var treeOperators = map[string]operator{
	// For each target the sum over the trees of what their leaves hold. A row
	// goes to the true child where its feature ≤ the node's value.
	"TreeEnsembleRegressor": {
		domain: mlDomain,
		takes:  []kind{aMatrix}, least: 1, most: 1,
		texts: map[string]string{"aggregate_function": "SUM", "post_transform": "NONE"},
		tables: map[string]onnxpb.AttributeProto_AttributeType{
			"n_targets":             onnxpb.AttributeProto_INT,
			"nodes_treeids":         onnxpb.AttributeProto_INTS,
			"nodes_nodeids":         onnxpb.AttributeProto_INTS,
			"nodes_featureids":      onnxpb.AttributeProto_INTS,
			"nodes_values":          onnxpb.AttributeProto_FLOATS,
			"nodes_modes":           onnxpb.AttributeProto_STRINGS,
			"nodes_truenodeids":     onnxpb.AttributeProto_INTS,
			"nodes_falsenodeids":    onnxpb.AttributeProto_INTS,
			"target_treeids":        onnxpb.AttributeProto_INTS,
			"target_nodeids":        onnxpb.AttributeProto_INTS,
			"target_ids":            onnxpb.AttributeProto_INTS,
			"target_weights":        onnxpb.AttributeProto_FLOATS,
			attributeHitRates:       onnxpb.AttributeProto_FLOATS, // says nothing of scores
			attributeMissingIsBelow: onnxpb.AttributeProto_INTS,   // nothing is missing
		},
		infer: func(n *node, args []value) ([]value, int, error) {
			if n.trees == nil {
				return nil, 0, fmt.Errorf("there are no trees")
			}
			var err error
			if n.trees, err = n.trees.of(args[0].columns); err != nil {
				return nil, 0, err
			}
			return one(aMatrix, len(n.trees.ensemble.Base)), n.trees.work, nil
		},
		run: func(n *node, out []*mat.Dense, args []operand) {
			z, err := n.trees.ensemble.Scores(args[0].rows)
			if err != nil {
				panic("onnx: " + err.Error()) // newForest ran, and the rows are in range
			}
			out[0].Copy(z)
		},
	},
}

const (
	modeBranch = "BRANCH_LEQ"
	modeLeaf   = "LEAF"

	attributeHitRates       = "nodes_hitrates"
	attributeMissingIsBelow = "nodes_missing_value_tracks_true"
)

// forest is the trees of one operator, their sum without base and link.
type forest struct {
	ensemble learn.TreeEnsemble
	work     int // the most comparisons and additions a row
	entries  int // numbers in leaves that are written
	columns  int // the features that are compared come before
}

// newForest checks e, whose Base is zero, Mean false and Link the identity.
func newForest(e learn.TreeEnsemble) (*forest, error) {
	f := &forest{ensemble: e}
	if len(e.Nodes) > maxTreeNodes {
		return nil, fmt.Errorf("trees have %d nodes, want at most %d", len(e.Nodes), maxTreeNodes)
	}
	if err := e.Check(); err != nil {
		return nil, err
	}
	rows, width := e.Values.Dims()
	if k := len(e.Base); k > MaxWidth || rows > (maxTreeCells-k)/width {
		return nil, fmt.Errorf("leaves have %d × %d numbers for %d outputs, want at most %d for at most %d",
			rows, width, k, maxTreeCells-MaxWidth, MaxWidth)
	}
	starts, _ := f.nonzero()
	// Check wants children behind their parent: no cycles. Here each has one.
	level := make([]int32, len(e.Nodes)) // 0 until a parent is met
	for t, root := range e.Roots {
		deepest := int32(1)
		level[root] = 1
		for i := root; i < f.end(t); i++ {
			n := &e.Nodes[i]
			if level[i] == 0 {
				return nil, fmt.Errorf("tree %d: node %d has no parent", t, i-root)
			}
			deepest = max(deepest, level[i])
			if n.Feature == learn.TreeLeaf {
				f.entries += max(1, starts[n.Left+1]-starts[n.Left])
				continue
			}
			f.columns = max(f.columns, int(n.Feature)+1)
			for _, child := range []int32{n.Left, n.Right} {
				if level[child] != 0 {
					return nil, fmt.Errorf("tree %d: node %d has two parents", t, child-root)
				}
				level[child] = level[i] + 1
			}
		}
		f.work += int(deepest) + width
	}
	if f.entries > maxTreeEntries {
		return nil, fmt.Errorf("leaves have %d numbers that are not 0, want at most %d", f.entries, maxTreeEntries)
	}
	return f, nil
}

// of is f for rows of so many columns.
func (f *forest) of(columns int) (*forest, error) {
	if f.columns > columns {
		return nil, fmt.Errorf("feature %d is compared, the argument has %d columns", f.columns-1, columns)
	}
	g := *f
	g.ensemble.Columns = columns
	return &g, nil
}

// end is the node behind tree t.
func (f *forest) end(t int) int32 {
	if t+1 < len(f.ensemble.Roots) {
		return f.ensemble.Roots[t+1]
	}
	return int32(len(f.ensemble.Nodes))
}

// output is the target to which the first number of the leaves of tree t is added.
func (f *forest) output(t int) int64 {
	if f.ensemble.Output == nil {
		return 0
	}
	return int64(f.ensemble.Output[t])
}

// nonzero are the columns of the values that are not zero, those of row i from
// starts[i] to before starts[i+1].
func (f *forest) nonzero() (starts []int, columns []int32) {
	rows, _ := f.ensemble.Values.Dims()
	starts = make([]int, 1, rows+1)
	for i := range rows {
		for c, v := range f.ensemble.Values.RawRowView(i) {
			if v != 0 {
				columns = append(columns, int32(c))
			}
		}
		starts = append(starts, len(columns))
	}
	return starts, columns
}

// bytes is more than what the trees take in a file: for a node two numbers below
// 2²², a feature, a value, a mode and two children, for an entry three numbers
// and a value.
func (f *forest) bytes() int { return 36*len(f.ensemble.Nodes) + 16*f.entries }

// encode is the trees as attributes. A leaf without a number that is not zero has
// one zero, as every leaf must have a number.
func (f *forest) encode() []*onnxpb.AttributeProto {
	e := &f.ensemble
	nodes := len(e.Nodes)
	list := func(n int) []int64 { return make([]int64, 0, n) }
	tree, number, feature := list(nodes), list(nodes), list(nodes)
	yes, no := list(nodes), list(nodes)
	values, modes := make([]float32, 0, nodes), make([][]byte, 0, nodes)
	leafTree, leafNumber, target := list(f.entries), list(f.entries), list(f.entries)
	weights := make([]float32, 0, f.entries)
	branch, leaf := []byte(modeBranch), []byte(modeLeaf)
	starts, columns := f.nonzero()
	for t, root := range e.Roots {
		for i := root; i < f.end(t); i++ {
			n := &e.Nodes[i]
			tree, number = append(tree, int64(t)), append(number, int64(i-root))
			if n.Feature != learn.TreeLeaf {
				feature, values, modes = append(feature, int64(n.Feature)), append(values, n.Threshold), append(modes, branch)
				yes, no = append(yes, int64(n.Left-root)), append(no, int64(n.Right-root))
				continue
			}
			feature, values, modes = append(feature, 0), append(values, 0), append(modes, leaf)
			yes, no = append(yes, 0), append(no, 0)
			row, held := e.Values.RawRowView(int(n.Left)), columns[starts[n.Left]:starts[n.Left+1]]
			for _, c := range held {
				leafTree, leafNumber = append(leafTree, int64(t)), append(leafNumber, int64(i-root))
				target, weights = append(target, f.output(t)+int64(c)), append(weights, float32(row[c]))
			}
			if len(held) == 0 {
				leafTree, leafNumber = append(leafTree, int64(t)), append(leafNumber, int64(i-root))
				target, weights = append(target, 0), append(weights, 0)
			}
		}
	}
	ints := func(name string, v []int64) *onnxpb.AttributeProto {
		return &onnxpb.AttributeProto{Name: proto.String(name), Ints: v, Type: onnxpb.AttributeProto_INTS.Enum()}
	}
	floats := func(name string, v []float32) *onnxpb.AttributeProto {
		return &onnxpb.AttributeProto{Name: proto.String(name), Floats: v, Type: onnxpb.AttributeProto_FLOATS.Enum()}
	}
	return []*onnxpb.AttributeProto{
		{Name: proto.String("n_targets"), I: proto.Int64(int64(len(e.Base))), Type: onnxpb.AttributeProto_INT.Enum()},
		ints("nodes_treeids", tree),
		ints("nodes_nodeids", number),
		ints("nodes_featureids", feature),
		floats("nodes_values", values),
		{Name: proto.String("nodes_modes"), Strings: modes, Type: onnxpb.AttributeProto_STRINGS.Enum()},
		ints("nodes_truenodeids", yes),
		ints("nodes_falsenodeids", no),
		ints("target_treeids", leafTree),
		ints("target_nodeids", leafNumber),
		ints("target_ids", target),
		floats("target_weights", weights),
	}
}
