package basis

import (
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"concord/basis/spec"
	"concord/linalg"
	"concord/secret"
)

// Lift maps rows to random Fourier features, so that what is linear behind them is nonlinear
// in the rows ([rahimi2007], algorithm 1; docs/methods.md section 9.5):
//
//	z(x) = √(2/D) cos(x W + b),  W (m × D) ~ N(0, 2γ), b ~ uniform on [0, 2π)
//	z(x) · z(y) ≈ exp(−γ‖x − y‖²)
//
// All parties of a study have the same W and b, of their common seed; the analyst has not. A
// linear basis over the D columns, a linear alignment and a linear model then do what a kernel
// would, and what comes back stays a graph of a few matrices.
//
// It is no protection by itself: who knows W and b, as every party does, and has z(x) solves
// for x unless D is small. A Lift prints only its size and does not change.
type Lift struct {
	// A function, since fmt prints the unexported fields of a struct around a Lift without
	// asking Format.
	get func() (w, b secret.Matrix)
}

// maxLift bounds W: 2²⁸ numbers, 2 GiB.
const maxLift = 1 << 28

// NewLift draws a map of m columns to s.Dim, for the kernel exp(−s.Gamma‖x − y‖²). src decides
// W and then b: the same source gives the same map to 1e-12 on every machine. The errors
// name the numbers. A nil src panics.
func NewLift(s spec.Lift, m int, src rand.Source) (*Lift, error) {
	if src == nil {
		panic("lift: nil source")
	}
	dim, gamma := s.Dim, s.Gamma
	if m < 1 || dim < 1 {
		return nil, fmt.Errorf("lift: %d columns to %d, both must be positive", m, dim)
	}
	if dim > maxLift/m {
		return nil, fmt.Errorf("lift: %d columns to %d are more than %d numbers", m, dim, maxLift)
	}
	if !(gamma > 0) || math.IsInf(gamma, 0) {
		return nil, fmt.Errorf("lift: gamma is %g, must be positive and finite", gamma)
	}
	w := linalg.Normal(m, dim, src)
	w.Scale(math.Sqrt(2*gamma), w)
	b := linalg.Uniform(1, dim, src)
	b.Scale(2*math.Pi, b)
	sw, sb := secret.NewMatrix(w), secret.NewMatrix(b)
	return &Lift{func() (secret.Matrix, secret.Matrix) { return sw, sb }}, nil
}

// Dims are the columns m that come in and D that come out.
func (f *Lift) Dims() (m, dim int) {
	w, _ := f.get()
	return w.Dims()
}

// Scale is √(2/D).
func (f *Lift) Scale() float64 {
	_, dim := f.Dims()
	return math.Sqrt(2 / float64(dim))
}

// Matrices returns W (m × D) and b (1 × D) themselves, not copies.
func (f *Lift) Matrices() (w, b secret.Matrix) { return f.get() }

// Apply returns z of every row of x (n × m): n × D, each element between −√(2/D) and
// √(2/D). It panics if x does not have m columns. Cost O(n m D).
func (f *Lift) Apply(x secret.Matrix) secret.Matrix {
	n, cols := x.Dims()
	m, dim := f.Dims()
	if n == 0 {
		return secret.NewMatrix(&mat.Dense{})
	}
	if cols != m {
		panic(fmt.Sprintf("lift: Apply: x has %d columns, the map takes %d", cols, m))
	}
	w, b := f.get()
	out := mat.NewDense(n, dim, nil)
	out.Mul(x.Reveal(), w.Reveal())
	shift, scale := b.Reveal().RawRowView(0), f.Scale()
	for i := range n {
		row := out.RawRowView(i)
		for j, v := range row {
			row[j] = scale * math.Cos(v+shift[j])
		}
	}
	return secret.NewMatrix(out)
}

// Erase overwrites W and b with zeros. Copies made by the garbage collector or the
// operating system stay.
func (f *Lift) Erase() {
	w, b := f.get()
	w.Erase()
	b.Erase()
}

// String says only the shape.
func (f *Lift) String() string {
	m, dim := f.Dims()
	return fmt.Sprintf("lift(%d columns to %d)", m, dim)
}

// Format prints like String whatever the verb.
func (f *Lift) Format(s fmt.State, _ rune) { fmt.Fprint(s, f.String()) }

// LogValue prints like String in structured logs.
func (f *Lift) LogValue() slog.Value { return slog.StringValue(f.String()) }

// MarshalText refuses with [secret.ErrEncode]: a map follows from the seed, and is not stored.
func (f *Lift) MarshalText() ([]byte, error) { return nil, secret.ErrEncode }

// MarshalBinary refuses with [secret.ErrEncode]. encoding/gob uses it too.
func (f *Lift) MarshalBinary() ([]byte, error) { return nil, secret.ErrEncode }
