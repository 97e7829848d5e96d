package privacy

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestOrdered compares both ways of sorting with a stable sort of the numbers
// themselves, with ties, zeros of both signs and numbers of every magnitude.
func TestOrdered(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 100, 2047, 2048, 30000} {
		x := mat.NewDense(n, 3, nil)
		for i := range n {
			x.Set(i, 0, float64(r.IntN(5)-2))
			x.Set(i, 1, r.NormFloat64()*math.Pow(10, float64(r.IntN(600)-300)))
			x.Set(i, 2, -7)
		}
		x.Set(n/2, 0, math.Copysign(0, -1))
		for j := range 3 {
			rows := make([]int, n)
			for i := range rows {
				rows[i] = i
			}
			slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(x.At(a, j), x.At(b, j)) })
			got := ordered(x, j)
			for i, row := range rows {
				if int(got[i].row) != row {
					t.Fatalf("n %d, column %d: row %d at place %d, want %d", n, j, got[i].row, i, row)
				}
			}
			for i, p := range placesOf(x, j) {
				less, same := 0, 0
				if n > 2048 && i%1000 != 0 {
					continue
				}
				for k := range n {
					switch cmp.Compare(x.At(k, j), x.At(i, j)) {
					case -1:
						less++
					case 0:
						same++
					}
				}
				if int(p.from) != less || int(p.to) != less+same {
					t.Fatalf("n %d, column %d, row %d: places %v, want from %d to %d", n, j, i, p, less, less+same)
				}
			}
		}
	}
}

// TestShareWithin counts pairs one by one.
func TestShareWithin(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		a := places{r.Int32N(12), 0}
		b := places{r.Int32N(12), 0}
		a.to, b.to = a.from+1+r.Int32N(6), b.from+1+r.Int32N(6)
		w := r.IntN(5)
		count := 0
		for p := a.from; p < a.to; p++ {
			for q := b.from; q < b.to; q++ {
				if d := int(p - q); -w <= d && d <= w {
					count++
				}
			}
		}
		want := float64(count) / float64((a.to-a.from)*(b.to-b.from))
		if got := shareWithin(a, b, w); got != want {
			t.Fatalf("%v and %v within %d: %v, want %v", a, b, w, got, want)
		}
	}
}
