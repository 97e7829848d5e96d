package manifold_test

import (
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"concord/manifold"
)

// The nearest orthogonal matrix, which is what a Procrustes problem asks for.
func ExampleStiefel_Project() {
	m := mat.NewDense(2, 2, []float64{0, -3, 1, 0})
	q, info, err := manifold.Orthogonal(2).Project(m)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("a quarter turn:", mat.EqualApprox(q, mat.NewDense(2, 2, []float64{0, -1, 1, 0}), 1e-12))
	fmt.Println("rank", info.Rank)
	// Output:
	// a quarter turn: true
	// rank 2
}
