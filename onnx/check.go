package onnx

import (
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

// check proves that g is what the package comment promises, whether g was made
// here or read: allowed operators in topological order, names defined once and
// used, widths that agree and are bounded, finite constants, metadata of the
// right sizes. It fills columns and index.
func (g *Graph) check() error {
	if g.inputs < 1 || g.inputs > MaxWidth {
		return fmt.Errorf("onnx: graph has %d features, want 1 to %d", g.inputs, MaxWidth)
	}
	if len(g.nodes) == 0 || len(g.nodes) > maxNodes {
		return fmt.Errorf("onnx: graph has %d operators, want 1 to %d", len(g.nodes), maxNodes)
	}
	if len(g.constants) > maxConstants {
		return fmt.Errorf("onnx: graph has %d constants, want at most %d", len(g.constants), maxConstants)
	}
	known := map[string]value{inputName: {name: inputName, columns: g.inputs}}
	g.index = make(map[string]*constant, len(g.constants))
	g.columns = g.inputs
	bytes := 0
	for i := range g.constants {
		c := &g.constants[i]
		if err := checkName(c.name); err != nil {
			return fmt.Errorf("onnx: constant %d: %v", i+1, err)
		}
		if _, twice := known[c.name]; twice {
			return fmt.Errorf("onnx: constant %d: name %q is taken", i+1, c.name)
		}
		if err := c.check(); err != nil {
			return fmt.Errorf("onnx: constant %q: %v", c.name, err)
		}
		bytes += 4 * len(c.numbers())
		known[c.name] = value{name: c.name, constant: c}
		g.index[c.name] = c
	}
	// What is not numbers has the last quarter: metadata half of it, names
	// (maxArguments and three for each operator and constant) 25 MiB.
	if bytes > MaxBytes/4*3 {
		return fmt.Errorf("onnx: constants take %d bytes, want at most %d", bytes, MaxBytes/4*3)
	}

	used := make(map[string]bool, len(known))
	work, arguments := 0, 0
	for i, n := range g.nodes {
		if arguments += len(n.in); arguments > maxArguments {
			return fmt.Errorf("onnx: node %d: operators have more than %d arguments together", i+1, maxArguments)
		}
		v, w, err := n.infer(known)
		if err != nil {
			return fmt.Errorf("onnx: node %d: %v", i+1, err)
		}
		work += w
		g.columns += v.columns
		if g.columns > maxColumns {
			return fmt.Errorf("onnx: node %d: values have more than %d columns together", i+1, maxColumns)
		}
		if work > maxWork {
			return fmt.Errorf("onnx: node %d: a row takes more than %d multiplications", i+1, maxWork)
		}
		for _, name := range n.in {
			used[name] = true
		}
		known[n.out] = v
	}

	scores, ok := known[scoresName]
	if !ok || scores.constant != nil || scores.label {
		return fmt.Errorf("onnx: no operator computes the output %q", scoresName)
	}
	g.outputs = scores.columns
	used[scoresName] = true
	label, ok := known[labelName]
	switch {
	case ok != g.labelled:
		return fmt.Errorf("onnx: the output %q is declared and computed: %t and %t, want both or neither", labelName, g.labelled, ok)
	case ok && !label.label:
		return fmt.Errorf("onnx: the output %q is not an ArgMax", labelName)
	case ok && label.columns != g.outputs:
		return fmt.Errorf("onnx: the output %q is chosen from %d columns, the scores have %d", labelName, label.columns, g.outputs)
	case ok:
		used[labelName] = true
	}
	for name := range known {
		if !used[name] {
			return fmt.Errorf("onnx: %q is not used", name)
		}
	}
	return g.checkMeta()
}

// infer is the value that n computes and the multiplications a row.
func (n node) infer(known map[string]value) (value, int, error) {
	op, ok := operators[n.op]
	if !ok {
		return value{}, 0, fmt.Errorf("operator %q is not allowed; concord reads %s", n.op, operatorNames())
	}
	if len(n.in) < op.least || len(n.in) > op.most {
		return value{}, 0, fmt.Errorf("%s has %d arguments, want %d to %d", n.op, len(n.in), op.least, op.most)
	}
	args := make([]value, len(n.in))
	for j, name := range n.in {
		v, ok := known[name]
		if !ok {
			return value{}, 0, fmt.Errorf("%s: argument %q is not computed before", n.op, name)
		}
		if v.label {
			return value{}, 0, fmt.Errorf("%s: argument %q is a label, want scores", n.op, name)
		}
		args[j] = v
	}
	if err := checkName(n.out); err != nil {
		return value{}, 0, fmt.Errorf("%s: %v", n.op, err)
	}
	if _, twice := known[n.out]; twice {
		return value{}, 0, fmt.Errorf("%s: name %q is taken", n.op, n.out)
	}
	columns, work, err := op.width(args)
	if err != nil {
		return value{}, 0, fmt.Errorf("%s: %v", n.op, err)
	}
	if columns < 1 || columns > MaxWidth {
		return value{}, 0, fmt.Errorf("%s: %q has %d columns, want 1 to %d", n.op, n.out, columns, MaxWidth)
	}
	return value{name: n.out, columns: columns, label: op.label}, work, nil
}

func (c *constant) check() error {
	if len(c.dims) > 2 {
		return fmt.Errorf("%d dimensions, want at most 2", len(c.dims))
	}
	size := 1
	for _, d := range c.dims {
		if d < 1 || d > MaxWidth {
			return fmt.Errorf("a dimension is %d, want 1 to %d", d, MaxWidth)
		}
		size *= d // at most 2⁴⁰
	}
	data := c.numbers()
	if size != len(data) {
		return fmt.Errorf("%d numbers for dimensions %d, want %d", len(data), c.dims, size)
	}
	for i, v := range data {
		if v64 := float64(v); math.IsNaN(v64) || math.IsInf(v64, 0) {
			return fmt.Errorf("number %d is not finite", i+1)
		}
	}
	return nil
}

// checkMeta wants as many names as columns.
func (g *Graph) checkMeta() error {
	m := g.meta
	if n := len(m.Features); n != 0 && n != g.inputs {
		return fmt.Errorf("onnx: metadata names %d features, the graph has %d", n, g.inputs)
	}
	if n := len(m.Units); n != 0 && n != g.inputs {
		return fmt.Errorf("onnx: metadata names %d units, the graph has %d features", n, g.inputs)
	}
	if g.labelled && len(m.Classes) != g.outputs {
		return fmt.Errorf("onnx: metadata names %d classes, the graph has %d scores", len(m.Classes), g.outputs)
	}
	if !g.labelled && len(m.Classes) != 0 {
		return fmt.Errorf("onnx: metadata names %d classes, the graph has no output %q", len(m.Classes), labelName)
	}
	bytes := 0
	for what, names := range map[string][]string{
		"feature": m.Features, "unit": m.Units, "class": m.Classes,
		"study": {m.Study}, "contract": {m.Contract}, "label": {m.Label}, "label unit": {m.LabelUnit},
	} {
		for _, name := range names {
			if !utf8.ValidString(name) {
				return fmt.Errorf("onnx: metadata: the %s %q is not UTF-8", what, name)
			}
			bytes += 6*len(name) + 3 // the most that JSON makes of it
		}
	}
	if bytes > MaxBytes/8 {
		return fmt.Errorf("onnx: metadata takes more than %d bytes", MaxBytes/8)
	}
	for what, names := range map[string][]string{"feature": m.Features, "class": m.Classes} {
		sorted := slices.Sorted(slices.Values(names))
		for i := 1; i < len(sorted); i++ {
			if sorted[i] == sorted[i-1] {
				return fmt.Errorf("onnx: metadata names the %s %q twice", what, sorted[i])
			}
		}
	}
	return nil
}

func checkName(name string) error {
	if name == "" || len(name) > maxName || !utf8.ValidString(name) {
		return fmt.Errorf("a name has %d bytes, want 1 to %d of UTF-8", len(name), maxName)
	}
	return nil
}
