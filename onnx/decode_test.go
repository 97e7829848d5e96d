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
			{op: "Cos", in: []string{"sign"}, out: []string{"cos"}},
			{op: "Concat", in: []string{"same", "least", "sum", "exp", "relu", "trees", "some", "cos"}, out: []string{"scores"}},
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
	e, cos := math.E, math.Cos(1) // of 1 and of −1
	for _, c := range []struct{ x, want []float64 }{
		// x = 3 0 3: distances from 1 are 2 1 2; of the equal ones the lower first.
		{[]float64{nan, 0, nan}, []float64{0, 0, 0, 1, 2, 3, 30, e, 1 / e, e, 2, 0, 2, 0, 8, 8, 1, 0, 2, cos, cos, cos}},
		// x = 0 1 −1: distances 1 0 2; leaf of zeros.
		{[]float64{0, 1, -1}, []float64{1, 1, 0, 0, 1, 3, 30, 1 / e, 1, 1 / e, 0, 0, 0, 0, 0, 8, 0, 1, -1, cos, 1, cos}},
		// x = 1 0.5 −1: at both thresholds.
		{[]float64{1, 0.5, -1}, []float64{0, 0, 0, 0, 0.5, 3, 30, 1, 1 / e, 1 / e, 0, 0, 0, 1, 2, 8, 1, 0.5, -1, 1, cos, cos}},
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
	m := new(onnxpb.ModelProto)
	if err := proto.Unmarshal(chosen().Encode(), m); err != nil {
		t.Fatal(err)
	}
	m.MetadataProps = nil // the end, which may be missing
	for _, good := range [][]byte{good, marshal(t, m)} {
		for i := range good {
			if _, err := Decode(good[:i]); err == nil {
				t.Fatalf("the first %d of %d bytes were read", i, len(good))
			}
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

// TestDecodeOtherTrees reads trees as another writer would make them: lists that
// are not packed, attributes that say nothing, and zeros in leaves.
func TestDecodeOtherTrees(t *testing.T) {
	m := new(onnxpb.ModelProto)
	if err := proto.Unmarshal(chosen().Encode(), m); err != nil {
		t.Fatal(err)
	}
	*m.OpsetImport[1].Version = 1
	m.OpsetImport[0], m.OpsetImport[1] = m.OpsetImport[1], m.OpsetImport[0]
	trees := m.Graph.Node[13]
	for _, a := range trees.Attribute {
		switch a.GetName() { // the leaf of zeros says all of them
		case "target_treeids":
			a.Ints = slices.Insert(a.Ints, 4, 0, 0)
		case "target_nodeids":
			a.Ints = slices.Insert(a.Ints, 4, 4, 4)
		case "target_ids":
			a.Ints = slices.Insert(a.Ints, 4, 1, 2)
		case "target_weights":
			a.Floats = slices.Insert(a.Floats, 4, 0, 0)
		}
	}
	for name, word := range map[string]string{"aggregate_function": "SUM", "post_transform": "NONE"} {
		trees.Attribute = append(trees.Attribute, &onnxpb.AttributeProto{Name: &name, S: []byte(word), Type: onnxpb.AttributeProto_STRING.Enum()})
	}
	trees.Attribute = append(trees.Attribute,
		&onnxpb.AttributeProto{Name: proto.String("nodes_hitrates"), Floats: []float32{1, 1, 1, 1, 1, 1}, Type: onnxpb.AttributeProto_FLOATS.Enum()},
		&onnxpb.AttributeProto{Name: proto.String("nodes_missing_value_tracks_true"), Ints: make([]int64, 6), Type: onnxpb.AttributeProto_INTS.Enum()})
	for _, a := range trees.Attribute {
		var loose []byte
		for _, v := range a.Floats {
			loose = protowire.AppendFixed32(protowire.AppendTag(loose, 7, protowire.Fixed32Type), math.Float32bits(v))
		}
		for _, v := range a.Ints {
			loose = protowire.AppendVarint(protowire.AppendTag(loose, 8, protowire.VarintType), uint64(v))
		}
		a.Floats, a.Ints = nil, nil
		a.ProtoReflect().SetUnknown(loose)
	}
	g, err := Decode(marshal(t, m))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(g.Encode(), chosen().Encode()) {
		t.Error("the same graph written otherwise encodes to other bytes")
	}
}

// TestDecodeTreesMemory: few bytes make no many numbers, be it of leaves that lie
// far apart, of targets, or of lists.
func TestDecodeTreesMemory(t *testing.T) {
	list := func(n int, v func(i int) int64) []int64 {
		all := make([]int64, n)
		for i := range all {
			all[i] = v(i)
		}
		return all
	}
	const leaves = 64 // trees of one leaf, whose numbers are MaxWidth apart
	one := func(name string, ints []int64) *onnxpb.AttributeProto {
		return &onnxpb.AttributeProto{Name: &name, Ints: ints, Type: onnxpb.AttributeProto_INTS.Enum()}
	}
	zero := func(int) int64 { return 0 }
	index := func(i int) int64 { return int64(i) }
	half := func(i int) int64 { return int64(i / 2) }
	modes := make([][]byte, leaves)
	for i := range modes {
		modes[i] = []byte("LEAF")
	}
	weights := make([]float32, 2*leaves)
	for i := range weights {
		weights[i] = float32(i + 1)
	}
	wide := []*onnxpb.AttributeProto{
		{Name: proto.String("n_targets"), I: proto.Int64(MaxWidth), Type: onnxpb.AttributeProto_INT.Enum()},
		{Name: proto.String("nodes_values"), Floats: make([]float32, leaves), Type: onnxpb.AttributeProto_FLOATS.Enum()},
		{Name: proto.String("nodes_modes"), Strings: modes, Type: onnxpb.AttributeProto_STRINGS.Enum()},
		{Name: proto.String("target_weights"), Floats: weights, Type: onnxpb.AttributeProto_FLOATS.Enum()},
		one("nodes_treeids", list(leaves, index)), one("nodes_nodeids", list(leaves, zero)), one("nodes_featureids", list(leaves, zero)),
		one("nodes_truenodeids", list(leaves, zero)), one("nodes_falsenodeids", list(leaves, zero)),
		one("target_treeids", list(2*leaves, half)), one("target_nodeids", list(2*leaves, zero)),
		one("target_ids", list(2*leaves, func(i int) int64 { return int64(i % 2 * (MaxWidth - 1)) })),
	}
	m := new(onnxpb.ModelProto)
	if err := proto.Unmarshal(chosen().Encode(), m); err != nil {
		t.Fatal(err)
	}
	m.Graph.Node[13].Attribute = wide
	file := func(attribute []byte) []byte {
		for _, number := range []protowire.Number{5, 1, 7} { // of a node, of the graph, of the model
			attribute = protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), attribute)
		}
		return attribute
	}
	for _, c := range []struct {
		name string
		data []byte
		most uint64 // bytes
		want string
	}{
		// The first row for each target.
		{"wide leaves", marshal(t, m), 8*MaxWidth + 1<<20, "targets and leaves have more than 16777216 different numbers together"},
		{"words", file(bytes.Repeat(protowire.AppendBytes(protowire.AppendTag(nil, 9, protowire.BytesType), nil), maxTreeNodes+1)), 1 << 20,
			"file has more than 4194304 words in lists"},
		{"numbers", file(protowire.AppendBytes(protowire.AppendTag(nil, 8, protowire.BytesType), make([]byte, maxElements+1))), 1 << 20,
			"file has more than 67108864 numbers in lists"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Decode(c.data)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
		if made := after.TotalAlloc - before.TotalAlloc; made > c.most {
			t.Errorf("%s: %d bytes allocated for a file of %d", c.name, made, len(c.data))
		}
	}
}

// FuzzDecode: any bytes give a graph or an error. A graph encodes to a file
// that decodes to the same, and runs on a row or says why not.
func FuzzDecode(f *testing.F) {
	f.Add(every().Encode())
	f.Add(chosen().Encode())
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
