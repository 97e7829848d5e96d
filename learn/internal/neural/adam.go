package neural

import "math"

// adam is the optimiser of [kingma2015], algorithm 1, with the bias
// correction in the rate (ibid. section 2). With the gradient g of step t,
//
//	m ← β₁ m + (1 − β₁) g,   v ← β₂ v + (1 − β₂) g²
//	w ← w − η √(1 − β₂ᵗ)/(1 − β₁ᵗ) · m/(√v + ε)
type adam struct {
	rate float64 // η
	m, v []float64
	// pow1 and pow2 are β₁ᵗ and β₂ᵗ.
	pow1, pow2 float64

	// stretches are runs of weights or of biases, at most stretch long, in order.
	stretches []span
	squares   []float64 // of each stretch, see step
}

// The constants of the paper, and of scikit-learn.
const (
	beta1   = 0.9
	beta2   = 0.999
	epsilon = 1e-8
)

// stretch is how many parameters are updated at a time, so that sums of partial
// gradients stay in the first-level cache.
const stretch = 1024

// span is from ≤ i < to of the parameters.
type span struct {
	from, to int
	weights  bool // not biases
}

func newAdam(n *Network, rate float64) *adam {
	o := &adam{rate: rate, m: make([]float64, len(n.params)), v: make([]float64, len(n.params)), pow1: 1, pow2: 1}
	at := 0
	cut := func(length int, weights bool) {
		for end := at + length; at < end; {
			to := min(at+stretch, end)
			o.stretches = append(o.stretches, span{at, to, weights})
			at = to
		}
	}
	for _, l := range n.Layers {
		cut(len(l.W.Data), true)
		cut(len(l.B), false)
	}
	o.squares = make([]float64, len(o.stretches))
	return o
}

// share is how many stretches make a part of a job: 10 µs.
const share = 4

// tasks is in how many parts a step is done.
func (o *adam) tasks() int { return (len(o.stretches) + share - 1) / share }

// step moves the parameters by the gradient
//
//	g = (Σ grads + α w)/rows
//
// where the penalty acts on weights only, and returns ‖w‖² of the weights before
// the step. It changes grads[0].
func (o *adam) step(team *team, params []float64, grads []*pass, rows int, alpha float64) (squares float64) {
	o.pow1 *= beta1
	o.pow2 *= beta2
	rate := o.rate * math.Sqrt(1-o.pow2) / (1 - o.pow1)
	team.do(o.tasks(), func(i int) {
		for k := i * share; k < min(len(o.stretches), (i+1)*share); k++ {
			s := o.stretches[k]
			g := grads[0].grad[s.from:s.to]
			for _, p := range grads[1:] {
				add(g, p.grad[s.from:s.to])
			}
			decay := 0.0
			if s.weights {
				decay = alpha
			}
			sum := adamUpdate(params[s.from:s.to], g, o.m[s.from:s.to], o.v[s.from:s.to], rate, decay, 1/float64(rows))
			o.squares[k] = 0
			if s.weights {
				o.squares[k] = sum
			}
		}
	})
	for _, v := range o.squares {
		squares += v
	}
	return squares
}

// adamUpdate is the step in one pass over the parameters, with the gradient
// scale·(g + decay·w); it returns ‖w‖² before the step.
func adamUpdate(w, g, m, v []float64, rate, decay, scale float64) (squares float64) {
	g, m, v = g[:len(w)], m[:len(w)], v[:len(w)]
	for i, wi := range w {
		squares += wi * wi
		gi := (g[i] + decay*wi) * scale
		mi := beta1*m[i] + (1-beta1)*gi
		vi := beta2*v[i] + (1-beta2)*(gi*gi)
		m[i], v[i] = mi, vi
		w[i] = wi - rate*mi/(math.Sqrt(vi)+epsilon)
	}
	return squares
}
