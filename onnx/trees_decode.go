package onnx

import (
	"encoding/binary"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"concord/learn"
	"concord/onnx/internal/onnxpb"
)

// decodeForest is the trees that attributes hold: trees and the nodes of each
// numbered from 0 in order, the first node the root, children behind their
// parent, and the numbers of the leaves in the order of the nodes. It takes the
// numbers that it makes of the leaves off cells.
func decodeForest(attributes map[string]*onnxpb.AttributeProto, cells *int) (*forest, error) {
	ints := func(name string) []int64 { return attributes[name].GetInts() }
	tree, number, feature := ints("nodes_treeids"), ints("nodes_nodeids"), ints("nodes_featureids")
	yes, no := ints("nodes_truenodeids"), ints("nodes_falsenodeids")
	values, modes := attributes["nodes_values"].GetFloats(), attributes["nodes_modes"].GetStrings()
	nodes := len(tree)
	if nodes == 0 || nodes > maxTreeNodes {
		return nil, fmt.Errorf("trees have %d nodes, want 1 to %d", nodes, maxTreeNodes)
	}
	for name, n := range map[string]int{
		"nodes_nodeids": len(number), "nodes_featureids": len(feature), "nodes_values": len(values),
		"nodes_modes": len(modes), "nodes_truenodeids": len(yes), "nodes_falsenodeids": len(no),
	} {
		if n != nodes {
			return nil, fmt.Errorf("%s has %d entries for %d nodes", name, n, nodes)
		}
	}
	for _, name := range []string{attributeHitRates, attributeMissingIsBelow} {
		a := attributes[name]
		if n := len(a.GetFloats()) + len(a.GetInts()); a != nil && n != nodes {
			return nil, fmt.Errorf("%s has %d entries for %d nodes", name, n, nodes)
		}
		for i, v := range a.GetInts() {
			if v != 0 {
				return nil, fmt.Errorf("%s: entry %d is %d, want 0", name, i+1, v)
			}
		}
	}

	e := learn.TreeEnsemble{Link: learn.Identity, Nodes: make([]learn.TreeNode, 0, nodes)}
	leaves := newLeaves(attributes)
	for i := range nodes {
		if t := len(e.Roots); tree[i] == int64(t) {
			e.Roots = append(e.Roots, int32(i))
		}
		t := len(e.Roots) - 1
		if t < 0 || tree[i] != int64(t) {
			return nil, fmt.Errorf("node %d of all is in tree %d, want trees numbered from 0 in order", i, tree[i])
		}
		root := int64(e.Roots[t])
		if number[i] != int64(i)-root {
			return nil, fmt.Errorf("tree %d: a node is numbered %d, want %d", t, number[i], int64(i)-root)
		}
		n := learn.TreeNode{Feature: learn.TreeLeaf}
		switch string(modes[i]) {
		case modeBranch:
			if feature[i] < 0 || feature[i] >= MaxWidth {
				return nil, fmt.Errorf("tree %d, node %d: feature is %d, want 0 to %d", t, number[i], feature[i], MaxWidth-1)
			}
			for _, child := range []int64{yes[i], no[i]} {
				if child <= number[i] || child >= int64(nodes)-root {
					return nil, fmt.Errorf("tree %d, node %d: a child is %d, want a node behind it", t, number[i], child)
				}
			}
			n = learn.TreeNode{Feature: int32(feature[i]), Threshold: values[i], Left: int32(root + yes[i]), Right: int32(root + no[i])}
			e.Columns = max(e.Columns, int(n.Feature)+1)
		case modeLeaf:
			if feature[i] != 0 || values[i] != 0 || yes[i] != 0 || no[i] != 0 {
				return nil, fmt.Errorf("tree %d, node %d: a leaf has a feature, a value or children", t, number[i])
			}
			if err := leaves.next(t, number[i]); err != nil {
				return nil, fmt.Errorf("tree %d, node %d: %v", t, number[i], err)
			}
		default:
			return nil, fmt.Errorf("tree %d, node %d: mode is %.20q, want %s or %s", t, number[i], modes[i], modeBranch, modeLeaf)
		}
		e.Nodes = append(e.Nodes, n)
	}
	e.Columns = max(e.Columns, 1)
	if err := leaves.finish(&e, cells); err != nil {
		return nil, err
	}
	return newForest(e)
}

var errCells = fmt.Errorf("targets and leaves have more than %d different numbers together", maxTreeCells)

