package align

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// The dense kernels that the methods share and package linalg does not have. They
// go to blas64 and lapack64, behind which linalg puts its backend.

// symmetric returns the d largest eigenvalues of the symmetric k (n × n, both
// halves stored), decreasing, and their eigenvectors as the columns of V (n × d):
//
//	K V = V diag(w)
//
// The cost is O(n³), less than half for d ≪ n with a loaded LAPACK.
func symmetric(k *mat.Dense, d int) (w []float64, v *mat.Dense, err error) {
	n, _ := k.Dims()
	raw := k.RawMatrix()
	s := new(mat.SymDense)
	s.SetRawSymmetric(blas64.Symmetric{N: n, Stride: raw.Stride, Data: raw.Data, Uplo: blas.Upper})
	w, v, err = linalg.EigSymRange(s, n-d, n)
	if err != nil {
		return nil, nil, err
	}
	slices.Reverse(w)
	for r := range n {
		slices.Reverse(v.RawRowView(r))
	}
	return w, v, nil
}

// accumulate adds X Y to m, without a matrix in between; x may be a *mat.Dense or
// the transpose of one.
func accumulate(m *mat.Dense, x mat.Matrix, y *mat.Dense) {
	trans := blas.NoTrans
	if t, ok := x.(mat.Transpose); ok {
		x, trans = t.Matrix, blas.Trans
	}
	blas64.Gemm(trans, blas.NoTrans, 1, x.(*mat.Dense).RawMatrix(), y.RawMatrix(), 1, m.RawMatrix())
}

// factor is the Cholesky factor of a positive definite K = RᵀR.
type factor struct {
	r    blas64.Triangular
	cond float64 // estimate of the condition number of R in the 2-norm, to √n or so
}

// cholesky factors k (n × n), whose upper half it overwrites. It says no when k
// is not positive definite, or so near it that its condition number is above
// limit.
func cholesky(k *mat.Dense, limit float64) (factor, bool) {
	n, _ := k.Dims()
	raw := k.RawMatrix()
	s := blas64.Symmetric{N: n, Stride: raw.Stride, Data: raw.Data, Uplo: blas.Upper}
	norm := lapack64.Lansy(lapack.MaxColumnSum, s, make([]float64, n))
	if !(norm >= 1e-280) || math.IsInf(norm, 0) { // zero, subnormal, NaN or infinite
		return factor{}, false
	}
	r, ok := lapack64.Potrf(s)
	if !ok {
		return factor{}, false
	}
	rcond := lapack64.Pocon(s, norm, make([]float64, 3*n), make([]int, n))
	if !(rcond*limit > 1) {
		return factor{}, false
	}
	return factor{r, math.Max(1, math.Sqrt(1/rcond))}, true
}

// solve overwrites b (n × k) with K⁻¹B.
func (f factor) solve(b *mat.Dense) { lapack64.Potrs(f.r, b.RawMatrix()) }

// right overwrites b (k × n) with B R⁻¹.
func (f factor) right(b *mat.Dense) {
	blas64.Trsm(blas.Right, blas.NoTrans, 1, f.r, b.RawMatrix())
}

// orthonormal returns an orthonormal basis of the columns of y (m × n, m ≥ n), by
// QR.
func orthonormal(y *mat.Dense) (*mat.Dense, error) {
	q, _, err := linalg.QR(y)
	return q, err
}

// panelRows and tile are the sizes of the pieces in which Gram matrices are
// made: a panel of W and a tile of K stay in the second-level cache.
const (
	panelRows = 1024
	tile      = 192
)

// gram returns K = WᵀW (L × L), both halves, from panels of W: no more than
// panelRows rows of W are held at once. The cost is a L² flops, half of the
// plain product.
func (in *input) gram() *mat.Dense {
	k := mat.NewDense(in.sum, in.sum, nil)
	panel := mat.NewDense(min(panelRows, in.rows), in.sum, nil)
	type pair struct{ i, j int }
	var tiles []pair
	for i := 0; i < in.sum; i += tile {
		for j := i; j < in.sum; j += tile {
			tiles = append(tiles, pair{i, j})
		}
	}
	for from := 0; from < in.rows; from += panelRows {
		to := min(from+panelRows, in.rows)
		p := panel.Slice(0, to-from, 0, in.sum).(*mat.Dense)
		for i := range in.a {
			in.put(p.Slice(0, to-from, in.at[i], in.at[i]+in.cols[i]).(*mat.Dense), i, from, to)
		}
		_ = parallel(in.opt.Workers, len(tiles), func(t int) error {
			i, j := tiles[t].i, tiles[t].j
			iTo, jTo := min(i+tile, in.sum), min(j+tile, in.sum)
			x := p.Slice(0, to-from, i, iTo).(*mat.Dense).RawMatrix()
			y := p.Slice(0, to-from, j, jTo).(*mat.Dense).RawMatrix()
			blas64.Gemm(blas.Trans, blas.NoTrans, 1, x, y, 1, k.Slice(i, iTo, j, jTo).(*mat.Dense).RawMatrix())
			return nil
		})
	}
	mirror(k)
	return k
}

