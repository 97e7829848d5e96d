package onnx

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"concord/secret"
)

// Front is what a party puts in front of h: its m features become w encoded
// columns, and these the d inputs of h. Every part may be left out; without
// Levels w is m.
type Front struct {
	// Fill has for each of the m features the number that takes the place of
	// NaN, or NaN if there is none: a row that lacks the feature is then an
	// error of Run, and has scores of NaN in an ONNX runtime. For a feature with
	// levels it is the index of a level. Nil for no filling.
	Fill []float64
	// Levels has for each of the m features the number of its levels: a feature
	// with levels holds the index of one, from 0, and becomes a column for each
	// level that is 1 for its own level and 0 otherwise (all are 0 for an index
	// out of range). 0 is for a number, which stays one column. Nil for all 0.
	Levels []int
	// Centre is subtracted from the w columns; nil for nothing.
	Centre []float64
	// Scale divides the w columns, each positive; nil for nothing. With centres
	// of 0 and scales of 1 for the columns of levels this is the same as
	// standardising the numbers before encoding.
	Scale []float64
	// Lift maps the w columns to random Fourier features; nil for none.
	Lift *Lift
	// F is the party's secret basis, w × l, or under a lift D × l; zero for none.
	F secret.Matrix
	// G is the party's change of basis, l × d (w × d without F); nil for none.
	G *mat.Dense
}

// Lift is z(y) = scale · cos(y W + b) [rahimi2007].
type Lift struct {
	W, B  secret.Matrix // w × D and 1 × D
	Scale float64
}

// Assemble is the graph
//
//	h( z((encode(fill(x)) − centre) / scale) F G )
//
// with z(y) = y without a lift, and
// with the metadata of h, except its names of features, levels and units, which
// were those of h's inputs; give the new ones with [Graph.WithMeta]. All numbers
// are rounded to float32. Cost O(w l d).
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
	b := &builder{g: Graph{inputs: m, labelled: h.labelled, meta: h.Meta()}}
	at := inputName
	if front.Fill != nil {
		gaps := b.add("IsNaN", "gaps", at)
		at = b.add("Where", "filled", gaps, b.fill(front.Fill), at)
	}
	if slices.ContainsFunc(front.Levels, func(n int) bool { return n != 0 }) {
		at = b.encode(at, front.Levels)
	}
	if front.Centre != nil {
		at = b.add("Sub", "centred", at, b.row("centre", front.Centre))
	}
	if front.Scale != nil {
		at = b.add("Div", "standardised", at, b.row("scale", front.Scale))
		for j, v := range front.Scale {
			if !(float32(v) > 0) {
				return nil, fmt.Errorf("onnx: scale of %s is not a positive float32", front.column(j))
			}
		}
	}
	if l := front.Lift; l != nil {
		at = b.add("MatMul", "frequencies", at, b.matrix("lift by", l.W.Reveal()))
		at = b.add("Add", "phases", at, b.row("lift shift", l.B.Reveal().RawRowView(0)))
		_, dim := l.B.Dims()
		at = b.add("Mul", "lifted", b.add("Cos", "waves", at), b.row("lift scale", slices.Repeat([]float64{l.Scale}, dim)))
	}
	if product := front.product(); product != nil {
		at = b.add("MatMul", "collaboration", at, b.matrix("basis", product))
	}
	if b.err != nil {
		return nil, b.err
	}
	if at == inputName {
		return h, nil
	}
	b.g.meta.Features, b.g.meta.Levels, b.g.meta.Units = nil, nil, nil
	b.g.meta.Coding, b.g.meta.MissingCells = nil, nil
	b.behind(at, h)
	if err := b.g.check(); err != nil {
		return nil, err
	}
	return &b.g, nil
}

// behind adds h with the value at as its input. The names of h move aside, its
// outputs excepted.
func (b *builder) behind(at string, h *Graph) {
	rename := func(name string) string {
		switch name {
		case inputName:
			return at
		case scoresName, labelName:
			return name
		}
		return "h/" + name
	}
	all := func(names []string) []string {
		renamed := make([]string, len(names))
		for j, name := range names {
			renamed[j] = rename(name)
		}
		return renamed
	}
	for _, c := range h.constants {
		c.name = rename(c.name)
		b.g.constants = append(b.g.constants, c)
	}
	for _, n := range h.nodes {
		b.g.nodes = append(b.g.nodes, node{op: n.op, in: all(n.in), out: all(n.out), trees: n.trees})
	}
}

