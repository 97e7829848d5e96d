package linalg

import "sync"

// The matrix product in pure Go and assembly: the blocked algorithm of [goto2008] around a
// micro-kernel. B is cut into panels of blockK × cols, packed so that a kernel reads it in
// order and kept in the second-level cache; a panel of A of rows × blockK stays in the first.
// An operand is read where it lies when that is as fast; the edges are always packed and padded
// with zeros.
//
// An element of C is summed in an order that depends on the kernel and on k
// alone, so that the same product gives the same bits whatever the number of
// threads and wherever in a larger product it stands.

// microKernel adds α A B to a block of C of rows × cols, or puts it there for
// add = 0.
type microKernel struct {
	name       string
	lanes      int // float64 in a vector
	rows, cols int
	// halves says that run accepts rows/2 and cols/2 as well.
	halves bool
	// tens says that run accepts 10 rows.
	tens bool
	// fetch says that prefetch can be called.
	fetch bool
	run   func(rows, cols, k int, a *float64, ars, acs uintptr, b *float64, bs uintptr, c *float64, cs uintptr, alpha float64, add uintptr)
}

// Block sizes: a packed block of B takes 256·512·8 bytes = 1 MiB, that of A
// 256·144·8 bytes = 288 KiB; a panel of B 16 or 32 KiB. blockM and blockN are
// multiples of every kernel's rows and columns.
const (
	blockK  = 256
	blockM  = 144
	blockN  = 512
	maxCell = 12 * 16
	// smallB is the number of elements of B that stay in the first-level cache
	// with a few rows of A and C. Those then come there once, and rows of A are
	// fetched from memory before they are due.
	smallB = 3600
)

// operand is a matrix as BLAS passes it: row-major with ld ≥ columns.
type operand struct {
	data  []float64
	ld    int
	trans bool
}

// at is the operand that starts at row i, column j of op(A).
func (o operand) at(i, j int) operand {
	if o.trans {
		i, j = j, i
	}
	return operand{o.data[i*o.ld+j:], o.ld, o.trans}
}

// panel is where a kernel reads the rows from row i of op(A) on in place.
func (o operand) panel(i int) (first *float64, rowStride, colStride uintptr) {
	if o.trans {
		return &o.data[i], 8, uintptr(8 * o.ld)
	}
	return &o.data[i*o.ld], uintptr(8 * o.ld), 8
}

// ahead is how many rows before their use rows are fetched.
const ahead = 24

// fetchRows asks for rows of A that will be read in place, if they lie one after
// another.
func (o operand) fetchRows(i, rows int) {
	if from, to := i*o.ld, (i+rows)*o.ld; !o.trans && o.ld <= 256 && from < to && to <= len(o.data) {
		prefetch(&o.data[from], (to-from)/8)
	}
}

// packs is what a product packs into.
type packs struct {
	a, b []float64
	cell *[maxCell]float64
	sum  []float64 // of gemmTall
}

var packPool = sync.Pool{New: func() any {
	return &packs{
		a:    make([]float64, blockM*blockK),
		b:    make([]float64, blockN*blockK),
		cell: new([maxCell]float64),
	}
}}

// gemm adds α op(A) op(B) to C (m × n), or puts it there unless add; op(A) is
// m × k with k ≥ 1.
func (mk *microKernel) gemm(m, n, k int, alpha float64, a, b operand, add bool, c []float64, ldc int) {
	mk.part(everything, m, n, k, alpha, a, b, add, c, ldc)
}

// A triangle says which elements of a square C are made.
type triangle int

const (
	everything triangle = iota
	upper               // on and above the diagonal
	lower               // on and below it
)

// misses tells whether the block of rows × cols from (i, j) on has no element of
// the triangle, and crosses whether it has some that are not.
func (t triangle) misses(i, j, rows, cols int) bool {
	return t == upper && i > j+cols-1 || t == lower && j > i+rows-1
}

func (t triangle) crosses(i, j, rows, cols int) bool {
	return t == upper && i+rows-1 > j || t == lower && j+cols-1 > i
}

// part is gemm for the elements of C in a triangle; the others are not touched.
func (mk *microKernel) part(t triangle, m, n, k int, alpha float64, a, b operand, add bool, c []float64, ldc int) {
	p := packPool.Get().(*packs)
	defer packPool.Put(p)
	// Packing costs a pass over the operand, and pays when a panel is read often
	// or its rows lie so far apart that they evict each other. The limits are
	// measured: 50 × 1000 by 1000 × 50 takes 0.09 ms in place and 0.13 packed.
	directA := !a.trans || n <= 512 && a.ld <= 512
	directB := !b.trans && m <= 128 && b.ld <= 256
	for j := 0; j < n; j += blockN {
		nb := min(blockN, n-j)
		for l := 0; l < k; l += blockK {
			kb := min(blockK, k-l)
			mk.packB(p.b, b.at(l, j), kb, nb, directB)
			for i := 0; i < m; i += blockM {
				mb := min(blockM, m-i)
				if t.misses(i, j, mb, nb) {
					continue
				}
				mk.block(p, t, i-j, mb, nb, kb, alpha, a.at(i, l), b.at(l, j), directA, directB, add || l > 0, c[i*ldc+j:], ldc)
			}
		}
	}
}

