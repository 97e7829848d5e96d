package party

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"concord/basis"
	"concord/contract"
	"concord/linalg"
	"concord/onnx"
	"concord/wire"
)

// rowOperators are those that only graphs of models with training rows have.
var rowOperators = []string{"Exp", "TopK", "Gather"}

// Accept joins what came back with what stayed into one graph from raw features
// to scores and class:
//
//	x ↦ h(z((x − c)/s) F G)
//
// of rows x whose gaps are filled and whose categories are columns, with c and s of the
// preparation (of agreed only the pooled figures count), z the lift if the contract has one, F (m × l) this party's basis,
// G (l × d) and h (of d inputs) the analyst's. F and G are multiplied before
// they are rounded to float32, but who knows G, as the analyst does, computes F
// from the product: the graph stays where F stays.
//
// Under dc an h with an operator that only models made of training rows have (a
// kernel, or a search for neighbours) is refused: with F G of its own a party
// could turn the rows of the others back. That keeps mistakes out, not an analyst
// who hides rows in weights.
//
// The errors say which shape of what came back does not fit.
func Accept(c *contract.Contract, hash wire.Hash, agreed Agreed, f *basis.Basis, g *mat.Dense, h *onnx.Graph) (*onnx.Graph, error) {
	_, l := f.Dims()
	gr, d := g.Dims()
	if gr != l {
		return nil, fmt.Errorf("party: G is %d × %d, the basis has %d columns", gr, d, l)
	}
	if h.Inputs() != d {
		return nil, fmt.Errorf("party: the model takes %d inputs, G is %d × %d", h.Inputs(), gr, d)
	}
	if want := max(1, len(c.Label.Levels)); h.Outputs() != want {
		return nil, fmt.Errorf("party: the model gives %d scores, the contract's label has %d", h.Outputs(), want)
	}
	if c.Protocol == "dc" {
		for _, op := range h.Operators() {
			if slices.Contains(rowOperators, op) {
				return nil, fmt.Errorf("party: the model has the operator %s, as models that contain training rows have; under dc none is accepted", op)
			}
		}
	}
	if err := linalg.CheckFinite(g); err != nil {
		return nil, fmt.Errorf("party: G: %w", err)
	}
	if c.Label.Type == "class" && !slices.Equal(h.Classes(), c.Label.Levels) {
		return nil, fmt.Errorf("party: the model's classes are not the contract's, in its order")
	}
	prep, up, err := agreed.mapping(c)
	if err != nil {
		return nil, err
	}
	before := front(prep)
	before.Lift, before.F, before.G = ahead(up), f.Matrix(), g
	model, err := onnx.Assemble(before, h)
	if err != nil {
		return nil, fmt.Errorf("party: %w", err)
	}
	if model, err = model.WithMeta(meta(c, hash)); err != nil {
		return nil, fmt.Errorf("party: %w", err)
	}
	return model, nil
}

// front is a preparation in front of a model.
func front(p *contract.Preparation) onnx.Front {
	f := onnx.Front{Centre: p.Centre, Scale: p.Scale}
	if slices.ContainsFunc(p.Fill, func(v float64) bool { return !math.IsNaN(v) }) {
		f.Fill = p.Fill
	}
	if slices.ContainsFunc(p.Levels, func(n int) bool { return n != 0 }) {
		f.Levels = p.Levels
	}
	return f
}
