package linalg

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// PolarMethod names how a polar factor is computed.
type PolarMethod string

// The methods. The empty PolarMethod lets the package choose: the iteration
// for matrices of order 16 and more that are well enough conditioned, the
// singular value decomposition otherwise.
const (
	// PolarSVD is Q = U Vᵀ of the singular value decomposition.
	PolarSVD PolarMethod = "svd"
	// PolarIteration is the iteration of polariter.go, which needs products and
	// Cholesky decompositions only. A matrix that it cannot do, one of a
	// condition number beyond 10⁷ or below full rank, goes to PolarSVD.
	PolarIteration PolarMethod = "iteration"
)

// PolarOptions are the choices of [PolarWith]. The zero value is what [Polar]
// does.
type PolarOptions struct {
	// Method is the method. Empty lets the package choose.
	Method PolarMethod
	// Estimate allows Smallest, Largest and Cond of the iteration to be
	// estimates: Smallest too large and Largest too small, by a few per cent
	// where the neighbouring singular values lie close, and exact to rounding
	// where they do not. They cost half of the whole otherwise.
	Estimate bool
}

// PolarInfo says how well determined a polar factor is and how it was found.
// The factor of a matrix of full rank is unique, and moves by about
// ‖ΔM‖ / Smallest under a change ΔM of the matrix; below full rank it is one of
// many.
type PolarInfo struct {
	// Smallest and Largest are the extreme singular values of M; see
	// PolarOptions.Estimate.
	Smallest, Largest float64
	// Rank is the number of singular values above max(m, n)·2⁻⁵² times the
	// largest.
	Rank int
	// Cond is s₁ / s_Rank, the condition number of M on its numerical rank; 0
	// when Rank is 0.
	Cond float64
	// Method is the method that gave the result.
	Method PolarMethod
	// Iterations counts the steps of PolarIteration; 0 for PolarSVD.
	Iterations int
	// Estimated says that Smallest, Largest and Cond are estimates.
	Estimated bool
}

// Polar returns the orthogonal polar factor Q (m × n) of m (m × n), which its
// thin singular value decomposition defines:
//
//	M = U diag(s) Vᵀ,  Q = U Vᵀ
//
// Q has orthonormal columns when M is square or tall, and orthonormal rows
// when M is wide. Among all such matrices it is the one nearest to M and the
// one that maximises tr(QᵀM): the solution of the orthogonal Procrustes
// problem [schonemann1966] with M = AᵀB,
//
//	min_Q ‖A Q − B‖_F.
//
// A matrix below full rank has many such factors; one of them is returned and
// PolarInfo.Rank says so. The backward error is below 16·max(m, n)·2⁻⁵²
// whatever the method: Q is the factor of a matrix that differs from M by no
// more than that times ‖M‖_F.
//
// The cost is O(m n min(m, n)).
func Polar(m *mat.Dense) (q *mat.Dense, info PolarInfo, err error) {
	return PolarWith(m, PolarOptions{})
}

// smallPolar is the order from which the iteration is faster than the singular
// value decomposition.
const smallPolar = 16

// PolarWith is [Polar] with a choice of the method. It panics if the method has
// no name of those above.
func PolarWith(m *mat.Dense, opt PolarOptions) (q *mat.Dense, info PolarInfo, err error) {
	rows, cols := dims(m)
	try := false
	switch opt.Method {
	case "":
		try = min(rows, cols) >= smallPolar
	case PolarIteration:
		try = rows > 0
	case PolarSVD:
	default:
		panic(fmt.Sprintf("linalg: unknown polar method %q", string(opt.Method)))
	}
	if try {
		if err := CheckFinite(m); err != nil {
			return nil, PolarInfo{}, err
		}
		if q, info, ok := polarByIteration(m, opt.Estimate); ok {
			return q, info, nil
		}
	}
	return polarBySVD(m)
}

