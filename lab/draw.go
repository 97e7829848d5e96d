package lab

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

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
		t.parties = append(t.parties, party{view(at, at+len(p)), targetRows(y, at, at+len(p))})
		at += len(p)
	}
	t.test = view(n, n+len(cut.test))
	truth := targetRows(y, n, n+len(cut.test))
	t.truth = metric.Truth{Labels: truth.Labels, Positive: max(t.data.Positive, 0), Values: truth.Values}
	switch t.Standardise {
	case "pooled":
		t.common = t.scaleOf(view(0, n))
		standardise(x, t.common)
	case "all":
		all, _ := t.data.Take(cut.pool)
		t.common = t.scaleOf(all)
		standardise(x, t.common)
	case "party":
		// A test row belongs to no party: it is scaled by the mean of their figures.
		scales := make([]scale, len(t.parties))
		for i, p := range t.parties {
			scales[i] = t.scaleOf(p.x)
			standardise(p.x, scales[i])
		}
		t.common = meanScale(scales)
		standardise(t.test, t.common)
	case "none":
		t.common = t.scaleOf(view(0, n))
		impute(x, t.common)
	}
	if t.Halves {
		return t.halve()
	}
	if t.viewed() {
		return t.hide()
	}
	return nil
}

// scale is what brings columns to mean 0 and deviation 1.
type scale struct{ centre, by []float64 }

// scaleOf takes means and deviations of the columns of x, with the mean where a number
// is missing, as a contract fills it in before it standardises; columns of 0 and 1 stay
// as they are if the setting says so.
func (t *trial) scaleOf(x *mat.Dense) scale {
	n, m := x.Dims()
	s := scale{make([]float64, m), make([]float64, m)}
	count := make([]float64, m)
	for i := range n {
		for j, v := range x.RawRowView(i) {
			if !math.IsNaN(v) {
				s.centre[j] += v
				count[j]++
			}
		}
	}
	for j := range m {
		if count[j] > 0 {
			s.centre[j] /= count[j]
		}
	}
	for i := range n {
		for j, v := range x.RawRowView(i) {
			if !math.IsNaN(v) {
				s.by[j] += (v - s.centre[j]) * (v - s.centre[j])
			}
		}
	}
	for j := range m {
		s.by[j] = math.Sqrt(s.by[j] / float64(n)) // after filling: what is filled in is the mean
		if s.by[j] <= 1e-12*math.Abs(s.centre[j]) {
			s.by[j] = 1 // constant: only centred
		}
		if t.KeepBinary && zeroOne(x, j) {
			s.centre[j], s.by[j] = 0, 1
		}
	}
	return s
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

func meanScale(all []scale) scale {
	m := len(all[0].centre)
	mean := scale{make([]float64, m), make([]float64, m)}
	for _, s := range all {
		for j := range m {
			mean.centre[j] += s.centre[j] / float64(len(all))
			mean.by[j] += s.by[j] / float64(len(all))
		}
	}
	return mean
}

// standardise changes x; what is missing becomes the mean, zero.
func standardise(x *mat.Dense, s scale) {
	n, _ := x.Dims()
	for i := range n {
		row := x.RawRowView(i)
		for j, v := range row {
			row[j] = (v - s.centre[j]) / s.by[j]
			if math.IsNaN(v) {
				row[j] = 0
			}
		}
	}
}

// impute puts the mean where a number is missing.
func impute(x *mat.Dense, s scale) {
	n, _ := x.Dims()
	for i := range n {
		row := x.RawRowView(i)
		for j, v := range row {
			if math.IsNaN(v) {
				row[j] = s.centre[j]
			}
		}
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
func stackTargets(parties []party) learn.Target {
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
