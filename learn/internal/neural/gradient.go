package neural

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Target is what is learned: a class index for each row, or numbers, a row of
// Values each.
type Target struct {
	Labels []int
	Values blas64.General
}

// pass is a part of a minibatch: what it needs, and the sums it forms.
type pass struct {
	x     blas64.General   // room for blockRows rows of x
	a     []blas64.General // of the layers' outputs
	delta []blas64.General // and of their derivatives; the last are those of a

	// loss and grad are sums over the rows; sums are views of grad.
	loss float64
	grad []float64
	sums []Layer
}

func newPass(sizes []int, rows int) *pass {
	rows = min(rows, blockRows)
	p := &pass{x: newMatrix(rows, sizes[0]), grad: make([]float64, int(Count(sizes)))}
	for _, width := range sizes[1:] {
		p.a = append(p.a, newMatrix(rows, width))
	}
	for _, width := range sizes[1 : len(sizes)-1] {
		p.delta = append(p.delta, newMatrix(rows, width))
	}
	p.delta = append(p.delta, p.a[len(p.a)-1])
	p.sums = layers(sizes, p.grad)
	return p
}

// run forms the sums over the given rows of x and y.
func (p *pass) run(n *Network, x blas64.General, y Target, rows []int) {
	p.loss = 0
	if len(rows) == 0 {
		clear(p.grad)
		return
	}
	// The first products overwrite grad.
	for first := true; len(rows) > 0; first = false {
		block := rows[:min(len(rows), blockRows)]
		rows = rows[len(block):]
		p.block(n, x, y, block, first)
	}
}

// block adds the sums over at most blockRows rows, or for first puts them there.
func (p *pass) block(n *Network, x blas64.General, y Target, rows []int, first bool) {
	for i, at := range rows {
		copy(row(p.x, i), row(x, at))
	}
	in, last := slice(p.x, 0, len(rows)), len(p.a)-1
	for l := range p.a {
		p.a[l].Rows, p.delta[l].Rows = len(rows), len(rows)
	}
	forward(n.Layers, in, p.a)
	for i, at := range rows {
		p.loss += n.Output.derive(row(p.delta[last], i), y, at)
	}

	beta := 1.0
	if first {
		beta = 0
		for _, s := range p.sums {
			clear(s.B)
		}
	}
	for i := range rows {
		add(p.sums[last].B, row(p.delta[last], i))
	}
	for l := last; l > 0; l-- {
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, p.a[l-1], p.delta[l], beta, p.sums[l].W)
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, p.delta[l], n.Layers[l].W, 0, p.delta[l-1])
		for i := range rows {
			through(row(p.delta[l-1], i), row(p.a[l-1], i), p.sums[l-1].B)
		}
	}
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, in, p.delta[0], beta, p.sums[0].W)
}

// through is the derivative of the rectifier: it clears delta where a, which is
// not negative, is 0, and adds the rest to sum. As rectify it has no branches.
func through(delta, a, sum []float64) {
	a, sum = a[:len(delta)], sum[:len(delta)]
	for j, v := range delta {
		mask := uint64(-int64(math.Float64bits(a[j])) >> 63)
		v = math.Float64frombits(math.Float64bits(v) & mask)
		delta[j] = v
		sum[j] += v
	}
}

// derive replaces the outputs z of row at of the target by ∂loss/∂z, and returns
// the loss.
func (o Output) derive(z []float64, y Target, at int) (loss float64) {
	switch o {
	case Squares:
		for j, v := range row(y.Values, at) {
			z[j] -= v
			loss += z[j] * z[j] / 2
		}
	case Logistic:
		// −log σ(±z) = max(0, ∓z) + log(1 + e^−|z|)
		e := math.Exp(-math.Abs(z[0]))
		loss = math.Log1p(e)
		p := 1 / (1 + e)
		if z[0] < 0 {
			p = e / (1 + e)
		}
		if y.Labels[at] == 1 {
			loss += max(0, -z[0])
			p--
		} else {
			loss += max(0, z[0])
		}
		z[0] = p
	case Softmax:
		top, own := slices.Max(z), z[y.Labels[at]]
		var sum float64
		for j, v := range z {
			z[j] = math.Exp(v - top)
			sum += z[j]
		}
		loss = math.Log(sum) + top - own
		for j := range z {
			z[j] /= sum
		}
		z[y.Labels[at]]--
	default:
		panic("neural: unknown output")
	}
	return loss
}
