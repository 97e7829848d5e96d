package metric

import (
	"fmt"
	"slices"
)

// Holm adjusts the p-values of m tests so that rejecting those at most α makes
// even one false rejection with probability at most α, whatever the dependence
// between the tests [holm1979]. With
// p₍₁₎ ≤ … ≤ p₍ₘ₎,
//
//	p̃₍ᵢ₎ = min(1, max_{j ≤ i} (m − j + 1) p₍ⱼ₎)
//
// The result is new and in the order of p. No tests give none. Cost O(m log m).
func Holm(p []float64) ([]float64, error) {
	order := make([]int, len(p))
	for i, v := range p {
		if !(v >= 0 && v <= 1) {
			return nil, fmt.Errorf("metric: p-value %d is %g, want between 0 and 1", i+1, v)
		}
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		switch {
		case p[i] < p[j]:
			return -1
		case p[i] > p[j]:
			return 1
		}
		return 0
	})
	adjusted := make([]float64, len(p))
	var least float64
	for j, i := range order {
		least = max(least, min(1, float64(len(p)-j)*p[i]))
		adjusted[i] = least
	}
	return adjusted, nil
}
