package lab

import (
	"fmt"
	"math/rand/v2"
)

// Partition draws disjoint index sets of the given sizes from n rows, in random
// order, and returns the rest as the last set.
func Partition(n int, sizes []int, rnd *rand.Rand) (parts [][]int, rest []int, err error) {
	left := n // not a sum of the sizes, which could overflow
	for i, size := range sizes {
		if size < 1 {
			return nil, nil, fmt.Errorf("lab: part %d has %d rows, must have at least 1", i+1, size)
		}
		if size > left {
			return nil, nil, fmt.Errorf("lab: part %d of %d is to have %d rows, %d of %d are left", i+1, len(sizes), size, left, n)
		}
		left -= size
	}
	order := rnd.Perm(n)
	for _, size := range sizes {
		parts = append(parts, order[:size:size])
		order = order[size:]
	}
	return parts, order, nil
}
