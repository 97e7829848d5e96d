package neural

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// split draws the rows held out, of each class its share: the rounded-down share
// of all, and one more where the remainders are largest. Every class that has
// rows keeps one. labels are nil for numbers. Both lists ascend.
func split(n int, labels []int, held int, rnd *rand.Rand) (learn, judge []int) {
	out := make([]bool, n)
	if held > 0 {
		for _, rows := range shares(n, labels, held) {
			for i := range rows.take {
				j := i + rnd.IntN(len(rows.rows)-i)
				rows.rows[i], rows.rows[j] = rows.rows[j], rows.rows[i]
				out[rows.rows[i]] = true
			}
		}
	}
	for i, o := range out {
		if o {
			judge = append(judge, i)
		} else {
			learn = append(learn, i)
		}
	}
	return learn, judge
}

// stratum is the rows of one class, and how many of them are held out.
type stratum struct {
	rows []int
	take int
}

func shares(n int, labels []int, held int) []*stratum {
	k := 1
	if labels != nil {
		k = slices.Max(labels) + 1
	}
	strata := make([]*stratum, k)
	for c := range strata {
		strata[c] = new(stratum)
	}
	for i := range n {
		c := 0
		if labels != nil {
			c = labels[i]
		}
		strata[c].rows = append(strata[c].rows, i)
	}
	left := held
	for _, s := range strata {
		s.take = min(len(s.rows)*held/n, max(0, len(s.rows)-1))
		left -= s.take
	}
	order := slices.Clone(strata)
	slices.SortStableFunc(order, func(a, b *stratum) int { return cmp.Compare(len(b.rows)*held%n, len(a.rows)*held%n) })
	for left > 0 {
		before := left
		for _, s := range order {
			if left > 0 && s.take < len(s.rows)-1 {
				s.take++
				left--
			}
		}
		if left == before {
			break // nobody can spare another
		}
	}
	return strata
}

// validate is the share of right classes among the rows held out, or the
// coefficient of determination R², its mean over the columns: 1 − Σ(y − z)²/Σ(y
// − ȳ)², and for a constant column 1 if all are exact, otherwise 0.
func (t *trainer) validate() float64 {
	x := newMatrix(len(t.judge), t.x.Cols)
	for i, at := range t.judge {
		copy(row(x, i), row(t.x, at))
	}
	z := newMatrix(len(t.judge), t.Outputs)
	Forward(t.net.Layers, x, z)
	if t.Output != Squares {
		right := 0
		for i, at := range t.judge {
			scores := row(z, i)
			class := slices.Index(scores, slices.Max(scores))
			if t.Output == Logistic {
				class = 0
				if scores[0] > 0 {
					class = 1
				}
			}
			if class == t.y.Labels[at] {
				right++
			}
		}
		return float64(right) / float64(len(t.judge))
	}
	var r2 float64
	for j := range t.Outputs {
		var mean, residual, total float64
		for _, at := range t.judge {
			mean += row(t.y.Values, at)[j] / float64(len(t.judge))
		}
		for i, at := range t.judge {
			y := row(t.y.Values, at)[j]
			residual += (y - row(z, i)[j]) * (y - row(z, i)[j])
			total += (y - mean) * (y - mean)
		}
		switch {
		case total > 0:
			r2 += 1 - residual/total
		case residual == 0:
			r2++
		}
	}
	r2 /= float64(t.Outputs)
	if math.IsNaN(r2) {
		return math.Inf(-1)
	}
	return r2
}
