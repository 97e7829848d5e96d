// Package align finds the change-of-basis matrices G_i (l_i × d) that bring
// the parties' intermediate representations into one space, from the anchor
// representations A_i = A F_i (a × l_i) alone.
//
// Start with [Run], which takes a method by name, or with the function of a
// method. Each has its own file, which states its formula, source and cost:
//
//	[LS]         least squares to the top singular vectors of W       l_i may differ
//	[GEP]        generalised eigenvalue problem                       l_i may differ
//	[ODC]        orthogonal Procrustes to party 1                     closed form
//	[OPP]        orthogonal Procrustes to the top singular vectors    closed form
//	[GOPP]       generalised orthogonal Procrustes                    iterative
//	[RDP]        full-rank G_i with a determinant penalty             iterative
//	[Consensus]  semi-orthogonal G_i, d ≥ l_i (ours)                  iterative, l_i may differ
//
// The package neither knows nor needs the anchor A or the secret bases F_i,
// and does not apply G_i to anybody's rows: X_i F_i G_i is the caller's.
//
// # Notation
//
//	c    parties                    a    anchor rows, the same for all
//	l_i  columns of A_i             d    columns of the result
//	L    Σ l_i                      W    [A_1 … A_c] (a × L)
//	Z    target (a × d)             K    WᵀW (L × L), with blocks A_iᵀA_j
//
// Parties are counted from 1 in messages, in the order of the arguments, as in
// the papers. Matrices that a caller passes are not changed.
//
// # What can go wrong
//
// Shapes that do not fit, NaN and infinities are errors, and so are numbers so
// large that A_iᵀA_i overflows, or so small, though not all zero, that it loses
// digits (‖A_i‖_F beyond 1e154 or below 1e-135). A rank-deficient A_i is survivable: the solution
// of least norm, or one of several orthogonal solutions, is returned, and
// [Result] says so.
//
// # Work and order
//
// The work is divided among goroutines by party, and sums over parties have an
// order that does not depend on the number of goroutines. A result is the same on
// every run; another number of threads may change what the backend rounds.
package align

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// Target says what R is in Z = U_d R ([LS]), or O in Z = A_1 O ([ODC]).
type Target string

// The targets. The empty Target is Identity.
const (
	// Identity is R = I and O = I.
	Identity Target = "identity"
	// Random is R uniform on [0, 1) (LS) and O Haar-random (ODC), from
	// Options.Source. It serves the study of concordance: a random R hurts the
	// models, a random O does not ([nosaka2025], table III).
	Random Target = "random"
	// Sigma is R = diag of the top d singular values of W (LS only; [imakura2023]).
	Sigma Target = "sigma"
)

// Options are the choices of a method. The zero value works.
type Options struct {
	// Dim is d. Zero means the method's default: for LS and GEP l when all l_i
	// equal l and the smallest l_i otherwise, for Consensus ⌈1.5 max l_i⌉. ODC, OPP,
	// GOPP and RDP allow d = l only.
	Dim int
	// Target is the target (LS and ODC). Empty means Identity.
	Target Target
	// Solver names how the method computes, see each. Empty means by cost, from
	// the shape, among the solvers that are exact to rounding.
	Solver string
	// Source gives the randomness of Target Random, of the solver randomized and
	// of Starts. Nil means a fixed seed, except for Target Random, where it is an
	// error: that randomness is part of the result.
	Source rand.Source
	// Weighting scales the columns of GEP; see [GEP].
	Weighting bool
	// Eta is the weight η of RDP's penalty relative to EtaScale. Zero means 1e-3;
	// see [RDP].
	Eta float64
	// EtaScale is the unit of Eta. Zero means the mean over parties of
	// ‖A_i‖_F²/l, which estimates ‖A‖_F²/m; 1 takes Eta as it stands.
	EtaScale float64
	// Init holds the G_i to start GOPP, RDP and Consensus from, in place of their
	// own start. GOPP and Consensus take the polar factor of each.
	Init []*mat.Dense
	// Starts is a number of further, random starts of GOPP and Consensus; the best
	// result is reported. Zero means the method's default, -1 none.
	Starts int
	// MaxIter bounds the iterations from one start. Zero means 2000.
	MaxIter int
	// Tol ends GOPP, RDP and Consensus, see each. Zero means their default.
	Tol float64
	// Plain leaves the acceleration of GOPP and Consensus out: the alternation as
	// published.
	Plain bool
	// NoResidual leaves Result.Residual, Objective and Overlap at zero where they
	// cost extra products, and lets condition numbers, and the overlaps of ODC, be
	// estimates, for benchmarks and for those who do not look.
	NoResidual bool
	// Workers is the number of goroutines. Zero means GOMAXPROCS.
	Workers int
}