// leaves collects the numbers of leaves.
type leaves struct {
	targets           int64
	tree, number, ids []int64
	weights           []float32
	read              int     // entries that are read
	starts            []int   // for each leaf its first entry
	trees             []int   // and its tree
	least, most       []int64 // of each tree the targets that are not zero
}

func newLeaves(attributes map[string]*onnxpb.AttributeProto) *leaves {
	return &leaves{
		targets: attributes["n_targets"].GetI(),
		tree:    attributes["target_treeids"].GetInts(),
		number:  attributes["target_nodeids"].GetInts(),
		ids:     attributes["target_ids"].GetInts(),
		weights: attributes["target_weights"].GetFloats(),
	}
}

// next reads the entries of the next leaf: node number of tree t.
func (l *leaves) next(t int, number int64) error {
	if n := len(l.tree); len(l.number) != n || len(l.ids) != n || len(l.weights) != n {
		return fmt.Errorf("target_treeids, target_nodeids, target_ids and target_weights have %d, %d, %d and %d entries, want as many",
			n, len(l.number), len(l.ids), len(l.weights))
	}
	for t >= len(l.least) {
		l.least, l.most = append(l.least, math.MaxInt64), append(l.most, -1)
	}
	start := l.read
	for ; l.read < len(l.tree) && l.tree[l.read] == int64(t) && l.number[l.read] == number; l.read++ {
		id, v := l.ids[l.read], l.weights[l.read]
		switch {
		case id < 0 || id >= l.targets:
			return fmt.Errorf("target is %d, want 0 to %d", id, l.targets-1)
		case l.read > start && id <= l.ids[l.read-1]:
			return fmt.Errorf("target %d stands behind target %d", id, l.ids[l.read-1])
		case v-v != 0:
			return fmt.Errorf("the number of target %d is not finite", id)
		case v != 0:
			l.least[t], l.most[t] = min(l.least[t], id), max(l.most[t], id)
		}
	}
	if l.read == start {
		return fmt.Errorf("the leaf has no number, or out of order")
	}
	l.starts, l.trees = append(l.starts, start), append(l.trees, t)
	return nil
}

// finish gives e its values: a row for each different leaf, as wide as the
// targets of any one tree are apart. It takes as many numbers off cells.
func (l *leaves) finish(e *learn.TreeEnsemble, cells *int) error {
	if l.read < len(l.tree) {
		return fmt.Errorf("entry %d of the targets belongs to no leaf in order", l.read+1)
	}
	if l.targets < 1 || l.targets > MaxWidth {
		return fmt.Errorf("n_targets is %d, want 1 to %d", l.targets, MaxWidth)
	}
	width := int64(1)
	for t := range l.least {
		width = max(width, l.most[t]-l.least[t]+1) // negative for no target
	}
	if *cells -= int(l.targets); *cells < 0 {
		return errCells
	}
	e.Base = make([]float64, l.targets)
	e.Output = make([]int32, len(l.least))
	for t := range e.Output {
		e.Output[t] = int32(min(l.least[t], l.targets-width))
	}
	// Leaves with the same numbers share a row.
	met := make(map[string]int32)
	var firsts []int // of each row the first leaf that has it
	var key []byte
	leaf := 0
	for i := range e.Nodes {
		if e.Nodes[i].Feature != learn.TreeLeaf {
			continue
		}
		key = key[:0]
		l.each(e, leaf, func(c int64, v float32) {
			key = binary.LittleEndian.AppendUint32(key, uint32(c))
			key = binary.LittleEndian.AppendUint32(key, math.Float32bits(v))
		})
		at, known := met[string(key)]
		if !known {
			if *cells -= int(width); *cells < 0 {
				return errCells
			}
			at = int32(len(firsts))
			met[string(key)] = at
			firsts = append(firsts, leaf)
		}
		e.Nodes[i].Left = at
		leaf++
	}
	e.Values = mat.NewDense(len(firsts), int(width), nil)
	for i, leaf := range firsts {
		row := e.Values.RawRowView(i)
		l.each(e, leaf, func(c int64, v float32) { row[c] = float64(v) })
	}
	return nil
}

// each calls f with the columns and numbers of a leaf that are not zero.
func (l *leaves) each(e *learn.TreeEnsemble, leaf int, f func(c int64, v float32)) {
	end := len(l.tree)
	if leaf+1 < len(l.starts) {
		end = l.starts[leaf+1]
	}
	first := int64(e.Output[l.trees[leaf]])
	for at := l.starts[leaf]; at < end; at++ {
		if v := l.weights[at]; v != 0 {
			f(l.ids[at]-first, v)
		}
	}
}
