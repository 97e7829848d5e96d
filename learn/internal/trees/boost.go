package trees

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

// BoostConfig is the settings of boosting, all of them set.
type BoostConfig struct {
	Rounds    int
	Rate      float64 // factor of every leaf
	MaxLeaves int     // at least 2
	MaxDepth  int     // 0 means no limit
	MinLeaf   int     // rows in a leaf, at least 1
	L2        float64
	Bins      int // 2 … 255
	// EarlyStop holds out a tenth of the rows, at least one of at least two, and
	// ends when their loss has not fallen by more than StopTol in Patience rounds.
	EarlyStop bool
	Patience  int
	StopTol   float64
	Seed      uint64
	Workers   int // goroutines, at least 1

	// Progress is told how many rounds are done; nil for nobody.
	Progress func(done, total int)
}

// Boosted is what boosting made: the raw predictions are Base plus the sum of
// the ensemble.
type Boosted struct {
	Ensemble
	Base    []float64
	Rounds  int     // of one tree for each raw prediction
	Stopped bool    // early
	Loss    float64 // mean over the rows learned from
}

// Boost fits by gradient boosting on the columns x, d of n finite numbers, n
// and d at least 1. Two classes have one raw prediction, the log odds of the
// second; more classes and numbers have one each.
//
// Cost O(n d) a round and level, less where rows are few: of two children only
// the smaller one's histogram is summed, the other's is the difference.
//
// It returns ctx's error when ctx is done.
func Boost(ctx context.Context, x [][]float32, y Response, set BoostConfig) (*Boosted, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(set.Seed, mix(0)))
	unit := 1.
	if y.Classes == 0 {
		y.Values, unit = scaled(y.Values)
	}
	var held heldOut
	if set.EarlyStop {
		x, y, held = holdOut(x, y, r)
	}
	n := len(x[0])
	l := newLoss(y)
	m := &Boosted{Base: l.base()}
	m.Width, m.Stride = 1, 1
	raw := make([]float64, 0, n*l.k)
	for range n {
		raw = append(raw, m.Base...)
	}
	if set.EarlyStop {
		held.start(m.Base, newLoss(held.y))
	}
	grad := make([][]gradient, l.k)
	for j := range grad {
		grad[j] = make([]gradient, n)
	}
	o := newBooster(bin(x, set.Bins, set.Workers, r), n, set)
	for m.Rounds < set.Rounds && !m.Stopped {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		const block = 4096
		Parallel(set.Workers, (n+block-1)/block, func(b int) {
			l.gradients(grad, raw, b*block, min(n, (b+1)*block))
		})
		for j := range grad {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			o.grow(&m.Ensemble, grad[j])
			m.Output = append(m.Output, int32(j))
			for _, leaf := range o.leaves {
				v := set.Rate * leafValue(leaf.total, set.L2)
				m.Nodes[leaf.node].Left = int32(len(m.Values))
				m.Values = append(m.Values, v)
				for _, row := range o.rows[leaf.lo:leaf.hi] {
					raw[int(row)*l.k+j] += v
				}
			}
		}
		m.Rounds++
		if set.EarlyStop {
			m.Stopped = held.stop(&m.Ensemble, unit, set)
		}
		if set.Progress != nil {
			set.Progress(m.Rounds, set.Rounds)
		}
	}
	m.Loss = l.mean(raw) * unit * unit
	for j := range m.Base {
		m.Base[j] *= unit
	}
	for i := range m.Values {
		m.Values[i] *= unit
	}
	return m, nil
}

// scaled is values over a power of two, the unit, so that the largest is about
// 1: 32-bit gradients and squares then neither overflow nor vanish, and since
// nothing is rounded the trees are the same.
func scaled(values []float64) ([]float64, float64) {
	var top float64
	for _, v := range values {
		top = max(top, math.Abs(v))
	}
	if top == 0 {
		return values, 1
	}
	_, exp := math.Frexp(top)
	// Of subnormal numbers the unit is the smallest normal one, and of the
	// largest numbers half of the power above them.
	exp = min(max(exp, -1021), 1023)
	unit := math.Ldexp(1, exp)
	s := make([]float64, len(values))
	for i, v := range values {
		s[i] = v / unit
	}
	return s, unit
}

// heldOut is the rows that tell when to stop.
type heldOut struct {
	x    []float32 // row by row
	y    Response
	l    loss
	raw  []float64
	seen []float64 // the loss after each round, that of the base first
	d    int
}

// holdOut draws a tenth of the rows, rounded up, of each class its share.
func holdOut(x [][]float32, y Response, r *rand.Rand) ([][]float32, Response, heldOut) {
	n := len(x[0])
	take := min((n+9)/10, n-1)
	out := make([]bool, n)
	if y.Classes == 0 {
		for _, i := range r.Perm(n)[:take] {
			out[i] = true
		}
	} else {
		rows := make([][]int, y.Classes)
		for i, c := range y.Labels {
			rows[c] = append(rows[c], i)
		}
		// The largest remainder gets what rounding down leaves over.
		quota, order := make([]int, y.Classes), make([]int, y.Classes)
		left := take
		for c := range quota {
			quota[c] = len(rows[c]) * take / n
			left -= quota[c]
			order[c] = c
		}
		slices.SortStableFunc(order, func(a, b int) int { return len(rows[b])*take%n - len(rows[a])*take%n })
		for _, c := range order[:left] {
			quota[c]++
		}
		for c, q := range quota {
			for _, i := range r.Perm(len(rows[c]))[:q] {
				out[rows[c][i]] = true
			}
		}
	}
	held := heldOut{d: len(x)}
	train := y
	train.Labels, train.Values = nil, nil
	held.y = train
	kept := make([]int, 0, n-take)
	for i := range n {
		to := &train
		if out[i] {
			to = &held.y
			for _, c := range x {
				held.x = append(held.x, c[i])
			}
		} else {
			kept = append(kept, i)
		}
		if y.Classes > 0 {
			to.Labels = append(to.Labels, y.Labels[i])
		} else {
			to.Values = append(to.Values, y.Values[i*y.Outputs:(i+1)*y.Outputs]...)
		}
	}
	cols := make([][]float32, len(x))
	for j := range cols {
		cols[j] = make([]float32, len(kept))
		for to, i := range kept {
			cols[j][to] = x[j][i]
		}
	}
	return cols, train, held
}

func (h *heldOut) start(base []float64, l loss) {
	h.l = l
	for range len(h.x) / h.d {
		h.raw = append(h.raw, base...)
	}
	h.seen = append(h.seen, l.mean(h.raw))
}

// stop adds the trees of the last round. It is true if in the last Patience
// rounds the loss was never below that before them by more than StopTol.
func (h *heldOut) stop(e *Ensemble, unit float64, set BoostConfig) bool {
	last := *e
	k := h.l.k
	last.Roots, last.Output = e.Roots[len(e.Roots)-k:], e.Output[len(e.Output)-k:]
	last.Sum(h.raw, k, h.x, h.d)
	h.seen = append(h.seen, h.l.mean(h.raw))
	if len(h.seen) <= set.Patience {
		return false
	}
	recent := h.seen[len(h.seen)-set.Patience:]
	before := h.seen[len(h.seen)-set.Patience-1]
	return slices.Min(recent)*unit*unit >= before*unit*unit-set.StopTol
}
