package align

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// The sizes of the randomized range finder: columns beyond d, and blocks. On flat
// spectra, as of uniform A_i, four blocks bring GEP to a lower objective than the
// seven power iterations of scikit-learn's randomized_svd, with 8 passes over W
// in place of 16. LS and OPP do with two: there a U_d nearer to the exact one does
// not mean a lower residual.
const (
	thin        = 2 // times as long as the flops of WWᵀ take those of products with few columns
	oversample  = 6
	blocksOfLS  = 2
	blocksOfGEP = 4
)

// krylov returns approximate top d left singular vectors and values of W by a randomized block
// Krylov method ([musco2015]; [halko2011] for the random start): with Ω an L × k matrix of
// random signs, k = d + 6 or a little more, and B = WWᵀ, an orthonormal basis Q of
//
//	[WΩ, BWΩ, …, B^{n−1}WΩ],  n = in.blocks
//
// is built block by block, and the Ritz vectors of QᵀBQ for its largest
// eigenvalues are taken. A product B Y is Σ_i A_i (A_iᵀ Y), W never being put
// together, and the last one ends at A_iᵀY. Or B itself is made, and BΩ takes the
// place of WΩ with an Ω of a rows, when that takes less time, flops of the first
// kind being counted twice:
//
//	4 a L k n  against  a² L + 2 a² k (n + 1)
//
// The values are below the exact ones, those of a clear gap exact to rounding.
// The cost is the smaller of these and O(a (n d)²) in time, O(a n d) or a² numbers
// in memory. For a above 256 the blocks are fewer, down to half, if they would take
// more than half of the space: the small eigenproblem is then hardly smaller than
// the exact one.
func (in *input) krylov(d int) (*ritz, error) {
	width := min((d+oversample+7)/8*8, in.rows) // full vectors
	blocks := in.blocks
	for in.rows > 256 && blocks > in.blocks/2 && 2*blocks*width > in.rows {
		blocks--
	}
	total := min(blocks*width, in.rows)
	if a, l, k := float64(in.rows), float64(in.sum), float64(total); a*l+2*a*(k+float64(width)) < 4*thin*l*k {
		return in.krylovOuter(d, width, total)
	}
	return in.krylovThin(d, width, total)
}

// ritz is what a randomized method found.
type ritz struct {
	u *mat.Dense // a × d
	s []float64
	v *mat.Dense // V_d Σ_d (L × d), or nil
}

// krylovThin has B as products with W. With R = WᵀQ, which is kept, QᵀBQ = RᵀR and
// V_d Σ_d is R times the Ritz vectors.
func (in *input) krylovThin(d, width, total int) (*ritz, error) {
	q, r := mat.NewDense(in.rows, total, nil), mat.NewDense(in.sum, total, nil)
	src := in.opt.source()
	y := in.combine(signs(in.sum, width, src))
	for at := 0; ; {
		n := min(width, total-at)
		block, err := extend(q, at, y, n, src)
		if err != nil {
			return nil, err
		}
		g := mat.NewDense(in.sum, n, nil)
		_ = in.each(func(i int) error {
			in.cross(in.block(g, i), i, block)
			return nil
		})
		r.Slice(0, in.sum, at, at+n).(*mat.Dense).Copy(g)
		if at += n; at == total {
			break
		}
		y = in.combine(g)
	}
	t := mat.NewDense(total, total, nil)
	raw := t.RawMatrix()
	blas64.Syrk(blas.Trans, 1, r.RawMatrix(), 0, blas64.Symmetric{N: total, Stride: total, Data: raw.Data, Uplo: blas.Upper})
	w, x, err := symmetric(t, d)
	if err != nil {
		return nil, err
	}
	return &ritz{mul(q, x), roots(w), mul(r, x)}, nil
}

// krylovOuter makes B.
func (in *input) krylovOuter(d, width, total int) (*ritz, error) {
	b := in.outer()
	q, image := mat.NewDense(in.rows, total, nil), mat.NewDense(in.rows, total, nil)
	src := in.opt.source()
	y := mul(b, signs(in.rows, width, src))
	for at := 0; at < total; {
		n := min(width, total-at)
		block, err := extend(q, at, y, n, src)
		if err != nil {
			return nil, err
		}
		y = mul(b, block)
		image.Slice(0, in.rows, at, at+n).(*mat.Dense).Copy(y)
		at += n
	}
	w, x, err := symmetric(mul(q.T(), image), d)
	if err != nil {
		return nil, err
	}
	return &ritz{u: mul(q, x), s: roots(w)}, nil
}

// extend puts the first n columns of y, made orthonormal to the columns of q
// before at and to each other, in q from there on, and returns them.
//
// Twice is enough for a column that keeps its length the second time (Kahan's,
// [parlett1998], section 6.9). One that was a combination of
// the others does not: W has no further direction, as when many anchor rows are
// zero, and a random one takes its place.
func extend(q *mat.Dense, at int, y *mat.Dense, n int, src rand.Source) (*mat.Dense, error) {
	const (
		mostRounds = 8
		kept       = 0.5   // of the length
		gone       = 1e-12 // what is left is rounding
	)
	rows, width := y.Dims()
	if n < width {
		y = mat.DenseCopyOf(y.Slice(0, rows, 0, n))
	}
	for round := 1; round <= mostRounds; round++ {
		if at > 0 {
			old := q.Slice(0, rows, 0, at)
			c := mul(old.T(), y)
			blas64.Gemm(blas.NoTrans, blas.NoTrans, -1, old.(*mat.Dense).RawMatrix(), c.RawMatrix(), 1, y.RawMatrix())
		}
		var r *mat.Dense
		var err error
		if y, r, err = linalg.QR(y); err != nil {
			return nil, err
		}
		if round == 1 {
			continue
		}
		done := true
		for j := range n {
			if length := r.At(j, j); length < kept {
				done = false
				if length < gone {
					v := signs(rows, 1, src)
					v.Scale(1/math.Sqrt(float64(rows)), v)
					y.Slice(0, rows, j, j+1).(*mat.Dense).Copy(v)
				}
			}
		}
		if done {
			break
		}
	}
	q.Slice(0, rows, at, at+n).(*mat.Dense).Copy(y)
	return y, nil
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

// mul returns X Y.
func mul(x, y mat.Matrix) *mat.Dense {
	m := new(mat.Dense)
	m.Mul(x, y)
	return m
}
