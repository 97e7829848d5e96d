package anchor

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
	"concord/secret"
)

// labelMixing belongs to the mixing of public rows.
const labelMixing = "concord/anchor/public/v1"

// Mix returns the anchor A (rows × m) of secret mixtures of the public rows P (p
// × m),
//
//	A = R P / √p,   R (rows × p) independent standard normal numbers,
//
// which begins its stream with the key HKDF-Expand(seed,
// "concord/anchor/public/v1") and fills R row by row. Given P, the rows of A are
// independent normal vectors with the mean 0 and the second moments PᵀP/p of P's
// rows: they have the scale and the correlations of public rows, and are none of
// them. They scatter around 0 and not around P's mean, so take P standardised.
//
// Who knows P and a party's A F_i still does not know F_i, since R is secret,
// where a selection of P's rows ([Sample]) would give F_i = A⁺(A F_i) to
// everybody; but P and all of A F_i give away what distributions give, see
// METHODS: the second moments of A F_i are about F_iᵀ(PᵀP/p)F_i.
//
// Rank(A) is almost surely the smaller of rows and Rank(P). The theory needs m,
// which columns without variance or a P of few rows do not give; the caller
// compares with [linalg.Rank]. All parties must have the same P: agree its hash.
// A is the same to 1e-12 of its largest elements on every machine, as the normal
// kind.
//
// The errors name the numbers: an empty or erased seed, no public rows, NaN or Inf
// by row and column, rows below 1, or more than [MaxElements] elements in A or R.
// public is not changed. Cost O(rows p m) time, O(rows (p + m)) memory.
func Mix(public *mat.Dense, rows int, seed Seed) (secret.Matrix, error) {
	if err := seed.check(); err != nil {
		return secret.Matrix{}, err
	}
	p, m, err := checkRows("public rows", public)
	if err != nil {
		return secret.Matrix{}, err
	}
	if err := checkSize(rows, m); err != nil {
		return secret.Matrix{}, err
	}
	if rows > MaxElements/p {
		return secret.Matrix{}, fmt.Errorf("anchor: %d mixtures of %d public rows exceed the limit of %d numbers: take fewer of either", rows, p, MaxElements)
	}
	r := linalg.Normal(rows, p, seed.stream(labelMixing))
	defer r.Zero()
	r.Scale(1/math.Sqrt(float64(p)), r)
	a := new(mat.Dense)
	a.Mul(r, public)
	if err := linalg.CheckFinite(a); err != nil {
		a.Zero()
		return secret.Matrix{}, errors.New("anchor: mixtures of the public rows overflow: scale the rows down")
	}
	return secret.NewMatrix(a), nil
}

// Sample returns rows of P itself (p × m), drawn without replacement, in random
// order: the published experiments' public anchor (ODC1 §V: 3000 molecules).
//
// It is for the laboratory only. Anyone who knows P gets F_i from A F_i: by
// F_i = A⁺(A F_i) if the drawn rows are known, and by comparing if not. A study
// takes [Mix].
//
// The errors are no public rows, NaN or Inf by row and column, and a number of
// rows outside 1 … p. A nil src panics. Cost O(p + rows m).
func Sample(public *mat.Dense, rows int, src rand.Source) (secret.Matrix, error) {
	if src == nil {
		panic("anchor: nil source")
	}
	p, m, err := checkRows("public rows", public)
	if err != nil {
		return secret.Matrix{}, err
	}
	if rows < 1 || rows > p {
		return secret.Matrix{}, fmt.Errorf("anchor: %d rows of %d public rows: choose 1 to %d", rows, p, p)
	}
	a := mat.NewDense(rows, m, nil)
	for i, from := range rand.New(src).Perm(p)[:rows] {
		a.SetRow(i, public.RawRowView(from))
	}
	return secret.NewMatrix(a), nil
}

// checkRows wants x to have finite rows and returns its shape.
func checkRows(what string, x *mat.Dense) (n, m int, err error) {
	if x == nil || x.IsEmpty() {
		return 0, 0, fmt.Errorf("anchor: no %s: at least one is needed", what)
	}
	n, m = x.Dims()
	if err := linalg.CheckFinite(x); err != nil {
		return 0, 0, fmt.Errorf("anchor: %s: %v", what, err)
	}
	return n, m, nil
}

// checkSize wants rows × m to be an anchor that can be made.
func checkSize(rows, m int) error {
	if rows < 1 {
		return fmt.Errorf("anchor: %d rows: at least one is needed", rows)
	}
	if rows > MaxElements/m {
		return tooLarge(rows, m)
	}
	return nil
}
