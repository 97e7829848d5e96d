package contract

import (
	"concord/secret"
	"concord/wire"
	"fmt"
	"log/slog"
	"math"
)

// Figures are what masked sums say of all parties' rows together. They are for the
// parties; the analyst gets none. They print nothing.
type Figures struct {
	Version int `json:"format"` // 1
	// Sites is how many parties are in the sums, Rows how many rows they have.
	Sites int   `json:"sites"`
	Rows  int64 `json:"rows"`
	// Features has one entry a feature of the contract.
	Features []FeatureFigures `json:"features"`
	// Views are the rows of the parties that have each view, where the contract has views:
	// one number for those that have the same features ([Contract.Holdings]), of whom alone
	// there are enough.
	Views []int64 `json:"views,omitempty"`
}

// FeatureFigures are those of one feature.
type FeatureFigures struct {
	// Count is how many rows have a value, Missing how many have none.
	Count   int64 `json:"count"`
	Missing int64 `json:"missing,omitempty"`
	// Mean and Variance (over Count) are those of the values of a number or a date, in its
	// unit; 0 for features with levels, whose follow from Levels.
	Mean     float64 `json:"mean"`
	Variance float64 `json:"variance"`
	// Levels count the rows of each level of a category, an ordinal or a boolean.
	Levels []int64 `json:"levels,omitempty"`
}

// Moments are mean and variance of the raw values: as they stand, or of the indices of
// levels.
func (f FeatureFigures) Moments() (mean, variance float64) {
	if f.Levels == nil || f.Count == 0 {
		return f.Mean, f.Variance
	}
	n := float64(f.Count)
	for k, count := range f.Levels {
		mean += float64(float64(k) * float64(count))
	}
	mean /= n
	for k, count := range f.Levels {
		d := float64(k) - mean
		variance += float64(float64(d*d) * float64(count))
	}
	return mean, variance / n
}

// Common is the index of the most frequent level, the first of equals.
func (f FeatureFigures) Common() int {
	best := 0
	for k, n := range f.Levels {
		if n > f.Levels[best] {
			best = k
		}
	}
	return best
}

// Encode returns the canonical encoding, which members compare by its SHA-256.
func (f *Figures) Encode() ([]byte, error) {
	plain := plainFigures{plainHead: plainHead(*f), Features: make([]plainFeature, len(f.Features))}
	for j, g := range f.Features {
		plain.Features[j] = plainFeature(g)
	}
	b, err := wire.Canonical(plain)
	if err != nil {
		return nil, fmt.Errorf("contract: pooled figures: %w", err)
	}
	return b, nil
}

// plainFigures are Figures that encode. The outer Features take the place of the inner.
type plainFigures struct {
	plainHead
	Features []plainFeature `json:"features"`
}

type (
	plainHead    Figures
	plainFeature FeatureFigures
)

// Hash is the SHA-256 of the canonical encoding.
func (f *Figures) Hash() (wire.Hash, error) {
	b, err := f.Encode()
	return wire.HashOf(b), err
}

// DecodeFigures reads what Encode wrote, and compares it with the contract.
func DecodeFigures(b []byte, c *Contract) (*Figures, error) {
	var plain plainFigures
	if err := wire.DecodeFormat(b, "contract: pooled figures", &plain, &plain.Version); err != nil {
		return nil, err
	}
	f := Figures(plain.plainHead)
	f.Features = make([]FeatureFigures, len(plain.Features))
	for j, g := range plain.Features {
		f.Features[j] = FeatureFigures(g)
	}
	if err := f.Check(c); err != nil {
		return nil, err
	}
	return &f, nil
}

// Check compares figures with the contract they are to be of. The error names a feature,
// never a figure.
func (f *Figures) Check(c *Contract) error {
	if f.Version != 1 {
		return &wire.FormatError{What: "contract: pooled figures", Theirs: f.Version, Newest: 1}
	}
	if len(f.Features) != len(c.Features) {
		return fmt.Errorf("contract: pooled figures are of %d features, the contract has %d", len(f.Features), len(c.Features))
	}
	if f.Sites < 1 || f.Sites > MaxParties || f.Rows < 1 {
		return fmt.Errorf("contract: pooled figures are of no site or no row")
	}
	if err := f.checkViews(c.Whole()); err != nil {
		return err
	}
	rows := f.RowsOfBoth(c)
	for j, g := range f.Features {
		name, spellings := c.Features[j].Name, len(c.Features[j].Spellings())
		if g.Count < 0 || g.Missing < 0 || g.Count > f.Rows || g.Count+g.Missing != rows(j, j) {
			return fmt.Errorf("contract: pooled figures of feature %q: values and missing values are not as many as the rows of those who have it", name)
		}
		if !wire.Finite(g.Mean) || !wire.Finite(g.Variance) || g.Variance < 0 {
			return fmt.Errorf("contract: pooled figures of feature %q: mean and variance are not finite numbers, the variance from 0", name)
		}
		if len(g.Levels) != spellings {
			return fmt.Errorf("contract: pooled figures of feature %q have %d levels, the contract has %d", name, len(g.Levels), spellings)
		}
		if spellings == 0 {
			continue
		}
		total := int64(0)
		for _, n := range g.Levels {
			if n < 0 || n > g.Count {
				return fmt.Errorf("contract: pooled figures of feature %q: the rows of a level are not from 0 to all", name)
			}
			total += n
		}
		if total != g.Count || g.Mean != 0 || g.Variance != 0 {
			return fmt.Errorf("contract: pooled figures of feature %q: the rows of its levels are not those that have a value", name)
		}
	}
	return nil
}

// String says only how many features there are.
func (f Figures) String() string { return fmt.Sprintf("pooled figures(%d features)", len(f.Features)) }

// Format prints like String whatever the verb.
func (f Figures) Format(s fmt.State, _ rune) { fmt.Fprint(s, f.String()) }

// LogValue prints like String in structured logs.
func (f Figures) LogValue() slog.Value { return slog.StringValue(f.String()) }

// MarshalJSON refuses with [secret.ErrEncode]: see [Figures.Encode].
func (f Figures) MarshalJSON() ([]byte, error) { return nil, secret.ErrEncode }

// MarshalBinary refuses with [secret.ErrEncode]. encoding/gob uses it too.
func (f Figures) MarshalBinary() ([]byte, error) { return nil, secret.ErrEncode }

// String says nothing of a feature.
func (f FeatureFigures) String() string { return "pooled figures of a feature" }

// Format prints like String whatever the verb.
func (f FeatureFigures) Format(s fmt.State, _ rune) { fmt.Fprint(s, f.String()) }

// LogValue prints like String in structured logs.
func (f FeatureFigures) LogValue() slog.Value { return slog.StringValue(f.String()) }

// MarshalJSON refuses with [secret.ErrEncode]: see [Figures.Encode].
func (f FeatureFigures) MarshalJSON() ([]byte, error) { return nil, secret.ErrEncode }

// MarshalBinary refuses with [secret.ErrEncode]. encoding/gob uses it too.
func (f FeatureFigures) MarshalBinary() ([]byte, error) { return nil, secret.ErrEncode }

// deviation is the square root of a variance, or 1 where nothing varies.
func deviation(variance float64) float64 {
	if d := math.Sqrt(variance); d > 0 {
		return d
	}
	return 1
}
