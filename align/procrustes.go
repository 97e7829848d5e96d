package align

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// solverPolar is the one solver of the closed-form Procrustes methods.
const solverPolar = "polar"

// procrustes fills in G_i = polar(A_iᵀZ) for the target z (a × d), with ranks and
// condition numbers of A_iᵀZ, and returns σ_min(A_iᵀZ) / ‖A_i‖_F of every party.
//
// A_i is read once: its norm is summed up panel by panel while the panel is in
// the cache for the product. The cost is O(a l_i d + l_i² d) a party.
func (res *Result) procrustes(in *input, z *mat.Dense) (seen []float64, err error) {
	c := len(in.a)
	seen = make([]float64, c)
	res.G = make([]*mat.Dense, c)
	res.Ranks, res.Conds = make([]int, c), make([]float64, c)
	runs := in.runs(z)
	err = in.each(func(i int) error {
		r := runs[i]
		r.begin.Do(func() { r.allocate(in, z) })
		k := i - r.from
		r.squares[k] = linalg.Cross(r.m[k], in.a[i], z)
		err := in.finite(i, r.squares[k])
		if err != nil {
			r.failed.Store(true)
		}
		if r.left.Add(-1) > 0 || r.failed.Load() {
			return err
		}
		return res.polars(in, r, seen) // whoever made the last product of the run
	})
	return seen, err
}

// run is the parties from ≤ i < to, whose polar factors are found together, while
// their products are made one by one on whatever core is free.
type run struct {
	from, to int
	begin    sync.Once
	left     atomic.Int32 // products to be made
	failed   atomic.Bool
	m        []*mat.Dense // A_iᵀZ
	squares  []float64    // ‖A_i‖_F²
	buffer   *[]float64   // what m lies in
}

// runs returns the run of each party. It does not depend on the number of
// goroutines.
func (in *input) runs(z *mat.Dense) (runs []*run) {
	_, d := z.Dims()
	for _, l := range in.cols {
		if l != d {
			d = 0
		}
	}
	for _, r := range linalg.PolarRuns(len(in.a), d) {
		next := &run{from: r[0], to: r[1]}
		next.left.Store(int32(r[1] - r[0]))
		for range r[1] - r[0] {
			runs = append(runs, next)
		}
	}
	return runs
}

// scratch holds the elements of matrices that are needed for a moment.
var scratch = sync.Pool{New: func() any { return new([]float64) }}

func (r *run) allocate(in *input, z *mat.Dense) {
	_, d := z.Dims()
	n := r.to - r.from
	r.m, r.squares, r.buffer = make([]*mat.Dense, n), make([]float64, n), scratch.Get().(*[]float64)
	size := 0
	for _, l := range in.cols[r.from:r.to] {
		size += l * d
	}
	if len(*r.buffer) < size {
		*r.buffer = make([]float64, size)
	}
	at := 0
	for k, l := range in.cols[r.from:r.to] {
		r.m[k] = mat.NewDense(l, d, (*r.buffer)[at:at+l*d:at+l*d])
		at += l * d
	}
}

// polars fills in G_i, rank and condition of a run.
func (res *Result) polars(in *input, r *run, seen []float64) error {
	info := make([]linalg.PolarInfo, len(r.m))
	g := res.G[r.from:r.to]
	at, err := linalg.PolarBatch(g, info, r.m, linalg.PolarOptions{Estimate: in.opt.NoResidual})
	scratch.Put(r.buffer)
	r.m, r.buffer = nil, nil
	if err != nil {
		return fmt.Errorf("align: A_%dᵀZ: %v", r.from+at+1, err)
	}
	for k, i := range info {
		if i.Rank == min(g[k].Dims()) {
			seen[r.from+k] = ratio(i.Smallest, math.Sqrt(r.squares[k]))
		}
		res.Ranks[r.from+k], res.Conds[r.from+k] = i.Rank, i.Cond
	}
	return nil
}
