// Package privacy measures what representations give away and adds noise where that
// is asked for. It takes matrices and knows neither anchors nor bases.
//
// Attacks that a party runs on its own rows: by the analyst with any one party,
// [RecoverBasis], [Reconstruct] and [ReconstructAround]; by an analyst who knows rows,
// [KnownRows] and [LinkDistances], or has a second sample, [MatchPCA] and [MatchICA]; by
// sorting, [RankMatching]. What guesses are worth: [Compare], [Linkage]. What is left
// out of rows: [DR]. What columns and labels tell by themselves: [Columns], [RareCells].
// Noise: [Sigma] calibrates it, [Clip] and [AddSecure] are for releases, [Gaussian] for
// simulations.
//
// # What a figure says, and what not
//
// Each attack is against somebody in particular, and its comment says whom: the analyst
// alone, who has images and no anchor; the analyst with one party, who has A and hence
// every F; a thief at the site. The formulas are in docs/methods.md section 7, who is who in
// docs/threat-model.md. Where a choice needs luck the attacker has it. The attacks are linear
// (but for [Unlift]) and run on the party's own rows: they measure, and do not bound what
// somebody could do with other data, more time, or another method. Only noise calibrated
// by [Sigma] is a bound, (ε, δ)-differential privacy, for the features of one row in one
// release: not for a person with several rows, nor for labels or counts.
package privacy

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// Sigma is the smallest standard deviation of Gaussian noise that makes a function of
// ℓ₂ sensitivity Δ (ε, δ)-differentially private: the analytic Gaussian mechanism
// ([balle2018], theorem 8; docs/methods.md section 7.8), the σ at which
//
//	Φ(Δ/(2σ) − εσ/Δ) − e^ε Φ(−Δ/(2σ) − εσ/Δ) = δ
//
// found by bisection to 1e-13, from above: the guarantee holds for what is returned.
// ε and Δ must be positive and finite, at most 1e6, and δ between 1e-300 and 1.
func Sigma(epsilon, delta, sensitivity float64) (float64, error) {
	switch {
	case !(epsilon > 0 && epsilon <= 1e6):
		return 0, fmt.Errorf("privacy: epsilon is %v, must be positive and at most 1e6", epsilon)
	case !(delta >= 1e-300 && delta < 1):
		return 0, fmt.Errorf("privacy: delta is %v, must be from 1e-300 to below 1", delta)
	case !(sensitivity > 0 && sensitivity <= 1e6):
		return 0, fmt.Errorf("privacy: sensitivity is %v, must be positive and at most 1e6", sensitivity)
	}
	low, high := 1.0, 1.0
	for spent(epsilon, low) <= delta {
		low /= 2
	}
	for spent(epsilon, high) > delta {
		high *= 2
	}
	for high-low > 1e-13*high {
		mid := low + (high-low)/2
		if mid <= low || mid >= high {
			break
		}
		if spent(epsilon, mid) > delta {
			low = mid
		} else {
			high = mid
		}
	}
	return high * sensitivity, nil
}

// spent is δ for noise of deviation s on sensitivity 1. It decreases in s.
func spent(epsilon, s float64) float64 {
	a, b := 1/(2*s), epsilon*s
	// Both terms in logarithms: e^ε overflows where Φ underflows.
	first, second := logPhi(a-b), epsilon+logPhi(-a-b)
	return math.Exp(first) * -math.Expm1(min(second-first, 0))
}

// logPhi is log Φ(x), the logarithm of the standard normal distribution function.
func logPhi(x float64) float64 {
	if x > -30 {
		return math.Log(math.Erfc(-x/math.Sqrt2) / 2)
	}
	// The asymptotic series; its next term is below 1e-9 of the result.
	q := 1 / (x * x)
	return -x*x/2 - math.Log(-x*math.Sqrt(2*math.Pi)) + math.Log1p(-q+3*q*q-15*q*q*q)
}

// Gaussian returns x with independent normal noise of deviation sigma added to every
// number. It is for laboratories: floating-point noise has gaps that an attacker can
// use [mironov2012], and src is no secret there.
func Gaussian(x *mat.Dense, sigma float64, src rand.Source) *mat.Dense {
	n, m := x.Dims()
	noise := linalg.Normal(n, m, src)
	noise.Scale(sigma, noise)
	noise.Add(noise, x)
	return noise
}
