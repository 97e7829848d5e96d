package profile

import (
	"cmp"
	"math"
	"slices"

	"concord/contract"
)

// Side is what is known of one column at one site, or at several together.
type Side struct {
	N        float64 // numbers, missing cells not counted
	Mean     float64
	Variance float64 // Scatter/(N − 1)
}

// Without is what the others have: the pooled figures less this site's own. ok is false
// where that cannot be told: fewer than two numbers remain, or what remains has no
// spread beyond the rounding of the pooled figures. Figures that this site's present
// file did not go into give nonsense.
func (pooled Side) Without(own Side) (rest Side, ok bool) {
	n := pooled.N - own.N
	if !(n >= 2) {
		return Side{}, false
	}
	if own.N == 0 {
		return pooled, pooled.Variance > 0
	}
	mean := pooled.Mean + (pooled.Mean-own.Mean)*own.N/n
	between := (mean - own.Mean) * (mean - own.Mean) * own.N * n / pooled.N
	all := pooled.Variance * (pooled.N - 1)
	scatter := all - between
	if own.N > 1 {
		scatter -= own.Variance * (own.N - 1)
	}
	// Pooled figures are right to about 1e-9 of themselves.
	if !(scatter > 1e-8*all) {
		return Side{}, false
	}
	return Side{N: n, Mean: mean, Variance: scatter / (n - 1)}, true
}

// How much honest sites differ is not known. These are assumed, and the false alarms
// that they lead to measured (docs/data.md): the means of two honest sites differ with a
// deviation of half a column's own, the logarithms of their deviations by 0.4 (a factor
// of 1.5), and on top of that by what small samples do: the logarithm of a deviation of
// n numbers is off by √((κ−1)/4n), with κ = 9, which is that of an exponential
// distribution. Columns with longer tails have deviations beyond their means v = s/|μ|;
// for them (κ−1)/4 is taken to be 2 v², up to 50: a site of thirty rows may have none of
// the tail.
const (
	betweenMeans      = 0.5
	betweenDeviations = 0.4
	tail              = 2 // (κ−1)/4 without a long one

	// suspicious is from which distance on something is wrong, plausible up to which a
	// conversion explains it. Under the assumptions the distance of honest sites is above
	// 5 with probability exp(−25/2), 4 in a million for each column.
	suspicious = 5
	plausible  = 3
	// leastCompared is the least number of values, on both sides.
	leastCompared = 20
)

// distance is how far two sides are from being of one population, in deviations of what
// honest sites differ by:
//
//	z² = (μ₁ − μ₂)² / (τ² s₁s₂ + s₁²/n₁ + s₂²/n₂) + ln²(s₁/s₂) / (ω² + t/n₁ + t/n₂)
//
// with t = 2 max(1, v₁², v₂²), at most 50.
// It is symmetric, and the same in any unit without an offset.
func distance(a, b Side) float64 {
	shift := a.Mean - b.Mean
	mean := shift * shift / (betweenMeans*betweenMeans*math.Sqrt(a.Variance*b.Variance) + a.Variance/a.N + b.Variance/b.N)
	ratio := math.Log(a.Variance/b.Variance) / 2
	t := tail * min(25, max(1, a.Variance/(a.Mean*a.Mean), b.Variance/(b.Mean*b.Mean)))
	return math.Sqrt(mean + ratio*ratio/(betweenDeviations*betweenDeviations+t/a.N+t/b.N))
}

// Suspicion is a reason to think that a column is written in another unit than it ought
// to be.
type Suspicion struct {
	// Against is "rest" where the others' figures say so and "range" where the contract's
	// range does.
	Against string `json:"against"`
	// Conversions explain it, the likeliest first, at most three: this site's values are
	// Factor times the others', or the contract's unit, plus Offset. None where the sites
	// differ in a way that no usual conversion explains.
	Conversions []Conversion `json:"-"`
	// Evidence is how much better the first conversion explains the figures than none:
	// √(z² − z′²) with the distances before and after; for none, z. At least 5 where it
	// counts. 0 against the range, where no such figure is to be had.
	Evidence float64 `json:"evidence,omitempty"`
}

