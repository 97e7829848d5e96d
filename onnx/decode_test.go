package onnx

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"concord/learn"
	"concord/onnx/internal/onnxpb"
)

// every is a graph of the operators of linear models and some more, features 3
// wide; see also chosen.
func every() *Graph {
	g := &Graph{
		inputs: 3, labelled: true, meta: Meta{Classes: []string{"a", "b", "c", "d", "e"}},
		constants: []constant{
			newConstant("one", nil, []float32{1}),
			newConstant("row", []int{1, 3}, []float32{1, 2, 4}),
			newConstant("vector", []int{3}, []float32{-1, 0.5, 3}),
			newConstant("matrix", []int{3, 2}, []float32{1, 2, 3, -1, 0, 1}),
			newConstant("bias", []int{1, 1}, []float32{0.25}),
		},
		nodes: []node{
			{op: "Sub", in: []string{"one", "features"}, out: []string{"a"}},
			{op: "Div", in: []string{"a", "row"}, out: []string{"b"}},
			{op: "Mul", in: []string{"b", "features"}, out: []string{"c"}},
			{op: "Add", in: []string{"c", "vector"}, out: []string{"d"}},
			{op: "MatMul", in: []string{"d", "matrix"}, out: []string{"e"}},
			{op: "Gemm", in: []string{"d", "matrix"}, out: []string{"f"}},
			{op: "Gemm", in: []string{"features", "matrix", "bias"}, out: []string{"g"}},
			{op: "Add", in: []string{"e", "f"}, out: []string{"i"}},
			{op: "Identity", in: []string{"i"}, out: []string{"j"}},
			{op: "Sigmoid", in: []string{"j"}, out: []string{"k"}},
			{op: "Softmax", in: []string{"d"}, out: []string{"l"}},
			{op: "Mul", in: []string{"k", "g"}, out: []string{"m"}},
			{op: "Concat", in: []string{"m", "l"}, out: []string{"n"}},
			{op: "Identity", in: []string{"n"}, out: []string{"scores"}},
			{op: "ArgMax", in: []string{"n"}, out: []string{"label"}},
		},
	}
	if err := g.check(); err != nil {
		panic(err)
	}
	return g
}

// TestEvery computes the graph by hand.
func TestEvery(t *testing.T) {
	g, err := Decode(every().Encode())
	if err != nil {
		t.Fatal(err)
	}
	x := []float64{2, -1, 0.5}
	out, err := g.Run(mat.NewDense(2, 3, append([]float64{0, 0, 0}, x...)))
	if err != nil {
		t.Fatal(err)
	}
	d := make([]float64, 3)
	var sum float64
	for j, row := range []float64{1, 2, 4} {
		d[j] = (1-x[j])/row*x[j] + []float64{-1, 0.5, 3}[j]
		sum += math.Exp(d[j])
	}
	product := func(v []float64) [2]float64 { return [2]float64{v[0] + 3*v[1], 2*v[0] - v[1] + v[2]} }
	e, f := product(d), product(x)
	want := make([]float64, 0, 5)
	for j := range 2 {
		want = append(want, (f[j]+0.25)/(1+math.Exp(-2*e[j])))
	}
	for j := range 3 {
		want = append(want, math.Exp(d[j])/sum)
	}
	best := 0
	for j, v := range want {
		// Every constant is exact in float32; a few roundings of float64 remain.
		if got := out.Scores.At(1, j); math.Abs(got-v) > 1e-14 {
			t.Errorf("score %d is %v, want %v", j, got, v)
		}
		if v > want[best] {
			best = j
		}
	}
	if out.Labels[1] != best {
		t.Errorf("label %d, want %d", out.Labels[1], best)
	}
}

