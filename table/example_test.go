package table_test

import (
	"fmt"
	"log"
	"strings"

	"concord/contract"
	"concord/table"
)

const visits = `
name: Visits
parties: 2
features:
  - {name: age, unit: years, range: [18, 100]}
  - {name: smoker, type: boolean}
label: {name: returned, levels: ["no", "yes"], positive: "yes"}
basis: {kind: pca, dim: 1}
`

// Rows come in the contract's order of features, whatever the file's. An error says where it
// is and what would be right, never what the cell holds.
func ExampleReadCSV() {
	c, err := contract.ParseYAML([]byte(visits))
	if err != nil {
		log.Fatal(err)
	}
	t, err := table.ReadCSV(strings.NewReader("returned,smoker,age\nyes,true,71\nno,false,34\n"), "visits.csv", c, table.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(t, t.Labels(), t.X().Reveal().RawRowView(0))

	_, err = table.ReadCSV(strings.NewReader("returned,smoker,age\nyes,true,710\n"), "visits.csv", c, table.Options{})
	fmt.Println(err)
	// Output:
	// table(2 rows × 2 features) [1 0] [71 1]
	// visits.csv: line 2, column 3 (age): the value is outside the contract's range, 18 to 100 years
}
