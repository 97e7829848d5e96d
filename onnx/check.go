package onnx

import (
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

// check proves that g is what the package comment promises, whether g was made
// here or read: allowed operators in topological order, names defined once and
// used, widths that agree and are bounded, finite constants, trees without
// cycles, metadata of the right sizes. It fills columns, index, gaps and the
// results of the nodes.
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
	known := map[string]value{inputName: {name: inputName, kind: aMatrix, columns: g.inputs}}
	fills := g.fills()
	g.nodes = slices.Clone(g.nodes) // graphs share theirs, and check writes
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
		if err := c.check(fills[c.name]); err != nil {
			return fmt.Errorf("onnx: constant %q: %v", c.name, err)
		}
		known[c.name] = c.value()
		bytes += c.bytes()
		g.index[c.name] = c
	}
	for _, n := range g.nodes {
		if n.trees != nil {
			bytes += n.trees.bytes()
		}
	}
	// What is not numbers has the last quarter: metadata half of it, names
	// (maxArguments and three for each operator and constant) 25 MiB.
	if bytes > MaxBytes/4*3 {
		return fmt.Errorf("onnx: constants and trees take %d bytes, want at most %d", bytes, MaxBytes/4*3)
	}

	used := make(map[string]bool, len(known))
	work, arguments := 0, 0
	for i := range g.nodes {
		n := &g.nodes[i]
		if arguments += len(n.in); arguments > maxArguments {
			return fmt.Errorf("onnx: node %d: operators have more than %d arguments together", i+1, maxArguments)
		}
		results, w, err := n.infer(known)
		if err != nil {
			return fmt.Errorf("onnx: node %d: %v", i+1, err)
		}
		work += w
		n.results = results
		for _, v := range results {
			g.columns += v.cells()
			known[v.name] = v
		}
		if g.columns > maxColumns {
			return fmt.Errorf("onnx: node %d: values have more than %d columns together", i+1, maxColumns)
		}
		if work > maxWork {
			return fmt.Errorf("onnx: node %d: a row takes more than %d multiplications", i+1, maxWork)
		}
		for _, name := range n.in {
			used[name] = true
		}
	}

	scores, ok := known[scoresName]
	if !ok || scores.kind != aMatrix {
		return fmt.Errorf("onnx: no operator computes the output %q", scoresName)
	}
	g.outputs = scores.columns
	used[scoresName] = true
	label, ok := known[labelName]
	switch {
	case ok != g.labelled:
		return fmt.Errorf("onnx: the output %q is declared and computed: %t and %t, want both or neither", labelName, g.labelled, ok)
	case ok && label.kind != aLabel:
		return fmt.Errorf("onnx: the output %q is not an ArgMax", labelName)
	case ok && label.columns != g.outputs:
		return fmt.Errorf("onnx: the output %q is chosen from %d columns, the scores have %d", labelName, label.columns, g.outputs)
	case ok:
		used[labelName] = true
	}
	for name, v := range known {
		if !used[name] && !v.spare {
			return fmt.Errorf("onnx: %q is not used", name)
		}
	}
	g.findGaps()
	return g.checkMeta()
}

// infer is what n computes and the multiplications a row.
func (n *node) infer(known map[string]value) ([]value, int, error) {
	op, ok := operators[n.op]
	if !ok {
		return nil, 0, fmt.Errorf("operator %q is not allowed; concord reads %s", n.op, operatorNames())
	}
	args := make([]value, len(n.in))
	for j, name := range n.in {
		v, ok := known[name]
		if !ok {
			return nil, 0, fmt.Errorf("%s: argument %q is not computed before", n.op, name)
		}
		args[j] = v
	}
	if err := op.accepts(args); err != nil {
		return nil, 0, fmt.Errorf("%s: %v", n.op, err)
	}
	results, work, err := op.infer(n, args)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %v", n.op, err)
	}
	if len(n.out) != len(results) {
		return nil, 0, fmt.Errorf("%s has %d results, want %d", n.op, len(n.out), len(results))
	}
	for j, name := range n.out {
		if err := checkName(name); err != nil {
			return nil, 0, fmt.Errorf("%s: %v", n.op, err)
		}
		if _, twice := known[name]; twice || slices.Contains(n.out[:j], name) {
			return nil, 0, fmt.Errorf("%s: name %q is taken", n.op, name)
		}
		results[j].name = name
		if columns := max(results[j].columns, results[j].cells()); columns < 1 || columns > MaxWidth {
			return nil, 0, fmt.Errorf("%s: %q has %d columns, want 1 to %d", n.op, name, columns, MaxWidth)
		}
	}
	return results, work, nil
}

