package align

import (
	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// The sizes of the randomized range finder: columns beyond d, and blocks. On flat
// spectra, as of uniform A_i, five blocks bring GEP to a lower objective than the
// seven power iterations of scikit-learn's randomized_svd, with 10 passes over W
// in place of 16. LS and OPP do with three: there a U_d nearer to the exact one
// does not mean a lower residual.
const (
	oversample  = 10
	blocksOfLS  = 3
	blocksOfGEP = 5
)

// krylov returns approximate top d left singular vectors and values of W by a
// randomized block Krylov method (Musco, Musco 2015; Halko, Martinsson, Tropp
// 2011 for the random start): with Ω a normal a × (d + 10) matrix and B = WWᵀ, an
// orthonormal basis Q of
//
//	[Ω, BΩ, …, B^{n−1}Ω],  n = in.blocks
//
// is built block by block, and the Ritz vectors of QᵀBQ for its largest
// eigenvalues are taken. A product B Y is Σ_i A_i (A_iᵀ Y), each A_i being read
// once and W never put together, or B itself is made when that takes fewer flops:
//
//	4 a L (d + 10) n  against  a² L + 2 a² (d + 10) n
//
// The values are below the exact ones, those of a clear gap exact to rounding.
// The cost is the smaller of these and O(a (n d)²) in time, O(a n d) or a² numbers
// in memory. For a above 256 the blocks are fewer, down to two, if they would
// take more than two thirds of the space: the small eigenproblem is then no
// smaller than the exact one.
func (in *input) krylov(d int) (u *mat.Dense, s []float64, err error) {
	width := min(d+oversample, in.rows)
	blocks := in.blocks
	for in.rows > 256 && blocks > 2 && 3*blocks*width > 2*in.rows {
		blocks--
	}
	total := min(blocks*width, in.rows)
	apply := in.both
	if a, l, k := float64(in.rows), float64(in.sum), float64(total); a*l+2*a*k < 4*l*k {
		b := in.outer()
		apply = func(y *mat.Dense) *mat.Dense {
			p := new(mat.Dense)
			p.Mul(b, y)
			return p
		}
	}
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
		y = apply(y)
		if err := linalg.CheckFinite(y); err != nil {
			return nil, nil, err
		}
		b.Slice(0, in.rows, at, at+n).(*mat.Dense).Copy(y)
	}
	var t mat.Dense
	t.Mul(q.T(), b)
	w, v, err := symmetric(&t, d)
	if err != nil {
		return nil, nil, err
	}
	u = new(mat.Dense)
	u.Mul(q, v)
	return u, roots(w), nil
}

// both returns Σ_i A_i A_iᵀ Y, in panels of rows so that A_i is read from memory
// once.
func (in *input) both(y *mat.Dense) *mat.Dense {
	_, k := y.Dims()
	parts := make([]*mat.Dense, groups)
	_ = in.eachGroup(func(g, from, to int) error {
		sum := mat.NewDense(in.rows, k, nil)
		for i := from; i < to; i++ {
			c := mat.NewDense(in.cols[i], k, nil)
			accumulate(c, in.a[i].T(), y)
			accumulate(sum, in.a[i], c)
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