// PolarRuns divides c matrices of order n into runs from ≤ i < to that
// [PolarBatch] does at once. The runs do not depend on the number of cores.
func PolarRuns(c, n int) (runs [][2]int) {
	width := 1
	if k := lanesFor(n); k != nil {
		width = k.width
		if c < 2*width { // something for a second core
			width = (c + 1) / 2
		}
	}
	for at := 0; at < c; {
		step := min(width, c-at)
		if step < fewestLanes {
			step = 1
		}
		runs = append(runs, [2]int{at, at + step})
		at += step
	}
	return runs
}

// PolarEach returns the polar factors of many matrices, on all cores, in the
// order of the arguments. An error names its matrix, from 1.
func PolarEach(m []*mat.Dense, opt PolarOptions) (q []*mat.Dense, info []PolarInfo, err error) {
	q, info = make([]*mat.Dense, len(m)), make([]PolarInfo, len(m))
	order := 0
	if len(m) > 0 {
		order, _ = dims(m[0])
	}
	runs := PolarRuns(len(m), order)
	errs := make([]error, len(runs))
	Parallel(len(runs), func(k int) {
		from, to := runs[k][0], runs[k][1]
		var at int
		if at, errs[k] = PolarBatch(q[from:to], info[from:to], m[from:to], opt); errs[k] != nil {
			errs[k] = fmt.Errorf("matrix %d: %w", from+at+1, errs[k])
		}
	})
	for _, err := range errs {
		if err != nil {
			return nil, nil, err
		}
	}
	return q, info, nil
}

// PolarBatch puts the polar factors of m in q and what is known of them in info,
// both as long as m, on the calling goroutine. Square matrices of one order
// between 12 and 96 are done side by side, which takes a third of the time of
// one after another where the processor has AVX-512, half where it has AVX2; a
// factor then depends, within its rounding, on its neighbours. With an error
// comes the index of the matrix, from 0.
func PolarBatch(q []*mat.Dense, info []PolarInfo, m []*mat.Dense, opt PolarOptions) (at int, err error) {
	if len(q) != len(m) || len(info) != len(m) {
		panic(fmt.Sprintf("linalg: %d and %d results for %d matrices", len(q), len(info), len(m)))
	}
	k := batchable(m, opt)
	for from := 0; from < len(m); {
		to := from + 1
		var side []laneResult
		if k != nil && len(m)-from >= fewestLanes {
			to = min(from+k.width, len(m))
			side = k.polarBatch(m[from:to], opt.Estimate)
		}
		for i := from; i < to; i++ {
			if side != nil && side[i-from].ok {
				q[i], info[i] = side[i-from].q, side[i-from].info
				continue
			}
			if q[i], info[i], err = PolarWith(m[i], opt); err != nil {
				return i, err
			}
		}
		from = to
	}
	return 0, nil
}

// batchable returns the kernel for matrices that can be done side by side, nil
// if they cannot.
func batchable(m []*mat.Dense, opt PolarOptions) *laneKernel {
	if len(m) < fewestLanes || opt.Method == PolarSVD {
		return nil
	}
	n, _ := dims(m[0])
	k := lanesFor(n)
	for _, x := range m {
		if r, c := dims(x); r != n || c != n || k == nil || CheckFinite(x) != nil {
			return nil
		}
	}
	return k
}

// lanesFor returns the kernel for matrices of order n, nil if one after another
// is faster or there is none.
func lanesFor(n int) *laneKernel {
	if n < smallestLanes || n > largestLanes {
		return nil
	}
	for _, k := range current.Load().lanes {
		if k.fits(n) {
			return k
		}
	}
	return nil
}

func polarBySVD(m *mat.Dense) (q *mat.Dense, info PolarInfo, err error) {
	u, s, v, err := SVD(m)
	if err != nil {
		return nil, PolarInfo{}, err
	}
	rows, cols := dims(m)
	if rows == 0 {
		return &mat.Dense{}, PolarInfo{Method: PolarSVD}, nil
	}
	q = new(mat.Dense)
	q.Mul(u, v.T())
	info = PolarInfo{
		Smallest: s[len(s)-1],
		Largest:  s[0],
		Rank:     NumericalRank(s, rows, cols, 0),
		Method:   PolarSVD,
	}
	if info.Rank > 0 {
		info.Cond = s[0] / s[info.Rank-1]
	}
	return q, info, nil
}
