package linalg

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// Blocks is a matrix W = [A_1 … A_c] (a × L, L = Σ l_i) that is read block by
// block and never held as one. Blocks of files are read again on every pass, so
// each method says how many passes it makes; [Blocks.Cached] keeps what fits.
// Blocks come in order, so sums are formed in one order.
type Blocks struct {
	rows int
	cols []int
	at   []int // first column of each block
	get  func(i int) (*mat.Dense, error)
}

// NewBlocks describes c = len(cols) blocks of the given number of rows and of
// cols[i] columns each; get returns block i, counted from 0. It is called by
// one goroutine at a time, and what it returned before may be overwritten by
// the next call. It panics if a size is not positive.
func NewBlocks(rows int, cols []int, get func(i int) (*mat.Dense, error)) *Blocks {
	b := &Blocks{rows: rows, cols: cols, at: make([]int, len(cols)+1), get: get}
	for i, c := range cols {
		if c < 1 || rows < 1 {
			panic(fmt.Sprintf("linalg: block %d is %d × %d", i+1, rows, c))
		}
		b.at[i+1] = b.at[i] + c
	}
	return b
}

// BlocksOf are blocks in memory. It panics if there are none, or if they are
// empty or differ in their number of rows.
func BlocksOf(a ...*mat.Dense) *Blocks {
	if len(a) == 0 {
		panic("linalg: no blocks")
	}
	rows, _ := dims(a[0])
	cols := make([]int, len(a))
	for i, m := range a {
		r, c := dims(m)
		if r != rows {
			panic(fmt.Sprintf("linalg: block %d has %d rows, block 1 has %d", i+1, r, rows))
		}
		cols[i] = c
	}
	return NewBlocks(rows, cols, func(i int) (*mat.Dense, error) { return a[i], nil })
}

// Dims returns a and L.
func (b *Blocks) Dims() (rows, cols int) { return b.rows, b.at[len(b.cols)] }

// Len returns c.
func (b *Blocks) Len() int { return len(b.cols) }

// Each calls f with every block in order: one pass. It checks that a block has
// the shape it should have and is finite; errors name the block, from 1.
func (b *Blocks) Each(f func(i int, a *mat.Dense) error) error {
	for i := range b.cols {
		a, err := b.block(i)
		if err != nil {
			return err
		}
		if err := f(i, a); err != nil {
			return err
		}
	}
	return nil
}

func (b *Blocks) block(i int) (*mat.Dense, error) {
	a, err := b.get(i)
	if err != nil {
		return nil, fmt.Errorf("linalg: block %d: %w", i+1, err)
	}
	if r, c := dims(a); r != b.rows || c != b.cols[i] {
		return nil, fmt.Errorf("linalg: block %d is %d × %d, want %d × %d", i+1, r, c, b.rows, b.cols[i])
	}
	if err := CheckFinite(a); err != nil {
		return nil, fmt.Errorf("block %d: %w", i+1, err)
	}
	return a, nil
}

// OuterGram returns W Wᵀ = Σ A_i A_iᵀ (a × a) in one pass: the way to the left
// singular vectors when a is less than L. The cost is O(a² L) in time and O(a²)
// in memory.
func (b *Blocks) OuterGram() (*mat.SymDense, error) {
	sum := mat.NewSymDense(b.rows, nil)
	err := b.Each(func(_ int, a *mat.Dense) error {
		blas64.Syrk(blas.NoTrans, 1, a.RawMatrix(), 1, sum.RawSymmetric())
		return nil
	})
	if err != nil {
		return nil, err
	}
	return sum, CheckFiniteSym(sum)
}

// Gram returns WᵀW (L × L), whose blocks are the A_iᵀA_j. Each pair of groups of
// blocks is read together; a group is as many blocks as fit in hold numbers of
// float64 (at least one block; 0 means 2²⁵, 256 MiB), so there is one pass if
// all fit in it, and with g groups about g/2 passes. The cost is O(a L²) in time
// and O(L² + hold) in memory.
func (b *Blocks) Gram(hold int) (*mat.SymDense, error) {
	if hold == 0 {
		hold = 1 << 25
	}
	_, total := b.Dims()
	gram := mat.NewSymDense(total, nil)
	raw := gram.RawSymmetric()
	impl := blas64.Implementation()
	for first := 0; first < len(b.cols); {
		last := first + 1
		for last < len(b.cols) && b.rows*(b.at[last+1]-b.at[first]) <= hold {
			last++
		}
		left, err := b.group(first, last)
		if err != nil {
			return nil, err
		}
		l := left.RawMatrix()
		impl.Dsyrk(blas.Upper, blas.Trans, l.Cols, l.Rows, 1, l.Data, l.Stride, 0, raw.Data[b.at[first]*raw.Stride+b.at[first]:], raw.Stride)
		for j := last; j < len(b.cols); j++ {
			a, err := b.block(j)
			if err != nil {
				return nil, err
			}
			r := a.RawMatrix()
			impl.Dgemm(blas.Trans, blas.NoTrans, l.Cols, r.Cols, l.Rows, 1, l.Data, l.Stride, r.Data, r.Stride, 0, raw.Data[b.at[first]*raw.Stride+b.at[j]:], raw.Stride)
		}
		first = last
	}
	return gram, CheckFiniteSym(gram)
}

