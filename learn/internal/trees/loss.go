package trees

import "math"

// loss is what boosting lowers, a sum over rows of a function of the k raw
// predictions f of the row:
//
//	numbers          ½ Σⱼ (fⱼ − yⱼ)²
//	two classes      log(1 + eᶠ) − y f          (k = 1)
//	more classes     log Σⱼ eᶠʲ − f_y
type loss struct {
	y Response
	k int // raw predictions of a row
}

func newLoss(y Response) loss {
	switch {
	case y.Classes == 0:
		return loss{y, y.Outputs}
	case y.Classes == 2:
		return loss{y, 1}
	default:
		return loss{y, y.Classes}
	}
}

// base is the best constant raw prediction: means, the log odds, or the logs of
// the classes' shares, less their mean. Shares are kept ε from 0 and 1.
func (l loss) base() []float64 {
	if l.y.Classes == 0 {
		return columnMeans(l.y.Values, l.k)
	}
	share := make([]float64, l.y.Classes)
	for _, c := range l.y.Labels {
		share[c]++
	}
	const eps = 0x1p-52
	var mean float64
	for c := range share {
		share[c] = min(max(share[c]/float64(len(l.y.Labels)), eps), 1-eps)
		mean += math.Log(share[c]) / float64(len(share))
	}
	if l.k == 1 {
		return []float64{math.Log(share[1] / (1 - share[1]))}
	}
	for c := range share {
		share[c] = math.Log(share[c]) - mean
	}
	return share
}

// gradients sets the derivatives of the rows lo … hi − 1. Raw predictions are
// row by row; grad[j] is by rows.
func (l loss) gradients(grad [][]gradient, raw []float64, lo, hi int) {
	switch {
	case l.y.Classes == 0:
		for i := lo; i < hi; i++ {
			for j := range l.k {
				grad[j][i] = gradient{float32(raw[i*l.k+j] - l.y.Values[i*l.k+j]), 1}
			}
		}
	case l.k == 1:
		for i := lo; i < hi; i++ {
			grad[0][i] = binomial(raw[i], l.y.Labels[i] == 1)
		}
	default:
		p := make([]float64, l.k)
		for i := lo; i < hi; i++ {
			f := raw[i*l.k : (i+1)*l.k]
			top, sum := f[0], 0.
			for _, v := range f {
				top = max(top, v)
			}
			for j, v := range f {
				p[j] = math.Exp(v - top)
				sum += p[j]
			}
			for j := range p {
				q := p[j] / sum
				g := q
				if int(l.y.Labels[i]) == j {
					g--
				}
				grad[j][i] = gradient{float32(g), float32(q * (1 - q))}
			}
		}
	}
}

// binomial is the gradient σ(f) − y and the curvature σ(f)(1 − σ(f)), without
// cancellation.
func binomial(f float64, y bool) gradient {
	e := math.Exp(-math.Abs(f))
	small, big := e/(1+e), 1/(1+e) // of σ(f) and 1 − σ(f)
	p, q := big, small             // σ(f), 1 − σ(f)
	if f < 0 {
		p, q = small, big
	}
	if y {
		return gradient{float32(-q), float32(small * big)}
	}
	return gradient{float32(p), float32(small * big)}
}

// mean is the loss of a row on average.
func (l loss) mean(raw []float64) float64 {
	n := len(raw) / l.k
	var sum float64
	for i := range n {
		f := raw[i*l.k : (i+1)*l.k]
		switch {
		case l.y.Classes == 0:
			for j, v := range f {
				d := v - l.y.Values[i*l.k+j]
				sum += d * d / 2
			}
		case l.k == 1:
			v := f[0]
			if l.y.Labels[i] == 1 {
				v = -v
			}
			sum += max(v, 0) + math.Log1p(math.Exp(-math.Abs(v)))
		default:
			top, exps := f[0], 0.
			for _, v := range f {
				top = max(top, v)
			}
			for _, v := range f {
				exps += math.Exp(v - top)
			}
			sum += top + math.Log(exps) - f[l.y.Labels[i]]
		}
	}
	return sum / float64(n)
}
