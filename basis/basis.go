// Package basis makes the secret bases F (m × l) of a party: the linear maps
// that turn its rows X (n × m) into the intermediate representation X F (n × l)
// that leaves.
//
// Start with [New] and [NewSource], then [Basis.Project] for the rows and for
// the anchor. [Directions] and [Mixed] make the two factors of a basis apart, for
// directions that parties share and for the matrices that experiments mix them by;
// [DimVariance] is a rule for l. [FromMatrix] restores a stored basis.
//
// The package does not standardise or centre what it maps, does not agree a
// common basis between parties, and does not measure what a representation
// gives away. It belongs to the party's side: no program of the analyst may
// link it.
//
// The kinds are those of [nosaka2025], eq. (1), of [imakura2023] and of
// [nosaka2024mm]; docs/methods.md section 4 has them all.
//
// # What it protects, against whom
//
// Of a row x the image xF shows what lies in the span of F and hides the rest, exactly,
// from everybody: x − xFFᵀ for orthonormal columns (package privacy, DR). Inside
// the span F hides only which direction is which feature: against the analyst, who
// has neither F nor the anchor, as long as E is Haar-random and from a source that nobody
// can repeat ([NewSource]). Distances, second moments and independent components within
// the span stay visible, so somebody who knows rows, or a second sample of the same
// kind, finds directions (docs/methods.md section 7.1).
//
// Against the analyst together with one party nothing inside the span is hidden
// (section 7.2). Under nri F is erased; whoever has rows and images side by side has it
// again (section 7.7). [Basis.Erase] does not reach copies of the garbage collector,
// swap and core dumps. docs/threat-model.md has the whole.
package basis

import (
	crand "crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"

	"gonum.org/v1/gonum/mat"

	"concord/basis/spec"
	"concord/linalg"
	"concord/secret"
)

// Spec says which basis to make: see [spec.Spec].
type Spec = spec.Spec

// Shared is what the parties have in common, which bases of the kinds common-random and common
// are made of.
type Shared struct {
	// Seed gives the directions of a common random basis, the same to every party.
	Seed interface{ CommonBasis() *rand.ChaCha8 }
	// V are the directions (m × l) that the parties pooled.
	V secret.Matrix
}

// Basis is a secret basis F (m × l). It prints only its size and does not
// change.
type Basis struct {
	// A function, since fmt prints the unexported fields of a struct around a
	// Basis without asking Format, and follows pointers there.
	f func() secret.Matrix
}

// Report describes a basis in figures that give away neither rows nor basis.
// They are meant for the party's own eyes: Energy and Rank are still statistics
// of its rows.
type Report struct {
	Kind     string
	Rows     int // n, the rows of X
	Features int // m, the columns of X
	Dim      int // l, the columns of F
	// Rank is the number of directions that the rows span (after centring for
	// the pca kind): the largest dimension that svd and pca can take.
	Rank int
	// Energy is the share of the rows that F keeps, between 0 and 1: of the sum
	// of squares, ‖X F‖² / ‖X‖², and for the pca kind of the variance, the same
	// with X centred. It is 0 if there is nothing to keep.
	Energy float64
}

// NewSource returns the source that [New] should be given outside tests and
// simulations: seeded with 32 bytes of the operating system's entropy, which
// are not kept.
func NewSource() *rand.ChaCha8 {
	var seed [32]byte
	crand.Read(seed[:]) // cannot fail: the program ends if there is no entropy
	src := rand.NewChaCha8(seed)
	clear(seed[:])
	return src
}

