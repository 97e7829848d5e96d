package learn

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// logisticLoss is the objective of Logistic at its current parameters
// θ = (W; b), a (d+1) × k matrix whose last row is the intercepts of the
// centred columns. k is 1 for two classes.
type logisticLoss struct {
	x      *mat.Dense // n × d, columns of mean 0
	labels []int
	lambda float64
	bound  mat.Cholesky // of M at the upper bound of the Hessian
	local  mat.Cholesky // of M where the Hessian was last looked at

	theta *mat.Dense // (d+1) × k
	z     *mat.Dense // n × k, x W + b

	// The line being searched.
	step *mat.Dense // (d+1) × k
	zs   *mat.Dense // n × k, what step adds to z
	row  []float64  // k, scratch
}

// newLogisticLoss starts at θ = 0. It fails when xᵀx overflows.
func newLogisticLoss(x *mat.Dense, labels []int, classes int, c float64) (*logisticLoss, error) {
	n, d := x.Dims()
	k, kappa := classes, 0.5
	if classes == 2 {
		k, kappa = 1, 0.25
	}
	f := &logisticLoss{
		x: x, labels: labels, lambda: 1 / (c * float64(n)),
		theta: mat.NewDense(d+1, k, nil), z: mat.NewDense(n, k, nil),
		zs: mat.NewDense(n, k, nil), row: make([]float64, k),
	}
	if err := f.factorize(&f.bound, func(int) float64 { return kappa }); err != nil {
		return nil, err
	}
	f.local.Clone(&f.bound)
	return f, nil
}

// factorize decomposes M = (X̃ᵀ diag(h) X̃)/n + λ I, (d+1) × (d+1), where X̃ is x
// with a column of ones, whose place λ leaves out. h is at least 0 and in one
// element positive.
func (f *logisticLoss) factorize(chol *mat.Cholesky, h func(row int) float64) error {
	n, d := f.x.Dims()
	weighted := mat.NewDense(n, d+1, nil)
	for i := range n {
		root := math.Sqrt(h(i) / float64(n))
		row := weighted.RawRowView(i)
		for j, v := range f.x.RawRowView(i) {
			row[j] = root * v
		}
		row[d] = root
	}
	m := mat.NewSymDense(d+1, nil)
	m.SymOuterK(1, weighted.T())
	trace := mat.Trace(m)
	if math.IsNaN(trace) || math.IsInf(trace, 0) {
		return fmt.Errorf("learn: logistic overflows, scale the columns of x down")
	}
	for j := range d {
		m.SetSym(j, j, m.At(j, j)+f.lambda)
	}
	// Any positive definite M serves: where rounding spoils it, it takes a
	// little more on the diagonal, until that exceeds the rounding of the trace.
	for extra := 0x1p-52 * trace; !chol.Factorize(m); extra *= 10 {
		if math.IsInf(extra, 0) || extra == 0 {
			return fmt.Errorf("learn: logistic has no usable bound of the Hessian, scale the columns of x")
		}
		for j := range d + 1 {
			m.SetSym(j, j, m.At(j, j)+extra)
		}
	}
	return nil
}

// look brings M to the Hessian at θ: for two classes it is the Hessian, for
// more an upper bound of each of its diagonal blocks.
func (f *logisticLoss) look() error {
	return f.factorize(&f.local, func(i int) float64 {
		copy(f.row, f.z.RawRowView(i))
		if len(f.row) == 1 {
			return max(leastWeight, sigmoid(f.row[0])*sigmoid(-f.row[0]))
		}
		softmax(f.row)
		h := leastWeight
		for _, p := range f.row {
			h = max(h, p*(1-p))
		}
		return h
	})
}

// leastWeight keeps rows that are all but certain from leaving M altogether:
// half of the digits below the bound.
const leastWeight = 1e-8

// parameters are copies of W (d × k) and b (k).
func (f *logisticLoss) parameters() (*mat.Dense, []float64) {
	rows, k := f.theta.Dims()
	return mat.DenseCopyOf(f.theta.Slice(0, rows-1, 0, k)), mat.Row(nil, rows-1, f.theta)
}

// weightDot is the inner product of the weights in a and b, intercepts left out.
func weightDot(a, b *mat.Dense) float64 {
	rows, _ := a.Dims()
	var sum float64
	for i := range rows - 1 {
		for j, v := range a.RawRowView(i) {
			sum += v * b.RawRowView(i)[j]
		}
	}
	return sum
}

// point replaces z, the row of a sample, by the probabilities less the one-hot
// label, which is the gradient of −log p, and returns −log p.
func point(z []float64, label int) float64 {
	if len(z) == 1 {
		v := z[0]
		if label == 1 {
			z[0] = -sigmoid(-v)
			return softplus(-v)
		}
		z[0] = sigmoid(v)
		return softplus(v)
	}
	// Sums over the other classes keep their digits when p is close to 1.
	own, top := z[label], slices.Max(z)
	var others float64
	for j, v := range z {
		if j != label {
			z[j] = math.Exp(v - top)
			others += z[j]
		}
	}
	sum := others + math.Exp(own-top)
	for j := range z {
		z[j] /= sum
	}
	z[label] = -others / sum
	if own == top {
		return math.Log1p(others)
	}
	return top - own + math.Log(sum)
}