// outer returns WWᵀ (a × a), both halves, from groups of A_i. The cost is a² L
// flops.
func (in *input) outer() *mat.Dense {
	k := mat.NewDense(in.rows, in.rows, nil)
	panel := mat.NewDense(in.rows, max(panelRows, slices.Max(in.cols)), nil)
	for from := 0; from < len(in.a); {
		to, width := from, 0
		for to < len(in.a) && (to == from || width+in.cols[to] <= panelRows) {
			width += in.cols[to]
			to++
		}
		p := panel.Slice(0, in.rows, 0, width).(*mat.Dense)
		_ = parallel(in.opt.Workers, to-from, func(i int) error {
			i += from
			at := in.at[i] - in.at[from]
			in.put(p.Slice(0, in.rows, at, at+in.cols[i]).(*mat.Dense), i, 0, in.rows)
			return nil
		})
		addOuter(k, p, in.opt.Workers)
		from = to
	}
	mirror(k)
	return k
}

// addOuter adds PPᵀ to the upper half of k, tile by tile.
func addOuter(k, p *mat.Dense, workers int) {
	rows, width := p.Dims()
	n := (rows + tile - 1) / tile
	_ = parallel(workers, n*n, func(t int) error {
		i, j := t/n*tile, t%n*tile
		if j < i {
			return nil
		}
		iTo, jTo := min(i+tile, rows), min(j+tile, rows)
		x := p.Slice(i, iTo, 0, width).(*mat.Dense).RawMatrix()
		out := k.Slice(i, iTo, j, jTo).(*mat.Dense).RawMatrix()
		if i == j {
			blas64.Syrk(blas.NoTrans, 1, x, 1, blas64.Symmetric{N: iTo - i, Stride: out.Stride, Data: out.Data, Uplo: blas.Upper})
			return nil
		}
		y := p.Slice(j, jTo, 0, width).(*mat.Dense).RawMatrix()
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, x, y, 1, out)
		return nil
	})
}

// mirror copies the upper half of k to the lower.
func mirror(k *mat.Dense) {
	n, _ := k.Dims()
	raw := k.RawMatrix()
	for i := range n {
		row := raw.Data[i*raw.Stride : i*raw.Stride+n]
		for j := i + 1; j < n; j++ {
			raw.Data[j*raw.Stride+i] = row[j]
		}
	}
}

// hstack returns W.
func (in *input) hstack() *mat.Dense {
	w := mat.NewDense(in.rows, in.sum, nil)
	for i := range in.a {
		in.put(w.Slice(0, in.rows, in.at[i], in.at[i]+in.cols[i]).(*mat.Dense), i, 0, in.rows)
	}
	return w
}

// scaleColumns multiplies column j of x by s[j].
func scaleColumns(x *mat.Dense, s []float64) {
	rows, _ := x.Dims()
	for r := range rows {
		row := x.RawRowView(r)
		for j := range row {
			row[j] *= s[j]
		}
	}
}

// fixSigns negates the columns of x whose leading element is negative; leading
// is the first within one millionth of the largest, as in [linalg.SVDLeft]. It
// returns 1 or −1 for each column.
func fixSigns(x *mat.Dense) []float64 {
	rows, cols := x.Dims()
	signs := make([]float64, cols)
	for j := range cols {
		signs[j] = 1
		top := 0.0
		for i := range rows {
			top = math.Max(top, math.Abs(x.At(i, j)))
		}
		for i := range rows {
			if v := x.At(i, j); math.Abs(v) >= (1-1e-6)*top {
				if v < 0 {
					signs[j] = -1
				}
				break
			}
		}
	}
	scaleColumns(x, signs)
	return signs
}
