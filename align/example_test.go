package align_test

import (
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"concord/align"
)

// Two parties mapped the same anchor by bases of one span, the second's turned by a quarter.
// The change of basis turns it back.
func ExampleRun() {
	first := mat.NewDense(3, 2, []float64{1, 0, 0, 1, 1, 1})
	second := mat.NewDense(3, 2, []float64{0, 1, -1, 0, -1, 1}) // (x, y) became (−y, x)
	res, err := align.Run("odc", []*mat.Dense{first, second}, align.Options{})
	if err != nil {
		log.Fatal(err)
	}
	var aligned mat.Dense
	aligned.Mul(second, res.G[1])
	fmt.Println("equal to the first party's:", mat.EqualApprox(&aligned, first, 1e-12))
	fmt.Printf("overlap %.2f, warnings %d\n", res.Overlap[1], len(res.Warnings))
	// Output:
	// equal to the first party's: true
	// overlap 1.00, warnings 0
}

// Parties of different width: least squares, the eigenvalue problem and consensus take them.
func ExampleConsensus() {
	wide := mat.NewDense(4, 3, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1})
	narrow := mat.NewDense(4, 2, []float64{1, 0, 0, 1, 0, 0, 1, 1})
	res, err := align.Consensus([]*mat.Dense{wide, narrow}, align.Options{Dim: 4})
	if err != nil {
		log.Fatal(err)
	}
	for i, g := range res.G {
		var gg mat.Dense
		gg.Mul(g, g.T())
		rows, cols := g.Dims()
		fmt.Printf("G%d is %d × %d, its rows orthonormal: %t\n", i+1, rows, cols,
			mat.EqualApprox(&gg, mat.NewDiagDense(rows, ones(rows)), 1e-12))
	}
	_, err = align.ODC([]*mat.Dense{wide, narrow}, align.Options{})
	fmt.Println(err)
	// Output:
	// G1 is 3 × 4, its rows orthonormal: true
	// G2 is 2 × 4, its rows orthonormal: true
	// align: A_2 has 2 columns and A_1 has 3: method odc needs equal numbers, methods ls, gep and consensus do not
}

func ones(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = 1
	}
	return v
}
