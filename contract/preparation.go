package contract

import (
	"concord/secret"
	"concord/wire"
	"fmt"
	"log/slog"
	"math"
)

// Preparation is what becomes of a row of p raw values (see [Feature]) before a basis
// sees it: gaps are filled, categories become columns of 0 and 1, and of each of the m
// columns Centre is subtracted and the rest divided by Scale. It travels in front of each
// model. With pooled figures in it, it is the parties' own; it prints nothing.
type Preparation struct {
	// Fill has for each of the p features the raw value that takes the place of NaN, or
	// NaN for none; of a category the index of a level.
	Fill []float64
	// Levels has for each feature the number of its columns of 0 and 1, or 0 for a number.
	Levels []int
	// Centre and Scale are of the m columns.
	Centre, Scale []float64
}

// Preparation makes that of the contract. Figures are those of all parties; nil does
// where nothing is pooled.
//
// Under standardise: range, ranges are mapped to [−1, 1], so are booleans and the
// indices of ordinals; columns of levels stay 0 and 1, so that a row's length does not
// grow with the number of levels. Under pooled, each column has the pooled mean 0 and the
// pooled variance 1 (over all rows, after gaps are filled); one that does not vary is
// only centred.
//
// The result has the same bits on every machine: no product is fused with a sum.
func (c *Contract) Preparation(figures *Figures) (*Preparation, error) {
	if figures == nil && c.NeedsFigures() {
		return nil, fmt.Errorf("contract: the contract prepares rows by pooled figures, and there are none yet")
	}
	if figures != nil {
		if err := figures.Check(c.Whole()); err != nil {
			return nil, err
		}
		figures = figures.through(c)
	}
	p := &Preparation{}
	for j, f := range c.Features {
		var of FeatureFigures
		if figures != nil {
			of = figures.Features[j]
		}
		fill := f.fill(of)
		p.Fill = append(p.Fill, fill)
		p.Levels = append(p.Levels, f.Indexed())
		for k := range f.Columns() {
			centre, scale := 0.0, 1.0
			switch {
			case c.Standardise == "pooled":
				mean, variance := f.pooled(of, fill, k)
				centre, scale = mean, deviation(variance)
			case c.Standardise == "range" && f.Indexed() == 0:
				lo, hi, _ := f.Bounds()
				centre, scale = lo/2+hi/2, hi/2-lo/2
			}
			p.Centre, p.Scale = append(p.Centre, centre), append(p.Scale, scale)
		}
	}
	return p, nil
}

// PooledMeans are the means of the m prepared columns over all parties' rows, gaps filled.
func (c *Contract) PooledMeans(figures *Figures) ([]float64, error) {
	p, means, err := c.preparedMeans(figures)
	if err != nil {
		return nil, err
	}
	for at := range means {
		means[at] = (means[at] - p.Centre[at]) / p.Scale[at]
	}
	return means, nil
}

// Centred is [Contract.Preparation] with the pooled mean of every column in place of its
// centre: what second moments of parties with different columns are made of. A product
// of columns that not all have in common is then near their covariance, whatever mean the
// rows have that do.
func (c *Contract) Centred(figures *Figures) (*Preparation, error) {
	p, means, err := c.preparedMeans(figures)
	if err != nil {
		return nil, err
	}
	p.Centre = means
	return p, nil
}

// preparedMeans are the preparation and the pooled means of its columns before their
// centre is taken off.
func (c *Contract) preparedMeans(figures *Figures) (*Preparation, []float64, error) {
	p, err := c.Preparation(figures)
	if err != nil {
		return nil, nil, err
	}
	if figures == nil {
		return nil, nil, fmt.Errorf("contract: there are no pooled figures yet")
	}
	figures = figures.through(c)
	means := make([]float64, 0, p.M())
	for j, f := range c.Features {
		for k := range f.Columns() {
			mean, _ := f.pooled(figures.Features[j], p.Fill[j], k)
			means = append(means, mean)
		}
	}
	return p, means, nil
}

// PooledSquares are the means of the squares of the m prepared columns over all parties' rows,
// gaps filled.
func (c *Contract) PooledSquares(figures *Figures) ([]float64, error) {
	p, means, err := c.preparedMeans(figures)
	if err != nil {
		return nil, err
	}
	figures = figures.through(c)
	out := make([]float64, 0, p.M())
	for j, f := range c.Features {
		for k := range f.Columns() {
			at := len(out)
			_, variance := f.pooled(figures.Features[j], p.Fill[j], k)
			mean := (means[at] - p.Centre[at]) / p.Scale[at]
			out = append(out, variance/float64(p.Scale[at]*p.Scale[at])+float64(mean*mean))
		}
	}
	return out, nil
}

