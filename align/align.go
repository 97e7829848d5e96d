// Package align finds the change-of-basis matrices G_i (l_i × d) that bring
// the parties' intermediate representations into one space, from the anchor
// representations A_i = A F_i (a × l_i) alone.
//
// Start with [Run], which takes a method by name, or with the function of a
// method: [LS], [ODC]. Each method has its own file, which states its formula,
// source and cost.
//
// The package neither knows nor needs the anchor A or the secret bases F_i,
// and does not apply G_i to anybody's rows: X_i F_i G_i is the caller's.
//
// # Notation
//
//	c    parties                    a    anchor rows, the same for all
//	l_i  columns of A_i             d    columns of the result
//	Z    target (a × d)             W    [A_1 … A_c] (a × Σ l_i)
//
// Parties are counted from 1 in messages, in the order of the arguments, as in
// the papers. Matrices that a caller passes are not changed.
//
// # What can go wrong
//
// Shapes that do not fit, NaN and infinities are errors. A rank-deficient A_i
// is survivable: the solution of least norm, or one of several orthogonal
// solutions, is returned, and [Result] says so.
package align

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// Target says what R is in Z = U_d R ([LS]), or O in Z = A_1 O ([ODC]).
type Target string

// The targets. The empty Target is Identity.
const (
	// Identity is R = I and O = I.
	Identity Target = "identity"
	// Random is R uniform on [0, 1) (LS) and O Haar-random (ODC), from
	// Options.Source. It serves the study of concordance: a random R hurts the
	// models, a random O does not (ODC2 Table III).
	Random Target = "random"
	// Sigma is R = diag of the top d singular values of W (LS only; NRI).
	Sigma Target = "sigma"
)

// Options are the choices of a method. The zero value works.
type Options struct {
	// Dim is d, from 1 to min(a, Σ l_i). Zero means l when all l_i equal l, and
	// the smallest l_i otherwise. ODC allows d = l only.
	Dim int
	// Target is the target. Empty means Identity.
	Target Target
	// Source gives the randomness of Target Random, and is not used otherwise.
	Source rand.Source
}

// Result is an alignment.
type Result struct {
	// Method is the name of the method.
	Method string
	// Dim is d.
	Dim int
	// Target is the target that was used.
	Target Target
	// G holds G_i (l_i × d) for each party.
	G []*mat.Dense
	// Residual is Σ_i ‖A_i G_i − mean_j A_j G_j‖_F²: how far the aligned
	// anchors are apart, 0 when they agree. It scales with the square of Z.
	Residual float64
	// Objective is Σ_i ‖A_i G_i − Z‖_F², what G_i minimise for the target Z.
	Objective float64
	// Ranks holds the numerical rank, for each party, of the matrix that the
	// method inverts: A_i for LS, A_iᵀZ for ODC.
	Ranks []int
	// Conds holds the condition number of that matrix on its numerical rank:
	// the largest singular value over the smallest that counts; 0 at rank 0.
	Conds []float64
	// Overlap says for each party how well the Procrustes problem saw the
	// direction that it saw worst; nil for LS. It is 1 for a span equal to that
	// of the target and 0 for one with an orthogonal direction; see [ODC].
	Overlap []float64
	// Singular holds the singular values of W, decreasing; nil for ODC.
	Singular []float64
	// Warnings are sentences for people: what is deficient or ill-conditioned
	// and what follows. They name parties by number and carry no data.
	Warnings []string
}

// method is a named aligner.
type method struct {
	name string
	run  func([]*mat.Dense, Options) (*Result, error)
}

var methods = []method{{"odc", ODC}, {"ls", LS}}

// Methods lists the names that [Run] knows.
func Methods() []string {
	names := make([]string, len(methods))
	for i, m := range methods {
		names[i] = m.name
	}
	return names
}

// Run aligns a with the named method. The errors are an unknown name and those
// of the method.
func Run(name string, a []*mat.Dense, opt Options) (*Result, error) {
	for _, m := range methods {
		if m.name == name {
			return m.run(a, opt)
		}
	}
	return nil, fmt.Errorf("align: unknown method %q, want one of %s", name, strings.Join(Methods(), ", "))
}

// check tests what every method needs of its input and returns the number of
// anchor rows and the l_i.
func check(a []*mat.Dense) (rows int, cols []int, err error) {
	if len(a) == 0 {
		return 0, nil, errors.New("align: no anchor representations: at least one party is needed")
	}
	for i, ai := range a {
		if ai == nil || ai.IsEmpty() {
			return 0, nil, fmt.Errorf("align: A_%d has no rows or no columns", i+1)
		}
		r, c := ai.Dims()
		if i == 0 {
			rows = r
		}
		if r != rows {
			return 0, nil, fmt.Errorf("align: A_%d has %d rows and A_1 has %d: all must come from one anchor", i+1, r, rows)
		}
		if c > r {
			return 0, nil, fmt.Errorf("align: A_%d has %d columns, more than the %d anchor rows: take more anchor rows or fewer dimensions", i+1, c, r)
		}
		if err := linalg.CheckFinite(ai); err != nil {
			return 0, nil, fmt.Errorf("align: A_%d: %v", i+1, err)
		}
		cols = append(cols, c)
	}
	return rows, cols, nil
}

// target returns the target that opt names if it is among allowed.
func (opt Options) target(name string, allowed ...Target) (Target, error) {
	t := opt.Target
	if t == "" {
		t = Identity
	}
	for _, ok := range allowed {
		if t != ok {
			continue
		}
		if t == Random && opt.Source == nil {
			return "", errors.New("align: target random needs a source of randomness")
		}
		return t, nil
	}
	want := make([]string, len(allowed))
	for i, ok := range allowed {
		want[i] = string(ok)
	}
	return "", fmt.Errorf("align: target %q of method %s, want %s", string(t), name, strings.Join(want, " or "))
}

// measure fills in residual and objective for the target z. The mean is
// updated party by party (Welford 1962), so that each A_i G_i is made once and
// none is kept. The cost is O(a d Σ l_i) in time and O(a d) in memory.
func (res *Result) measure(a []*mat.Dense, z *mat.Dense) error {
	rows, _ := z.Dims()
	mean := mat.NewDense(rows, res.Dim, nil)
	var p mat.Dense
	for i := range a {
		p.Mul(a[i], res.G[i])
		for r := range rows {
			zr, mr := z.RawRowView(r), mean.RawRowView(r)
			for j, v := range p.RawRowView(r) {
				res.Objective += (v - zr[j]) * (v - zr[j])
				old := v - mr[j]
				mr[j] += old / float64(i+1)
				res.Residual += old * (v - mr[j])
			}
		}
	}
	if math.IsInf(res.Residual, 0) || math.IsNaN(res.Residual) || math.IsInf(res.Objective, 0) || math.IsNaN(res.Objective) {
		return errors.New("align: the aligned anchors overflow: standardise the features before projecting them")
	}
	return nil
}

// warn adds a warning.
func (res *Result) warn(format string, args ...any) {
	res.Warnings = append(res.Warnings, fmt.Sprintf(format, args...))
}

// illConditioned is the condition number from which half of the 16 digits of a
// solution are lost, 1/√2⁻⁵².
const illConditioned = 1 << 26