// Result is an alignment.
type Result struct {
	// Method is the name of the method.
	Method string
	// Solver is the name of the solver that was used.
	Solver string
	// Dim is d.
	Dim int
	// Target is the target that was used (LS and ODC).
	Target Target
	// Start names the start that led to the result (GOPP, RDP, Consensus):
	// "spectral", "ls", "opp", "given", or "random 1" and so on.
	Start string
	// G holds G_i (l_i × d) for each party.
	G []*mat.Dense
	// Residual is Σ_i ‖A_i G_i − mean_j A_j G_j‖_F²: how far the aligned
	// anchors are apart, 0 when they agree. It scales with the square of Z.
	Residual float64
	// Objective is what the method minimises: Σ_i ‖A_i G_i − Z‖_F² for the target
	// Z (LS, ODC, OPP) or for the best Z (GOPP, Consensus: the residual), the sum of
	// the eigenvalues (GEP), or the penalised sum of RDP.
	Objective float64
	// Iterations counts the iterations of GOPP, RDP and Consensus, from the start
	// that was taken.
	Iterations int
	// Converged says whether these ended by tolerance and not by MaxIter. It is
	// true for the other methods.
	Converged bool
	// Ranks holds the numerical rank, for each party, of the matrix that the
	// method inverts: A_i for LS and GEP, A_iᵀZ for the Procrustes methods, G_i
	// for RDP.
	Ranks []int
	// Conds holds the condition number of that matrix on its numerical rank:
	// the largest singular value over the smallest that counts; 0 at rank 0.
	// Where A_i is solved by way of A_iᵀA_i it is an estimate, good to a factor
	// of about √l; for GOPP and Consensus one good to a few per cent.
	Conds []float64
	// Overlap says for each party how well the Procrustes problem saw the
	// direction that it saw worst; nil for LS, GEP and RDP. It is 1 for spans that
	// are equal and 0 where the span has a direction that the others lack; see
	// [ODC] and [OPP].
	Overlap []float64
	// Singular holds the singular values of W, decreasing: all of them with solver
	// svd, the first d with the others; nil for ODC and GEP.
	Singular []float64
	// Eigenvalues holds λ_1 ≤ … ≤ λ_d of GEP.
	Eigenvalues []float64
	// Weights holds w_1 … w_d of GEP with Options.Weighting.
	Weights []float64
	// LogDet holds log det(G_iᵀG_i) for each party (RDP).
	LogDet []float64
	// Eta is η of RDP as it stands in the objective.
	Eta float64
	// Warnings are sentences for people: what is deficient or ill-conditioned
	// and what follows. They name parties by number and carry no data.
	Warnings []string
}

// method is a named aligner.
type method struct {
	name string
	run  func([]*mat.Dense, Options) (*Result, error)
}

var methods = []method{
	{"odc", ODC},
	{"ls", LS},
	{"gep", GEP},
	{"opp", OPP},
	{"gopp", GOPP},
	{"rdp", RDP},
	{"consensus", Consensus},
}

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

// solver returns the solver that opt names if it is among allowed, and "" if it
// names none.
func (opt Options) solver(name string, allowed ...string) (string, error) {
	if opt.Solver == "" || slices.Contains(allowed, opt.Solver) {
		return opt.Solver, nil
	}
	return "", fmt.Errorf("align: solver %q of method %s, want %s", opt.Solver, name, strings.Join(allowed, " or "))
}

// source returns the source of randomness, one of a fixed seed if none is given.
func (opt Options) source() rand.Source {
	if opt.Source != nil {
		return opt.Source
	}
	return rand.NewChaCha8([32]byte([]byte("concord/align, the default seed.")))
}

// warn adds a warning.
func (res *Result) warn(format string, args ...any) {
	res.Warnings = append(res.Warnings, fmt.Sprintf(format, args...))
}

// illConditioned is the condition number from which half of the 16 digits of a
// solution are lost, 1/√2⁻⁵².
const illConditioned = 1 << 26
