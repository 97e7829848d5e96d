// Package neural trains networks of fully connected layers with rectifiers
// between them by Adam. It is the engine of learn.MLP, which checks its
// arguments; start there.
//
// [Train] gives a [Network], and [Forward] the z of rows. What z means, and the
// loss, is the network's [Output]. The package knows no other activations, no sample
// weights and no missing numbers.
//
// Papers: [rumelhart1986]; [glorot2010] for the first weights; [kingma2015] for
// Adam. Semantics follow scikit-learn 1.2.
package neural

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"concord/linalg"
)

// Output says what the outputs z of a network mean.
type Output int

// The outputs, and the loss of a row with the target y.
const (
	// Squares: numbers, ½ Σⱼ (zⱼ − yⱼ)².
	Squares Output = iota
	// Logistic: one z for two classes, −log p(y) with p = σ(z) for class 1.
	Logistic
	// Softmax: a z for each class, −log p(y) with p = softmax(z).
	Softmax
)

// Layer is a matrix of weights W (in × out) with a bias b for each column.
type Layer struct {
	W blas64.General
	B []float64
}

// Network is L layers,
//
//	a₀ = x,   aₗ = max(0, aₗ₋₁ Wₗ + bₗ),   z = a_L₋₁ W_L + b_L
type Network struct {
	Layers []Layer
	// Output says what z means.
	Output Output
	// params are W₁ by rows, b₁, W₂, b₂ and so on; the layers are views of them.
	params []float64
}

// Count is how many weights and biases a network has whose x, hidden layers and
// z are as wide as sizes says; as float64, which does not overflow.
func Count(sizes []int) float64 {
	var sum float64
	for l := range len(sizes) - 1 {
		sum += (float64(sizes[l]) + 1) * float64(sizes[l+1])
	}
	return sum
}

// layers are views of numbers laid out as a network's parameters.
func layers(sizes []int, params []float64) []Layer {
	views := make([]Layer, len(sizes)-1)
	for l := range views {
		in, out := sizes[l], sizes[l+1]
		w, rest := params[:in*out], params[in*out:]
		views[l] = Layer{W: blas64.General{Rows: in, Cols: out, Stride: out, Data: w}, B: rest[:out]}
		params = rest[out:]
	}
	return views
}

// newNetwork draws the weights and biases of a layer uniformly between ±√(6 /
// (in + out)), as [glorot2010] draws the weights and scikit-learn
// both.
func newNetwork(sizes []int, output Output, rnd *rand.Rand) *Network {
	params := make([]float64, int(Count(sizes)))
	n := &Network{Layers: layers(sizes, params), Output: output, params: params}
	for _, l := range n.Layers {
		bound := math.Sqrt(6 / float64(l.W.Rows+l.W.Cols))
		for i := range l.W.Data {
			l.W.Data[i] = bound * (2*rnd.Float64() - 1)
		}
		for i := range l.B {
			l.B[i] = bound * (2*rnd.Float64() - 1)
		}
	}
	return n
}

// blockRows is how many rows pass through the layers at a time: their
// activations stay in the cache.
const blockRows = 128

// Forward puts z of the rows of x in z (rows × outputs), on all cores; the
// result does not depend on their number. Cost O(rows · weights).
func Forward(layers []Layer, x, z blas64.General) {
	linalg.Serial(func() {
		linalg.Parallel((x.Rows+blockRows-1)/blockRows, func(i int) {
			from, to := i*blockRows, min(x.Rows, (i+1)*blockRows)
			forward(layers, slice(x, from, to), newActivations(layers, to-from, slice(z, from, to)))
		})
	})
}

// newActivations makes room for the hidden layers' outputs a₁ to a_L₋₁ of the
// given number of rows, as a[0] and so on, and puts z behind them.
func newActivations(layers []Layer, rows int, z blas64.General) []blas64.General {
	a := make([]blas64.General, len(layers))
	for l := range len(layers) - 1 {
		a[l] = newMatrix(rows, layers[l].W.Cols)
	}
	a[len(a)-1] = z
	return a
}

// forward puts the outputs of the layers in a.
func forward(layers []Layer, x blas64.General, a []blas64.General) {
	in := x
	for l, layer := range layers {
		out := a[l]
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, in, layer.W, 0, out)
		for i := range out.Rows {
			if l < len(layers)-1 {
				rectify(row(out, i), layer.B)
			} else {
				add(row(out, i), layer.B)
			}
		}
		in = out
	}
}

// rectify is z ← max(0, z + b), without a branch that would be guessed wrong
// half of the time: the shifted sign is a mask.
func rectify(z, b []float64) {
	b = b[:len(z)]
	for j, v := range z {
		bits := int64(math.Float64bits(v + b[j]))
		z[j] = math.Float64frombits(uint64(bits &^ (bits >> 63)))
	}
}

func newMatrix(rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float64, rows*cols)}
}

// slice is rows from ≤ i < to of m, a view.
func slice(m blas64.General, from, to int) blas64.General {
	if from < to {
		m.Data = m.Data[from*m.Stride : (to-1)*m.Stride+m.Cols]
	}
	m.Rows = to - from
	return m
}

func row(m blas64.General, i int) []float64 { return m.Data[i*m.Stride:][:m.Cols] }

// add is x ← x + y.
func add(x, y []float64) {
	y = y[:len(x)]
	for i := range x {
		x[i] += y[i]
	}
}
