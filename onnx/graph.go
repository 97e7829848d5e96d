package onnx

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
)

// Limits of a graph. They keep what a file from elsewhere can make a reader
// allocate and compute in proportion to what a study needs.
const (
	// MaxBytes is the most that an encoded graph takes.
	MaxBytes = 256 << 20
	// MaxWidth is the most columns that a value has.
	MaxWidth = 1 << 20
	// maxNodes and maxConstants bound the operators and constants.
	maxNodes     = 4096
	maxConstants = 8192
	// maxArguments bounds the arguments of all operators together.
	maxArguments = 1 << 16
	// maxColumns bounds the columns of all values together: 32 MiB a row.
	maxColumns = 1 << 22
	// maxWork bounds the multiplications a row: four for each of the 2²⁶
	// numbers that MaxBytes holds.
	maxWork = 1 << 28
	// maxName bounds the bytes of a name inside the graph.
	maxName = 256
)

// Names of the inputs and outputs.
const (
	inputName  = "features"
	scoresName = "scores"
	labelName  = "label"
)

// Graph is a model. It is immutable, and may be used from several goroutines.
// It prints only its shape.
type Graph struct {
	meta      Meta
	inputs    int // m
	outputs   int // k
	labelled  bool
	constants []constant
	nodes     []node

	// Found by check.
	columns int // of all values together
	index   map[string]*constant
	gaps    []bool // which inputs may be NaN; nil for none
}

// Meta says what a graph's columns mean. It is written into the file as JSON.
type Meta struct {
	// Study is the name of the study.
	Study string `json:"study,omitempty"`
	// Contract is the contract hash in hexadecimal.
	Contract string `json:"contract,omitempty"`
	// Features name the m inputs, in order; empty if they have no names, as
	// the inputs of h alone.
	Features []string `json:"features,omitempty"`
	// Levels name for each of the m inputs the indices 0, 1, … that stand for its
	// levels, none for a number; empty if there are no levels.
	Levels [][]string `json:"levels,omitempty"`
	// Units are the units of the m inputs, "" for none; empty if unknown.
	Units []string `json:"units,omitempty"`
	// Coding says of each of the m inputs how a cell becomes its number; empty where all
	// are plain numbers without gaps.
	Coding []Coding `json:"coding,omitempty"`
	// MissingCells are the cells that mean missing, besides the empty one.
	MissingCells []string `json:"missing_cells,omitempty"`
	// Label names what is predicted.
	Label string `json:"label,omitempty"`
	// LabelUnit is its unit, for regression.
	LabelUnit string `json:"label_unit,omitempty"`
	// Classes name the k columns of scores and the values of label; empty for
	// regression.
	Classes []string `json:"classes,omitempty"`
}

// Coding is how a cell of a file becomes a number of the input. A missing cell is NaN.
type Coding struct {
	// Type is numeric, category, boolean, ordinal or date. A level's number is its place
	// in Levels, from 0.
	Type string `json:"type"`
	// Missing is "refuse", where the graph has scores of NaN for NaN, or another word for
	// what the graph puts in the place of NaN.
	Missing string `json:"missing"`
	// As is "days", of a date the days since From; or "age", the days from the date to From
	// over 365.25. Layout is how cells spell a date.
	As     string `json:"as,omitempty"`
	From   string `json:"from,omitempty"`
	Layout string `json:"layout,omitempty"`
}

func (m Meta) clone() Meta {
	m.Features = slices.Clone(m.Features)
	m.Units = slices.Clone(m.Units)
	m.Levels = slices.Clone(m.Levels)
	for j := range m.Levels {
		m.Levels[j] = slices.Clone(m.Levels[j])
	}
	m.Classes = slices.Clone(m.Classes)
	m.Coding = slices.Clone(m.Coding)
	m.MissingCells = slices.Clone(m.MissingCells)
	return m
}

// constant is a row-major float32 array of at most two dimensions, or a list of
// whole numbers. Its numbers hide behind a function: fmt prints the fields of a
// Graph that it meets in an unexported field, and of a function only the address.
type constant struct {
	name    string
	dims    []int
	numbers func() []float32 // nil for whole numbers
	whole   []int64
}

// newConstant keeps dims and data.
func newConstant(name string, dims []int, data []float32) constant {
	return constant{name: name, dims: dims, numbers: func() []float32 { return data }}
}

// size is how many numbers there are.
func (c *constant) size() int {
	if c.numbers == nil {
		return len(c.whole)
	}
	return len(c.numbers())
}

// node is an operator; its attributes are those that its operator fixes, and
// the trees.
type node struct {
	op    string
	in    []string
	out   []string
	trees *forest

	results []value // found by check
}

// Inputs is m, the columns that Run wants.
func (g *Graph) Inputs() int { return g.inputs }

// Outputs is k, the columns of the scores.
func (g *Graph) Outputs() int { return g.outputs }

// Classes names the k columns of the scores; nil for regression.
func (g *Graph) Classes() []string {
	if len(g.meta.Classes) == 0 {
		return nil
	}
	return slices.Clone(g.meta.Classes)
}

// Meta is a copy of what the columns mean.
func (g *Graph) Meta() Meta { return g.meta.clone() }

// Operators names the operators in the order in which they are computed.
func (g *Graph) Operators() []string {
	ops := make([]string, len(g.nodes))
	for i, n := range g.nodes {
		ops[i] = n.op
	}
	return ops
}

// WithMeta is the same graph with other metadata. Empty Classes keep those of
// the graph; other Classes must be as many. It returns an error if the numbers
// of names and of columns differ.
func (g *Graph) WithMeta(meta Meta) (*Graph, error) {
	h := *g
	h.meta = meta.clone()
	if len(meta.Classes) == 0 {
		h.meta.Classes = slices.Clone(g.meta.Classes)
	}
	if err := h.check(); err != nil {
		return nil, err
	}
	return &h, nil
}

// String says only the shape and the operators.
func (g Graph) String() string {
	return fmt.Sprintf("onnx graph (%d features to %d scores: %s)", g.inputs, g.outputs, strings.Join(g.Operators(), " "))
}

// Format prints like String whatever the verb: an assembled graph holds F G.
func (g Graph) Format(f fmt.State, _ rune) { fmt.Fprint(f, g.String()) }

// LogValue prints like String in structured logs.
func (g Graph) LogValue() slog.Value { return slog.StringValue(g.String()) }