// AgainstRest compares a column with the same column at the other sites. The rule: the
// two are at a distance of 5 or more, and there is a conversion after which they are
// within 3. If there is none, and the distance is 10 or more, they differ in a way that
// nothing usual explains. nil says that nothing is suspicious, or that either side has
// fewer than twenty values or no spread.
//
// Who of them is wrong, the figures cannot say.
func AgainstRest(f contract.Feature, own, rest Side) *Suspicion {
	if own.N < leastCompared || rest.N < leastCompared || !(own.Variance > 0) || !(rest.Variance > 0) {
		return nil
	}
	z := distance(own, rest)
	if !(z >= suspicious) {
		return nil
	}
	type candidate struct {
		Conversion
		z float64
	}
	var fit []candidate
	for _, c := range conversionsFor(f.Name, f.Unit) {
		converted := Side{N: own.N, Mean: c.back(own.Mean), Variance: own.Variance / (c.Factor * c.Factor)}
		if after := distance(converted, rest); after <= plausible && z*z-after*after >= suspicious*suspicious {
			fit = append(fit, candidate{c, after})
		}
	}
	if len(fit) == 0 {
		if z < 2*suspicious {
			return nil
		}
		return &Suspicion{Against: "rest", Evidence: z}
	}
	best := slices.MinFunc(fit, func(a, b candidate) int { return cmp.Compare(a.z, b.z) }).z
	s := &Suspicion{Against: "rest", Evidence: math.Sqrt(z*z - best*best)}
	// Those that are as near to the figures cannot be told apart; what the column's name
	// speaks for comes first, then what is usual in any column.
	fit = slices.DeleteFunc(fit, func(c candidate) bool { return c.z > best+1 })
	slices.SortStableFunc(fit, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.rank(f.Name), b.rank(f.Name)), cmp.Compare(a.z, b.z))
	})
	for _, c := range fit[:min(3, len(fit))] {
		s.Conversions = append(s.Conversions, c.Conversion)
	}
	return s
}

// leastInRange is the least number of values that are compared with a range.
const leastInRange = 20

// AgainstRange compares a column with the contract's range alone: m are the values,
// those outside the range among them. The rule: half of the values or more lie outside,
// and a conversion brings the mean and two deviations about it inside; or all values lie
// within a hundredth (thousandth, millionth) of a range that begins at zero or below,
// and are not all equal. nil says that neither is so, or that there are fewer than
// twenty values.
func AgainstRange(f contract.Feature, m *Moments, outside int64) *Suspicion {
	r := f.Range
	if r == nil || m.N() < leastInRange || m.Constant() {
		return nil
	}
	if 2*outside >= m.N() {
		s := &Suspicion{Against: "range"}
		mean, twice := m.Mean(), 2*math.Sqrt(m.Variance())
		for _, c := range conversionsFor(f.Name, f.Unit) {
			low, high := c.back(mean-twice), c.back(mean+twice)
			if r.Min <= low && high <= r.Max && len(s.Conversions) < 3 {
				s.Conversions = append(s.Conversions, c)
			}
		}
		if s.Conversions == nil {
			return nil
		}
		return s
	}
	largest := max(math.Abs(m.Min()), math.Abs(m.Max()))
	if r.Min > 0 || r.Max < 0 || outside > 0 {
		return nil
	}
	for _, factor := range []float64{1e6, 1000, 100} {
		if end := max(-r.Min, r.Max); largest <= end/factor {
			i := slices.IndexFunc(conversions, func(c Conversion) bool { return c.Factor == factor })
			return &Suspicion{Against: "range", Conversions: []Conversion{conversions[i].inverse()}}
		}
	}
	return nil
}

// betweenShares is how much the logarithm of the odds of a share is assumed to differ
// between honest sites, as a deviation.
const betweenShares = 1

// Flipped says whether a column of two levels seems to be written the other way round:
// own[1] of own[0]+own[1] rows have the second level here, rest[1] at the others. The
// rule is that of [AgainstRest] with the distance
//
//	z² = (logit p₁ − logit p₂)² / (1 + 1/a₁ + 1/b₁ + 1/a₂ + 1/b₂)
//
// of the shares p, with a and b rows of the two levels (half a row added to each).
func Flipped(own, rest [2]float64) (evidence float64, flipped bool) {
	if own[0]+own[1] < leastCompared || rest[0]+rest[1] < leastCompared {
		return 0, false
	}
	z := func(own [2]float64) float64 {
		a, b, c, d := own[0]+0.5, own[1]+0.5, rest[0]+0.5, rest[1]+0.5
		return math.Abs(math.Log(b/a)-math.Log(d/c)) / math.Sqrt(betweenShares*betweenShares+1/a+1/b+1/c+1/d)
	}
	before, after := z(own), z([2]float64{own[1], own[0]})
	if before < suspicious || after > plausible || before*before-after*after < suspicious*suspicious {
		return 0, false
	}
	return math.Sqrt(before*before - after*after), true
}
