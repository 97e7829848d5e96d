package contract_test

import (
	"fmt"
	"log"
	"strings"

	"concord/contract"
)

// What people leave out is filled in, and what does not fit is refused with its place.
func ExampleParseYAML() {
	text := `
name: Readmission
parties: 3
features:
  - {name: age, unit: years, range: [18, 100]}
  - {name: stay_days, range: [0, 60]}
  - {name: visits, range: [0, 20]}
label: {name: readmitted, levels: ["no", "yes"], positive: "yes"}
`
	c, err := contract.ParseYAML([]byte(text))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Protocol, c.Basis.Kind, c.Basis.Dim, c.Anchor.Kind, c.Alignment.Method, c.Model.Kind)
	_, err = contract.ParseYAML([]byte(text + "basis: {dim: 4}\n"))
	_, what, _ := strings.Cut(err.Error(), ": ")
	fmt.Println(what)
	// Output:
	// dc pca 2 orthonormal odc logistic
	// study.yaml: line 9: basis.dim is 4, must be from 1 to 2: a basis as wide as the 3 features would leave nothing out
}
