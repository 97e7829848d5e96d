package onnx

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"concord/onnx/internal/onnxpb"
)

// TestDecodeRefusesChosen changes one thing of the other graph at a time: lists
// of trees, and what chooses.
func TestDecodeRefusesChosen(t *testing.T) {
	nan := float32(math.NaN())
	trees := func(m *onnxpb.ModelProto) *onnxpb.NodeProto { return m.Graph.Node[13] }
	at := func(m *onnxpb.ModelProto, name string) *onnxpb.AttributeProto {
		for _, a := range trees(m).Attribute {
			if a.GetName() == name {
				return a
			}
		}
		panic(name)
	}
	ints := func(name string, i int, v int64) func(*onnxpb.ModelProto) {
		return func(m *onnxpb.ModelProto) { at(m, name).Ints[i] = v }
	}
	more := func(a *onnxpb.AttributeProto) func(*onnxpb.ModelProto) {
		return func(m *onnxpb.ModelProto) { trees(m).Attribute = append(trees(m).Attribute, a) }
	}
	with := func(name string, t onnxpb.AttributeProto_AttributeType, fill func(*onnxpb.AttributeProto)) *onnxpb.AttributeProto {
		a := &onnxpb.AttributeProto{Name: &name, Type: t.Enum()}
		fill(a)
		return a
	}
	constant := func(m *onnxpb.ModelProto, name string) *onnxpb.TensorProto {
		for _, c := range m.Graph.Initializer {
			if c.GetName() == name {
				return c
			}
		}
		panic(name)
	}
	whole := func(m *onnxpb.ModelProto, name string, v ...int64) {
		c := constant(m, name)
		c.Dims, c.RawData = []int64{int64(len(v))}, nil
		for _, v := range v {
			c.RawData = binary.LittleEndian.AppendUint64(c.RawData, uint64(v))
		}
	}
	for _, c := range []struct {
		name   string
		change func(*onnxpb.ModelProto)
		want   string
	}{
		// Nodes: features 1 2 0 0 0 0, true children 1 2, false children 4 3, in
		// trees 0 0 0 0 0 1.
		{"child of itself", ints("nodes_truenodeids", 1, 1), "tree 0, node 1: a child is 1, want a node behind it"},
		{"cycle", ints("nodes_falsenodeids", 1, 0), "tree 0, node 1: a child is 0, want a node behind it"},
		{"negative child", ints("nodes_truenodeids", 0, -1), "node 0: a child is -1"},
		{"huge child", ints("nodes_truenodeids", 0, math.MaxInt64), "node 0: a child is 9223372036854775807"},
		{"child in another tree", ints("nodes_falsenodeids", 0, 5), "children are not behind it in the same tree"},
		{"no parent", ints("nodes_truenodeids", 0, 2), "tree 0: node 1 has no parent"},
		{"two parents", ints("nodes_truenodeids", 0, 4), "tree 0: node 4 has two parents"},
		{"branch without children", func(m *onnxpb.ModelProto) { at(m, "nodes_modes").Strings[2] = []byte("BRANCH_LEQ") }, "node 2: a child is 0"},
		{"leaf with children", func(m *onnxpb.ModelProto) { at(m, "nodes_modes").Strings[1] = []byte("LEAF") }, "a leaf has a feature, a value or children"},
		{"other mode", func(m *onnxpb.ModelProto) { at(m, "nodes_modes").Strings[1] = []byte("BRANCH_LT") }, `mode is "BRANCH_LT", want BRANCH_LEQ or LEAF`},
		{"negative feature", ints("nodes_featureids", 0, -1), "feature is -1"},
		{"feature beyond", ints("nodes_featureids", 0, 3), "node 14: TreeEnsembleRegressor: feature 3 is compared, the argument has 3 columns"},
		{"huge feature", ints("nodes_featureids", 0, 1<<40), "feature is 1099511627776"},
		{"nan threshold", func(m *onnxpb.ModelProto) { at(m, "nodes_values").Floats[0] = nan }, "threshold is not a finite number"},
		{"nan leaf", func(m *onnxpb.ModelProto) { at(m, "target_weights").Floats[0] = nan }, "the number of target 0 is not finite"},
		{"infinite leaf", func(m *onnxpb.ModelProto) { at(m, "target_weights").Floats[0] = float32(math.Inf(-1)) }, "is not finite"},
		{"trees out of order", ints("nodes_treeids", 0, 1), "is in tree 1, want trees numbered from 0 in order"},
		{"tree left out", ints("nodes_treeids", 5, 2), "is in tree 2"},
		{"node twice", ints("nodes_nodeids", 2, 1), "tree 0: a node is numbered 1, want 2"},
		{"target beyond", ints("target_ids", 0, 3), "target is 3, want 0 to 2"},
		{"negative target", ints("target_ids", 0, -1), "target is -1"},
		{"target twice", ints("target_ids", 1, 0), "target 0 stands behind target 0"},
		{"target of a branch", ints("target_nodeids", 0, 1), "the leaf has no number, or out of order"},
		{"target of no tree", ints("target_treeids", 4, 7), "the leaf has no number"},
		{"leaf without number", func(m *onnxpb.ModelProto) {
			for _, name := range []string{"target_treeids", "target_nodeids", "target_ids"} {
				at(m, name).Ints = at(m, name).Ints[:4]
			}
			at(m, "target_weights").Floats = at(m, "target_weights").Floats[:4]
		}, "tree 1, node 0: the leaf has no number"},
		{"number without leaf", func(m *onnxpb.ModelProto) {
			for _, name := range []string{"target_treeids", "target_nodeids", "target_ids"} {
				at(m, name).Ints = append(at(m, name).Ints, 9)
			}
			at(m, "target_weights").Floats = append(at(m, "target_weights").Floats, 9)
		}, "entry 6 of the targets belongs to no leaf"},
		{"fewer weights", func(m *onnxpb.ModelProto) { at(m, "target_weights").Floats = at(m, "target_weights").Floats[1:] }, "have 5, 5, 5 and 4 entries, want as many"},
		{"fewer thresholds", func(m *onnxpb.ModelProto) { at(m, "nodes_values").Floats = at(m, "nodes_values").Floats[1:] }, "nodes_values has 5 entries for 6 nodes"},
		{"more modes", func(m *onnxpb.ModelProto) {
			at(m, "nodes_modes").Strings = append(at(m, "nodes_modes").Strings, []byte("LEAF"))
		}, "nodes_modes has 7 entries for 6 nodes"},
		{"no nodes", func(m *onnxpb.ModelProto) { trees(m).Attribute = trees(m).Attribute[:1] }, "trees have 0 nodes"},
		{"nothing", func(m *onnxpb.ModelProto) { trees(m).Attribute = nil }, "trees have 0 nodes"},
		{"no targets", func(m *onnxpb.ModelProto) { *at(m, "n_targets").I = 0 }, "target is 0, want 0 to -1"},
		{"huge targets", func(m *onnxpb.ModelProto) { *at(m, "n_targets").I = math.MaxInt64 }, "n_targets is 9223372036854775807"},
		{"targets of another type", func(m *onnxpb.ModelProto) { at(m, "n_targets").Ints = []int64{1} }, "attribute n_targets is not of type INT"},
		{"list of another type", func(m *onnxpb.ModelProto) {
			at(m, "nodes_values").Type = onnxpb.AttributeProto_INTS.Enum()
		}, "attribute nodes_values is not of type FLOATS"},
		{"average", more(with("aggregate_function", onnxpb.AttributeProto_STRING, func(a *onnxpb.AttributeProto) { a.S = []byte("AVERAGE") })),
			"attribute aggregate_function is not the word SUM"},
		{"post transform", more(with("post_transform", onnxpb.AttributeProto_STRING, func(a *onnxpb.AttributeProto) { a.S = []byte("LOGISTIC") })),
			"attribute post_transform is not the word NONE"},
		{"base values", more(with("base_values", onnxpb.AttributeProto_FLOATS, func(a *onnxpb.AttributeProto) { a.Floats = []float32{1, 2, 3} })),
			`attribute "base_values" is not allowed`},
		{"missing values go left", more(with("nodes_missing_value_tracks_true", onnxpb.AttributeProto_INTS, func(a *onnxpb.AttributeProto) {
			a.Ints = []int64{0, 1, 0, 0, 0, 0}
		})), "nodes_missing_value_tracks_true: entry 2 is 1, want 0"},
		{"hit rates", more(with("nodes_hitrates", onnxpb.AttributeProto_FLOATS, func(a *onnxpb.AttributeProto) { a.Floats = []float32{1} })),
			"nodes_hitrates has 1 entries for 6 nodes"},
		{"list twice", func(m *onnxpb.ModelProto) {
			trees(m).Attribute = append(trees(m).Attribute, at(m, "nodes_modes"))
		}, `attribute "nodes_modes" twice`},
		{"trees elsewhere", func(m *onnxpb.ModelProto) {
			m.Graph.Node[4].Attribute = append(m.Graph.Node[4].Attribute, at(m, "nodes_modes"))
		}, `Cast: attribute "nodes_modes" is not allowed`},
		{"trees of onnx itself", func(m *onnxpb.ModelProto) { trees(m).Domain = nil }, `operator TreeEnsembleRegressor is of domain "", want "ai.onnx.ml"`},
		{"plain operator of another domain", func(m *onnxpb.ModelProto) { m.Graph.Node[4].Domain = proto.String(mlDomain) }, `operator Cast is of domain "ai.onnx.ml", want ""`},
		{"no operator set for trees", func(m *onnxpb.ModelProto) { m.OpsetImport = m.OpsetImport[:1] }, `does not import the operators of domain "ai.onnx.ml"`},
		{"operator set for trees alone", func(m *onnxpb.ModelProto) { m.OpsetImport = m.OpsetImport[1:] }, `does not import the operators of domain ""`},
		{"new operator set for trees", func(m *onnxpb.ModelProto) { *m.OpsetImport[1].Version = 5 }, `operator set of domain "ai.onnx.ml" is 5, want 1 to 4`},
		{"operator set without trees", func(m *onnxpb.ModelProto) {
			m.Graph.Node[15].Input = slices.DeleteFunc(m.Graph.Node[15].Input, func(name string) bool { return name == "trees" })
			m.Graph.Node = slices.Delete(m.Graph.Node, 13, 14)
		}, `imports the operators of domain "ai.onnx.ml" and uses none`},

		{"gaps of a value", func(m *onnxpb.ModelProto) { m.Graph.Node[0].Input[0] = "one" }, "IsNaN: argument 1 is a constant"},
		{"gaps of a computed value", func(m *onnxpb.ModelProto) {
			m.Graph.Node = append(m.Graph.Node, &onnxpb.NodeProto{OpType: proto.String("IsNaN"), Input: []string{"x"}, Output: []string{"z"}})
		}, `IsNaN: argument 1 is "x", want "features"`},
		{"fill of a computed value", func(m *onnxpb.ModelProto) { m.Graph.Node[2].Input[2] = "some" }, `Where: argument 3 is "some", want "features"`},
		{"where by equality", func(m *onnxpb.ModelProto) {
			m.Graph.Node = append(m.Graph.Node, &onnxpb.NodeProto{OpType: proto.String("Where"), Input: []string{"equal", "fill", "features"}, Output: []string{"z"}})
		}, "Where: argument 1 is truth values, want the gaps of the input"},
		{"cast of gaps", func(m *onnxpb.ModelProto) { m.Graph.Node[4].Input[0] = "gaps" }, "Cast: argument 1 is the gaps of the input, want truth values"},
		{"cast to double", func(m *onnxpb.ModelProto) { *m.Graph.Node[4].Attribute[0].I = 11 }, "Cast: attribute to is not the integer 1"},
		{"truth as numbers", func(m *onnxpb.ModelProto) { m.Graph.Node[5].Input[0] = "equal" }, "Sub: argument 1 is truth values, want a constant or computed numbers"},
		{"fill of another width", func(m *onnxpb.ModelProto) { m.Graph.Node[2].Input[1] = "table" }, `constant "table" has 3 rows, want one`},
		{"nan elsewhere", func(m *onnxpb.ModelProto) { m.Graph.Node[3].Input[1] = "fill" }, `constant "fill": number 2 is not finite`},
		{"infinite fill", func(m *onnxpb.ModelProto) {
			binary.LittleEndian.PutUint32(constant(m, "fill").RawData, math.Float32bits(float32(math.Inf(1))))
		}, `constant "fill": number 1 is not finite`},
		{"k of 0", func(m *onnxpb.ModelProto) { whole(m, "k", 0) }, "TopK: k is 0, want 1 to 3"},
		{"k too large", func(m *onnxpb.ModelProto) { whole(m, "k", 4) }, "TopK: k is 4, want 1 to 3"},
		{"k negative", func(m *onnxpb.ModelProto) { whole(m, "k", math.MinInt64) }, "TopK: k is -9223372036854775808"},
		{"two k", func(m *onnxpb.ModelProto) { whole(m, "k", 1, 2) }, `constant "k" has the dimensions [2], want [1]`},
		{"k of float32", func(m *onnxpb.ModelProto) { m.Graph.Node[7].Input[1] = "one" }, "TopK: argument 2 is a constant, want a list of whole numbers"},
		{"whole numbers as factors", func(m *onnxpb.ModelProto) { m.Graph.Node[5].Input[1] = "k" }, "Sub: argument 2 is a list of whole numbers"},
		{"whole numbers cut", func(m *onnxpb.ModelProto) { constant(m, "k").RawData = constant(m, "k").RawData[:4] }, "raw_data has 4 bytes, want a multiple of 8"},
		{"unsorted", func(m *onnxpb.ModelProto) {
			m.Graph.Node[7].Attribute = append(m.Graph.Node[7].Attribute, with("sorted", onnxpb.AttributeProto_INT, func(a *onnxpb.AttributeProto) { a.I = proto.Int64(0) }))
		}, "TopK: attribute sorted is not the integer 1"},
		{"no sum over no axes", func(m *onnxpb.ModelProto) {
			m.Graph.Node[9].Attribute = append(m.Graph.Node[9].Attribute, with("noop_with_empty_axes", onnxpb.AttributeProto_INT, func(a *onnxpb.AttributeProto) { a.I = proto.Int64(1) }))
		}, "ReduceSum: attribute noop_with_empty_axes is not the integer 0"},
		{"largest", func(m *onnxpb.ModelProto) { *m.Graph.Node[7].Attribute[0].I = 1 }, "TopK: attribute largest is not the integer 0"},
		{"not said", func(m *onnxpb.ModelProto) { m.Graph.Node[7].Attribute = nil }, "TopK: attribute largest is missing, want 0"},
		{"one result of two", func(m *onnxpb.ModelProto) { m.Graph.Node[7].Output = m.Graph.Node[7].Output[:1] }, "TopK has 1 results, want 2"},
		{"unnamed result", func(m *onnxpb.ModelProto) { m.Graph.Node[7].Output[0] = "" }, "TopK: a name has 0 bytes"},
		{"results of one name", func(m *onnxpb.ModelProto) { m.Graph.Node[7].Output[0] = "at" }, `TopK: name "at" is taken`},
		{"indices unused", func(m *onnxpb.ModelProto) {
			m.Graph.Node = append(m.Graph.Node, &onnxpb.NodeProto{OpType: proto.String("TopK"), Input: []string{"x", "k"}, Output: []string{"y", "z"},
				Attribute: m.Graph.Node[7].Attribute})
		}, `"z" is not used`},
		{"table too short", func(m *onnxpb.ModelProto) {
			c := constant(m, "table")
			c.Dims, c.RawData = []int64{2, 2}, c.RawData[:16]
		}, `Gather: constant "table" has 2 rows for indices below 3`},
		{"table of one dimension", func(m *onnxpb.ModelProto) { m.Graph.Node[8].Input[0] = "codes" }, `Gather: constant "codes" has 1 dimensions`},
		{"indices by values", func(m *onnxpb.ModelProto) { m.Graph.Node[8].Input[1] = "least" }, "Gather: argument 2 is computed numbers, want indices"},
		{"gather along columns", func(m *onnxpb.ModelProto) {
			m.Graph.Node[8].Attribute = []*onnxpb.AttributeProto{with("axis", onnxpb.AttributeProto_INT, func(a *onnxpb.AttributeProto) { a.I = proto.Int64(1) })}
		}, "Gather: attribute axis is not the integer 0"},
		{"sum of rows", func(m *onnxpb.ModelProto) { m.Graph.Node[9].Input[0] = "b" }, "ReduceSum: argument 1 is computed numbers, want stacked numbers"},
		{"sum along columns", func(m *onnxpb.ModelProto) { whole(m, "axis", 2) }, "ReduceSum: axis is 2, want 1"},
		{"sum along all", func(m *onnxpb.ModelProto) { m.Graph.Node[9].Input = m.Graph.Node[9].Input[:1] }, "ReduceSum: 1 arguments, want 2 to 2"},
		{"dimensions kept", func(m *onnxpb.ModelProto) { m.Graph.Node[9].Attribute = nil }, "ReduceSum: attribute keepdims is missing, want 0"},
		{"stack as numbers", func(m *onnxpb.ModelProto) { m.Graph.Node[15].Input[0] = "looked" }, "Concat: argument 1 is stacked numbers"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := new(onnxpb.ModelProto)
			if err := proto.Unmarshal(chosen().Encode(), m); err != nil {
				t.Fatal(err)
			}
			c.change(m)
			_, err := Decode(marshal(t, m))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}
