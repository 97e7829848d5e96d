package anchor

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"concord/linalg"
	"concord/secret"
)

// The kinds of anchor that a seed and a shape determine.
const (
	// KindUniform has independent elements, uniform on [0, 1) ([nosaka2025], [imakura2023]).
	KindUniform = "uniform"
	// KindNormal has independent standard normal elements ([kawakami2024], [nosaka2024mm]).
	KindNormal = "normal"
	// KindOrthonormal is √a·Q with orthonormal columns Q, so that
	// (A F_i)ᵀ(A F_j) = a F_iᵀF_j holds exactly where the other kinds
	// approximate it; a = m rows suffice. Do not take it when parties hold
	// disjoint columns: A_iᵀA_j is then zero, and Procrustes alignment blind.
	KindOrthonormal = "orthonormal"
)

// Kinds lists the kinds that [Generate] knows.
func Kinds() []string { return []string{KindOrthonormal, KindUniform, KindNormal} }

// MaxElements is the largest number of elements of an anchor: 2²⁸, 2 GiB. A
// contract cannot make a party allocate more.
const MaxElements = 1 << 28

// minDefaultRows is the anchor size of the published experiments ([nosaka2025],
// section V: a = 1000).
const minDefaultRows = 1000

// Spec says which anchor to make.
type Spec struct {
	// Kind is one of [Kinds].
	Kind string
	// Rows is a, the number of anchor rows, at least the number of columns m.
	// Zero means m for the orthonormal kind, and the larger of 1000 and 2m for
	// the uniform and normal kinds.
	Rows int
}

// Resolve returns s with the default number of rows filled in for m columns.
// The error names an unknown kind, m < 1, fewer rows than columns (the theory
// needs Rank(A) = m), or more than [MaxElements] elements.
func (s Spec) Resolve(m int) (Spec, error) {
	if !slices.Contains(Kinds(), s.Kind) {
		return Spec{}, fmt.Errorf("anchor: unknown kind %q, want one of %s", s.Kind, strings.Join(Kinds(), ", "))
	}
	if m < 1 {
		return Spec{}, fmt.Errorf("anchor: %d columns: at least one feature is needed", m)
	}
	if s.Rows < 0 {
		return Spec{}, fmt.Errorf("anchor: %d rows, want 0 for the default or at least the number of features, %d", s.Rows, m)
	}
	if s.Rows > 0 && s.Rows < m {
		return Spec{}, fmt.Errorf("anchor: %d rows for %d features: the anchor needs rank %d, so give at least %d rows, or 0 for the default", s.Rows, m, m, m)
	}
	if m > MaxElements || s.Rows > MaxElements/m {
		return Spec{}, tooLarge(s.Rows, m)
	}
	if s.Rows == 0 {
		s.Rows = m
		if s.Kind != KindOrthonormal {
			s.Rows = max(minDefaultRows, 2*m)
		}
		if s.Rows > MaxElements/m {
			return Spec{}, tooLarge(s.Rows, m)
		}
	}
	return s, nil
}

func tooLarge(rows, m int) error {
	return fmt.Errorf("anchor: %d rows of %d features exceed the limit of %d numbers: take fewer rows, or fewer features", rows, m, MaxElements)
}

// Generate returns the anchor A (a × m), a = spec.Rows or its default. The
// stream of a kind starts with the key HKDF-Expand(seed,
// "concord/anchor/<kind>/v1") and fills A row by row (see [linalg.Uniform] and
// [linalg.Normal]), so an anchor with more rows begins with the rows of a
// smaller one, except for the orthonormal kind:
//
//	uniform      A = ⌊u / 2¹¹⌋·2⁻⁵³           the same bits on every machine
//	normal       A = Marsaglia's polar method  the same to 1e-12
//	orthonormal  A = √a·Q, N = Q R, N normal   the same to 1e-12
//
// Since the last two may differ in their last bits, nobody may hash or compare
// an anchor itself: compare [Seed.ID] and the spec.
//
// The errors are those of [Spec.Resolve], found before anything is allocated,
// and an empty or erased seed. The cost is O(a m) in time and memory, and
// O(a m²) in time for the orthonormal kind.
func Generate(spec Spec, seed Seed, m int) (secret.Matrix, error) {
	if err := seed.check(); err != nil {
		return secret.Matrix{}, err
	}
	spec, err := spec.Resolve(m)
	if err != nil {
		return secret.Matrix{}, err
	}
	switch spec.Kind {
	case KindUniform:
		return secret.NewMatrix(linalg.Uniform(spec.Rows, m, seed.stream(labelUniform))), nil
	case KindNormal:
		return secret.NewMatrix(linalg.Normal(spec.Rows, m, seed.stream(labelNormal))), nil
	case KindOrthonormal:
		a := linalg.Stiefel(spec.Rows, m, seed.stream(labelOrthonormal))
		a.Scale(math.Sqrt(float64(spec.Rows)), a)
		return secret.NewMatrix(a), nil
	}
	panic("anchor: kind " + spec.Kind + " is listed and not made")
}