// softplus is log(1 + e^z).
func softplus(z float64) float64 { return max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))) }

// lossRows is the number of rows that one goroutine takes at once.
const lossRows = 1024

// inBlocks has each called for all rows, block by block on all cores, with sums of
// its own and scratch for a row, and returns the totals. They are added in order,
// so the result does not depend on the number of cores.
func (f *logisticLoss) inBlocks(sums int, each func(from, to int, sum, row []float64)) []float64 {
	n := len(f.labels)
	blocks := (n + lossRows - 1) / lossRows
	parts := make([][]float64, blocks)
	linalg.Parallel(blocks, func(b int) {
		parts[b] = make([]float64, sums)
		each(b*lossRows, min((b+1)*lossRows, n), parts[b], make([]float64, len(f.row)))
	})
	for _, part := range parts[1:] {
		for j, v := range part {
			parts[0][j] += v
		}
	}
	return parts[0]
}

// gradient is the gradient at θ, (d+1) × k.
func (f *logisticLoss) gradient() *mat.Dense {
	n, d := f.x.Dims()
	_, k := f.theta.Dims()
	r := mat.DenseCopyOf(f.z)
	g := mat.NewDense(d+1, k, nil)
	intercept := g.RawRowView(d)
	sums := f.inBlocks(k, func(from, to int, sum, _ []float64) {
		for i := from; i < to; i++ {
			row := r.RawRowView(i)
			point(row, f.labels[i])
			for j := range row {
				row[j] /= float64(n)
				sum[j] += row[j]
			}
		}
	})
	copy(intercept, sums)
	weights := g.Slice(0, d, 0, k).(*mat.Dense)
	weights.Mul(f.x.T(), r)
	for i := range d {
		row := weights.RawRowView(i)
		for j, v := range f.theta.RawRowView(i) {
			row[j] += f.lambda * v
		}
	}
	return g
}

// decrement is √(gᵀ M⁻¹ g) with M the upper bound.
func (f *logisticLoss) decrement(g *mat.Dense) (float64, error) {
	p, err := solve(&f.bound, g)
	if err != nil {
		return 0, err
	}
	return math.Sqrt(max(dot(g, p), 0)), nil
}

// precondition is M⁻¹ g with M where the Hessian was last looked at.
func (f *logisticLoss) precondition(g *mat.Dense) (*mat.Dense, error) { return solve(&f.local, g) }

func solve(chol *mat.Cholesky, g *mat.Dense) (*mat.Dense, error) {
	var p mat.Dense
	if err := chol.SolveTo(&p, g); err != nil {
		// An ill-conditioned M still serves.
		if _, ok := err.(mat.Condition); !ok {
			return nil, fmt.Errorf("learn: logistic has no usable bound of the Hessian: %v", err)
		}
	}
	return &p, nil
}

// direct sets the line θ + t·step.
func (f *logisticLoss) direct(step *mat.Dense) {
	rows, k := step.Dims()
	f.step = step
	f.zs.Mul(f.x, step.Slice(0, rows-1, 0, k))
	n, _ := f.zs.Dims()
	for i := range n {
		row := f.zs.RawRowView(i)
		for j, v := range step.RawRowView(rows - 1) {
			row[j] += v
		}
	}
}

// along is the objective at θ + t·step and its derivative by t. Cost O(n k).
func (f *logisticLoss) along(t float64) (value, slope float64) {
	sums := f.inBlocks(2, func(from, to int, sum, row []float64) {
		for i := from; i < to; i++ {
			z, zs := f.z.RawRowView(i), f.zs.RawRowView(i)
			for j := range row {
				row[j] = z[j] + t*zs[j]
			}
			sum[0] += point(row, f.labels[i])
			for j, r := range row {
				sum[1] += r * zs[j]
			}
		}
	})
	value, slope = sums[0], sums[1]
	n := float64(len(f.labels))
	ww, ws, ss := weightDot(f.theta, f.theta), weightDot(f.theta, f.step), weightDot(f.step, f.step)
	value = value/n + f.lambda/2*(ww+t*(2*ws+t*ss))
	slope = slope/n + f.lambda*(ws+t*ss)
	return value, slope
}

// move takes θ to θ + t·step.
func (f *logisticLoss) move(t float64) {
	add := func(a, b *mat.Dense) {
		rows, _ := a.Dims()
		for i := range rows {
			row := a.RawRowView(i)
			for j, v := range b.RawRowView(i) {
				row[j] += t * v
			}
		}
	}
	add(f.theta, f.step)
	add(f.z, f.zs)
}
