package pooled_test

import (
	"fmt"
	"log"
	"math"

	"gonum.org/v1/gonum/mat"

	"concord/pooled"
)

// The directions in which the rows of two parties vary most together: neither party has the
// second by itself. In a study the second moments are summed under masks.
func ExampleClear() {
	north := mat.NewDense(2, 3, []float64{3, 0, 0, -3, 0, 0})
	south := mat.NewDense(2, 3, []float64{0, 2, 0, 0, -2, 0.1})
	v, spectrum, err := pooled.Clear([]*mat.Dense{north, south}, 2, pooled.ClearOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.1f of feature 1, %.1f of feature 2\n", math.Abs(v.At(0, 0)), math.Abs(v.At(1, 1)))
	fmt.Printf("they keep %.1f %% of all\n", 100*spectrum.Energy)
	// Output:
	// 1.0 of feature 1, 1.0 of feature 2
	// they keep 100.0 % of all
}
