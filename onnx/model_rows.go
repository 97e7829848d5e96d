package onnx

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"concord/learn"
)

// fromKernel is the graph
//
//	y = x − centre
//	D = Gemm(Exp(−γ · Relu(Σⱼ yⱼ² + ‖vᵢ‖² − 2 y·vᵢ)), coefficients, intercepts)
//
// with the support vectors v, centred too: their squares then stay of the size
// of the distances, and float32 keeps these. The error of a distance is about
// 10⁻⁷ times the larger of ‖y‖² and ‖v‖², that of a kernel value γ times as much.
//
// For two classes the scores are D and −D. For more, with M (machines × classes)
// 1 for a machine's first and −1 for its second class,
//
//	votes = Relu(Sign(D)) M + (the number of machines where a class is second)
//	t     = D M
//	scores = votes + t / (3 |t| + 3)
func fromKernel(m *learn.KernelMachine) (*Graph, error) {
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("onnx: %w", err)
	}
	b := newBuilder(m)
	coef, intercept := m.Coef, m.Intercept
	at := inputName
	if m.Vectors == nil {
		// No vector: zero times the features, so that there is a row for each.
		coef = mat.NewDense(m.Columns, len(m.Intercept), nil)
	} else {
		near := b.distances(m.Vectors, true)
		at = b.add("Relu", "distances", near)
		at = b.add("Mul", "exponents", at, b.row("minus gamma", []float64{-m.Gamma}))
		at = b.add("Exp", "kernel", at)
	}
	if len(m.Levels) == 2 {
		coef, intercept = bothSigns(coef, intercept, 1)
	}
	weights, offset := b.matrix("coefficients", coef), b.row("intercepts", intercept)
	if len(m.Levels) <= 2 {
		b.add("Gemm", scoresName, at, weights, offset)
		return b.graph()
	}

	decisions := b.add("Gemm", "decisions", at, weights, offset)
	sides, second := mat.NewDense(len(m.Pairs), len(m.Levels), nil), make([]float64, len(m.Levels))
	for q, pair := range m.Pairs {
		sides.Set(q, pair[0], 1)
		sides.Set(q, pair[1], -1)
		second[pair[1]]++
	}
	signs := b.matrix("sides", sides)
	won := b.add("Relu", "won", b.add("Sign", "signs", decisions))
	votes := b.add("Gemm", "votes", won, signs, b.row("second", second))
	sum := b.add("MatMul", "sums", decisions, signs)
	three := b.row("three", []float64{3})
	scale := b.add("Add", "scale", b.add("Mul", "triple", b.add("Abs", "sizes", sum), three), three)
	b.add("Add", scoresName, votes, b.add("Div", "confidence", sum, scale))
	return b.graph()
}

// fromNeighbours is the graph
//
//	y      = x − centre
//	near   = TopK(‖vᵢ‖² − 2 y·vᵢ), the k smallest
//	scores = ReduceSum(Gather(votes, near)) / k
//
// with the training rows v, centred too. Distances less ‖y‖² have the same
// order. Rows whose distances agree to 10⁻⁷ times the larger of ‖y‖² and ‖v‖² may
// change places; the centre is chosen so that whole numbers stay whole, and equal
// distances between them equal.
func fromNeighbours(m *learn.Neighbours) (*Graph, error) {
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("onnx: %w", err)
	}
	b := newBuilder(m)
	near := b.distances(m.Rows, false)
	b.add("TopK", "near", near, b.whole("k", int64(m.K)))
	last := &b.g.nodes[len(b.g.nodes)-1]
	last.out = append(last.out, "neighbours")
	stack := b.add("Gather", "stack", b.matrix("votes", m.Votes), "neighbours")
	sum := b.add("ReduceSum", "sum", stack, b.whole("axis", 1))
	b.add("Div", scoresName, sum, b.row("count", []float64{float64(m.K)}))
	return b.graph()
}

// distances adds the squared distances of the features to the rows of v, or
// without full these less what does not depend on v.
func (b *builder) distances(v *mat.Dense, full bool) string {
	n, d := v.Dims()
	centre := amid(v)
	turned, squares := mat.NewDense(d, n, nil), make([]float64, n)
	for i := range n {
		for j, x := range v.RawRowView(i) {
			x = float64(float32(x - centre[j])) // what the constant will hold
			turned.Set(j, i, -2*x)
			squares[i] += x * x
		}
	}
	at := b.add("Sub", "centred", inputName, b.row("centre", centre))
	part := b.add("Gemm", "relative", at, b.matrix("minus twice the vectors", turned), b.row("squares of vectors", squares))
	if !full {
		return part
	}
	ones := mat.NewDense(d, 1, nil)
	for j := range d {
		ones.Set(j, 0, 1)
	}
	own := b.add("MatMul", "squares", b.add("Mul", "squared", at, at), b.matrix("ones", ones))
	return b.add("Add", "apart", part, own)
}

// amid is a point near the middle of the rows of v, exact in float32: multiples
// of the power of two next above the range of each column, so that numbers of
// few digits keep few.
func amid(v *mat.Dense) []float64 {
	n, d := v.Dims()
	centre := make([]float64, d)
	for j := range d {
		low, high := math.Inf(1), math.Inf(-1)
		for i := range n {
			low, high = min(low, v.At(i, j)), max(high, v.At(i, j))
		}
		centre[j] = low/2 + high/2
		if high > low {
			_, exponent := math.Frexp(high - low)
			step := math.Ldexp(1, exponent)
			centre[j] = math.Round(centre[j]/step) * step
		}
		centre[j] = float64(float32(centre[j]))
	}
	return centre
}
