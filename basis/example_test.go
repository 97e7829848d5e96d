package basis_test

import (
	"fmt"
	"log"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"concord/basis"
	"concord/basis/spec"
	"concord/secret"
)

// A basis of two directions for rows of three features. In a study the source is NewSource:
// whoever can repeat it has the basis.
func ExampleNew() {
	rows := secret.NewMatrix(mat.NewDense(4, 3, []float64{2, 0, 0, -2, 0, 0, 0, 1, 0, 0, -1, 0.1}))
	f, report, err := basis.New(basis.Spec{Kind: spec.PCA, Dim: 2}, rows, basis.Shared{}, rand.NewChaCha8([32]byte{1}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f) // says its size only
	fmt.Printf("keeps %.1f %% of the variance\n", 100*report.Energy)
	n, l := f.Project(rows).Dims()
	fmt.Printf("%d × %d leave\n", n, l)
	var ftf mat.Dense
	m := f.Matrix().Reveal()
	ftf.Mul(m.T(), m)
	fmt.Println("orthonormal:", mat.EqualApprox(&ftf, mat.NewDiagDense(2, []float64{1, 1}), 1e-12))
	// Output:
	// secret(3 × 2 matrix)
	// keeps 100.0 % of the variance
	// 4 × 2 leave
	// orthonormal: true
}
