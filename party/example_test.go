package party_test

import (
	"fmt"
	"log"
	"math/rand/v2"
	"os"

	"concord/anchor"
	"concord/contract"
	"concord/party"
	"concord/secret"
	"concord/table"
)

// What would leave a clinic, and what a person there is told of it. The seed is what the
// parties agreed; in a study the source of randomness is basis.NewSource.
func ExamplePrepare() {
	yaml, err := os.ReadFile("../examples/clinics/study.yaml")
	if err != nil {
		log.Fatal(err)
	}
	c, err := contract.ParseYAML(yaml)
	if err != nil {
		log.Fatal(err)
	}
	rows, err := table.Open("../examples/clinics/west.csv", c, table.Options{})
	if err != nil {
		log.Fatal(err)
	}
	seed, err := anchor.SeedFromBytes(secret.NewBytes([]byte("32 bytes that the parties share.")))
	if err != nil {
		log.Fatal(err)
	}
	made, err := party.Prepare(c, rows, party.EffectiveFloors(c, nil), party.Agreed{Seed: seed}, rand.NewChaCha8([32]byte{1}))
	if err != nil {
		log.Fatal(err)
	}
	n, l := made.X.Dims()
	a, _ := made.A.Dims()
	fmt.Printf("leaves: %d rows and %d anchor rows of %d numbers, %d labels\n", n, a, l, len(made.Labels))
	fmt.Println("stays:", made.Basis)
	fmt.Printf("the basis keeps %.2f of the rows\n", made.Report.Energy)
	for _, f := range made.Report.Findings[:2] {
		fmt.Println(f.Name, "by", f.Against)
	}
	// Output:
	// leaves: 30 rows and 6 anchor rows of 4 numbers, 30 labels
	// stays: secret(6 × 4 matrix)
	// the basis keeps 0.94 of the rows
	// rare-label by anybody who reads the rows or labels that leave
	// eps-dr by the analyst together with any one party
}
