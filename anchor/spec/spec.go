// Package spec says which anchor A (a × m) the parties make: the kinds, what each has besides,
// and their limits. It is pure data, which the analyst's program may link: package anchor makes
// an anchor of a [Spec], a contract holds one.
package spec

import (
	"fmt"
	"slices"
	"strings"

	"concord/internal/field"
)

// The kinds.
const (
	// Uniform has independent elements, uniform on [0, 1) ([nosaka2024odc], [nosaka2025], [imakura2023]).
	Uniform = "uniform"
	// Normal has independent standard normal elements ([kawakami2024], [nosaka2024mm]).
	Normal = "normal"
	// Orthonormal is √a·Q with orthonormal columns Q, so that (A F_i)ᵀ(A F_j) = a F_iᵀF_j
	// holds exactly where the other kinds approximate it; a = m rows suffice. Do not take it
	// when parties hold disjoint columns: A_iᵀA_j is then zero, and Procrustes alignment blind.
	Orthonormal = "orthonormal"
	// Public is mixtures of the rows of an agreed public file.
	Public = "public"
	// LowRank is made of pieces of the parties' rows, of few directions, with noise ([imakura2023], section 6.1).
	LowRank = "low-rank"
	// SMOTE is made of rows between rows of each party [chawla2002].
	SMOTE = "smote"
	// Gaussian is normal rows with the pooled mean and covariance.
	Gaussian = "gaussian"
)

// Seeded lists the kinds that a seed and a shape determine.
func Seeded() []string { return []string{Orthonormal, Uniform, Normal} }

// Kinds lists all kinds.
func Kinds() []string {
	return []string{Uniform, Normal, Orthonormal, Public, LowRank, SMOTE, Gaussian}
}

// Spec says what every party generates from the shared secret seed.
type Spec struct {
	// Kind is one of [Kinds]. Under nri it is normal, gaussian, public, low-rank or smote.
	Kind string `json:"kind" yaml:"kind"`
	// Rows is a, at least the number of columns m that the basis sees.
	Rows int `json:"rows" yaml:"rows"`
	// SHA256 is that of the public file, in 64 lower-case hexadecimal digits.
	SHA256 string `json:"sha256,omitempty" yaml:"sha256"`
	// Rank and Delta are those of low-rank pieces: X_i of so few directions, plus noise
	// uniform on [−Delta, Delta].
	Rank  int     `json:"rank,omitempty" yaml:"rank"`
	Delta float64 `json:"delta,omitempty" yaml:"delta"`
	// Neighbours are those of smote.
	Neighbours int `json:"neighbours,omitempty" yaml:"neighbours"`
}

// Limits and defaults.
const (
	MaxRows = 1_000_000
	// MaxElements is the largest number of elements of an anchor: 2²⁸, 2 GiB. A contract
	// cannot make a party allocate more.
	MaxElements   = 1 << 28
	MaxDelta      = 10
	MaxNeighbours = 100
	// leastUsual are the anchor rows of the published experiments ([nosaka2025], Table II and section V).
	leastUsual        = 1000
	defaultDelta      = 0.05 // [imakura2023], section 6.1
	defaultNeighbours = 5    // [chawla2002]
)

// Seeded says whether the seed and the shape determine the anchor.
func (s Spec) Seeded() bool { return slices.Contains(Seeded(), s.Kind) }

// Pieces says whether the anchor is made of pieces of the parties' rows.
func (s Spec) Pieces() bool { return s.Kind == LowRank || s.Kind == SMOTE }

// Defaults are those of the kind for m columns and a basis of l: the published 1000 rows or
// 2m, but m of an orthonormal anchor, and rank l.
func (s Spec) Defaults(m, l int) Spec {
	d := Spec{Kind: s.Kind, Rows: max(leastUsual, 2*m)}
	switch s.Kind {
	case Orthonormal:
		d.Rows = m
	case LowRank:
		d.Rank, d.Delta = l, defaultDelta
	case SMOTE:
		d.Neighbours = defaultNeighbours
	}
	return d
}

// Check says what is wrong with s by itself, as a *[FieldError]. That there are at least as
// many rows as columns is for whoever knows these: see [Spec.Resolve].
func (s Spec) Check() error {
	if err := field.OneOf("kind", s.Kind, Kinds()); err != nil {
		return err
	}
	if err := field.Between("rows", s.Rows, 1, MaxRows); err != nil {
		return err
	}
	for _, err := range []error{
		field.Only("sha256", s.SHA256, s.SHA256 != "", s.Kind, Public),
		field.Only("rank", s.Rank, s.Rank != 0, s.Kind, LowRank),
		field.Only("delta", s.Delta, s.Delta != 0, s.Kind, LowRank),
		field.Only("neighbours", s.Neighbours, s.Neighbours != 0, s.Kind, SMOTE),
	} {
		if err != nil {
			return err
		}
	}
	switch s.Kind {
	case Public:
		return s.checkFile()
	case LowRank:
		if err := field.Between("rank", s.Rank, 1, MaxElements); err != nil {
			return err
		}
		return field.Above("delta", s.Delta, MaxDelta)
	case SMOTE:
		return field.Between("neighbours", s.Neighbours, 1, MaxNeighbours)
	}
	return nil
}

func (s Spec) checkFile() error {
	digits := func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') }
	switch {
	case strings.Trim(s.SHA256, "0") == "":
		return &FieldError{Path: "sha256", Want: "the SHA-256 of the public file, which everybody must have"}
	case len(s.SHA256) != 64 || strings.ContainsFunc(s.SHA256, digits):
		return &FieldError{Path: "sha256", Got: fmt.Sprintf("%q", s.SHA256), Want: "64 lower-case hexadecimal digits"}
	}
	return nil
}

// Resolve returns s, of a kind that the seed determines, with the default number of rows
// filled in for m columns where it has none. The error names an unknown kind, m < 1, fewer
// rows than columns (the theory needs Rank(A) = m), or more than [MaxElements] elements.
func (s Spec) Resolve(m int) (Spec, error) {
	if !s.Seeded() {
		return Spec{}, fmt.Errorf("anchor: unknown kind %q, want one of %s", s.Kind, strings.Join(Seeded(), ", "))
	}
	if m < 1 {
		return Spec{}, fmt.Errorf("anchor: %d columns: at least one feature is needed", m)
	}
	if s.Rows < 0 {
		return Spec{}, fmt.Errorf("anchor: %d rows, want 0 for the default or at least the number of features, %d", s.Rows, m)
	}
	if s.Rows > 0 && s.Rows < m {
		return Spec{}, fmt.Errorf("anchor: %d rows for %d features: the anchor needs rank %d, so give at least %d rows, "+
			"or 0 for the default", s.Rows, m, m, m)
	}
	if s.Rows == 0 {
		s.Rows = s.Defaults(m, 0).Rows
	}
	return s, Fits(s.Rows, m)
}

// Fits says that an anchor of so many rows and columns is too large, or has no rows.
func Fits(rows, m int) error {
	if rows < 1 {
		return fmt.Errorf("anchor: %d rows, want at least 1", rows)
	}
	if rows > MaxElements/m {
		return fmt.Errorf("anchor: %d rows of %d features exceed the limit of %d numbers: take fewer rows, or fewer features",
			rows, m, MaxElements)
	}
	return nil
}

// FieldError is what Check returns.
type FieldError = field.Error
