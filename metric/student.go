package metric

import "math"

// studentTail is P(T > t) of Student's distribution with ν = freedom ≥ 1
// degrees, accurate relative to itself however small it is. With the density f,
//
//	P(T > t) = f(t) ∫₀^∞ (1 + (2tu + u²)/(ν + t²))^(−(ν+1)/2) du,   t ≥ 0
//	f(t)     = Γ((ν+1)/2) / (√(πν) Γ(ν/2)) · (1 + t²/ν)^(−(ν+1)/2)
//
// The integrand is positive and smooth, so that the sum below loses nothing by
// cancellation; the continued fraction of the incomplete beta function, the usual
// way, loses six digits at ν = 10⁷. The integral is a trapezoidal sum after
// u = c exp(π/2 sinh s) [takahasi1974].
func studentTail(freedom, t float64) float64 {
	if t < 0 {
		upper, _ := studentUpper(freedom, -t)
		return 1 - upper
	}
	upper, _ := studentUpper(freedom, t)
	return upper
}

// studentUpper are P(T > t) and f(t) for t ≥ 0.
func studentUpper(freedom, t float64) (tail, density float64) {
	power := (freedom + 1) / 2
	// In units of the larger of t and √ν nothing overflows.
	unit := max(t, math.Sqrt(freedom))
	x, n := t/unit, freedom/unit/unit
	// The u at which the integrand has fallen to about 1/e: it and its like solve
	// power (2xu + u²) = n + x².
	fall := (n + x*x) / power
	c := fall / (x + math.Sqrt(x*x+fall))
	// Beyond ±4.5 the terms are below 10⁻²⁵ of the largest. The error of the sum
	// falls with e^(−const/step): it is 10⁻⁸ at 1/8, 10⁻¹¹ at 1/12 and that of
	// rounding from 1/16 on.
	const step, end = 1. / 20, 4.5
	var integral float64
	for s := -end; s <= end; s += step {
		u := c * math.Exp(math.Pi/2*math.Sinh(s))
		integral += u * math.Cosh(s) * math.Exp(-power*math.Log1p((2*x+u)*u/(n+x*x)))
	}
	integral *= step * math.Pi / 2
	// log(1 + t²/ν), and its power in two halves, of which neither underflows
	// where the product does not.
	ratio := t / math.Sqrt(freedom)
	logarithm := math.Log1p(ratio * ratio)
	if math.IsInf(logarithm, 1) {
		logarithm = 2 * math.Log(ratio)
	}
	half := math.Exp(-power * logarithm / 2)
	factor := half * gammaRatio(freedom/2) / math.Sqrt(math.Pi*freedom)
	return unit * half * integral * factor, half * factor
}

// gammaRatio is Γ(z+½)/Γ(z), by the asymptotic series
//
//	√z (1 − 1/8z + 1/128z² + 5/1024z³ − 21/32768z⁴ − 399/262144z⁵ + 869/4194304z⁶ + 39325/33554432z⁷ + …)
//
// [tricomi1951], and below z = 32,
// from where the terms left out are less than 10⁻¹⁵, by Γ(z+1) = z Γ(z).
func gammaRatio(z float64) float64 {
	lift := 1.0
	for ; z < 32; z++ {
		lift *= z / (z + 0.5)
	}
	w := 1 / z
	series := 1 + w*(-1./8+w*(1./128+w*(5./1024+w*(-21./32768+w*(-399./262144+w*(869./4194304+w*(39325./33554432)))))))
	return lift * math.Sqrt(z) * series
}

// StudentQuantile is the t ≥ 0 with P(T > t) = tail, for 0 < tail ≤ ½: by
// Newton's method for log P, and by halving where that leaves the bracket. freedom
// must be at least 1; anything else is NaN.
func StudentQuantile(freedom, tail float64) float64 {
	if !(freedom >= 1 && !math.IsInf(freedom, 1) && tail > 0 && tail <= 0.5) {
		return math.NaN()
	}
	low, high := 0.0, 1.0
	for studentTail(freedom, high) > tail {
		low, high = high, 2*high
	}
	for t := low; ; {
		p, density := studentUpper(freedom, t)
		if p > tail {
			low = t
		} else {
			high = t
		}
		next := t + p/density*math.Log(p/tail)
		if !(next > low && next < high) { // also ends going back and forth
			next = low + (high-low)/2
		}
		if math.Abs(next-t) <= 0x1p-51*next || low+(high-low)/2 == low {
			return next
		}
		t = next
	}
}
