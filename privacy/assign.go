package privacy

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// assign returns, for every row of cost (k × n, k ≤ n), a column of its own such that
// the sum of the costs is least: the Hungarian method by shortest augmenting paths
// [jonker1987], without their start. It panics if k > n or a cost is not
// finite, with which it would not end. The cost is O(k² n).
func assign(cost *mat.Dense) []int {
	k, n := cost.Dims()
	if k > n {
		panic("privacy: more rows than columns to assign")
	}
	if linalg.CheckFinite(cost) != nil {
		panic("privacy: costs to assign are not finite")
	}
	// Rows and columns are counted from 1; column 0 stands for the row being placed.
	// u and v are the dual prices, row[j] the row that column j has, 0 for none.
	u, v, row := make([]float64, k+1), make([]float64, n+1), make([]int, n+1)
	least, from, done := make([]float64, n+1), make([]int, n+1), make([]bool, n+1)
	for i := 1; i <= k; i++ {
		for j := range least {
			least[j], done[j] = math.Inf(1), false
		}
		row[0] = i
		at := 0
		for row[at] != 0 {
			done[at] = true
			r, step, next := row[at], math.Inf(1), 0
			costs := cost.RawRowView(r - 1)
			for j := 1; j <= n; j++ {
				if done[j] {
					continue
				}
				if c := costs[j-1] - u[r] - v[j]; c < least[j] {
					least[j], from[j] = c, at
				}
				if least[j] < step {
					step, next = least[j], j
				}
			}
			for j := range done {
				if done[j] {
					u[row[j]] += step
					v[j] -= step
				} else {
					least[j] -= step
				}
			}
			at = next
		}
		for at != 0 {
			row[at] = row[from[at]]
			at = from[at]
		}
	}
	columns := make([]int, k)
	for j := 1; j <= n; j++ {
		if row[j] > 0 {
			columns[row[j]-1] = j - 1
		}
	}
	return columns
}
