package masked

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math"

	"concord/secret"
	"concord/wire"
)

// MaxWords bounds the entries of a vector: 2²⁶, 1 GiB of words.
const MaxWords = 1 << 26

const labelStatistics = "concord/masked/statistics/v1"

// Statistics says what the entries of a vector are. All parties of a round must mean the
// same: they compare [Statistics.Hash].
type Statistics struct {
	// N is how many there are, 1 to MaxWords.
	N int
	// Name names entry i, for the hash and for errors: it carries no data.
	Name func(i int) string
	// Digest, if set, stands for the names in the hash: whoever sets it says what the entries
	// are by it.
	Digest wire.Hash
	// Bound is the largest absolute value of one party's entry. Entries that are sums
	// over rows of values in [-1, 1] have the contract's max_rows.
	Bound float64
}

// Check says whether sums over so many parties can overflow, and what else is wrong.
func (s Statistics) Check(parties int) error {
	if s.N < 1 || s.N > MaxWords {
		return fmt.Errorf("masked: %d statistics, must be 1 to %d", s.N, MaxWords)
	}
	if s.Name == nil && s.Digest.IsZero() {
		return errors.New("masked: the statistics have no names")
	}
	if !(s.Bound > 0) || math.IsInf(s.Bound, 1) {
		return fmt.Errorf("masked: the bound of the statistics is %v, must be above 0 and finite", s.Bound)
	}
	// One less than 2⁶³ leaves room for what rounding adds.
	if most := float64(1<<62) * 2; s.Bound*float64(parties) > most-1024 {
		return fmt.Errorf("masked: %d parties with entries up to %g make sums up to %g, must stay below 2^63 = %g; lower max_rows",
			parties, s.Bound, s.Bound*float64(parties), most)
	}
	return nil
}

// Hash is the SHA-256 over the number, the bound and the names:
//
//	SHA-256("concord/masked/statistics/v1" ‖ 0 ‖ u64 n ‖ float64 bound ‖ u32 length ‖ name ‖ ...)
//
// in big endian; with a Digest the label ends in /digest, and the digest follows the bound.
func (s Statistics) Hash() wire.Hash {
	h := sha256.New()
	label := labelStatistics
	if !s.Digest.IsZero() {
		label += "/digest"
	}
	b := append([]byte(label), 0)
	b = binary.BigEndian.AppendUint64(b, uint64(s.N))
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(s.Bound))
	if !s.Digest.IsZero() {
		return wire.HashOf(append(b, s.Digest[:]...))
	}
	for i := range s.N {
		name := s.Name(i)
		b = binary.BigEndian.AppendUint32(b, uint32(len(name)))
		b = append(b, name...)
		if len(b) > 1<<14 {
			h.Write(b)
			b = b[:0]
		}
	}
	h.Write(b)
	return wire.Hash(h.Sum(nil))
}

// Vector is a party's own figures as words. It prints only its size.
type Vector struct{ words func() []Word }

// Encode turns values into words, each within 2⁻⁶⁵. A value that is no number or beyond
// the bound is refused by its statistic's name.
//
// Cost: 16 bytes an entry.
func Encode(s Statistics, values []float64) (Vector, error) {
	if len(values) != s.N {
		return Vector{}, fmt.Errorf("masked: %d values for %d statistics", len(values), s.N)
	}
	words := make([]Word, len(values))
	for i, x := range values {
		w, ok := Fixed(x)
		if !ok || math.Abs(x) > s.Bound {
			name := fmt.Sprintf("statistic %d", i+1)
			if s.Name != nil {
				name = s.Name(i)
			}
			return Vector{}, fmt.Errorf("masked: the value of %q is outside ±%g or no number; mend the data or the range that the contract gives", name, s.Bound)
		}
		words[i] = w
	}
	return Vector{func() []Word { return words }}, nil
}

// FromWords takes words that are coded already, for figures that want more fraction bits
// than 64 and know their bounds. A word beyond the bound, in units of 2⁻⁶⁴, is refused by
// its statistic's name. It keeps the slice.
func FromWords(s Statistics, words []Word) (Vector, error) {
	if len(words) != s.N {
		return Vector{}, fmt.Errorf("masked: %d words for %d statistics", len(words), s.N)
	}
	bound, ok := Fixed(s.Bound)
	if !ok {
		return Vector{}, fmt.Errorf("masked: the bound of the statistics is %v, must be below 2^63", s.Bound)
	}
	for i, w := range words {
		if w.Hi>>63 == 1 {
			w = Word{}.Sub(w)
		}
		if w.Hi>>63 == 1 || w.Hi > bound.Hi || w.Hi == bound.Hi && w.Lo > bound.Lo {
			return Vector{}, fmt.Errorf("masked: the value of %q is outside ±%g; mend the data or the range that the contract gives", s.Name(i), s.Bound)
		}
	}
	return Vector{func() []Word { return words }}, nil
}

// Len is the number of entries.
func (v Vector) Len() int { return len(v.reveal()) }

func (v Vector) reveal() []Word {
	if v.words == nil {
		return nil
	}
	return v.words()
}

// Hash is the SHA-256 of the words as they stand in a message. It is as secret as the
// vector where that can be guessed.
func (v Vector) Hash() wire.Hash {
	h := sha256.New()
	buf := make([]byte, 0, chunkBytes)
	for _, w := range v.reveal() {
		buf = append(buf, make([]byte, wordBytes)...)
		putWord(buf[len(buf)-wordBytes:], w)
		if len(buf) == cap(buf) {
			h.Write(buf)
			buf = buf[:0]
		}
	}
	h.Write(buf)
	return wire.Hash(h.Sum(nil))
}

// Erase overwrites the words with zeros.
func (v Vector) Erase() { clear(v.reveal()) }

// String says only how many entries there are.
func (v Vector) String() string { return fmt.Sprintf("secret(%d figures)", v.Len()) }

// Format prints like String whatever the verb.
func (v Vector) Format(f fmt.State, _ rune) { fmt.Fprint(f, v.String()) }

// LogValue prints like String in structured logs.
func (v Vector) LogValue() slog.Value { return slog.StringValue(v.String()) }

// MarshalText refuses with secret.ErrEncode. encoding/json uses it too.
func (v Vector) MarshalText() ([]byte, error) { return nil, secret.ErrEncode }

// MarshalBinary refuses with secret.ErrEncode.
func (v Vector) MarshalBinary() ([]byte, error) { return nil, secret.ErrEncode }

// Sums are the sums over a set. They are secret from the analyst, and print only their
// size.
type Sums struct {
	Vector
	// Set are the parties that were summed, sorted.
	Set []wire.Hash
}

// At is the sum of entry i, exact.
func (s Sums) At(i int) Word { return s.reveal()[i] }

// Values are all sums, each rounded once to float64.
func (s Sums) Values() []float64 {
	values := make([]float64, s.Len())
	for i, w := range s.reveal() {
		values[i] = w.Float()
	}
	return values
}
