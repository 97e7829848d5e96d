package anchor

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"concord/anchor/spec"
	"concord/linalg"
	"concord/secret"
)

// Spec says which anchor to make: see [spec.Spec].
type Spec = spec.Spec

// Shared is what the parties have in common and the analyst has not, of which anchors are
// made.
type Shared struct {
	// Seed is of every anchor.
	Seed Seed
	// Public are the rows of the public file, prepared (p × m), for the kind public.
	Public *mat.Dense
	// Pieces are those of all parties in an agreed order (each of m columns), for the kinds
	// low-rank and smote.
	Pieces []secret.Matrix
	// Pairs are the pooled second moments of prepared columns, for the kind gaussian.
	Pairs Pairs
}

// New returns the anchor A (a × m) of any kind, the same at every party that has the same
// in s. The errors are those of [Generate], [FromPublic], [FromSeedAndPieces] and [Gaussian],
// and say what of s is missing, or has other than m columns.
func New(of Spec, s Shared, m int) (secret.Matrix, error) {
	switch {
	case of.Kind == spec.Public:
		if s.Public == nil {
			return secret.Matrix{}, errors.New("anchor: it is made of a public file, and there are no rows of it")
		}
		return FromPublic(s.Seed, s.Public, of.Rows)
	case of.Pieces():
		if len(s.Pieces) < 2 {
			return secret.Matrix{}, fmt.Errorf("anchor: %d pieces of the anchor; 2 parties at least give one", len(s.Pieces))
		}
		for i, p := range s.Pieces {
			if _, columns := p.Dims(); columns != m {
				return secret.Matrix{}, fmt.Errorf("anchor: piece %d of the anchor has %d columns, must have %d", i+1, columns, m)
			}
		}
		return FromSeedAndPieces(s.Seed, s.Pieces, of.Rows)
	case of.Kind == spec.Gaussian:
		a, _, err := Gaussian(s.Seed, s.Pairs, of.Rows)
		return a, err
	}
	return Generate(of, s.Seed, m)
}

// Generate returns the anchor A (a × m), a = of.Rows or its default. The
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
func Generate(of Spec, seed Seed, m int) (secret.Matrix, error) {
	if err := seed.check(); err != nil {
		return secret.Matrix{}, err
	}
	of, err := of.Resolve(m)
	if err != nil {
		return secret.Matrix{}, err
	}
	switch of.Kind {
	case spec.Uniform:
		return secret.NewMatrix(linalg.Uniform(of.Rows, m, seed.stream(labelUniform))), nil
	case spec.Normal:
		return secret.NewMatrix(linalg.Normal(of.Rows, m, seed.stream(labelNormal))), nil
	case spec.Orthonormal:
		a := linalg.Stiefel(of.Rows, m, seed.stream(labelOrthonormal))
		a.Scale(math.Sqrt(float64(of.Rows)), a)
		return secret.NewMatrix(a), nil
	}
	panic("anchor: kind " + of.Kind + " is listed and not made")
}