// NeedsFigures says whether pooled figures are needed to prepare a row.
func (c *Contract) NeedsFigures() bool {
	if c.Standardise == "pooled" {
		return true
	}
	for _, f := range c.Features {
		if f.usesPooled() {
			return true
		}
	}
	return false
}

// fill is the raw value for a gap, or NaN.
func (f Feature) fill(of FeatureFigures) float64 {
	switch f.Missing {
	case MissingConstant:
		return *f.Fill
	case MissingOwn:
		return float64(len(f.Levels))
	case MissingCommon:
		return float64(of.Common())
	case MissingMean:
		mean, _ := of.Moments()
		return mean
	}
	return math.NaN()
}

// pooled is mean and variance of column k of a feature, gaps filled.
func (f Feature) pooled(of FeatureFigures, fill float64, k int) (mean, variance float64) {
	n, missing := float64(of.Count)+float64(of.Missing), float64(of.Missing)
	if f.Indexed() > 0 {
		ones := 0.0
		if k < len(of.Levels) {
			ones = float64(of.Levels[k])
		}
		if float64(k) == fill {
			ones += missing
		}
		share := ones / n
		return share, share * (1 - share)
	}
	mean, variance = of.Moments()
	if missing == 0 || math.IsNaN(fill) {
		return mean, variance
	}
	count := float64(of.Count)
	filled := (float64(count*mean) + float64(missing*fill)) / n
	if fill == mean {
		filled = mean
	}
	a, b := mean-filled, fill-filled
	spread := float64(count*(variance+float64(a*a))) + float64(missing*float64(b*b))
	return filled, spread / n
}

// M is the number of encoded columns.
func (p *Preparation) M() int { return len(p.Centre) }

// Row writes the m columns of a row of p raw values to dst. Where a feature is missing and
// nothing fills it, its columns are NaN; a level out of range is 0 in all columns.
func (p *Preparation) Row(dst, raw []float64) {
	at := 0
	for j, v := range raw {
		if math.IsNaN(v) {
			v = p.Fill[j]
		}
		n := p.Levels[j]
		if n == 0 {
			dst[at] = (v - p.Centre[at]) / p.Scale[at]
			at++
			continue
		}
		for k := range n {
			x := 0.0
			switch {
			case math.IsNaN(v):
				x = v
			case v == float64(k):
				x = 1
			}
			dst[at] = (x - p.Centre[at]) / p.Scale[at]
			at++
		}
	}
}

// Encode is the canonical encoding.
func (p *Preparation) Encode() ([]byte, error) {
	fill := make([]*float64, len(p.Fill))
	for j := range p.Fill {
		if !math.IsNaN(p.Fill[j]) {
			fill[j] = &p.Fill[j]
		}
	}
	b, err := wire.Canonical(struct {
		Fill   []*float64 `json:"fill"`
		Levels []int      `json:"levels"`
		Centre []float64  `json:"centre"`
		Scale  []float64  `json:"scale"`
	}{fill, p.Levels, p.Centre, p.Scale})
	if err != nil {
		return nil, fmt.Errorf("contract: preparation: %w", err)
	}
	return b, nil
}

// Hash is the SHA-256 of the canonical encoding.
func (p *Preparation) Hash() (wire.Hash, error) {
	b, err := p.Encode()
	return wire.HashOf(b), err
}

// String says only the shape.
func (p Preparation) String() string {
	return fmt.Sprintf("preparation(%d features to %d columns)", len(p.Fill), len(p.Centre))
}

// Format prints like String whatever the verb.
func (p Preparation) Format(s fmt.State, _ rune) { fmt.Fprint(s, p.String()) }

// LogValue prints like String in structured logs.
func (p Preparation) LogValue() slog.Value { return slog.StringValue(p.String()) }

// MarshalJSON refuses with [secret.ErrEncode]: see [Preparation.Encode].
func (p Preparation) MarshalJSON() ([]byte, error) { return nil, secret.ErrEncode }

// MarshalBinary refuses with [secret.ErrEncode]. encoding/gob uses it too.
func (p Preparation) MarshalBinary() ([]byte, error) { return nil, secret.ErrEncode }
