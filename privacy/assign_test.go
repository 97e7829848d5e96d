package privacy

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestAssign compares with every assignment of up to 5 rows to 7 columns.
func TestAssign(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for try := range 300 {
		k := 1 + rng.IntN(5)
		n := k + rng.IntN(3)
		cost := mat.NewDense(k, n, nil)
		for i := range k {
			for j := range n {
				// Few values, some negative, so that there are ties.
				cost.Set(i, j, float64(rng.IntN(9)-2))
			}
		}
		got := assign(cost)
		sum, used := 0.0, map[int]bool{}
		for i, j := range got {
			sum += cost.At(i, j)
			used[j] = true
		}
		if len(used) != k {
			t.Fatalf("try %d: columns %v are not distinct", try, got)
		}
		if want := leastSum(cost, 0, map[int]bool{}); sum != want {
			t.Fatalf("try %d: sum %v, least is %v", try, sum, want)
		}
	}
}

// leastSum tries all assignments of the rows from i on to columns not taken.
func leastSum(cost *mat.Dense, i int, taken map[int]bool) float64 {
	k, n := cost.Dims()
	if i == k {
		return 0
	}
	best := math.Inf(1)
	for j := range n {
		if !taken[j] {
			taken[j] = true
			best = min(best, cost.At(i, j)+leastSum(cost, i+1, taken))
			delete(taken, j)
		}
	}
	return best
}
