package align

import (
	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// The sizes of the randomized range finder: columns beyond d, and products with
// WWᵀ. Four products read W eight times; scikit-learn's randomized_svd with its
// defaults reads it ten to sixteen times and finds no more energy.
const (
	oversample   = 10
	krylovBlocks = 4
)

// krylov returns approximate top d left singular vectors and values of W by a
// randomized block Krylov method (Musco, Musco 2015; Halko, Martinsson, Tropp
// 2011 for the random start): with Ω a normal a × (d + 10) matrix and B = WWᵀ, an
// orthonormal basis Q of
//
//	[Ω, BΩ, B²Ω, B³Ω]
//
// is built block by block, and the Ritz vectors of QᵀBQ for its largest
// eigenvalues are taken. W is never put together: B Y = Σ_i A_i (A_iᵀ Y), each A_i
// being read once a product.
//
// The values are below the exact ones, those of a clear gap exact to rounding.
// The cost is O(16 a L d + a d²) in time and O(a d) in memory.
func (in *input) krylov(d int) (u *mat.Dense, s []float64, err error) {
	width := min(d+oversample, in.rows)
	total := min(krylovBlocks*width, in.rows)
	q := mat.NewDense(in.rows, total, nil)
	b := mat.NewDense(in.rows, total, nil) // B Q
	y := linalg.Normal(in.rows, width, in.opt.source())
	for at := 0; at < total; at += width {
		n := min(width, total-at)
		if n < width {
			y = mat.DenseCopyOf(y.Slice(0, in.rows, 0, n))
		}
		for range 2 { // twice is enough: once leaves the rounding of the first
			if at > 0 {
				old := q.Slice(0, in.rows, 0, at)
				var c, p mat.Dense
				c.Mul(old.T(), y)
				p.Mul(old, &c)
				y.Sub(y, &p)
			}
			if y, err = orthonormal(y); err != nil {
				return nil, nil, err
			}
		}
		q.Slice(0, in.rows, at, at+n).(*mat.Dense).Copy(y)
		y = in.both(y)
		if err := linalg.CheckFinite(y); err != nil {
			return nil, nil, err
		}
		b.Slice(0, in.rows, at, at+n).(*mat.Dense).Copy(y)
	}
	var t mat.Dense
	t.Mul(q.T(), b)
	w, v, err := symmetric(&t)
	if err != nil {
		return nil, nil, err
	}
	u = new(mat.Dense)
	u.Mul(q, v.Slice(0, total, 0, d))
	return u, roots(w[:d]), nil
}

// both returns Σ_i A_i A_iᵀ Y, in panels of rows so that A_i is read from memory
// once.
func (in *input) both(y *mat.Dense) *mat.Dense {
	_, k := y.Dims()
	parts := make([]*mat.Dense, groups)
	_ = in.eachGroup(func(g, from, to int) error {
		sum := mat.NewDense(in.rows, k, nil)
		var c, p mat.Dense
		for i := from; i < to; i++ {
			c.Mul(in.a[i].T(), y)
			p.Mul(in.a[i], &c)
			sum.Add(sum, &p)
		}
		parts[g] = sum
		return nil
	})
	for _, p := range parts[1:] {
		if p != nil {
			parts[0].Add(parts[0], p)
		}
	}
	return parts[0]
}
