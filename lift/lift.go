// Package lift maps rows to random Fourier features, so that what is linear behind them
// is nonlinear in the rows ([rahimi2007], algorithm 1; docs/methods.md section 9.5):
//
//	z(x) = √(2/D) cos(x W + b),  W (m × D) ~ N(0, 2γ), b ~ uniform on [0, 2π)
//	z(x) · z(y) ≈ exp(−γ‖x − y‖²)
//
// Start with [New] and [Map.Apply]. All parties of a study have the same W and b, of their
// common seed; the analyst has not. A linear basis over the D columns, a linear alignment and
// a linear model then do what a kernel would, and what comes back stays a graph of a few
// matrices.
//
// # What it protects, against whom
//
// Nothing by itself. Every party knows W and b, and whoever has them and z(x) solves for
// x unless D is small; with l ≥ m columns after the basis nothing is hidden from the
// analyst together with a party, whatever D is (docs/lift.md). Against the analyst alone
// rows are harder to read, which is not promised. The package belongs to the party's side:
// no program of the analyst may link it.
package lift

import (
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
	"concord/secret"
)

// Map is W and b. It prints only its size and does not change.
type Map struct {
	// A function, since fmt prints the unexported fields of a struct around a Map without
	// asking Format.
	get func() (w, b secret.Matrix)
}

// MaxElements bounds W: 2²⁸ numbers, 2 GiB.
const MaxElements = 1 << 28

// New draws a map of m columns to dim, for the kernel exp(−gamma‖x − y‖²). src decides W
// and then b: the same source gives the same map to 1e-12 on every machine. The errors
// name the numbers. A nil src panics.
func New(m, dim int, gamma float64, src rand.Source) (*Map, error) {
	if src == nil {
		panic("lift: nil source")
	}
	if m < 1 || dim < 1 {
		return nil, fmt.Errorf("lift: %d columns to %d, both must be positive", m, dim)
	}
	if dim > MaxElements/m {
		return nil, fmt.Errorf("lift: %d columns to %d are more than %d numbers", m, dim, MaxElements)
	}
	if !(gamma > 0) || math.IsInf(gamma, 0) {
		return nil, fmt.Errorf("lift: gamma is %g, must be positive and finite", gamma)
	}
	w := linalg.Normal(m, dim, src)
	w.Scale(math.Sqrt(2*gamma), w)
	b := linalg.Uniform(1, dim, src)
	b.Scale(2*math.Pi, b)
	return wrap(w, b), nil
}

func wrap(w, b *mat.Dense) *Map {
	sw, sb := secret.NewMatrix(w), secret.NewMatrix(b)
	return &Map{func() (secret.Matrix, secret.Matrix) { return sw, sb }}
}

// Dims are the columns m that come in and D that come out.
func (f *Map) Dims() (m, dim int) {
	w, _ := f.get()
	return w.Dims()
}

// Scale is √(2/D).
func (f *Map) Scale() float64 {
	_, dim := f.Dims()
	return math.Sqrt(2 / float64(dim))
}

// Matrices returns W (m × D) and b (1 × D) themselves, not copies.
func (f *Map) Matrices() (w, b secret.Matrix) { return f.get() }

// Apply returns z of every row of x (n × m): n × D, each element between −√(2/D) and
// √(2/D). It panics if x does not have m columns. Cost O(n m D).
func (f *Map) Apply(x secret.Matrix) secret.Matrix {
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
func (f *Map) Erase() {
	w, b := f.get()
	w.Erase()
	b.Erase()
}

// String says only the shape.
func (f *Map) String() string {
	m, dim := f.Dims()
	return fmt.Sprintf("lift(%d columns to %d)", m, dim)
}

// Format prints like String whatever the verb.
func (f *Map) Format(s fmt.State, _ rune) { fmt.Fprint(s, f.String()) }

// LogValue prints like String in structured logs.
func (f *Map) LogValue() slog.Value { return slog.StringValue(f.String()) }

// MarshalText refuses with [secret.ErrEncode]: a map follows from the seed, and is not stored.
func (f *Map) MarshalText() ([]byte, error) { return nil, secret.ErrEncode }

// MarshalBinary refuses with [secret.ErrEncode]. encoding/gob uses it too.
func (f *Map) MarshalBinary() ([]byte, error) { return nil, secret.ErrEncode }
