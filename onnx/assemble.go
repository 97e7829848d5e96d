package onnx

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"concord/secret"
)

// Front is what a party puts in front of h: its m features become the d inputs
// of h. Every part may be left out.
type Front struct {
	// Centre is subtracted from the m features; nil for nothing.
	Centre []float64
	// Scale divides the m features, each positive; nil for nothing.
	Scale []float64
	// F is the party's secret basis, m × l; zero for none.
	F secret.Matrix
	// G is the party's change of basis, l × d (m × d without F); nil for none.
	G *mat.Dense
}

// Assemble is the graph
//
//	h( ((x − centre) / scale) F G )
//
// with the metadata of h, except its names of features and units, which were
// those of h's inputs; give the new ones with [Graph.WithMeta]. All numbers are
// rounded to float32. Cost O(m l d).
//
// F G is multiplied in float64 and rounded once: one constant, less rounding,
// and F alone does not stand in the graph. That is no protection against those
// who know G, the analyst above all: with l ≤ d they compute F = F G G⁺. An
// assembled graph is to be kept where F is kept.
func Assemble(front Front, h *Graph) (*Graph, error) {
	m, err := front.check(h.inputs)
	if err != nil {
		return nil, err
	}
	g := &Graph{inputs: m, labelled: h.labelled, meta: h.Meta()}
	last := inputName
	add := func(op, constantName, out string, c constant, err error) error {
		if err != nil {
			return err
		}
		g.constants = append(g.constants, c)
		g.nodes = append(g.nodes, node{op, []string{last, constantName}, out})
		last = out
		return nil
	}
	if front.Centre != nil {
		c, err := rowConstant("centre", front.Centre)
		if err := add("Sub", "centre", "centred", c, err); err != nil {
			return nil, err
		}
	}
	if front.Scale != nil {
		c, err := rowConstant("scale", front.Scale)
		if err := add("Div", "scale", "standardised", c, err); err != nil {
			return nil, err
		}
		for j, v := range c.numbers() {
			if !(v > 0) {
				return nil, fmt.Errorf("onnx: scale of feature %d is not a positive float32", j+1)
			}
		}
	}
	if product := front.product(); product != nil {
		c, err := matrixConstant("basis", product)
		if err := add("MatMul", "basis", "collaboration", c, err); err != nil {
			return nil, err
		}
	}
	if last == inputName {
		return h, nil
	}
	g.meta.Features, g.meta.Units = nil, nil

	// The names of h move aside, its input and outputs excepted.
	rename := func(name string) string {
		switch name {
		case inputName:
			return last
		case scoresName, labelName:
			return name
		}
		return "h/" + name
	}
	for _, c := range h.constants {
		c.name = rename(c.name)
		g.constants = append(g.constants, c)
	}
	for _, n := range h.nodes {
		in := make([]string, len(n.in))
		for j, name := range n.in {
			in[j] = rename(name)
		}
		g.nodes = append(g.nodes, node{n.op, in, rename(n.out)})
	}
	if err := g.check(); err != nil {
		return nil, err
	}
	return g, nil
}

// check returns m, or says which shapes disagree with each other or with d.
func (f Front) check(d int) (m int, err error) {
	columns := -1 // what the last part before h gives; -1 while it is m itself
	if rows, l := f.F.Dims(); rows > 0 {
		m, columns = rows, l
	}
	if f.G != nil {
		if f.G.IsEmpty() {
			return 0, fmt.Errorf("onnx: g is empty")
		}
		rows, out := f.G.Dims()
		if columns >= 0 && rows != columns {
			return 0, fmt.Errorf("onnx: f has %d columns, g has %d rows, want as many", columns, rows)
		}
		if columns < 0 {
			m = rows
		}
		columns = out
	}
	if columns < 0 {
		m, columns = d, d
	}
	if columns != d {
		return 0, fmt.Errorf("onnx: the representation has %d columns, h wants %d", columns, d)
	}
	if f.Centre != nil && len(f.Centre) != m {
		return 0, fmt.Errorf("onnx: %d centres for %d features", len(f.Centre), m)
	}
	if f.Scale != nil && len(f.Scale) != m {
		return 0, fmt.Errorf("onnx: %d scales for %d features", len(f.Scale), m)
	}
	return m, nil
}

// product is F G, or the one that is there, or nil.
func (f Front) product() *mat.Dense {
	if rows, _ := f.F.Dims(); rows == 0 {
		return f.G
	}
	if f.G == nil {
		return f.F.Reveal()
	}
	var fg mat.Dense
	fg.Mul(f.F.Reveal(), f.G)
	return &fg
}