// chosen is a graph of the operators that every has not: gaps of three features
// filled, two of them but no other; whole numbers compared; the two columns
// nearest to 1 looked up; and two trees.
func chosen() *Graph {
	nan := float32(math.NaN())
	leaf := func(row int32) learn.TreeNode { return learn.TreeNode{Feature: learn.TreeLeaf, Left: row} }
	trees, err := newForest(learn.TreeEnsemble{
		Columns: 3,
		Nodes: []learn.TreeNode{
			{Feature: 1, Threshold: 0.5, Left: 1, Right: 4}, {Feature: 2, Threshold: -1, Left: 2, Right: 3}, leaf(0), leaf(1), leaf(2),
			leaf(1),
		},
		Roots: []int32{0, 5}, Values: mat.NewDense(3, 2, []float64{1, 2, 0, 8, 0, 0}), Output: []int32{0, 1},
		Base: make([]float64, 3), Link: learn.Identity,
	})
	if err != nil {
		panic(err)
	}
	g := &Graph{
		inputs: 3,
		constants: []constant{
			newConstant("one", nil, []float32{1}),
			newConstant("fill", []int{1, 3}, []float32{1, nan, 2}),
			newConstant("second fill", nil, []float32{3}),
			newConstant("codes", []int{3}, []float32{0, 1, 2}),
			newConstant("table", []int{3, 2}, []float32{1, 10, 2, 20, 4, 40}),
			{name: "k", dims: []int{1}, whole: []int64{2}},
			{name: "axis", dims: []int{1}, whole: []int64{1}},
		},
		nodes: []node{
			{op: "IsNaN", in: []string{"features"}, out: []string{"gaps"}},
			{op: "Where", in: []string{"gaps", "fill", "features"}, out: []string{"some"}},
			{op: "Where", in: []string{"gaps", "second fill", "features"}, out: []string{"x"}},
			{op: "Equal", in: []string{"x", "codes"}, out: []string{"equal"}},
			{op: "Cast", in: []string{"equal"}, out: []string{"same"}},
			{op: "Sub", in: []string{"x", "one"}, out: []string{"a"}},
			{op: "Abs", in: []string{"a"}, out: []string{"b"}},
			{op: "TopK", in: []string{"b", "k"}, out: []string{"least", "at"}},
			{op: "Gather", in: []string{"table", "at"}, out: []string{"looked"}},
			{op: "ReduceSum", in: []string{"looked", "axis"}, out: []string{"sum"}},
			{op: "Sign", in: []string{"a"}, out: []string{"sign"}},
			{op: "Relu", in: []string{"a"}, out: []string{"relu"}},
			{op: "Exp", in: []string{"sign"}, out: []string{"exp"}},
			{op: "TreeEnsembleRegressor", in: []string{"x"}, out: []string{"trees"}, trees: trees},
			{op: "Concat", in: []string{"same", "least", "sum", "exp", "relu", "trees", "some"}, out: []string{"scores"}},
		},
	}
	if err := g.check(); err != nil {
		panic(err)
	}
	return g
}

// TestChosen computes the graph by hand.
func TestChosen(t *testing.T) {
	g, err := Decode(chosen().Encode())
	if err != nil {
		t.Fatal(err)
	}
	nan := math.NaN()
	e := math.E
	for _, c := range []struct{ x, want []float64 }{
		// x = 3 0 3: distances from 1 are 2 1 2; of the equal ones the lower first.
		{[]float64{nan, 0, nan}, []float64{0, 0, 0, 1, 2, 3, 30, e, 1 / e, e, 2, 0, 2, 0, 8, 8, 1, 0, 2}},
		// x = 0 1 −1: distances 1 0 2; leaf of zeros.
		{[]float64{0, 1, -1}, []float64{1, 1, 0, 0, 1, 3, 30, 1 / e, 1, 1 / e, 0, 0, 0, 0, 0, 8, 0, 1, -1}},
		// x = 1 0.5 −1: at both thresholds.
		{[]float64{1, 0.5, -1}, []float64{0, 0, 0, 0, 0.5, 3, 30, 1, 1 / e, 1 / e, 0, 0, 0, 1, 2, 8, 1, 0.5, -1}},
	} {
		out, err := g.Run(mat.NewDense(1, 3, c.x))
		if err != nil {
			t.Fatal(err)
		}
		got := out.Scores.RawRowView(0)
		if len(got) != len(c.want) {
			t.Fatalf("%v: %d scores %v, want %d", c.x, len(got), got, len(c.want))
		}
		for j, v := range c.want {
			if math.Abs(got[j]-v) > 1e-15 { // exact but for e
				t.Errorf("%v: score %d is %v, want %v", c.x, j, got[j], v)
			}
		}
	}
	if _, err := g.Run(mat.NewDense(1, 3, []float64{1, nan, 1})); err == nil || !strings.Contains(err.Error(), "row 1, column 2 is not a finite float32") {
		t.Errorf("a gap that nothing fills: error %v", err)
	}

	ops := make(map[string]bool)
	for _, op := range slices.Concat(every().Operators(), g.Operators()) {
		ops[op] = true
	}
	if len(ops) != len(operators) {
		t.Errorf("the tests have %d operators of %d", len(ops), len(operators))
	}
}

