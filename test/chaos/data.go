package chaos

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// names of the parties, in the order in which they have ever fewer rows. The last one takes
// part where figures are pooled, for which three parties are too few.
var names = []string{"North clinic", "East clinic", "West clinic", "South clinic"}

var rows = []int{90, 60, 45, 40}

// size is how many parties a study has.
func size(protocol string) int {
	if protocol == "pool" {
		return 4
	}
	return 3
}

// studyYAML is small: what counts here is how often it is played.
const studyYAML = `name: Chaos
features:
  - {name: age, range: [18, 100]}
  - {name: stay_days, range: [0, 60]}
  - {name: systolic, range: [60, 260]}
  - {name: creatinine, range: [0, 8]}
  - {name: haemoglobin, range: [4, 20]}
  - {name: visits, range: [0, 20]}
label: {name: readmitted, levels: ["no", "yes"], positive: "yes"}
`

// of the studies that are played, the lines that differ: those of both protocols, and
// under dc a large one, whose contributions go in parts, and one that pools figures.
var protocols = map[string]string{
	"large": "basis: {kind: pca, dim: 4}\nanchor: {kind: uniform, rows: 150000}\nalignment: {method: odc}\n",
	"dc":    "basis: {kind: pca, dim: 4}\nanchor: {kind: uniform, rows: 100}\nalignment: {method: odc}\n",
	"pool":  "standardise: pooled\nbasis: {kind: pca, dim: 4}\nanchor: {kind: uniform, rows: 100}\nalignment: {method: odc}\n",
	"nri":   "protocol: nri\nbasis: {kind: pca-perturbed, dim: 4}\n",
}

const policyYAML = "name: chaos\nfloors: {rows: 20, per_class: 5}\napprove: true\n"

// of the models, the quick one, and one that takes its time to train.
const (
	quickModel = "model: {kind: logistic}\n"
	slowModel  = "model: {kind: mlp, hidden: [60], batch: 20, epochs: 400}\n"
)

// yaml is study.yaml.
func (p *play) yaml() string {
	model := quickModel
	if p.trouble.training > 0 {
		model = slowModel
	}
	return studyYAML + fmt.Sprintf("parties: %d\n", size(p.protocol)) + model + protocols[p.protocol]
}

// writeInputs puts the study, the policy, each party's rows and some new ones into dir.
func writeInputs(dir, yaml string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	files := map[string]string{"study.yaml": yaml, "policy.yaml": policyYAML}
	rnd := rand.New(rand.NewPCG(7, 7))
	for i, n := range append(rows[:len(rows):len(rows)], 20) {
		files[dataFile(i)] = patients(n, rnd)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// dataFile is where the rows of a party are, those of nobody after the last one.
func dataFile(i int) string { return fmt.Sprintf("rows-%d.csv", i) }

// patients draws patients.
func patients(n int, rnd *rand.Rand) string {
	var b strings.Builder
	b.WriteString("age,stay_days,systolic,creatinine,haemoglobin,visits,readmitted\n")
	for range n {
		between := func(low, high float64) float64 { return low + (high-low)*rnd.Float64() }
		age, stay, systolic := between(20, 95), between(0, 40), between(90, 200)
		creatinine, haemoglobin, visits := between(0.4, 4), between(7, 17), between(0, 15)
		score := (age-60)/15 + (creatinine-1.5)/1.2 - (haemoglobin-12)/3 + (visits-7)/6
		label := "no"
		if rnd.Float64() < 1/(1+math.Exp(-1.5*score)) {
			label = "yes"
		}
		fmt.Fprintf(&b, "%.1f,%.1f,%.0f,%.2f,%.1f,%.0f,%s\n", age, stay, systolic, creatinine, haemoglobin, visits, label)
	}
	return b.String()
}
