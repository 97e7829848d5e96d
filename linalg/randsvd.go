package linalg

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// SketchOptions are the choices of [RandomSVD]. The zero
// value of the numbers works; Source is required.
type SketchOptions struct {
	// Source gives the test matrix. A seeded source gives the same result again
	// under the same backend.
	Source rand.Source
	// Oversample is the number of columns of the test matrix beyond k. Zero means
	// 10, as [halko2011] advises; negative means none.
	Oversample int
	// Power is the number of power iterations. Zero means 4; negative means none.
	// Each multiplies the decay of the singular values: the expected error in the
	// spectral norm is (1 + C)^(1/(2 Power + 1)) s_{k+1} with C of about
	// √(min(m, n)) ([halko2011], corollary 10.10).
	Power int
}

func (o SketchOptions) sizes() (oversample, power int) {
	oversample, power = o.Oversample, o.Power
	if oversample == 0 {
		oversample = 10
	}
	if power == 0 {
		power = 4
	}
	return max(0, oversample), max(0, power)
}

// RandomSVD approximates the k largest singular values of a (m × n) with their
// vectors: U (m × k), s (k), V (n × k), signs as in [SVD], by a randomized range
// finder with power iterations and QR between them ([halko2011],
// algorithms 4.4 and 5.1):
//
//	Q = orth((A Aᵀ)^q A Ω),  QᵀA = Û diag(s) Vᵀ,  U = Q Û
//
// with a normal Ω (n × (k + p)). The singular values never exceed the exact
// ones; they are close where the spectrum falls off beyond k. When k + p reaches
// min(m, n) the exact decomposition is cheaper and is returned. It panics unless
// 1 ≤ k ≤ min(m, n).
//
// The cost is O(m n (k + p) q) in time and O((m + n)(k + p)) in memory.
func RandomSVD(a *mat.Dense, k int, opt SketchOptions) (u *mat.Dense, s []float64, v *mat.Dense, err error) {
	rows, cols := dims(a)
	if k < 1 || k > min(rows, cols) {
		panic(fmt.Sprintf("linalg: %d singular values of a %d × %d matrix", k, rows, cols))
	}
	oversample, power := opt.sizes()
	if k+oversample >= min(rows, cols) {
		u, s, v, err = SVD(a)
		if err != nil {
			return nil, nil, nil, err
		}
		return mat.DenseCopyOf(u.Slice(0, rows, 0, k)), s[:k], mat.DenseCopyOf(v.Slice(0, cols, 0, k)), nil
	}
	if err := CheckFinite(a); err != nil {
		return nil, nil, nil, err
	}
	y := new(mat.Dense)
	y.Mul(a, Normal(cols, k+oversample, opt.Source))
	q, err := rangeOf(y)
	if err != nil {
		return nil, nil, nil, err
	}
	for range power {
		z := new(mat.Dense)
		z.Mul(a.T(), q)
		if z, err = rangeOf(z); err != nil {
			return nil, nil, nil, err
		}
		y.Mul(a, z)
		if q, err = rangeOf(y); err != nil {
			return nil, nil, nil, err
		}
	}
	b := new(mat.Dense)
	b.Mul(q.T(), a)
	small, s, v, err := SVD(b)
	if err != nil {
		return nil, nil, nil, err
	}
	u = new(mat.Dense)
	u.Mul(q, small.Slice(0, k+oversample, 0, k))
	return u, s[:k], mat.DenseCopyOf(v.Slice(0, cols, 0, k)), nil
}

// rangeOf is an orthonormal basis of the columns of y. An overflow of the
// product that made y is the only error.
func rangeOf(y *mat.Dense) (*mat.Dense, error) {
	q, _, err := QR(y)
	if err != nil {
		return nil, errors.New("linalg: randomized decomposition overflows: scale the matrix down")
	}
	return q, nil
}