// parse is the file of every as messages.
func parse(t testing.TB) *onnxpb.ModelProto {
	t.Helper()
	m := new(onnxpb.ModelProto)
	if err := proto.Unmarshal(every().Encode(), m); err != nil {
		t.Fatal(err)
	}
	return m
}

func marshal(t testing.TB, m proto.Message) []byte {
	t.Helper()
	data, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestDecodeRefuses changes one thing of a good file at a time.
func TestDecodeRefuses(t *testing.T) {
	nan := binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(math.NaN())))
	attribute := func(name string, i int64) *onnxpb.AttributeProto {
		return &onnxpb.AttributeProto{Name: proto.String(name), I: proto.Int64(i), Type: onnxpb.AttributeProto_INT.Enum()}
	}
	add := func(m *onnxpb.ModelProto, op, out string, in ...string) {
		m.Graph.Node = append(m.Graph.Node, &onnxpb.NodeProto{OpType: &op, Input: in, Output: []string{out}})
	}
	for _, c := range []struct {
		name   string
		change func(*onnxpb.ModelProto)
		want   string
	}{
		{"old ir", func(m *onnxpb.ModelProto) { *m.IrVersion = 3 }, "ir version is 3, want 7 to 10"},
		{"no ir", func(m *onnxpb.ModelProto) { m.IrVersion = nil }, "ir version is 0"},
		{"no graph", func(m *onnxpb.ModelProto) { m.Graph = nil }, "0 inputs"},
		{"no operator set", func(m *onnxpb.ModelProto) { m.OpsetImport = nil }, `does not import the operators of domain ""`},
		{"two operator sets", func(m *onnxpb.ModelProto) { m.OpsetImport = append(m.OpsetImport, m.OpsetImport[0]) }, `imports the operators of domain "" twice`},
		{"custom operator set", func(m *onnxpb.ModelProto) { *m.OpsetImport[0].Domain = "com.evil" }, `domain "com.evil" is not allowed`},
		{"old operator set", func(m *onnxpb.ModelProto) { *m.OpsetImport[0].Version = 12 }, `operator set of domain "" is 12, want 13 to 21`},
		{"new operator set", func(m *onnxpb.ModelProto) { *m.OpsetImport[0].Version = math.MaxInt64 }, "is 9223372036854775807, want 13 to 21"},
		{"loop", func(m *onnxpb.ModelProto) { *m.Graph.Node[2].OpType = "Loop" }, `node 3: operator "Loop" is not allowed; concord reads Abs, Add, ArgMax,`},
		{"custom domain", func(m *onnxpb.ModelProto) { m.Graph.Node[2].Domain = proto.String("x") }, `node 3: operator domain "x"`},
		{"no argument", func(m *onnxpb.ModelProto) { m.Graph.Node[0].Input = nil }, "node 1: Sub: 0 arguments, want 2 to 2"},
		{"empty argument", func(m *onnxpb.ModelProto) { m.Graph.Node[0].Input[0] = "" }, `node 1: Sub: argument "" is not computed before`},
		{"two results", func(m *onnxpb.ModelProto) { m.Graph.Node[0].Output = []string{"a", "z"} }, "Sub has 2 results, want 1"},
		{"empty result", func(m *onnxpb.ModelProto) { m.Graph.Node[0].Output[0] = "" }, "a name has 0 bytes"},
		{"long result", func(m *onnxpb.ModelProto) { m.Graph.Node[0].Output[0] = strings.Repeat("x", 257) }, "a name has 257 bytes"},
		{"cycle", func(m *onnxpb.ModelProto) { m.Graph.Node[0].Input[1] = "d" }, `argument "d" is not computed before`},
		{"own result", func(m *onnxpb.ModelProto) { m.Graph.Node[0].Input[1] = "a" }, `argument "a" is not computed before`},
		{"result twice", func(m *onnxpb.ModelProto) { m.Graph.Node[1].Output[0] = "a" }, `node 2: Div: name "a" is taken`},
		{"result over the input", func(m *onnxpb.ModelProto) { m.Graph.Node[1].Output[0] = "features" }, `name "features" is taken`},
		{"result over a constant", func(m *onnxpb.ModelProto) { m.Graph.Node[1].Output[0] = "row" }, `name "row" is taken`},
		{"constant over the input", func(m *onnxpb.ModelProto) { *m.Graph.Initializer[0].Name = "features" }, `name "features" is taken`},
		{"constant twice", func(m *onnxpb.ModelProto) { *m.Graph.Initializer[0].Name = "row" }, `name "row" is taken`},
		{"unnamed constant", func(m *onnxpb.ModelProto) { m.Graph.Initializer[0].Name = nil }, "constant 1: a name has 0 bytes"},
		{"unused result", func(m *onnxpb.ModelProto) { add(m, "Identity", "z", "a") }, `"z" is not used`},
		{"unused constant", func(m *onnxpb.ModelProto) {
			m.Graph.Initializer = append(m.Graph.Initializer, &onnxpb.TensorProto{Name: proto.String("z"), DataType: proto.Int32(1), RawData: make([]byte, 4)})
		}, `"z" is not used`},
		{"label as argument", func(m *onnxpb.ModelProto) { add(m, "Identity", "z", "label") }, "argument 1 is a label, want computed numbers"},
		{"constants alone", func(m *onnxpb.ModelProto) { m.Graph.Node[0].Input[1] = "row" }, "both arguments are constants"},
		{"constant first", func(m *onnxpb.ModelProto) { m.Graph.Node[4].Input[0] = "matrix" }, "MatMul: argument 1 is a constant"},
		{"computed second", func(m *onnxpb.ModelProto) { m.Graph.Node[4].Input[1] = "d" }, "MatMul: argument 2 is computed"},
		{"computed third", func(m *onnxpb.ModelProto) { m.Graph.Node[6].Input[2] = "d" }, "Gemm: argument 3 is computed"},
		{"vector second", func(m *onnxpb.ModelProto) { m.Graph.Node[4].Input[1] = "vector" }, `constant "vector" has 1 dimensions, want 2`},
		{"wrong rows", func(m *onnxpb.ModelProto) { m.Graph.Node[4].Input[0], m.Graph.Node[4].Input[1] = "d", "row" }, `constant "row" has 1 rows for 3 columns`},
		{"wrong vector", func(m *onnxpb.ModelProto) { m.Graph.Node[7].Input[1] = "vector" }, `constant "vector" has 3 numbers, want 1 or 2`},
		{"many rows", func(m *onnxpb.ModelProto) { m.Graph.Node[7].Input[1] = "matrix" }, `constant "matrix" has 3 rows, want one`},
		{"unlike widths", func(m *onnxpb.ModelProto) { m.Graph.Node[7].Input[1] = "d" }, "arguments have 2 and 3 columns"},
		{"sigmoid of a constant", func(m *onnxpb.ModelProto) { m.Graph.Node[9].Input[0] = "row" }, "Sigmoid: argument 1 is a constant"},
		{"concat of a constant", func(m *onnxpb.ModelProto) { m.Graph.Node[12].Input[1] = "row" }, "Concat: argument 2 is a constant"},
		{"argmax of a constant", func(m *onnxpb.ModelProto) { m.Graph.Node[14].Input[0] = "row" }, "ArgMax: argument 1 is a constant"},
		{"argmax of others", func(m *onnxpb.ModelProto) { m.Graph.Node[14].Input[0] = "l" }, `chosen from 3 columns, the scores have 5`},
		{"label by identity", func(m *onnxpb.ModelProto) { m.Graph.Node[13].Output[0], m.Graph.Node = "label", m.Graph.Node[:14] }, `no operator computes the output "scores"`},
		{"label not by argmax", func(m *onnxpb.ModelProto) {
			*m.Graph.Node[14].OpType, m.Graph.Node[14].Attribute = "Identity", nil
		}, `"label" is not an ArgMax`},
		{"scores by argmax", func(m *onnxpb.ModelProto) {
			m.Graph.Node[13], m.Graph.Node[14] = m.Graph.Node[14], m.Graph.Node[13]
			m.Graph.Node[13].Output[0], m.Graph.Node[14].Output[0] = "scores", "label"
		}, `no operator computes the output "scores"`},
		{"attribute", func(m *onnxpb.ModelProto) {
			m.Graph.Node[0].Attribute = append(m.Graph.Node[0].Attribute, attribute("broadcast", 1))
		}, `Sub: attribute "broadcast" is not allowed`},
		{"attribute twice", func(m *onnxpb.ModelProto) {
			m.Graph.Node[12].Attribute = append(m.Graph.Node[12].Attribute, attribute("axis", 1))
		}, `attribute "axis" twice`},
		{"axis 0", func(m *onnxpb.ModelProto) { *m.Graph.Node[12].Attribute[0].I = 0 }, "Concat: attribute axis is not the integer 1"},
		{"no axis", func(m *onnxpb.ModelProto) { m.Graph.Node[12].Attribute = nil }, "Concat: attribute axis is missing, want 1"},
		{"keepdims", func(m *onnxpb.ModelProto) { *m.Graph.Node[14].Attribute[1].I = 1 }, "ArgMax: attribute keepdims is not the integer 0"},
		{"transB", func(m *onnxpb.ModelProto) {
			m.Graph.Node[5].Attribute = append(m.Graph.Node[5].Attribute, attribute("transB", 1))
		}, "Gemm: attribute transB is not the integer 0"},
		{"alpha", func(m *onnxpb.ModelProto) {
			m.Graph.Node[5].Attribute = append(m.Graph.Node[5].Attribute, &onnxpb.AttributeProto{Name: proto.String("alpha"), F: proto.Float32(2), Type: onnxpb.AttributeProto_FLOAT.Enum()})
		}, "Gemm: attribute alpha is not the number 1"},
		{"attribute of another type", func(m *onnxpb.ModelProto) { m.Graph.Node[12].Attribute[0].Type = onnxpb.AttributeProto_FLOAT.Enum() }, "axis is not the integer 1"},
		{"attribute of an unknown type", func(m *onnxpb.ModelProto) {
			m.Graph.Node[12].Attribute[0].Type = onnxpb.AttributeProto_AttributeType(5).Enum()
		}, "axis is not the integer 1"},
		{"double", func(m *onnxpb.ModelProto) { *m.Graph.Initializer[0].DataType = 11 }, "element type is 11, want 1"},
		{"zero dimension", func(m *onnxpb.ModelProto) { m.Graph.Initializer[3].Dims[0] = 0 }, "a dimension is 0, want 1 to"},
		{"negative dimension", func(m *onnxpb.ModelProto) { m.Graph.Initializer[3].Dims[0] = -3 }, "a dimension is -3"},
		{"huge dimension", func(m *onnxpb.ModelProto) { m.Graph.Initializer[3].Dims[0] = 1 << 62 }, "a dimension is 4611686018427387904"},
		{"product of dimensions", func(m *onnxpb.ModelProto) {
			m.Graph.Initializer[3].Dims = []int64{MaxWidth, MaxWidth}
		}, "want 1099511627776"},
		{"three dimensions", func(m *onnxpb.ModelProto) { m.Graph.Initializer[3].Dims = []int64{3, 2, 1} }, "3 dimensions, want at most 2"},
		{"short data", func(m *onnxpb.ModelProto) {
			m.Graph.Initializer[3].RawData = m.Graph.Initializer[3].RawData[4:]
		}, "5 numbers for dimensions [3 2], want 6"},
		{"ragged data", func(m *onnxpb.ModelProto) {
			m.Graph.Initializer[3].RawData = m.Graph.Initializer[3].RawData[1:]
		}, "raw_data has 23 bytes, want a multiple of 4"},
		{"nan", func(m *onnxpb.ModelProto) { m.Graph.Initializer[0].RawData = nan }, `constant "one": number 1 is not finite`},
		{"two inputs", func(m *onnxpb.ModelProto) { m.Graph.Input = append(m.Graph.Input, m.Graph.Input[0]) }, "2 inputs, want one"},
		{"input name", func(m *onnxpb.ModelProto) { *m.Graph.Input[0].Name = "x" }, `named "x", want "features"`},
		{"input type", func(m *onnxpb.ModelProto) { *m.Graph.Input[0].Type.TensorType.ElemType = 11 }, `"features" has element type 11`},
		{"no type", func(m *onnxpb.ModelProto) { m.Graph.Input[0].Type = nil }, `"features" has element type 0`},
		{"input rank", func(m *onnxpb.ModelProto) {
			s := m.Graph.Input[0].Type.TensorType.Shape
			s.Dim = s.Dim[:1]
		}, `"features" has 1 dimensions, want 2`},
		{"fixed rows", func(m *onnxpb.ModelProto) { m.Graph.Input[0].Type.TensorType.Shape.Dim[0].DimValue = proto.Int64(4) }, `"features" has 4 rows, want them free`},
		{"free columns", func(m *onnxpb.ModelProto) {
			m.Graph.Input[0].Type.TensorType.Shape.Dim[1] = &onnxpb.TensorShapeProto_Dimension{DimParam: proto.String("M")}
		}, `"features" has 0 columns`},
		{"huge columns", func(m *onnxpb.ModelProto) {
			m.Graph.Input[0].Type.TensorType.Shape.Dim[1].DimValue = proto.Int64(math.MaxInt64)
		}, `"features" has 9223372036854775807 columns`},
		{"other columns", func(m *onnxpb.ModelProto) { m.Graph.Input[0].Type.TensorType.Shape.Dim[1].DimValue = proto.Int64(4) }, "has 3 numbers, want 1 or 4"},
		{"no outputs", func(m *onnxpb.ModelProto) { m.Graph.Output = nil }, "0 outputs"},
		{"outputs in the other order", func(m *onnxpb.ModelProto) {
			m.Graph.Output[0], m.Graph.Output[1] = m.Graph.Output[1], m.Graph.Output[0]
		}, `named "label", want "scores"`},
		{"label undeclared", func(m *onnxpb.ModelProto) { m.Graph.Output = m.Graph.Output[:1] }, "declared and computed: false and true"},
		{"label not computed", func(m *onnxpb.ModelProto) { m.Graph.Node = m.Graph.Node[:14] }, "declared and computed: true and false"},
		{"output columns", func(m *onnxpb.ModelProto) {
			m.Graph.Output[0].Type.TensorType.Shape.Dim[1].DimValue = proto.Int64(4)
		}, "declared with 4 columns and has 5"},
		{"label type", func(m *onnxpb.ModelProto) { *m.Graph.Output[1].Type.TensorType.ElemType = 1 }, `"label" has element type 1, want 7`},
		{"no metadata", func(m *onnxpb.ModelProto) { m.MetadataProps = nil }, "names 0 classes, the graph has 5 scores"},
		{"other metadata", func(m *onnxpb.ModelProto) { *m.MetadataProps[0].Key = "x" }, "metadata entries"},
		{"metadata twice", func(m *onnxpb.ModelProto) { m.MetadataProps = append(m.MetadataProps, m.MetadataProps[0]) }, "2 metadata entries"},
		{"metadata key", func(m *onnxpb.ModelProto) { *m.MetadataProps[0].Value = `{"x":1}` }, "metadata is not as concord writes it"},
		{"metadata tail", func(m *onnxpb.ModelProto) { *m.MetadataProps[0].Value += "]" }, "followed by something else"},
		{"metadata text", func(m *onnxpb.ModelProto) { *m.MetadataProps[0].Value = "\xff" }, "not UTF-8"},
		{"many nodes", func(m *onnxpb.ModelProto) {
			for i := range maxNodes {
				add(m, "Identity", fmt.Sprint(i), "a")
			}
		}, "operators, want 1 to 4096"},
		{"many arguments", func(m *onnxpb.ModelProto) {
			for i := range 20 {
				add(m, "Concat", fmt.Sprint(i), make([]string, maxNodes)...)
				last := m.Graph.Node[len(m.Graph.Node)-1]
				last.Attribute = []*onnxpb.AttributeProto{attribute("axis", 1)}
				for j := range last.Input {
					last.Input[j] = "a"
				}
			}
		}, "more than 65536 arguments"},
		{"doubling", func(m *onnxpb.ModelProto) {
			last := "a"
			for i := range 40 {
				add(m, "Concat", fmt.Sprint(i), last, last)
				last = fmt.Sprint(i)
				m.Graph.Node[len(m.Graph.Node)-1].Attribute = []*onnxpb.AttributeProto{attribute("axis", 1)}
			}
		}, "columns, want 1 to 1048576"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := parse(t)
			c.change(m)
			_, err := Decode(marshal(t, m))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// TestDecodeWork bounds what a row may cost: one constant used over and over.
func TestDecodeWork(t *testing.T) {
	const w = 1024
	g := &Graph{inputs: w, constants: []constant{newConstant("m", []int{w, w}, make([]float32, w*w))}}
	last := inputName
	for i := range 300 {
		out := fmt.Sprint(i)
		g.nodes = append(g.nodes, node{op: "MatMul", in: []string{last, "m"}, out: []string{out}})
		last = out
	}
	g.nodes = append(g.nodes, node{op: "Identity", in: []string{last}, out: []string{scoresName}})
	if err := g.check(); err == nil || !strings.Contains(err.Error(), "node 257: a row takes more than") {
		t.Errorf("error %v, want too many multiplications", err)
	}
}

// TestDecodeBytes damages files below the level of messages.
func TestDecodeBytes(t *testing.T) {
	good := every().Encode()
	field := func(number protowire.Number, content []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), content)
	}
	varint := func(number protowire.Number, v uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), v)
	}
	graph := func(content []byte) []byte { return append(varint(1, 8), field(7, content)...) }
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"nothing", nil, "0 bytes"},
		{"text", []byte("hello"), "onnx: "},
		{"cut", good[:len(good)-1], "damaged"},
		{"training", append(bytes.Clone(good), field(20, nil)...), "field 20 (training information) of ModelProto is not allowed"},
		{"functions", append(bytes.Clone(good), field(25, nil)...), "(functions)"},
		{"unknown", append(bytes.Clone(good), field(1000, nil)...), "field 1000 of ModelProto"},
		{"second graph", append(bytes.Clone(good), field(7, nil)...), "ModelProto has the field graph twice"},
		{"second number", append(bytes.Clone(good), varint(1, 8)...), "ModelProto has the field ir_version twice"},
		{"bytes for a number", field(1, nil), "ir_version of ModelProto has wire type 2, want 0"},
		{"group", protowire.AppendTag(nil, 7, protowire.StartGroupType), "wire type 3, want 2"},
		{"field 0", []byte{0}, "damaged"},
		{"subgraph", graph(field(1, field(5, field(6, nil)))), "field 6 (a subgraph) of AttributeProto"},
		{"external data", graph(field(5, field(13, nil))), "field 13 (external data) of TensorProto"},
		{"float_data", graph(field(5, field(4, make([]byte, 4)))), "field 4 (numbers outside raw_data) of TensorProto"},
		{"packed name", graph(field(5, varint(8, 1))), "name of TensorProto has wire type 0, want 2"},
		{"sparse", graph(field(15, nil)), "(sparse constants)"},
		{"sequence", graph(field(11, field(2, field(4, nil)))), "field 4 (a sequence) of TypeProto"},
		{"many fields", bytes.Repeat(field(8, nil), maxFields+1), "more than 262144 fields"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Decode(c.data)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
	for i := range good {
		if _, err := Decode(good[:i]); err == nil {
			t.Fatalf("the first %d of %d bytes were read", i, len(good))
		}
	}
	if _, err := Decode(make([]byte, MaxBytes+1)); err == nil || !strings.Contains(err.Error(), "268435457 bytes, want 1 to 268435456") {
		t.Errorf("too many bytes: error %v", err)
	}
}

