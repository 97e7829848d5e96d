package lab

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"concord/align"
	"concord/analyst"
)

// Alignment is a method of package align with its options, by a name such as
// gep-weighted or rdp-opp.
type Alignment struct {
	// Name is what ParseAlignment took.
	Name string

	method  string
	options align.Options
	start   string // of rdp: ls or opp
	unit    bool
}

// variants are the names that are more than a method's.
var variants = map[string]Alignment{
	"ls-sigma":     {method: "ls", options: align.Options{Target: align.Sigma}},
	"ls-random":    {method: "ls", options: align.Options{Target: align.Random}},
	"gep-weighted": {method: "gep", options: align.Options{Weighting: true}},
	"odc-random":   {method: "odc", options: align.Options{Target: align.Random}},
	"rdp-ls":       {method: "rdp", start: "ls"},
	"rdp-opp":      {method: "rdp", start: "opp"},
}

// unitSuffix asks for columns of unit mean square (docs/methods.md section 5.8: LS and
// GEP give columns as small as the anchor is long, which a penalised model does not survive).
const unitSuffix = "+unit"

// Alignments are the names that ParseAlignment knows, each with or without +unit.
func Alignments() []string {
	names := align.Methods()
	for name := range variants {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// ParseAlignment makes an Alignment of a name: one of a method; ls-sigma,
// ls-random, gep-weighted, odc-random, rdp-ls or rdp-opp; with +unit behind it the
// columns of X̂ are brought to mean square 1 over all parties' rows.
func ParseAlignment(name string) (Alignment, error) {
	base, unit := strings.CutSuffix(name, unitSuffix)
	a, ok := variants[base]
	if !ok {
		if !slices.Contains(align.Methods(), base) {
			return Alignment{}, fmt.Errorf("lab: there is no alignment %q, want one of: %s; with %s behind it for columns of unit mean square",
				name, strings.Join(Alignments(), ", "), unitSuffix)
		}
		a.method = base
	}
	a.Name, a.unit = name, unit
	return a, nil
}

// WithDim is a with d columns, for methods that leave d open.
func (a Alignment) WithDim(d int) Alignment {
	a.options.Dim = d
	return a
}

// MarshalText is the name.
func (a Alignment) MarshalText() ([]byte, error) { return []byte(a.Name), nil }

// run finds the G_i. Randomness (a random target, starts) comes from src.
func (a Alignment) run(parts []analyst.Contribution, src rand.Source) (*align.Result, error) {
	anchors := make([]*mat.Dense, len(parts))
	for i, p := range parts {
		anchors[i] = p.A
	}
	opt := a.options
	opt.Source, opt.NoResidual = src, true
	if a.start != "" {
		first, err := align.Run(a.start, anchors, align.Options{NoResidual: true})
		if err != nil {
			return nil, err
		}
		opt.Init = first.G
	}
	return align.Run(a.method, anchors, opt)
}

// scale brings the columns of X̂ to mean square 1 where unit asks for that, and folds the
// same into the G_i. It changes x and g, not the matrices that g held.
func (a Alignment) scale(x *mat.Dense, g []*mat.Dense) {
	if !a.unit {
		return
	}
	n, d := x.Dims()
	scale := make([]float64, d)
	for i := range n {
		for j, v := range x.RawRowView(i) {
			scale[j] += v * v / float64(n)
		}
	}
	for j, v := range scale {
		scale[j] = 1
		if v > 0 {
			scale[j] = 1 / math.Sqrt(v)
		}
	}
	by := mat.NewDiagDense(d, scale)
	x.Mul(x, by)
	for i := range g {
		folded := new(mat.Dense)
		folded.Mul(g[i], by)
		g[i] = folded
	}
}
