package onnx

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"concord/learn"
)

// FromModel is a fitted model as a graph of its d inputs, with its classes in
// the metadata. Numbers are rounded to float32; one that float32 cannot hold is
// an error, as is a model beyond the limits of a graph.
//
// Linear models and networks become
//
//	Gemm (→ Relu → Gemm …) → Sigmoid or Softmax → scores → ArgMax → label
//
// where for the sigmoid the columns of the last Gemm are −z and z, so that both
// probabilities keep their digits when they are small. The comments of
// fromKernel, fromNeighbours and fromTrees show the others.
//
// The graphs of a *learn.KernelMachine and of *learn.Neighbours contain training
// rows, as the models do.
func FromModel(m learn.Model) (*Graph, error) {
	switch m := m.(type) {
	case *learn.Linear:
		return fromLinear(m)
	case *learn.Network:
		return fromNetwork(m)
	case *learn.KernelMachine:
		return fromKernel(m)
	case *learn.Neighbours:
		return fromNeighbours(m)
	case *learn.TreeEnsemble:
		return fromTrees(m)
	default:
		return nil, fmt.Errorf("onnx: a %T has no ONNX form", m)
	}
}

func fromLinear(m *learn.Linear) (*Graph, error) {
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("onnx: %w", err)
	}
	b := newBuilder(m)
	b.last(inputName, "", m.W, m.B, m.Link)
	return b.graph()
}

func fromNetwork(m *learn.Network) (*Graph, error) {
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("onnx: %w", err)
	}
	b := newBuilder(m)
	at := inputName
	for i, l := range m.Layers[:len(m.Layers)-1] {
		tag := fmt.Sprintf("%d", i+1)
		at = b.add("Gemm", "layer"+tag, at, b.matrix("weights"+tag, l.W), b.row("bias"+tag, l.B))
		at = b.add("Relu", "hidden"+tag, at)
	}
	l := m.Layers[len(m.Layers)-1]
	b.last(at, fmt.Sprintf("%d", len(m.Layers)), l.W, l.B, m.Link)
	return b.graph()
}

// builder makes a graph, and keeps the first error.
type builder struct {
	g   Graph
	err error
}

func newBuilder(m learn.Model) *builder {
	classes := m.Classes()
	return &builder{g: Graph{meta: Meta{Classes: classes}, inputs: m.Inputs(), labelled: classes != nil}}
}

// add adds an operator with one result and returns that.
func (b *builder) add(op, out string, in ...string) string {
	b.g.nodes = append(b.g.nodes, node{op: op, in: in, out: []string{out}})
	return out
}

// matrix adds a constant of two dimensions and returns its name.
func (b *builder) matrix(name string, a *mat.Dense) string {
	c, err := matrixConstant(name, a)
	return b.constant(c, err)
}

// row adds a constant of one dimension and returns its name.
func (b *builder) row(name string, row []float64) string {
	c, err := rowConstant(name, row)
	return b.constant(c, err)
}

// whole adds a list of one whole number and returns its name.
func (b *builder) whole(name string, v int64) string {
	return b.constant(constant{name: name, dims: []int{1}, whole: []int64{v}}, nil)
}

func (b *builder) constant(c constant, err error) string {
	if b.err == nil {
		b.err = err
	}
	b.g.constants = append(b.g.constants, c)
	return c.name
}

// last adds scores = link(at·w + bias); tag ends the names.
func (b *builder) last(at, tag string, w *mat.Dense, bias []float64, link learn.Link) {
	if link == learn.Sigmoid {
		w, bias = bothSigns(w, bias, -1)
	}
	weights, intercept := b.matrix("weights"+tag, w), b.row("intercept"+tag, bias)
	op := linkOperator(link)
	if op == "" {
		b.add("Gemm", scoresName, at, weights, intercept)
		return
	}
	b.add(op, scoresName, b.add("Gemm", "linear", at, weights, intercept))
}

// linkOperator is "" for the identity.
func linkOperator(link learn.Link) string {
	return map[learn.Link]string{learn.Sigmoid: "Sigmoid", learn.Softmax: "Softmax"}[link]
}

// bothSigns has the one column of w, and the one number of b, times sign and
// times −sign.
func bothSigns(w *mat.Dense, b []float64, sign float64) (*mat.Dense, []float64) {
	d, _ := w.Dims()
	both := mat.NewDense(d, 2, nil)
	for i := range d {
		both.SetRow(i, []float64{sign * w.At(i, 0), -sign * w.At(i, 0)})
	}
	return both, []float64{sign * b[0], -sign * b[0]}
}

// graph is the finished graph.
func (b *builder) graph() (*Graph, error) {
	if b.err != nil {
		return nil, b.err
	}
	if b.g.labelled {
		b.add("ArgMax", labelName, scoresName)
	}
	if err := b.g.check(); err != nil {
		return nil, err
	}
	return &b.g, nil
}

// matrixConstant rounds a to float32.
func matrixConstant(name string, a *mat.Dense) (constant, error) {
	rows, columns := a.Dims()
	data := make([]float32, 0, rows*columns)
	for i := range rows {
		for j, v := range a.RawRowView(i) {
			f := float32(v)
			if !(math.Abs(float64(f)) <= math.MaxFloat32) {
				return constant{}, fmt.Errorf("onnx: %s at row %d, column %d is not a finite float32", name, i+1, j+1)
			}
			data = append(data, f)
		}
	}
	return newConstant(name, []int{rows, columns}, data), nil
}

// rowConstant rounds a row to float32.
func rowConstant(name string, row []float64) (constant, error) {
	c, err := matrixConstant(name, mat.NewDense(1, len(row), row))
	c.dims = []int{len(row)}
	return c, err
}
