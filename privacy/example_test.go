package privacy_test

import (
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"concord/privacy"
)

// The analyst with any one party: the anchor and its image give the basis, and the basis
// gives every row up to what it leaves out.
func ExampleRecoverBasis() {
	anchor := mat.NewDense(3, 3, []float64{2, 0, 0, 0, 2, 0, 0, 0, 2})
	f := mat.NewDense(3, 2, []float64{1, 0, 0, 1, 0, 0}) // leaves the third feature out
	row := mat.NewDense(1, 3, []float64{5, 6, 7})
	var image, sent mat.Dense
	image.Mul(anchor, f)
	sent.Mul(row, f)

	found, err := privacy.RecoverBasis(anchor, &image)
	if err != nil {
		log.Fatal(err)
	}
	guess, err := privacy.Reconstruct(&sent, found)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("guessed %.3f\n", guess.RawRowView(0))
	left, err := privacy.DR(row, f)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("left out %.2f of the row's length\n", left[0])
	// Output:
	// guessed [5.000 6.000 0.000]
	// left out 0.67 of the row's length
}

// Noise for a release: rows cut to length 3 have sensitivity 6.
func ExampleSigma() {
	sigma, err := privacy.Sigma(2, 1e-3, 6)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f\n", sigma)
	// Output:
	// 8.67
}

// Whether sorting by a column that left finds the order of a feature: here it does.
func ExampleRankMatching() {
	weight := mat.NewDense(5, 1, []float64{61, 95, 72, 80, 66})
	left := mat.NewDense(5, 1, []float64{-6.1, -9.4, -7.3, -8.1, -6.5})
	found, err := privacy.RankMatching(weight, left)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("column %d finds %.0f %% of the rows\n", found[0].Column, 100*found[0].Exact)
	// Output:
	// column 0 finds 100 % of the rows
}
