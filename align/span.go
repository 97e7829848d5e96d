package align

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// The solvers of U_d.
const (
	solverSVD        = "svd"
	solverGram       = "gram"
	solverRandomized = "randomized"
)

// gramLimit is the ratio σ_1/σ_d up to which U_d is taken from a Gram matrix.
// Eigenvectors of WWᵀ are exact to eps σ_1²/(σ_j² − σ_{j+1}²), those of W to
// eps σ_1/(σ_j − σ_{j+1}): the loss is a factor of σ_1/(σ_j + σ_{j+1}), here at
// most half of a thousand, three of the sixteen digits.
const gramLimit = 1000

// smallSide is the shorter side of W up to which its SVD is quick enough for
// nothing to be gained.
const smallSide = 32

// solverExact asks [input.vectors] for gram or svd, by size.
const solverExact = "exact"

// W is large, and randomized the default as published, from this shorter side on
// and where d is less than an eighth of it: gram takes a tenth of a second there,
// and up to seven times as long as randomized.
const (
	largeSide  = 800
	largeTimes = 8
)

func (in *input) large(d int) bool {
	side := min(in.rows, in.sum)
	return side >= largeSide && d*largeTimes < side
}

// leftVectors returns the top d left singular vectors of W and its singular
// values, all of them (svd) or d, by the solver
//
//	svd         of W                                O(a L min(a, L))
//	gram        eigenvectors of WᵀW or WWᵀ          a L min(a, L) + O(min(a, L)³)
//	randomized  block Krylov, see [input.krylov]    O(a L d), approximate
//
// and the name of the solver used. Without a name it takes svd if W is small,
// randomized if W is large and d much less, and gram otherwise, which needs a
// fraction of the time of svd. gram squares the condition number: it is refused,
// and svd takes its place, when σ_1 > 1000 σ_d. The sign of each column is fixed
// as in [linalg.SVDLeft].
func (in *input) leftVectors(d int, solver string) (u *mat.Dense, s []float64, used string, err error) {
	u, s, _, used, err = in.vectors(d, solver)
	return u, s, used, err
}

// vectors is leftVectors with V_d Σ_d (L × d) where it costs nothing, else nil.
func (in *input) vectors(d int, solver string) (u *mat.Dense, s []float64, v *mat.Dense, used string, err error) {
	if solver == "" && in.large(d) {
		solver = solverRandomized
	}
	if solver == "" || solver == solverExact {
		solver = solverGram
		if min(in.rows, in.sum) <= smallSide {
			solver = solverSVD
		}
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("align: W = [A_1 … A_%d]: %v", len(in.a), err)
		}
	}()
	switch solver {
	case solverRandomized:
		r, err := in.krylov(d)
		if err != nil {
			return nil, nil, nil, "", err
		}
		signs := fixSigns(r.u)
		if r.v != nil {
			scaleColumns(r.v, signs)
		}
		return r.u, r.s, r.v, solver, nil
	case solverGram:
		var ok bool
		if u, s, ok, err = in.gramVectors(d); ok || err != nil {
			break
		}
		solver = solverSVD
		fallthrough
	default:
		u, s, err = linalg.SVDLeft(in.hstack())
		if err == nil {
			u = mat.DenseCopyOf(u.Slice(0, in.rows, 0, d))
		}
	}
	if err != nil {
		return nil, nil, nil, "", err
	}
	fixSigns(u)
	return u, s, nil, solver, nil
}

// gramVectors computes U_d from the smaller of WᵀW and WWᵀ; ok is false when
// that would lose too many digits.
func (in *input) gramVectors(d int) (u *mat.Dense, s []float64, ok bool, err error) {
	if in.rows <= in.sum {
		w, v, err := symmetric(in.outer(), d)
		if err != nil {
			return nil, nil, false, err
		}
		s = roots(w)
		if !(s[0] <= gramLimit*s[d-1]) || s[0] == 0 {
			return nil, nil, false, nil
		}
		return v, s, true, nil
	}
	w, v, err := symmetric(in.gram(), d)
	if err != nil {
		return nil, nil, false, err
	}
	s = roots(w)
	if !(s[0] <= gramLimit*s[d-1]) || s[0] == 0 {
		return nil, nil, false, nil
	}
	// U_d = W V_d Σ_d⁻¹, orthonormal to eps σ_1²/σ_d²; QR mends that.
	inverse := make([]float64, d)
	for j := range d {
		inverse[j] = 1 / s[j]
	}
	scaleColumns(v, inverse)
	u, err = orthonormal(in.combine(v))
	return u, s, err == nil, err
}

