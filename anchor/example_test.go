package anchor_test

import (
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"concord/anchor"
	"concord/anchor/spec"
	"concord/secret"
)

// Parties that have the same shares, in any order, make the same anchor; whoever lacks one
// share has another.
func ExampleGenerate() {
	share := func(party byte) anchor.Share { // 32 bytes from crypto/rand in a study
		return anchor.Share{Key: []byte{31: party}, Entropy: secret.NewBytes([]byte{31: party + 1})}
	}
	epoch := [32]byte{1}
	make := func(shares ...anchor.Share) (anchor.Seed, *mat.Dense) {
		seed, err := anchor.DeriveSeed(epoch, shares)
		if err != nil {
			log.Fatal(err)
		}
		a, err := anchor.Generate(anchor.Spec{Kind: spec.Orthonormal}, seed, 4)
		if err != nil {
			log.Fatal(err)
		}
		return seed, a.Reveal()
	}
	north, a := make(share(1), share(2), share(3))
	south, b := make(share(3), share(1), share(2))
	other, _ := make(share(1), share(2))
	fmt.Println("same seed:", north.ID() == south.ID(), "same anchor:", mat.Equal(a, b))
	fmt.Println("without a share:", north.ID() == other.ID())
	var gram mat.Dense
	gram.Mul(a.T(), a)
	fmt.Println("AᵀA = a I:", mat.EqualApprox(&gram, mat.NewDiagDense(4, []float64{4, 4, 4, 4}), 1e-12))
	// Output:
	// same seed: true same anchor: true
	// without a share: false
	// AᵀA = a I: true
}
