package align

import (
	"errors"
	"fmt"
	"strings"

	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// Stream gives the anchor representations one at a time and takes the change-of-
// basis matrices as they come, for parties whose A_i do not fit into memory
// together. See [RunStream].
type Stream struct {
	// Parties is c.
	Parties int
	// Read returns A_i (a × l_i) for i from 0, in a matrix of its own, which the
	// method keeps no longer than it works on the party. It is called by several
	// goroutines at once, and for every party as often as the method reads W. Its
	// errors are passed on as they are.
	Read func(i int) (*mat.Dense, error)
	// Write takes G_i (l_i × d), for each party once, by several goroutines at
	// once and in no order. When RunStream returns an error some may have been
	// written.
	Write func(i int, g *mat.Dense) error
}

// StreamMethods lists the names that [RunStream] knows.
func StreamMethods() []string { return []string{"odc", "ls"} }

// RunStream aligns like [Run], with two methods that need no more than a part of
// the A_i at any time:
//
//	odc  Z = A_1 O;                          one pass: G_i = polar(A_iᵀZ)
//	ls   WWᵀ = Σ_i A_i A_iᵀ, Z = U_d R;      second pass: G_i = A_i⁺ Z
//
// U_d of LS comes from WWᵀ (solver gram, the default), which squares the
// condition number of W, unless σ_1 > 1000 σ_d; then, and with solver svd, W is
// read for a triangular factor T (at most a × a) instead,
//
//	Wᵀ = Q T,  T = P Σ Uᵀ,
//
// by QR of T stacked on the next A_iᵀ, of which Q is never kept ([golub2013],
// section 6.5.3). That keeps all digits that the singular value
// decomposition of W would, for about four times the work. So LS reads W twice,
// and a third time only when it must.
//
// The result is that of Run up to rounding, but G is nil: Stream.Write had it.
// A warning names its party by number as there. Errors are those of the method,
// of Read and of Write, and an A_i that has another shape when it is read again.
//
// The cost is that of the method in time; in memory a few matrices of the size
// of A_1, and for LS about 4a² numbers.
func RunStream(name string, s Stream, opt Options) (*Result, error) {
	st := &stream{Stream: s, opt: opt, cols: make([]int, max(0, s.Parties))}
	var run func() (*Result, error)
	switch name {
	case "odc":
		run = st.odc
	case "ls":
		run = st.ls
	default:
		return nil, fmt.Errorf("align: method %q cannot be streamed, want %s", name, strings.Join(StreamMethods(), " or "))
	}
	if s.Parties < 1 {
		return nil, errors.New("align: no anchor representations: at least one party is needed")
	}
	first, err := st.Read(0)
	if err != nil {
		return nil, err
	}
	if first == nil || first.IsEmpty() {
		return nil, errors.New("align: A_1 has no rows or no columns")
	}
	st.rows, st.cols[0] = first.Dims()
	st.first = first
	return run()
}

// stream is a run of one method.
type stream struct {
	Stream
	opt   Options
	first *mat.Dense // A_1
	rows  int        // a
	cols  []int      // l_i, 0 until A_i was read
}

// party reads and checks A_i. It may be called for different i at once.
func (st *stream) party(i int) (*mat.Dense, error) {
	ai, err := st.Read(i)
	if err != nil {
		return nil, err
	}
	if ai == nil || ai.IsEmpty() {
		return nil, fmt.Errorf("align: A_%d has no rows or no columns", i+1)
	}
	r, c := ai.Dims()
	switch {
	case r != st.rows:
		return nil, fmt.Errorf("align: A_%d has %d rows and A_1 has %d: all must come from one anchor", i+1, r, st.rows)
	case c > r:
		return nil, fmt.Errorf("align: A_%d has %d columns, more than the %d anchor rows: take more anchor rows or fewer dimensions", i+1, c, r)
	case st.cols[i] != 0 && st.cols[i] != c:
		return nil, fmt.Errorf("align: A_%d has %d columns and had %d when it was read before", i+1, c, st.cols[i])
	}
	st.cols[i] = c
	square := 0.0
	for row := range r {
		square += dot(ai.RawRowView(row), ai.RawRowView(row))
	}
	if err := usable(i, ai, square); err != nil {
		return nil, err
	}
	return ai, nil
}

// one is the input of party i alone. What comes of it names the party 1.
func (st *stream) one(ai *mat.Dense) (*input, error) {
	opt := st.opt
	opt.Workers = 1
	return newInput([]*mat.Dense{ai}, opt)
}

func (st *stream) odc() (*Result, error) {
	l := st.cols[0]
	if st.opt.Dim != 0 && st.opt.Dim != l {
		return nil, fmt.Errorf("align: dimension %d, want %d: method odc keeps the number of columns", st.opt.Dim, l)
	}
	target, err := st.opt.target("odc", Identity, Random)
	if err != nil {
		return nil, err
	}
	if _, err := st.opt.solver("odc", solverPolar); err != nil {
		return nil, err
	}
	z := st.first
	if target == Random {
		z = new(mat.Dense)
		z.Mul(st.first, linalg.Haar(l, st.opt.Source))
	}
	res := &Result{Method: "odc", Solver: solverPolar, Dim: l, Target: target, Converged: true}
	seen := make([]float64, st.Parties)
	err = st.finish(res, z, func(i int, in *input, sub *Result) error {
		if in.cols[0] != l {
			return fmt.Errorf("align: A_%d has %d columns and A_1 has %d: method odc needs equal numbers, methods ls, gep and consensus do not", i+1, in.cols[0], l)
		}
		own, err := sub.procrustes(in, z)
		if err != nil {
			return fmt.Errorf("align: party %d: %v", i+1, err)
		}
		seen[i] = own[0]
		return nil
	})
	if err != nil {
		return nil, err
	}
	res.overlapsWithFirst(seen)
	return res, nil
}

func (st *stream) ls() (*Result, error) {
	target, err := st.opt.target("ls", Identity, Random, Sigma)
	if err != nil {
		return nil, err
	}
	solver, err := st.opt.solver("ls", solverSVD, solverGram)
	if err != nil {
		return nil, err
	}
	if st.opt.Dim < 0 || st.opt.Dim > st.rows {
		return nil, fmt.Errorf("align: dimension %d, want 1 to %d, the number of anchor rows, at most", st.opt.Dim, st.rows)
	}
	res := &Result{Method: "ls", Target: target, Converged: true}
	var z *mat.Dense
	if solver != solverSVD {
		if z, err = st.gramTarget(res); err != nil {
			return nil, err
		}
	}
	if z == nil {
		if z, err = st.qrTarget(res); err != nil {
			return nil, err
		}
	}
	sum := st.sum()
	if rank := linalg.NumericalRank(res.Singular, st.rows, sum, 0); rank < res.Dim {
		res.warn("all anchor representations together have rank %d, below the dimension %d: the last %d columns of the target are arbitrary", rank, res.Dim, res.Dim-rank)
	}
	switch target {
	case Sigma:
		scaleColumns(z, res.Singular[:res.Dim])
	case Random:
		var zr mat.Dense
		zr.Mul(z, linalg.Uniform(res.Dim, res.Dim, st.opt.Source))
		z = &zr
	}
	err = st.finish(res, z, func(i int, in *input, sub *Result) error {
		if err := sub.solve(in, z, res.Solver == solverSVD); err != nil {
			return fmt.Errorf("align: party %d: %v", i+1, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	res.warnRanks(&input{a: make([]*mat.Dense, st.Parties), cols: st.cols})
	return res, nil
}

func (st *stream) sum() int {
	sum := 0
	for _, c := range st.cols {
		sum += c
	}
	return sum
}

// dim sets res.Dim, once all l_i are known.
func (st *stream) dim(res *Result) error {
	in := &input{rows: st.rows, cols: st.cols, sum: st.sum(), opt: st.opt}
	d, err := in.freeDim()
	res.Dim = d
	return err
}

// batches reads W in pieces of about panelRows columns.
func (st *stream) batches(f func(in *input) error) error {
	n := max(1, panelRows/st.cols[0])
	for from := 0; from < st.Parties; from += n {
		batch := make([]*mat.Dense, min(n, st.Parties-from))
		err := parallel(st.opt.Workers, len(batch), func(k int) (err error) {
			batch[k], err = st.party(from + k)
			return err
		})
		if err != nil {
			return err
		}
		in, err := newInput(batch, st.opt)
		if err != nil {
			return err
		}
		if err := f(in); err != nil {
			return err
		}
	}
	return nil
}

// gramTarget returns U_d from WWᵀ, and nil when that would lose too many digits;
// see [gramLimit].
func (st *stream) gramTarget(res *Result) (*mat.Dense, error) {
	k := mat.NewDense(st.rows, st.rows, nil)
	err := st.batches(func(in *input) error {
		k.Add(k, in.outer())
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := st.dim(res); err != nil {
		return nil, err
	}
	if err := linalg.CheckFinite(k); err != nil {
		return nil, errors.New("align: WWᵀ overflows: standardise the features before projecting them")
	}
	w, z, err := symmetric(k, res.Dim)
	if err != nil {
		return nil, fmt.Errorf("align: W = [A_1 … A_%d]: %v", st.Parties, err)
	}
	s := roots(w)
	if !(s[0] <= gramLimit*s[res.Dim-1]) || s[0] == 0 {
		return nil, nil
	}
	fixSigns(z)
	res.Singular, res.Solver = s, solverGram
	return z, nil
}

// qrTarget returns U_d from the triangular factor of Wᵀ.
func (st *stream) qrTarget(res *Result) (*mat.Dense, error) {
	t := new(mat.Dense) // upper trapezoidal, min(a, columns so far) × a
	err := st.batches(func(in *input) error {
		top := 0
		if !t.IsEmpty() {
			top, _ = t.Dims()
		}
		stacked := mat.NewDense(top+in.sum, st.rows, nil)
		if top > 0 {
			stacked.Slice(0, top, 0, st.rows).(*mat.Dense).Copy(t)
		}
		for i, ai := range in.a {
			stacked.Slice(top+in.at[i], top+in.at[i]+in.cols[i], 0, st.rows).(*mat.Dense).Copy(ai.T())
		}
		t = triangular(stacked)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := st.dim(res); err != nil {
		return nil, err
	}
	s, v, err := linalg.SVDRight(t)
	if err != nil {
		return nil, fmt.Errorf("align: W = [A_1 … A_%d]: %v", st.Parties, err)
	}
	res.Singular, res.Solver = s, solverSVD
	return mat.DenseCopyOf(v.Slice(0, st.rows, 0, res.Dim)), nil
}

// triangular returns the upper trapezoidal factor T (min(m, n) × n) of X = Q T by
// Householder reflections, and overwrites x (m × n).
func triangular(x *mat.Dense) *mat.Dense {
	m, n := x.Dims()
	k := min(m, n)
	tau := make([]float64, k)
	query := []float64{0}
	lapack64.Geqrf(x.RawMatrix(), tau, query, -1)
	lapack64.Geqrf(x.RawMatrix(), tau, make([]float64, int(query[0])), int(query[0]))
	t := mat.NewDense(k, n, nil)
	for i := range k {
		copy(t.RawRowView(i)[i:], x.RawRowView(i)[i:])
	}
	return t
}

// groupParties is how many consecutive parties one goroutine takes. It is fixed
// so that sums have the same rounding whatever the number of goroutines.
const groupParties = 8

// finish makes the last pass: one fills in G_i, its rank and condition number in
// sub for one party; the rest is the same for all methods.
func (st *stream) finish(res *Result, z *mat.Dense, one func(i int, in *input, sub *Result) error) error {
	res.Ranks, res.Conds = make([]int, st.Parties), make([]float64, st.Parties)
	var all spread
	for from := 0; from < st.Parties; from += groups * groupParties {
		n := min(groups, (st.Parties-from+groupParties-1)/groupParties)
		parts := make([]spread, n)
		err := parallel(st.opt.Workers, n, func(k int) error {
			first := from + k*groupParties
			for i := first; i < min(first+groupParties, st.Parties); i++ {
				ai, err := st.party(i)
				if err != nil {
					return err
				}
				in, err := st.one(ai)
				if err != nil {
					return err
				}
				sub := &Result{Dim: res.Dim}
				if err := one(i, in, sub); err != nil {
					return err
				}
				res.Ranks[i], res.Conds[i] = sub.Ranks[0], sub.Conds[0]
				if err := st.Write(i, sub.G[0]); err != nil {
					return err
				}
				if !st.opt.NoResidual {
					var x mat.Dense
					x.Mul(ai, sub.G[0])
					parts[k].add(&x, z)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, p := range parts {
			all.merge(p)
		}
	}
	res.Residual, res.Objective = all.residual, all.objective
	return finiteFigures(res.Residual, res.Objective)
}