// rightVectors returns V_d (L × d) with the singular values of W, as Wᵀ U_d Σ_d⁻¹
// unless σ_d is so small that this would lose digits. The sign of each column is
// that of [input.leftVectors].
func (in *input) rightVectors(d int, solver string) (v *mat.Dense, s []float64, err error) {
	u, s, v, _, err := in.vectors(d, solver)
	if err != nil {
		return nil, nil, err
	}
	if !(s[0] <= gramLimit*s[d-1]) {
		u, s, w, err := linalg.SVD(in.hstack())
		if err != nil {
			return nil, nil, err
		}
		v = mat.DenseCopyOf(w.Slice(0, in.sum, 0, d))
		scaleColumns(v, fixSigns(mat.DenseCopyOf(u.Slice(0, in.rows, 0, d))))
		return v, s, nil
	}
	inverse := make([]float64, d)
	for j := range d {
		inverse[j] = 1 / s[j]
	}
	if v != nil {
		scaleColumns(v, inverse)
		return v, s, nil
	}
	v = mat.NewDense(in.sum, d, nil)
	err = in.each(func(i int) error {
		b := in.block(v, i)
		in.cross(b, i, u)
		scaleColumns(b, inverse)
		return nil
	})
	return v, s, err
}

// combine returns W G = Σ_i A_i G_i (a × d) for the stacked g (L × d), panel of
// rows by panel, so that the sum stays in the cache.
func (in *input) combine(g *mat.Dense) *mat.Dense {
	_, d := g.Dims()
	gs := make([]*mat.Dense, len(in.a))
	for i := range gs {
		gs[i] = in.block(g, i)
		if in.t != nil && in.t[i] != nil {
			gs[i] = mul(in.t[i], gs[i])
		}
	}
	sum := mat.NewDense(in.rows, d, nil)
	const rows = 240 // of full kernels, 4, 6, 8, 10 or 12 rows high
	_ = parallel(in.opt.Workers, (in.rows+rows-1)/rows, func(k int) error {
		from, to := k*rows, min((k+1)*rows, in.rows)
		p := sum.Slice(from, to, 0, d).(*mat.Dense)
		for i, ai := range in.a {
			_, l := ai.Dims()
			accumulate(p, ai.Slice(from, to, 0, l), gs[i])
		}
		return nil
	})
	return sum
}

// cross puts A_iᵀ Y in dst (l_i × k).
func (in *input) cross(dst *mat.Dense, i int, y *mat.Dense) {
	a, out := in.a[i].RawMatrix(), dst.RawMatrix()
	if in.t == nil || in.t[i] == nil {
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, a, y.RawMatrix(), 0, out)
		return
	}
	buffer := scratch.Get().(*[]float64)
	defer scratch.Put(buffer)
	_, k := y.Dims()
	if len(*buffer) < a.Cols*k {
		*buffer = make([]float64, a.Cols*k)
	}
	m := blas64.General{Rows: a.Cols, Cols: k, Stride: k, Data: (*buffer)[:a.Cols*k]}
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, a, y.RawMatrix(), 0, m)
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, in.t[i].RawMatrix(), m, 0, out)
}

// put copies the rows from ≤ r < to of A_i to dst.
func (in *input) put(dst *mat.Dense, i, from, to int) {
	_, l := in.a[i].Dims()
	rows := in.a[i].Slice(from, to, 0, l)
	if in.t != nil && in.t[i] != nil {
		dst.Mul(rows, in.t[i])
		return
	}
	dst.Copy(rows)
}

// roots returns the square roots of the eigenvalues of a Gram matrix, those
// below zero by rounding counted as zero.
func roots(w []float64) []float64 {
	s := make([]float64, len(w))
	for i, x := range w {
		s[i] = math.Sqrt(math.Max(0, x))
	}
	return s
}

// target computes Z = U_d for a method and notes singular values, solver and a
// rank below d.
func (res *Result) target(in *input, solver string) (*mat.Dense, error) {
	u, s, used, err := in.leftVectors(res.Dim, solver)
	if err != nil {
		return nil, err
	}
	res.Singular, res.Solver = s, used
	if rank := in.rank(s, used == solverRandomized); rank < res.Dim {
		res.warn("all anchor representations together have rank %d, below the dimension %d: the last %d columns of the target are arbitrary", rank, res.Dim, res.Dim-rank)
	}
	return u, nil
}

// rank is the numerical rank of W that its singular values s show. Those that are
// roots of the eigenvalues of a Gram matrix show it down to √(n eps) only, n being
// the longer side of W: an eigenvalue that is zero comes out as n eps σ_1² or less.
func (in *input) rank(s []float64, roots bool) int {
	rcond := 0.0
	if roots {
		rcond = math.Sqrt(float64(max(in.rows, in.sum)) * linalg.Eps)
	}
	return linalg.NumericalRank(s, in.rows, in.sum, rcond)
}
