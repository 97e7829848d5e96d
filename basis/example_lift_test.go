package basis_test

import (
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"concord/basis"
	"concord/basis/spec"
	"concord/secret"
)

// Inner products of lifted rows are about the Gaussian kernel of the rows.
func ExampleNewLift() {
	z, err := basis.NewLift(spec.Lift{Dim: 20000, Gamma: 0.5}, 2, rand.NewChaCha8([32]byte{1}))
	if err != nil {
		log.Fatal(err)
	}
	rows := z.Apply(secret.NewMatrix(mat.NewDense(2, 2, []float64{0, 0, 1, 1}))).Reveal()
	fmt.Printf("%.1f is about %.1f\n", mat.Dot(rows.RowView(0), rows.RowView(1)), math.Exp(-0.5*2))
	// Output:
	// 0.4 is about 0.4
}