// group returns the blocks first ≤ i < last side by side.
func (b *Blocks) group(first, last int) (*mat.Dense, error) {
	all := mat.NewDense(b.rows, b.at[last]-b.at[first], nil)
	for i := first; i < last; i++ {
		a, err := b.block(i)
		if err != nil {
			return nil, err
		}
		at := b.at[i] - b.at[first]
		all.Slice(0, b.rows, at, at+b.cols[i]).(*mat.Dense).Copy(a)
	}
	return all, nil
}

// Mul returns W X = Σ A_i X_i (a × k) for x (L × k), whose rows belong to the
// columns of W, in one pass.
func (b *Blocks) Mul(x *mat.Dense) (*mat.Dense, error) {
	rows, k := dims(x)
	if _, total := b.Dims(); rows != total {
		panic(fmt.Sprintf("linalg: %d columns times %d rows", total, rows))
	}
	sum := mat.NewDense(b.rows, k, nil)
	err := b.Each(func(i int, a *mat.Dense) error {
		part := x.Slice(b.at[i], b.at[i+1], 0, k).(*mat.Dense)
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, a.RawMatrix(), part.RawMatrix(), 1, sum.RawMatrix())
		return nil
	})
	return sum, err
}

// Cross calls f with A_iᵀZ (l_i × k) for every block in order, in one pass; z
// is a × k. The matrix that f is given is its own.
func (b *Blocks) Cross(z *mat.Dense, f func(i int, p *mat.Dense) error) error {
	if rows, _ := dims(z); rows != b.rows {
		panic(fmt.Sprintf("linalg: %d rows times %d rows", b.rows, rows))
	}
	return b.Each(func(i int, a *mat.Dense) error {
		p := new(mat.Dense)
		p.Mul(a.T(), z)
		return f(i, p)
	})
}

// Cached is b with as many of the first blocks kept in memory, after they were
// read once, as fit in the given number of bytes; the others are read on every
// pass. A block whose elements are all numbers of 32 bits, as one from a file of
// float32 is, is kept as such, in half the memory and without loss; products
// are formed in float64 all the same.
func (b *Blocks) Cached(bytes int) *Blocks {
	kept := make([]*mat.Dense, len(b.cols))
	short := make([][]float32, len(b.cols))
	left := bytes
	return NewBlocks(b.rows, b.cols, func(i int) (*mat.Dense, error) {
		switch {
		case kept[i] != nil:
			return kept[i], nil
		case short[i] != nil:
			return widen(short[i], b.rows, b.cols[i]), nil
		}
		a, err := b.get(i)
		if err != nil {
			return a, err
		}
		if r, c := dims(a); r != b.rows || c != b.cols[i] {
			return a, nil // block says what is wrong
		}
		size := 4 * b.rows * b.cols[i]
		if size <= left {
			if short[i] = narrow(a); short[i] != nil {
				left -= size
				return a, nil
			}
		}
		if 2*size <= left {
			left -= 2 * size
			kept[i] = mat.DenseCopyOf(a)
		}
		return a, nil
	})
}

// narrow returns the elements of a as float32, nil if one of them would change.
func narrow(a *mat.Dense) []float32 {
	rows, cols := a.Dims()
	if v := a.At(0, 0); float64(float32(v)) != v {
		return nil
	}
	out := make([]float32, 0, rows*cols)
	for i := range rows {
		for _, v := range a.RawRowView(i) {
			f := float32(v)
			if float64(f) != v {
				return nil
			}
			out = append(out, f)
		}
	}
	return out
}

func widen(data []float32, rows, cols int) *mat.Dense {
	a := mat.NewDense(rows, cols, nil)
	dst := a.RawMatrix().Data
	for i, v := range data {
		dst[i] = float64(v)
	}
	return a
}
