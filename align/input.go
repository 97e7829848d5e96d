package align

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// input is the A_i with their sizes.
type input struct {
	a    []*mat.Dense
	rows int   // a
	cols []int // l_i
	at   []int // where A_i begins among the columns of W
	sum  int   // L
	opt  Options

	blocks int // of [input.krylov]

	// t, if not nil, has for some i a matrix T_i: what is meant by A_i is then A_i T_i
	// wherever W is worked on, and l_i its columns.
	t []*mat.Dense
}

// newInput tests the shapes that every method needs.
func newInput(a []*mat.Dense, opt Options) (*input, error) {
	if len(a) == 0 {
		return nil, errors.New("align: no anchor representations: at least one party is needed")
	}
	in := &input{a: a, opt: opt, blocks: blocksOfLS, cols: make([]int, len(a))}
	for i, ai := range a {
		if err := in.admit(i, ai); err != nil {
			return nil, err
		}
	}
	in.place()
	return in, nil
}

// admit tests the shape of A_i against that of A_1, which comes first, and notes
// it.
func (in *input) admit(i int, ai *mat.Dense) error {
	if ai == nil || ai.IsEmpty() {
		return fmt.Errorf("align: A_%d has no rows or no columns", i+1)
	}
	r, c := ai.Dims()
	if i == 0 {
		in.rows = r
	}
	if r != in.rows {
		return fmt.Errorf("align: A_%d has %d rows and A_1 has %d: all must come from one anchor", i+1, r, in.rows)
	}
	if c > r {
		return fmt.Errorf("align: A_%d has %d columns, more than the %d anchor rows: take more anchor rows or fewer dimensions", i+1, c, r)
	}
	in.cols[i] = c
	return nil
}

// place numbers the columns of W.
func (in *input) place() {
	in.at, in.sum = make([]int, len(in.cols)), 0
	for i, c := range in.cols {
		in.at[i] = in.sum
		in.sum += c
	}
}

// freeDim returns d of a method that leaves it open (LS, GEP).
func (in *input) freeDim() (int, error) {
	d := in.opt.Dim
	if d == 0 {
		d = slices.Min(in.cols)
	}
	if d < 0 || d > min(in.rows, in.sum) {
		return 0, fmt.Errorf("align: dimension %d, want 1 to %d, the smaller of %d anchor rows and %d columns in all", d, min(in.rows, in.sum), in.rows, in.sum)
	}
	return d, nil
}

// sameDim returns l of a method that needs equal l_i and d = l.
func (in *input) sameDim(name string) (int, error) {
	l := in.cols[0]
	for i, c := range in.cols {
		if c != l {
			return 0, fmt.Errorf("align: A_%d has %d columns and A_1 has %d: method %s needs equal numbers, methods ls, gep and consensus do not", i+1, c, l, name)
		}
	}
	if in.opt.Dim != 0 && in.opt.Dim != l {
		return 0, fmt.Errorf("align: dimension %d, want %d: method %s keeps the number of columns", in.opt.Dim, l, name)
	}
	return l, nil
}

// squares returns ‖A_i‖_F² of every party, and an error for an A_i with NaN,
// infinities or numbers whose squares overflow or underflow.
func (in *input) squares() ([]float64, error) {
	sq := make([]float64, len(in.a))
	err := in.each(func(i int) error {
		sq[i] = linalg.SumSquares(in.a[i])
		return in.finite(i, sq[i])
	})
	return sq, err
}

// tiniest is the ‖A_i‖_F² below which products of A_i lose digits: with singular
// values down to eps of the largest their squares are 2⁻¹⁰⁰⁴ and less, near the
// smallest number of full precision, 2⁻¹⁰²².
const tiniest = 0x1p-900

// finite explains a sum of squares of A_i that is not finite, or so small that it
// is not exact.
func (in *input) finite(i int, sum float64) error { return usable(i, in.a[i], sum) }

func usable(i int, ai *mat.Dense, sum float64) error {
	switch {
	case math.IsNaN(sum) || math.IsInf(sum, 0):
		if err := linalg.CheckFinite(ai); err != nil {
			return fmt.Errorf("align: A_%d: %v", i+1, err)
		}
		return fmt.Errorf("align: A_%dᵀA_%d overflows: standardise the features before projecting them", i+1, i+1)
	case sum < tiniest && (mat.Max(ai) > 0 || mat.Min(ai) < 0):
		return fmt.Errorf("align: A_%d has numbers so small that their squares lose digits: standardise the features before projecting them", i+1)
	}
	return nil
}

func dot(x, y []float64) float64 {
	return blas64.Dot(blas64.Vector{N: len(x), Data: x, Inc: 1}, blas64.Vector{N: len(y), Data: y, Inc: 1})
}

// block is the view of the rows of a stacked matrix (L × d) that belong to party
// i.
func (in *input) block(m *mat.Dense, i int) *mat.Dense {
	_, d := m.Dims()
	return m.Slice(in.at[i], in.at[i]+in.cols[i], 0, d).(*mat.Dense)
}

// unstack copies the blocks of a stacked matrix.
func (in *input) unstack(m *mat.Dense) []*mat.Dense {
	g := make([]*mat.Dense, len(in.a))
	for i := range g {
		g[i] = mat.DenseCopyOf(in.block(m, i))
	}
	return g
}

// join is the reverse of unstack.
func (in *input) join(g []*mat.Dense) *mat.Dense {
	_, d := g[0].Dims()
	m := mat.NewDense(in.sum, d, nil)
	for i, gi := range g {
		in.block(m, i).Copy(gi)
	}
	return m
}

// given is join for matrices that a caller passed, with a check that they are
// finite and l_i × d.
func (in *input) given(g []*mat.Dense, d int) (*mat.Dense, error) {
	if len(g) != len(in.a) {
		return nil, fmt.Errorf("align: %d matrices to start from, want %d", len(g), len(in.a))
	}
	for i, gi := range g {
		if gi == nil || gi.IsEmpty() {
			return nil, fmt.Errorf("align: G_%d to start from is empty", i+1)
		}
		if r, c := gi.Dims(); r != in.cols[i] || c != d {
			return nil, fmt.Errorf("align: G_%d to start from is %d × %d, want %d × %d", i+1, r, c, in.cols[i], d)
		}
		if err := linalg.CheckFinite(gi); err != nil {
			return nil, fmt.Errorf("align: G_%d to start from: %v", i+1, err)
		}
	}
	return in.join(g), nil
}
