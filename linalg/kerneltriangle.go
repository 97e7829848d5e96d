package linalg

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/blas"
)

// smallTriangle is the number of multiplications below which gonum's loops are
// as fast as blocks.
const smallTriangle = 12 * 12 * 12

// Dtrsm solves op(A) X = α B or X op(A) = α B for a triangular A; see
// blas.Float64Level3.
func (kb kernelBLAS) Dtrsm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int) {
	order := m
	if s == blas.Right {
		order = n
	}
	if m*n*order < smallTriangle || alpha == 0 {
		kb.Implementation.Dtrsm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
		return
	}
	checkTriangular(s, ul, tA, d, m, n, order, a, lda, b, ldb)
	scale(m, n, alpha, b, ldb)
	kb.trsm(s, ul, tA, d, m, n, a, lda, b, ldb)
}

func (kb kernelBLAS) trsm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, a []float64, lda int, b []float64, ldb int) {
	order := m
	if s == blas.Right {
		order = n
	}
	if order <= leaf {
		var inv [leaf * leaf]float64
		if m+n >= 2*leaf && invert(&inv, ul, d, order, a, lda) {
			kb.overwrite(s, tA, m, n, order, &inv, b, ldb)
		} else {
			kb.Implementation.Dtrsm(s, ul, tA, d, m, n, 1, a, lda, b, ldb)
		}
		return
	}
	h := half(order, kb.mk)
	p := split(s, ul, tA, m, n, h, a, lda, b, ldb)
	first, second := p.one, p.two
	if p.twoFirst {
		first, second = second, first
	}
	kb.trsm(s, ul, tA, d, first.m, first.n, first.a, lda, first.b, ldb)
	if s == blas.Left {
		kb.product(second.m, n, first.m, -1, p.off, operand{first.b, ldb, false}, true, second.b, ldb)
	} else {
		kb.product(m, second.n, first.n, -1, operand{first.b, ldb, false}, p.off, true, second.b, ldb)
	}
	kb.trsm(s, ul, tA, d, second.m, second.n, second.a, lda, second.b, ldb)
}

// Dtrmm computes B = α op(A) B or α B op(A) for a triangular A; see
// blas.Float64Level3.
func (kb kernelBLAS) Dtrmm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int) {
	order := m
	if s == blas.Right {
		order = n
	}
	if m*n*order < smallTriangle || alpha == 0 {
		kb.Implementation.Dtrmm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
		return
	}
	checkTriangular(s, ul, tA, d, m, n, order, a, lda, b, ldb)
	kb.trmm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
}

func (kb kernelBLAS) trmm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int) {
	order := m
	if s == blas.Right {
		order = n
	}
	if order <= leaf {
		kb.Implementation.Dtrmm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
		return
	}
	h := half(order, kb.mk)
	p := split(s, ul, tA, m, n, h, a, lda, b, ldb)
	// The part that a solution finds last is multiplied first, while the other,
	// which it needs, is unchanged.
	first, second := p.two, p.one
	if p.twoFirst {
		first, second = second, first
	}
	kb.trmm(s, ul, tA, d, first.m, first.n, alpha, first.a, lda, first.b, ldb)
	if s == blas.Left {
		kb.product(first.m, n, second.m, alpha, p.off, operand{second.b, ldb, false}, true, first.b, ldb)
	} else {
		kb.product(m, first.n, second.n, alpha, operand{second.b, ldb, false}, p.off, true, first.b, ldb)
	}
	kb.trmm(s, ul, tA, d, second.m, second.n, alpha, second.a, lda, second.b, ldb)
}

// part is a triangle on the diagonal of A and the rows or columns of B that it
// meets.
type part struct {
	m, n int
	a, b []float64
}

// parts is a triangular problem split at h: two triangles and the block of
// op(A) between them.
type parts struct {
	one, two part
	off      operand
	// twoFirst says that a solution finds part two first.
	twoFirst bool
}

func split(s blas.Side, ul blas.Uplo, tA blas.Transpose, m, n, h int, a []float64, lda int, b []float64, ldb int) parts {
	var p parts
	trans := tA != blas.NoTrans
	if ul == blas.Upper {
		p.off = operand{a[h:], lda, trans}
	} else {
		p.off = operand{a[h*lda:], lda, trans}
	}
	upper := (ul == blas.Upper) != trans // op(A)
	corner := a[h*lda+h:]
	if s == blas.Left {
		p.one, p.two = part{h, n, a, b}, part{m - h, n, corner, b[h*ldb:]}
		p.twoFirst = upper
	} else {
		p.one, p.two = part{m, h, a, b}, part{m, n - h, corner, b[h:]}
		p.twoFirst = !upper
	}
	return p
}

// invert computes the inverse T⁻¹ of a triangle of an order up to leaf, as a
// full matrix with a stride of leaf. It reports false, and the caller
// substitutes, when the diagonal varies by more than 2²⁰: multiplication with
// the inverse then loses digits that substitution keeps [ducroz1992].
func invert(inv *[leaf * leaf]float64, ul blas.Uplo, d blas.Diag, n int, a []float64, lda int) bool {
	smallest, largest := math.Inf(1), 0.0
	for j := range n {
		t := 1.0
		if d == blas.NonUnit {
			t = a[j*lda+j]
		}
		smallest, largest = min(smallest, math.Abs(t)), max(largest, math.Abs(t))
		inv[j*leaf+j] = 1 / t
	}
	if !(largest < smallest*0x1p20) {
		return false
	}
	// Row i of T T⁻¹ = I: T⁻¹ᵢ = −(Σ_k Tᵢₖ T⁻¹ₖ) / Tᵢᵢ over the rows k on the
	// inner side of i.
	first, step := 0, 1
	if ul == blas.Upper {
		first, step = n-1, -1
	}
	for q := range n {
		i := first + step*q
		lo, hi := 0, i
		if ul == blas.Upper {
			lo, hi = i+1, n
		}
		row := inv[i*leaf:][:n]
		for k := lo; k < hi; k++ {
			t := a[i*lda+k]
			from, to := 0, k+1
			if ul == blas.Upper {
				from, to = k, n
			}
			src := inv[k*leaf+from : k*leaf+to]
			dst := row[from:to]
			for j, v := range src {
				dst[j] -= t * v
			}
		}
		own := row[i]
		for j := lo; j < hi; j++ {
			row[j] *= own
		}
	}
	return true
}

// overwrite computes B = op(T) B or B op(T) for a full T of an order up to
// leaf.
func (kb kernelBLAS) overwrite(s blas.Side, tA blas.Transpose, m, n, order int, t *[leaf * leaf]float64, b []float64, ldb int) {
	p := stripPool.Get().(*[]float64)
	defer stripPool.Put(p)
	if len(*p) < m*n {
		*p = make([]float64, m*n)
	}
	tmp := (*p)[:m*n]
	small := operand{t[:], leaf, tA != blas.NoTrans}
	if s == blas.Left {
		kb.mk.gemm(m, n, order, 1, small, operand{b, ldb, false}, false, tmp, n)
	} else {
		kb.mk.gemm(m, n, order, 1, operand{b, ldb, false}, small, false, tmp, n)
	}
	for i := range m {
		copy(b[i*ldb:][:n], tmp[i*n:])
	}
}

var stripPool = sync.Pool{New: func() any { return new([]float64) }}
