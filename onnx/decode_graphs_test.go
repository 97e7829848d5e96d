package onnx

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
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

// TestSoftmaxFarOff: scores far below zero, or far apart, have shares all the same: their
// exponentials alone would all be 0 or infinite.
func TestSoftmaxFarOff(t *testing.T) {
	out, err := every().Run(mat.NewDense(2, 3, []float64{-60, -60, -60, 90, -60, 30}))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		sum := 0.0
		for _, v := range out.Scores.RawRowView(i)[2:] { // behind the two columns of m
			sum += v
		}
		if math.Abs(sum-1) > 1e-14 {
			t.Errorf("row %d: the shares add up to %v", i+1, sum)
		}
	}
}