// New makes a basis of the rows x (n × m) as s says, of its own randomness from src and of
// what is common in shared. All directions are mixed by a Haar matrix, but those of a scrambled
// basis by one that is not orthogonal. Take [NewSource] for src, since whoever can repeat it and
// knows V knows F.
//
// The errors name the numbers: an unknown kind, no rows or columns, NaN or Inf (by row and
// column), a dimension l outside 1 … m or, for directions of the rows, above the number that x
// spans, and pooled directions of other than l columns. A nil src panics.
//
// The cost is O(n m min(n, m)) in time and O(n m) in memory, O(m l² + n m l) for random.
func New(s Spec, x secret.Matrix, shared Shared, src rand.Source) (*Basis, Report, error) {
	kind, ok := spec.Named(s.Kind)
	if !ok {
		return nil, Report{}, unknown(s.Kind, spec.Kinds())
	}
	from := src
	switch kind.From {
	case spec.Pooled:
		if _, l := shared.V.Dims(); l != s.Dim {
			return nil, Report{}, fmt.Errorf("basis: %d common directions for a basis of dimension %d; the parties pool them before they prepare", l, s.Dim)
		}
		return fromPooled(kind, shared.V, x, src)
	case spec.Seed:
		from = shared.Seed.CommonBasis()
	}
	v, report, err := Directions(kind.Directions, x, s.Dim, s.Delta, from)
	if err != nil {
		return nil, Report{}, err
	}
	report.Kind = kind.Name
	if kind.Mix == spec.None {
		return wrap(v.Reveal()), report, nil
	}
	defer v.Erase()
	f, err := mixed(v.Reveal(), kind.Mix, src)
	switch {
	case err != nil:
		return nil, Report{}, err
	case kind.Mix == spec.Haar:
		return wrap(f), report, nil // V and E have orthonormal columns, and so has F
	}
	made, err := FromMatrix(secret.NewMatrix(f))
	return made, report, err
}

func unknown(kind string, known []string) error {
	return fmt.Errorf("basis: unknown kind %q, want one of %s", kind, strings.Join(known, ", "))
}

// check finds what no kind can work with, and begins the report.
func check(kind string, x secret.Matrix, l int, src rand.Source) (Report, error) {
	if src == nil {
		panic("basis: nil source")
	}
	n, m := x.Dims()
	if n == 0 {
		return Report{}, errors.New("basis: no rows: at least one row is needed")
	}
	if l < 1 || l > m {
		return Report{}, fmt.Errorf("basis: dimension %d of %d features: choose 1 to %d", l, m, m)
	}
	if err := linalg.CheckFinite(x.Reveal()); err != nil {
		return Report{}, fmt.Errorf("basis: rows: %v", err)
	}
	return Report{Kind: kind, Rows: n, Features: m, Dim: l}, nil
}

// FromMatrix takes f (m × l) as a basis, for example one that was stored; it
// takes ownership of f. Its columns need not be orthonormal, but independent:
// the error says that f is empty, wider than tall, not finite, or below full
// column rank.
func FromMatrix(f secret.Matrix) (*Basis, error) {
	m, l := f.Dims()
	if l == 0 || l > m {
		return nil, fmt.Errorf("basis: matrix is %d × %d, want at least one column and no more columns than rows", m, l)
	}
	rank, err := linalg.Rank(f.Reveal(), 0)
	if err != nil {
		return nil, fmt.Errorf("basis: %v", err)
	}
	if rank < l {
		return nil, fmt.Errorf("basis: matrix of %d columns has rank %d: it was erased, or its columns depend on each other", l, rank)
	}
	return wrap(f.Reveal()), nil
}

func wrap(f *mat.Dense) *Basis {
	s := secret.NewMatrix(f)
	return &Basis{func() secret.Matrix { return s }}
}

// Dims returns the number of features m and of columns l.
func (b *Basis) Dims() (m, l int) { return b.f().Dims() }

// Matrix returns F itself (m × l), not a copy.
func (b *Basis) Matrix() secret.Matrix { return b.f() }

// Project returns X F (n × l) for x (n × m): rows, or the anchor. No rows give
// the empty matrix. It panics if x does not have m columns.
func (b *Basis) Project(x secret.Matrix) *mat.Dense {
	n, cols := x.Dims()
	if n == 0 {
		return &mat.Dense{}
	}
	if m, _ := b.Dims(); cols != m {
		panic(fmt.Sprintf("basis: Project: x has %d columns, the basis takes %d", cols, m))
	}
	var out mat.Dense
	out.Mul(x.Reveal(), b.f().Reveal())
	return &out
}

// Erase overwrites F with zeros. Copies made by the garbage collector or the
// operating system stay.
func (b *Basis) Erase() { b.f().Erase() }

// String says only the shape.
func (b *Basis) String() string { return b.f().String() }

// Format prints like String whatever the verb.
func (b *Basis) Format(f fmt.State, verb rune) { b.f().Format(f, verb) }

// LogValue prints like String in structured logs.
func (b *Basis) LogValue() slog.Value { return b.f().LogValue() }

// MarshalText refuses with secret.ErrEncode. encoding/json uses it too.
func (b *Basis) MarshalText() ([]byte, error) { return nil, secret.ErrEncode }

// MarshalBinary refuses with secret.ErrEncode. encoding/gob uses it too.
func (b *Basis) MarshalBinary() ([]byte, error) { return nil, secret.ErrEncode }