// TestDecodeMemory: a file of empty nodes, the worst there is, makes no more
// than a bounded multiple.
func TestDecodeMemory(t *testing.T) {
	nodes := bytes.Repeat(protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), nil), maxFields-2)
	data := protowire.AppendBytes(protowire.AppendTag(nil, 7, protowire.BytesType), nodes)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := Decode(data); err == nil {
		t.Error("read")
	}
	runtime.ReadMemStats(&after)
	// 2¹⁸ messages of some 200 bytes, and the growth of the list.
	if made := after.TotalAlloc - before.TotalAlloc; made > 128<<20 {
		t.Errorf("%d bytes allocated for a file of %d", made, len(data))
	}
}

// TestDecodeOther reads a file as another writer would make it: explicit
// defaults, the other spelling of the domain and of the last axis.
func TestDecodeOther(t *testing.T) {
	m := parse(t)
	m.OpsetImport[0].Domain = proto.String("ai.onnx")
	*m.OpsetImport[0].Version = 17
	for _, n := range m.Graph.Node {
		n.Domain = proto.String("")
		n.Name = nil
		switch n.GetOpType() {
		case "Gemm":
			for name, v := range map[string]float32{"alpha": 1, "beta": 1} {
				n.Attribute = append(n.Attribute, &onnxpb.AttributeProto{Name: &name, F: &v, Type: onnxpb.AttributeProto_FLOAT.Enum()})
			}
			n.Attribute = append(n.Attribute, &onnxpb.AttributeProto{Name: proto.String("transB"), I: proto.Int64(0), Type: onnxpb.AttributeProto_INT.Enum()})
		case "Softmax":
			n.Attribute = append(n.Attribute, &onnxpb.AttributeProto{Name: proto.String("axis"), I: proto.Int64(-1), Type: onnxpb.AttributeProto_INT.Enum()})
		}
	}
	g, err := Decode(marshal(t, m))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(g.Encode(), every().Encode()) {
		t.Error("the same graph written otherwise encodes to other bytes")
	}
}

