package metric

import (
	"fmt"
	"math"
)

// acceleration is Efron's a, from the figures without each row. In a stratum of
// n rows, with θ₍ᵢ₎ the figure without row i and Uᵢ = (n−1)(θ̄ − θ₍ᵢ₎),
//
//	a = (1/6) Σ_strata ΣUᵢ³/n³ / (Σ_strata ΣUᵢ²/n²)^(3/2)
//
// ([efron1993], eq. (14.15) and (15.36)). rest has room for all
// rows and is overwritten.
func acceleration(strata [][]int, rest []int, figure func(rows []int) (float64, error)) (float64, error) {
	rows := len(rest)
	rest = rest[:rows-1]
	without := make([]float64, rows)
	for r := range without {
		for i := range rest {
			rest[i] = i
			if i >= r {
				rest[i]++
			}
		}
		v, err := figure(rest)
		if err != nil {
			return 0, fmt.Errorf("metric: bca interval, all rows but row %d: %w", r+1, err)
		}
		without[r] = v
	}
	// a does not depend on the scale of the Uᵢ/n; with the largest 1 nothing
	// overflows.
	changes := make([]float64, 0, rows)
	var largest float64
	for _, members := range strata {
		n := float64(len(members))
		var mean float64
		for _, r := range members {
			mean += (without[r] - without[members[0]]) / n
		}
		for _, r := range members {
			u := (n - 1) / n * (mean - (without[r] - without[members[0]]))
			changes = append(changes, u)
			largest = max(largest, math.Abs(u))
		}
	}
	if largest == 0 {
		return 0, undefined("bca interval of a figure that no row changes, want the percentile method")
	}
	var squares, cubes float64
	for _, u := range changes {
		u /= largest
		squares += u * u
		cubes += u * u * u
	}
	return cubes / (6 * squares * math.Sqrt(squares)), nil
}

// corrected are the shares of the ascending figures between which the interval
// lies. With z₀ = Φ⁻¹ of the share of figures below the estimate, equal ones
// counting one half, and z = Φ⁻¹(tail),
//
//	low = Φ(z₀ + (z₀ + z)/(1 − a(z₀ + z))),   high likewise with −z
//
// ([efron1993], eq. (14.10)).
func corrected(figures []float64, estimate, a, tail float64) (low, high float64, err error) {
	var below float64
	for _, v := range figures {
		switch {
		case v < estimate:
			below++
		case v == estimate:
			below += 0.5
		}
	}
	if below == 0 || below == float64(len(figures)) {
		return 0, 0, undefined("bca interval of an estimate outside of its %d resamples, want more of them or the percentile method", len(figures))
	}
	z0 := normalQuantile(below / float64(len(figures)))
	share := func(z float64) float64 {
		shift := 1 - a*(z0+z)
		if shift <= 0 {
			err = undefined("bca interval of a figure that few rows decide, want more rows or the percentile method")
			return 0
		}
		return math.Erfc(-(z0+(z0+z)/shift)/math.Sqrt2) / 2
	}
	z := normalQuantile(tail)
	return share(z), share(-z), err
}

// normalQuantile is Φ⁻¹(p) for 0 < p < 1.
func normalQuantile(p float64) float64 { return -math.Sqrt2 * math.Erfcinv(2*p) }