// block multiplies one block of A with the packed block of B; its first row is
// below rows under the row of its first column.
func (mk *microKernel) block(p *packs, t triangle, below, m, n, k int, alpha float64, a, b operand, directA, directB, add bool, c []float64, ldc int) {
	var sum uintptr
	if add {
		sum = 1
	}
	mk.packA(p.a, a, k, m, directA)
	one := func(i, j int) {
		rows, cols := min(mk.rows, m-i), min(mk.cols, n-j)
		if t.misses(i+below, j, rows, cols) {
			return
		}
		krows, kcols := mk.rows, mk.cols
		if mk.halves && cols <= mk.cols/2 {
			kcols /= 2
		}
		if mk.halves && rows <= mk.rows/2 {
			krows /= 2
		}
		bp, bs := &p.b[j*k], uintptr(8*mk.cols)
		if directB && cols == kcols {
			bp, bs = &b.data[j], uintptr(8*b.ld)
		}
		ap, ars, acs := &p.a[i*k], uintptr(8), uintptr(8*mk.rows)
		if directA && rows == krows {
			ap, ars, acs = a.panel(i)
		}
		crosses := t.crosses(i+below, j, rows, cols)
		if rows == krows && cols == kcols && !crosses {
			mk.run(krows, kcols, k, ap, ars, acs, bp, bs, &c[i*ldc+j], uintptr(8*ldc), alpha, sum)
			return
		}
		mk.run(krows, kcols, k, ap, ars, acs, bp, bs, &p.cell[0], uintptr(8*mk.cols), alpha, 0)
		for r := range rows {
			from, to := 0, cols
			if crosses && t == upper {
				from = min(cols, max(0, i+below+r-j))
			} else if crosses {
				to = min(cols, max(0, i+below+r-j+1))
			}
			dst := c[(i+r)*ldc+j:][from:to]
			src := p.cell[r*mk.cols:][from:to]
			if !add {
				copy(dst, src)
				continue
			}
			for q, v := range src {
				dst[q] += v
			}
		}
	}
	if n*k <= smallB {
		for i := 0; i < m; i += mk.rows {
			for j := 0; j < n; j += mk.cols {
				if directA && mk.fetch {
					a.fetchRows(i+ahead+j*mk.rows/n, mk.rows*mk.cols/n)
				}
				one(i, j)
			}
		}
		return
	}
	for j := 0; j < n; j += mk.cols {
		for i := 0; i < m; i += mk.rows {
			one(i, j)
		}
	}
}

// packA packs the rows of op(A) (m × k) in panels of the kernel's rows, each
// stored by columns and padded with zeros. Full panels of an A that is not
// transposed are read in place and not packed.
func (mk *microKernel) packA(dst []float64, a operand, k, m int, direct bool) {
	for i := 0; i < m; i += mk.rows {
		rows := min(mk.rows, m-i)
		panel := dst[i*k:][:mk.rows*k]
		if direct && (rows == mk.rows || mk.halves && rows == mk.rows/2) {
			continue
		}
		if !a.trans {
			clear(panel)
			for r := range rows {
				for q, v := range a.data[(i+r)*a.ld:][:k] {
					panel[q*mk.rows+r] = v
				}
			}
			continue
		}
		packRows(panel, a.data[i:], a.ld, k, rows, mk.rows)
	}
}

// packB packs the columns of op(B) (k × n) in panels of the kernel's columns,
// each stored by rows and padded with zeros.
func (mk *microKernel) packB(dst []float64, b operand, k, n int, direct bool) {
	for j := 0; j < n; j += mk.cols {
		cols := min(mk.cols, n-j)
		panel := dst[j*k:][:mk.cols*k]
		if direct && (cols == mk.cols || mk.halves && cols == mk.cols/2) {
			continue
		}
		if !b.trans {
			packRows(panel, b.data[j:], b.ld, k, cols, mk.cols)
			continue
		}
		if cols < mk.cols {
			clear(panel)
		}
		packColumns(panel, b.data[j*b.ld:], b.ld, k, cols, mk.cols)
	}
}

// packRows copies k rows of the given number of elements, ld apart, to rows of
// width, padded with zeros.
func packRows(dst, src []float64, ld, k, elements, width int) {
	switch {
	case elements == 16 && width == 16:
		for q := range k {
			*(*[16]float64)(dst[16*q:]) = *(*[16]float64)(src[q*ld:])
		}
	case elements == 12 && width == 12:
		for q := range k {
			*(*[12]float64)(dst[12*q:]) = *(*[12]float64)(src[q*ld:])
		}
	case elements == 8 && width == 8:
		for q := range k {
			*(*[8]float64)(dst[8*q:]) = *(*[8]float64)(src[q*ld:])
		}
	case elements == 6 && width == 6:
		for q := range k {
			*(*[6]float64)(dst[6*q:]) = *(*[6]float64)(src[q*ld:])
		}
	default:
		for q := range k {
			row := dst[q*width:][:width]
			clear(row[copy(row, src[q*ld:][:elements]):])
		}
	}
}

// packColumns copies columns, each contiguous and ld apart, to rows of width.
func packColumns(dst, src []float64, ld, k, columns, width int) {
	r := 0
	for ; r+4 <= columns; r += 4 {
		s0, s1, s2, s3 := src[r*ld:][:k], src[(r+1)*ld:][:k], src[(r+2)*ld:][:k], src[(r+3)*ld:][:k]
		for q := range s0 {
			*(*[4]float64)(dst[q*width+r:]) = [4]float64{s0[q], s1[q], s2[q], s3[q]}
		}
	}
	for ; r < columns; r++ {
		for q, v := range src[r*ld:][:k] {
			dst[q*width+r] = v
		}
	}
}