// FuzzDecode: any bytes give a graph or an error. A graph encodes to a file
// that decodes to the same, and runs on a row or says why not.
func FuzzDecode(f *testing.F) {
	f.Add(every().Encode())
	files, err := filepath.Glob("testdata/*.onnx")
	if err != nil || len(files) == 0 {
		f.Fatal("no frozen models", err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		g, err := Decode(data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "onnx: ") {
				t.Fatalf("error %q does not say who speaks", err)
			}
			return
		}
		encoded := g.Encode()
		again, err := Decode(encoded)
		if err != nil {
			t.Fatalf("the encoded graph is refused: %v", err)
		}
		if !bytes.Equal(again.Encode(), encoded) {
			t.Fatal("encoding is not stable")
		}
		src := rand.New(rand.NewPCG(uint64(len(data)), 1))
		x := mat.NewDense(1, g.Inputs(), nil)
		x.Apply(func(int, int, float64) float64 { return src.NormFloat64() }, x)
		out, err := g.Run(x)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "onnx: row 1") {
				t.Fatalf("Run: %v", err)
			}
			return
		}
		if r, c := out.Scores.Dims(); r != 1 || c != g.Outputs() {
			t.Fatalf("scores are %d × %d", r, c)
		}
		if g.Classes() != nil && (out.Labels[0] < 0 || out.Labels[0] >= len(g.Classes())) {
			t.Fatalf("label %d of %d classes", out.Labels[0], len(g.Classes()))
		}
	})
}
