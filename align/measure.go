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
// The mean is updated party by party (Welford 1962) within groups of parties
// that are then merged (Chan, Golub, LeVeque 1979), so that each A_i G_i is made
// once, none is kept, and little sums of large numbers do not cancel. The cost
// is O(a d L) in time and O(a d) in memory.
func (res *Result) measure(in *input, z *mat.Dense) error {
	type part struct {
		mean                *mat.Dense
		n                   int
		residual, objective float64
	}
	parts := make([]part, groups)
	err := in.eachGroup(func(k, from, to int) error {
		p := part{mean: mat.NewDense(in.rows, res.Dim, nil)}
		var x mat.Dense
		for i := from; i < to; i++ {
			x.Mul(in.a[i], res.G[i])
			p.n++
			scale := 1 / float64(p.n)
			for r := range in.rows {
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
		parts[k] = p
		return nil
	})
	if err != nil {
		return err
	}
	all := parts[0]
	for _, p := range parts[1:] {
		if p.n == 0 {
			continue
		}
		var apart mat.Dense
		apart.Sub(p.mean, all.mean)
		n := float64(all.n + p.n)
		norm := mat.Norm(&apart, 2)
		all.residual += p.residual + float64(all.n)*float64(p.n)/n*norm*norm
		all.objective += p.objective
		all.n += p.n
		apart.Scale(float64(p.n)/n, &apart)
		all.mean.Add(all.mean, &apart)
	}
	res.Residual = all.residual
	if z != nil {
		res.Objective = all.objective
	}
	return finiteFigures(res.Residual, res.Objective)
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
