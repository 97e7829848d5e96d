package linalg

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// SketchOptions are the choices of [RandomSVD] and [RandomSVDLeft]. The zero
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
// finder with power iterations and QR between them ([halko2011], algorithms 4.4 and 5.1):
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

// RandomSVDLeft approximates the k largest singular values of W = [A_1 … A_c]
// with their left vectors U (a × k), in Power + 2 passes over the blocks and
// without holding W or its right vectors. The power iteration is
//
//	Q ← orth(Σ A_i (A_iᵀ Q)),
//
// and the last pass reduces the rows A_iᵀQ of WᵀQ to their triangular factor
// block by block, so that the singular values are not those of a squared
// matrix. The sign of a column makes its leading element positive, as in
// [SVDLeft]. The rest is as in [RandomSVD], but the sketch is used whatever its
// size, up to min(a, L) columns.
//
// The cost is O(a L (k + p) q) in time and O((a + L)(k + p)) in memory, for Ω.
func RandomSVDLeft(w *Blocks, k int, opt SketchOptions) (u *mat.Dense, s []float64, err error) {
	rows, total := w.Dims()
	if k < 1 || k > min(rows, total) {
		panic(fmt.Sprintf("linalg: %d singular values of a %d × %d matrix", k, rows, total))
	}
	oversample, power := opt.sizes()
	width := min(k+oversample, rows, total)
	y := mat.NewDense(rows, width, nil)
	err = w.Each(func(i int, a *mat.Dense) error {
		accumulate(y, a, Normal(w.cols[i], width, opt.Source))
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	q, err := rangeOf(y)
	if err != nil {
		return nil, nil, err
	}
	for range power {
		y.Zero()
		err := w.Each(func(_ int, a *mat.Dense) error {
			var p mat.Dense
			p.Mul(a.T(), q)
			accumulate(y, a, &p)
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
		if q, err = rangeOf(y); err != nil {
			return nil, nil, err
		}
	}
	r := &mat.Dense{}
	err = w.Cross(q, func(_ int, p *mat.Dense) error {
		r, err = stackQR(r, p)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	// WᵀQ = P R and R = X diag(s) Yᵀ, so W ≈ Q (WᵀQ)ᵀ = (Q Y) diag(s) (P X)ᵀ.
	s, v, err := SVDRight(r)
	if err != nil {
		return nil, nil, err
	}
	u = new(mat.Dense)
	u.Mul(q, v.Slice(0, width, 0, k))
	fixSigns(u, nil)
	return u, s[:k], nil
}

// accumulate adds a b to sum.
func accumulate(sum, a, b *mat.Dense) {
	var p mat.Dense
	p.Mul(a, b)
	sum.Add(sum, &p)
}

// stackQR is the triangular factor of r on top of p.
func stackQR(r, p *mat.Dense) (*mat.Dense, error) {
	rows, _ := dims(r)
	more, cols := dims(p)
	both := mat.NewDense(rows+more, cols, nil)
	if rows > 0 {
		both.Slice(0, rows, 0, cols).(*mat.Dense).Copy(r)
	}
	both.Slice(rows, rows+more, 0, cols).(*mat.Dense).Copy(p)
	_, next, err := QR(both)
	return next, err
}
