package align

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// The sizes of the randomized range finder: columns beyond d, and blocks. On flat
// spectra, as of uniform A_i, four blocks bring GEP to a lower objective than the
// seven power iterations of scikit-learn's randomized_svd, with 8 passes over W
// in place of 16. LS and OPP do with two: there a U_d nearer to the exact one does
// not mean a lower residual.
const (
	thin        = 2 // times as long as the flops of WWᵀ take those of products with few columns
	oversample  = 10
	blocksOfLS  = 2
	blocksOfGEP = 4
)

// krylov returns approximate top d left singular vectors and values of W by a
// randomized block Krylov method (Musco, Musco 2015; Halko, Martinsson, Tropp
// 2011 for the random start): with Ω an L × (d + 10) matrix of random signs and
// B = WWᵀ, an orthonormal basis Q of
//
//	[WΩ, BWΩ, …, B^{n−1}WΩ],  n = in.blocks
//
// is built block by block, and the Ritz vectors of QᵀBQ for its largest
// eigenvalues are taken. A product B Y is Σ_i A_i (A_iᵀ Y), each A_i being read
// once and W never put together, and the last one ends at A_iᵀY. Or B itself is
// made, and BΩ takes the place of WΩ with an Ω of a rows, when that takes fewer
// time, with flops of the first kind counted twice:
//
//	4 a L (d + 10) n  against  a² L + 2 a² (d + 10) (n + 1)
//
// The values are below the exact ones, those of a clear gap exact to rounding.
// The cost is the smaller of these and O(a (n d)²) in time, O(a n d) or a² numbers
// in memory. For a above 256 the blocks are fewer, down to half, if they would take
// more than half of the space: the small eigenproblem is then hardly smaller than
// the exact one.
func (in *input) krylov(d int) (u *mat.Dense, s []float64, err error) {
	width := min((d+oversample+15)/16*16, in.rows) // full vectors
	blocks := in.blocks
	for in.rows > 256 && blocks > in.blocks/2 && 2*blocks*width > in.rows {
		blocks--
	}
	total := min(blocks*width, in.rows)
	var y, b *mat.Dense // b is WWᵀ, or nil
	if a, l, k := float64(in.rows), float64(in.sum), float64(total); a*l+2*a*(k+float64(width)) < 4*thin*l*k {
		b, y = in.outer(), new(mat.Dense)
		y.Mul(b, signs(in.rows, width, in.opt.source()))
	} else {
		y = in.combine(signs(in.sum, width, in.opt.source()))
	}
	q := mat.NewDense(in.rows, total, nil)
	image := mat.NewDense(in.rows, total, nil) // B Q, but for the last block
	var last *mat.Dense                        // Q_nᵀ B Q_n
	at := 0
	for {
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
		if at+n == total {
			last = in.ritz(y, b)
			break
		}
		if b != nil {
			y = mul(b, y)
		} else {
			y = in.both(y)
		}
		image.Slice(0, in.rows, at, at+n).(*mat.Dense).Copy(y)
		at += n
	}
	t := mat.NewDense(total, total, nil)
	if at > 0 {
		// The columns of the blocks before the last, whose lower part is also the
		// upper part of the last.
		t.Slice(0, total, 0, at).(*mat.Dense).Mul(q.T(), image.Slice(0, in.rows, 0, at))
		t.Slice(0, at, at, total).(*mat.Dense).Copy(t.Slice(at, total, 0, at).T())
	}
	t.Slice(at, total, at, total).(*mat.Dense).Copy(last)
	w, v, err := symmetric(t, d)
	if err != nil {
		return nil, nil, err
	}
	u = new(mat.Dense)
	u.Mul(q, v)
	return u, roots(w), nil
}

// signs returns a matrix of independent signs, 64 of them from a word.
func signs(rows, cols int, src rand.Source) *mat.Dense {
	m := mat.NewDense(rows, cols, nil)
	data := m.RawMatrix().Data
	var word uint64
	for i := range data {
		if i%64 == 0 {
			word = src.Uint64()
		}
		data[i] = float64(int(word&1)*2 - 1)
		word >>= 1
	}
	return m
}

// ritz returns YᵀBY (k × k), by b = B unless that is nil.
func (in *input) ritz(y, b *mat.Dense) *mat.Dense {
	_, k := y.Dims()
	t := mat.NewDense(k, k, nil)
	if b != nil {
		t.Mul(y.T(), mul(b, y))
		return t
	}
	parts := make([]*mat.Dense, groups)
	_ = in.eachGroup(func(g, from, to int) error {
		parts[g] = mat.NewDense(k, k, nil)
		all := mat.NewDense(slices.Max(in.cols[from:to]), k, nil)
		for i := from; i < to; i++ {
			c := all.Slice(0, in.cols[i], 0, k).(*mat.Dense)
			in.cross(c, i, y)
			accumulate(parts[g], c.T(), c)
		}
		return nil
	})
	for _, p := range parts {
		if p != nil {
			t.Add(t, p)
		}
	}
	return t
}

// both returns B Y = Σ_i A_i A_iᵀ Y.
func (in *input) both(y *mat.Dense) *mat.Dense {
	_, k := y.Dims()
	g := mat.NewDense(in.sum, k, nil)
	_ = in.each(func(i int) error {
		in.cross(in.block(g, i), i, y)
		return nil
	})
	return in.combine(g)
}

// mul returns X Y.
func mul(x mat.Matrix, y *mat.Dense) *mat.Dense {
	m := new(mat.Dense)
	m.Mul(x, y)
	return m
}
