package lab

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"concord/contract"
	"concord/learn"
	"concord/metric"
)

// draw divides the rows, standardises them and fills in parties, test and truth.
func (t *trial) draw() error {
	cut, err := t.divide()
	if err != nil {
		return err
	}
	rows := slices.Concat(cut.parties...)
	n := len(rows)
	x, y := t.data.Take(append(rows, cut.test...))
	_, m := x.Dims()
	if m < 2 {
		return fmt.Errorf("lab: %d feature, a collaboration needs at least 2", m)
	}
	view := func(from, to int) *mat.Dense { return x.Slice(from, to, 0, m).(*mat.Dense) }
	at := 0
	for _, p := range cut.parties {
		t.parties = append(t.parties, holder{view(at, at+len(p)), targetRows(y, at, at+len(p))})
		at += len(p)
	}
	t.test = view(n, n+len(cut.test))
	truth := targetRows(y, n, n+len(cut.test))
	t.truth = metric.Truth{Labels: truth.Labels, Positive: max(t.data.Positive, 0), Values: truth.Values}
	switch t.Standardise {
	case "pooled":
		t.common = t.preparationOf(view(0, n))
		prepare(x, t.common)
	case "all":
		all, _ := t.data.Take(cut.pool)
		t.common = t.preparationOf(all)
		prepare(x, t.common)
	case "party":
		// A test row belongs to no party: it is scaled by the mean of their figures.
		own := make([]*contract.Preparation, len(t.parties))
		for i, p := range t.parties {
			own[i] = t.preparationOf(p.x)
			prepare(p.x, own[i])
		}
		t.common = meanOf(own)
		prepare(t.test, t.common)
	case "none":
		t.common = t.preparationOf(view(0, n))
		t.common.Centre, t.common.Scale = make([]float64, m), slices.Repeat([]float64{1}, m)
		prepare(x, t.common)
	}
	if t.Halves {
		return t.halve()
	}
	if t.viewed() {
		return t.hide()
	}
	return nil
}

// preparationOf brings the columns of x to mean 0 and standard deviation 1, with the mean where a
// number is missing, as a contract fills it in before it standardises; columns of 0 and 1 stay
// as they are if the setting says so.
func (t *trial) preparationOf(x *mat.Dense) *contract.Preparation {
	n, m := x.Dims()
	centre, by, count := make([]float64, m), make([]float64, m), make([]float64, m)
	for i := range n {
		for j, v := range x.RawRowView(i) {
			if !math.IsNaN(v) {
				centre[j] += v
				count[j]++
			}
		}
	}
	for j := range m {
		if count[j] > 0 {
			centre[j] /= count[j]
		}
	}
	for i := range n {
		for j, v := range x.RawRowView(i) {
			if !math.IsNaN(v) {
				by[j] += (v - centre[j]) * (v - centre[j])
			}
		}
	}
	for j := range m {
		by[j] = math.Sqrt(by[j] / float64(n)) // after filling: what is filled in is the mean
		if by[j] <= 1e-12*math.Abs(centre[j]) {
			by[j] = 1 // constant: only centred
		}
		if t.KeepBinary && zeroOne(x, j) {
			centre[j], by[j] = 0, 1
		}
	}
	return &contract.Preparation{Fill: centre, Levels: make([]int, m), Centre: centre, Scale: by}
}

// zeroOne says whether a column holds 0 and 1 only.
func zeroOne(x *mat.Dense, j int) bool {
	n, _ := x.Dims()
	for i := range n {
		if v := x.At(i, j); v != 0 && v != 1 && !math.IsNaN(v) {
			return false
		}
	}
	return true
}

func meanOf(all []*contract.Preparation) *contract.Preparation {
	m := all[0].M()
	centre, by := make([]float64, m), make([]float64, m)
	for _, p := range all {
		for j := range m {
			centre[j] += p.Centre[j] / float64(len(all))
			by[j] += p.Scale[j] / float64(len(all))
		}
	}
	return &contract.Preparation{Fill: centre, Levels: make([]int, m), Centre: centre, Scale: by}
}

// prepare changes x.
func prepare(x *mat.Dense, p *contract.Preparation) {
	n, _ := x.Dims()
	for i := range n {
		p.Row(x.RawRowView(i), x.RawRowView(i))
	}
}

// targetRows are rows from to to of y.
func targetRows(y learn.Target, from, to int) learn.Target {
	out := learn.Target{Classes: y.Classes}
	if y.Classification() {
		out.Labels = y.Labels[from:to]
		return out
	}
	_, q := y.Values.Dims()
	out.Values = y.Values.Slice(from, to, 0, q).(*mat.Dense)
	return out
}

// stackTargets puts targets one after another.
func stackTargets(parties []holder) learn.Target {
	y := learn.Target{Classes: parties[0].y.Classes}
	var values []*mat.Dense
	for _, p := range parties {
		y.Labels = append(y.Labels, p.y.Labels...)
		values = append(values, p.y.Values)
	}
	if !y.Classification() {
		y.Values = stackRows(values)
	}
	return y
}

func stackRows(parts []*mat.Dense) *mat.Dense {
	total := 0
	_, m := parts[0].Dims()
	for _, p := range parts {
		n, _ := p.Dims()
		total += n
	}
	out := mat.NewDense(total, m, nil)
	at := 0
	for _, p := range parts {
		n, _ := p.Dims()
		out.Slice(at, at+n, 0, m).(*mat.Dense).Copy(p)
		at += n
	}
	return out
}
