// Package secret holds the values that must never leave a site by accident:
// raw rows, secret bases, the anchor and its seed, private keys.
//
// [Bytes] and [Matrix] carry such a value and print only its size: through
// fmt with any verb, through slog, and through the JSON and text encoders,
// which refuse. Code that needs the value asks for it by name, with
// [Bytes.Reveal] or [Matrix.Reveal], so that every use can be found by a
// search for one word.
//
// The package does not protect memory: swap, core dumps and copies made by
// the garbage collector are not covered (docs/threat-model.md).
package secret

import (
	"errors"
	"fmt"
	"log/slog"

	"gonum.org/v1/gonum/mat"
)

// ErrEncode is returned by the JSON, text and binary encoders of secret
// values. It is a programmer's error: a secret was put where it would be
// written down.
var ErrEncode = errors.New("secret: refused to encode a secret value")

// Bytes is a secret byte string, for example a seed or a private key. It is
// a value that shares its storage when copied. The zero value is empty.
//
// The bytes hide behind a function because fmt, which prints the fields of any
// struct it meets, calls no method of a value in an unexported field and would
// print a slice there. Of a function it can print only the address.
type Bytes struct{ get func() []byte }

// NewBytes takes ownership of b: the caller must not keep or change it.
func NewBytes(b []byte) Bytes { return Bytes{func() []byte { return b }} }

// Reveal returns the secret itself, not a copy.
func (s Bytes) Reveal() []byte {
	if s.get == nil {
		return nil
	}
	return s.get()
}

// Len is the number of bytes.
func (s Bytes) Len() int { return len(s.Reveal()) }

// Erase overwrites the bytes with zeros. Copies made elsewhere stay.
func (s Bytes) Erase() { clear(s.Reveal()) }

// String says only how long the secret is.
func (s Bytes) String() string { return fmt.Sprintf("secret(%d bytes)", s.Len()) }

// Format prints like String whatever the verb.
func (s Bytes) Format(f fmt.State, _ rune) { fmt.Fprint(f, s.String()) }

// LogValue prints like String in structured logs.
func (s Bytes) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText refuses with ErrEncode. encoding/json uses it too.
func (s Bytes) MarshalText() ([]byte, error) { return nil, ErrEncode }

// MarshalBinary refuses with ErrEncode. encoding/gob uses it too.
func (s Bytes) MarshalBinary() ([]byte, error) { return nil, ErrEncode }

// Matrix is a secret matrix, for example raw rows (n × m), the anchor
// (a × m) or a basis (m × l). The zero value has no rows and no columns. It hides
// the matrix as Bytes hides its bytes.
type Matrix struct{ get func() *mat.Dense }

// NewMatrix takes ownership of m: the caller must not keep or change it.
func NewMatrix(m *mat.Dense) Matrix { return Matrix{func() *mat.Dense { return m }} }

// Reveal returns the matrix itself, not a copy; nil for the zero value.
func (s Matrix) Reveal() *mat.Dense {
	if s.get == nil {
		return nil
	}
	return s.get()
}

// Dims returns the number of rows and columns.
func (s Matrix) Dims() (rows, cols int) {
	m := s.Reveal()
	if m == nil || m.IsEmpty() {
		return 0, 0
	}
	return m.Dims()
}

// Erase overwrites every element with zero. Copies made elsewhere stay.
func (s Matrix) Erase() {
	if m := s.Reveal(); m != nil && !m.IsEmpty() {
		m.Zero()
	}
}

// String says only the shape.
func (s Matrix) String() string {
	r, c := s.Dims()
	return fmt.Sprintf("secret(%d × %d matrix)", r, c)
}

// Format prints like String whatever the verb.
func (s Matrix) Format(f fmt.State, _ rune) { fmt.Fprint(f, s.String()) }

// LogValue prints like String in structured logs.
func (s Matrix) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText refuses with ErrEncode. encoding/json uses it too.
func (s Matrix) MarshalText() ([]byte, error) { return nil, ErrEncode }

// MarshalBinary refuses with ErrEncode. encoding/gob uses it too.
func (s Matrix) MarshalBinary() ([]byte, error) { return nil, ErrEncode }
