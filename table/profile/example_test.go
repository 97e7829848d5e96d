package profile_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"concord/contract"
	"concord/table/profile"
)

// Everything that is wrong in a file at once, by line and column, so that people mend it in one go.
func ExampleSurvey() {
	c, err := contract.ParseYAML([]byte(`
name: Visits
parties: 2
features: [{name: age, range: [18, 100]}, {name: stay, unit: days, range: [0, 60]}]
label: {name: returned, levels: ["no", "yes"], positive: "yes"}
basis: {kind: pca, dim: 1}
`))
	if err != nil {
		log.Fatal(err)
	}
	path := filepath.Join(os.TempDir(), "concord-example.csv")
	defer os.Remove(path)
	if err := os.WriteFile(path, []byte("age,stay,returned\n71,3,yes\n340,2,no\n58,,no\n"), 0o600); err != nil {
		log.Fatal(err)
	}
	report, err := profile.Survey(path, c, profile.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Rows, "rows, fits:", report.Fits)
	for _, f := range report.Problems {
		if f.Feature != "" {
			fmt.Println(f.Kind, f.Feature, f.Lines)
		}
	}
	// Output:
	// 3 rows, fits: false
	// outside age [3]
	// missing stay [4]
}
