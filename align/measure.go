package align

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"
)

// measure fills in the residual, and with a target z, unless nil, the objective
//
//	Σ_i ‖A_i G_i − mean_j A_j G_j‖_F²,   Σ_i ‖A_i G_i − Z‖_F²
//
// The mean is updated party by party [welford1962] within groups of parties
// that are then merged [chan1979], so that each A_i G_i is made
// once, none is kept, and little sums of large numbers do not cancel. The cost
// is O(a d L) in time and O(a d) in memory.
func (res *Result) measure(in *input, z *mat.Dense) error {
	parts := make([]spread, groups)
	_ = in.eachGroup(func(k, from, to int) error {
		var x mat.Dense
		for i := from; i < to; i++ {
			x.Mul(in.a[i], res.G[i])
			parts[k].add(&x, z)
		}
		return nil
	})
	var all spread
	for _, p := range parts {
		all.merge(p)
	}
	res.Residual = all.residual
	if z != nil {
		res.Objective = all.objective
	}
	return finiteFigures(res.Residual, res.Objective)
}

// spread sums up, for n matrices X_i, their mean, Σ_i ‖X_i − mean‖_F² and
// Σ_i ‖X_i − Z‖_F².
type spread struct {
	n                   int
	mean                *mat.Dense
	residual, objective float64
}

// add takes in x, and its distance from z unless that is nil.
func (p *spread) add(x, z *mat.Dense) {
	rows, cols := x.Dims()
	if p.mean == nil {
		p.mean = mat.NewDense(rows, cols, nil)
	}
	p.n++
	scale := 1 / float64(p.n)
	for r := range rows {
		xr, mr := x.RawRowView(r), p.mean.RawRowView(r)
		mr = mr[:len(xr)]
		for j, v := range xr {
			old := v - mr[j]
			mr[j] += old * scale
			p.residual += old * (v - mr[j])
		}
		if z == nil {
			continue
		}
		zr := z.RawRowView(r)[:len(xr)]
		for j, v := range xr {
			p.objective += (v - zr[j]) * (v - zr[j])
		}
	}
}

// merge takes in the matrices of q.
func (p *spread) merge(q spread) {
	switch {
	case q.n == 0:
		return
	case p.n == 0:
		*p = q
		return
	}
	var apart mat.Dense
	apart.Sub(q.mean, p.mean)
	norm, n := mat.Norm(&apart, 2), float64(p.n+q.n)
	p.residual += q.residual + float64(p.n)*float64(q.n)/n*norm*norm
	p.objective += q.objective
	p.n += q.n
	apart.Scale(float64(q.n)/n, &apart)
	p.mean.Add(p.mean, &apart)
}

// finiteFigures is an error if a figure of the result is not finite.
func finiteFigures(figures ...float64) error {
	for _, x := range figures {
		if math.IsInf(x, 0) || math.IsNaN(x) {
			return errors.New("align: the aligned anchors overflow: standardise the features before projecting them")
		}
	}
	return nil
}
