package kernel

import "math"

// Shift puts 2^exp src in dst, for an exp that brings the largest element of
// src near 1. Two factors keep each power within the range of float64.
func Shift(dst, src []float64, exp int) {
	f, g := math.Ldexp(1, exp/2), math.Ldexp(1, exp-exp/2)
	for i, v := range src {
		dst[i] = v * f * g
	}
}