// fill adds a constant whose numbers may be NaN and returns its name.
func (b *builder) fill(fill []float64) string {
	finite := slices.Clone(fill)
	for j, v := range finite {
		if math.IsNaN(v) {
			finite[j] = 0
		}
	}
	c, err := rowConstant("fill", finite)
	if err == nil {
		numbers := c.numbers()
		for j, v := range fill {
			if math.IsNaN(v) {
				numbers[j] = float32(math.NaN())
			}
		}
	}
	return b.constant(c, err)
}

// encode adds
//
//	x numbers + Cast(Equal(x spread, codes))
//
// where numbers (m × w) keeps the columns of numbers in their new places, and
// spread repeats each feature with levels for each of these. The codes are the
// indices of the levels, and 1 in the columns of numbers, where spread gives 0.
func (b *builder) encode(at string, levels []int) string {
	width := encodedWidth(levels)
	m := len(levels)
	numbers, spread := mat.NewDense(m, width, nil), mat.NewDense(m, width, nil)
	codes := make([]float64, width)
	column, mixed := 0, false
	for j, n := range levels {
		if n == 0 {
			numbers.Set(j, column, 1)
			codes[column], mixed = 1, true
			column++
			continue
		}
		for level := range n {
			spread.Set(j, column, 1)
			codes[column] = float64(level)
			column++
		}
	}
	levelled := b.add("MatMul", "spread", at, b.matrix("spread by", spread))
	encoded := b.add("Cast", "levels", b.add("Equal", "is level", levelled, b.row("codes", codes)))
	if !mixed {
		return encoded
	}
	kept := b.add("MatMul", "numbers", at, b.matrix("numbers by", numbers))
	return b.add("Add", "encoded", kept, encoded)
}

// encodedWidth is w.
func encodedWidth(levels []int) int {
	width := 0
	for _, n := range levels {
		width += max(n, 1)
	}
	return width
}

// check returns m, or says which shapes disagree with each other or with d.
func (f Front) check(d int) (m int, err error) {
	columns := -1 // what the last part before h gives; -1 while it is w itself
	w := d
	if rows, l := f.F.Dims(); rows > 0 {
		w, columns = rows, l
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
			w = rows
		}
		columns = out
	}
	if columns >= 0 && columns != d {
		return 0, fmt.Errorf("onnx: the representation has %d columns, h wants %d", columns, d)
	}
	if f.Lift != nil {
		rows, dim := f.Lift.W.Dims()
		if one, shifts := f.Lift.B.Dims(); one != 1 || shifts != dim || rows == 0 {
			return 0, fmt.Errorf("onnx: the lift is %d × %d with %d shifts", rows, dim, shifts)
		}
		if dim != w {
			return 0, fmt.Errorf("onnx: the lift gives %d columns, what is behind it takes %d", dim, w)
		}
		w = rows
	}
	what := "features"
	m = w
	if f.Levels != nil {
		what, m = "encoded columns", len(f.Levels)
		for j, n := range f.Levels {
			if n < 0 || n > MaxWidth {
				return 0, fmt.Errorf("onnx: feature %d has %d levels, want 0 to %d", j+1, n, MaxWidth)
			}
		}
		if encoded := encodedWidth(f.Levels); encoded != w {
			return 0, fmt.Errorf("onnx: the features and their levels are %d columns, want %d", encoded, w)
		}
	}
	if f.Centre != nil && len(f.Centre) != w {
		return 0, fmt.Errorf("onnx: %d centres for %d %s", len(f.Centre), w, what)
	}
	if f.Scale != nil && len(f.Scale) != w {
		return 0, fmt.Errorf("onnx: %d scales for %d %s", len(f.Scale), w, what)
	}
	if f.Fill != nil && len(f.Fill) != m {
		return 0, fmt.Errorf("onnx: %d numbers to fill %d features", len(f.Fill), m)
	}
	for j, n := range f.Levels {
		if n == 0 || f.Fill == nil || math.IsNaN(f.Fill[j]) {
			continue
		}
		if v := f.Fill[j]; v != math.Trunc(v) || v < 0 || v >= float64(n) {
			return 0, fmt.Errorf("onnx: feature %d is filled with something else than an index of its %d levels", j+1, n)
		}
	}
	return m, nil
}

// column names a column for an error.
func (f Front) column(j int) string {
	if f.Levels == nil {
		return fmt.Sprintf("feature %d", j+1)
	}
	return fmt.Sprintf("encoded column %d", j+1)
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