// fills are the constants that fill gaps, and do nothing else.
func (g *Graph) fills() map[string]bool {
	fills := make(map[string]bool)
	for _, n := range g.nodes {
		for j, name := range n.in {
			fill := n.op == "Where" && j == 1
			if before, met := fills[name]; !met || before {
				fills[name] = fill
			}
		}
	}
	return fills
}

// findGaps finds the inputs that may be NaN: those that every use of the input
// fills with a number.
func (g *Graph) findGaps() {
	g.gaps = nil
	gaps := slices.Repeat([]bool{true}, g.inputs)
	filled := false
	for _, n := range g.nodes {
		switch {
		case !slices.Contains(n.in, inputName), n.op == "IsNaN":
		case n.op == "Where":
			filled = true
			fill := g.index[n.in[1]].numbers()
			for j := range gaps {
				v := fill[j%len(fill)]
				gaps[j] = gaps[j] && v == v
			}
		default:
			return
		}
	}
	if filled {
		g.gaps = gaps
	}
}

// value is what is known of c before computing.
func (c *constant) value() value {
	if c.numbers == nil {
		return value{name: c.name, kind: aList, constant: c}
	}
	return value{name: c.name, kind: aConstant, constant: c}
}

// bytes is what the numbers take.
func (c *constant) bytes() int {
	if c.numbers == nil {
		return 8 * len(c.whole)
	}
	return 4 * len(c.numbers())
}

// check wants dimensions that agree with finite numbers; those of a constant
// that fills gaps may be NaN.
func (c *constant) check(fills bool) error {
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
	if size != c.size() {
		return fmt.Errorf("%d numbers for dimensions %d, want %d", c.size(), c.dims, size)
	}
	if c.numbers == nil {
		return nil
	}
	for i, v := range c.numbers() {
		if v64 := float64(v); math.IsInf(v64, 0) || math.IsNaN(v64) && !fills {
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
	if n := len(m.Levels); n != 0 && n != g.inputs {
		return fmt.Errorf("onnx: metadata has levels for %d features, the graph has %d", n, g.inputs)
	}
	if n := len(m.Coding); n != 0 && n != g.inputs {
		return fmt.Errorf("onnx: metadata has the coding of %d features, the graph has %d", n, g.inputs)
	}
	if g.labelled && len(m.Classes) != g.outputs {
		return fmt.Errorf("onnx: metadata names %d classes, the graph has %d scores", len(m.Classes), g.outputs)
	}
	if !g.labelled && len(m.Classes) != 0 {
		return fmt.Errorf("onnx: metadata names %d classes, the graph has no output %q", len(m.Classes), labelName)
	}
	bytes := 5*len(m.Levels) + 80*len(m.Coding) // brackets, a comma, and null for no list; keys
	var coding []string
	for _, k := range m.Coding {
		coding = append(coding, k.Type, k.Missing, k.As, k.From, k.Layout)
	}
	for what, names := range map[string][]string{
		"feature": m.Features, "unit": m.Units, "class": m.Classes, "level": slices.Concat(m.Levels...),
		"coding": coding, "missing cell": m.MissingCells,
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
	if err := unlike("feature", m.Features); err != nil {
		return err
	}
	for _, levels := range m.Levels {
		if err := unlike("level", levels); err != nil {
			return err
		}
	}
	return unlike("class", m.Classes)
}

// unlike wants no name twice.
func unlike(what string, names []string) error {
	sorted := slices.Sorted(slices.Values(names))
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			return fmt.Errorf("onnx: metadata names the %s %q twice", what, sorted[i])
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
