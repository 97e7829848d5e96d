//go:build data

package lab_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/analyst"
	"concord/anchor"
	"concord/contract"
	"concord/lab"
	"concord/onnx"
	"concord/party"
	"concord/secret"
	"concord/table"
	"concord/wire"
)

// A trial is a data set split over parties in many ways: what the three roles'
// functions make of real data, without network or files.
type trial struct {
	file, label, positive string
	sizes                 []int
	dim                   int
	// gap is the most by which the collaboration's mean ROC-AUC may stay behind
	// central's, or lead.
	gap float64
}

var trials = []trial{
	// l far below m, as the demonstration has it; the promise is 0.02 on a
	// split, a mean of ten varies less.
	{"breast_cancer_wdbc/wdbc.csv", "label", "0", []int{220, 120, 25}, 8, 0.01},
	// l = m: every basis spans everything, F_iG_i is one orthogonal map ([nosaka2025]
	// Thm IV.3), and a penalty that is the same in every direction gives
	// central's model, but for float32 weights in the graph.
	// A contract refuses that, since it leaves nothing out; the functions do not.
	{"pima_diabetes/pima.csv", "", "1", []int{50, 50, 50, 50}, 8, 0.0001},
	{"heart_kaggle1025/heart.csv", "", "1", []int{60, 60, 60}, 10, 0.02},
}

const splits = 10

func TestDataCollaborationNearsCentral(t *testing.T) {
	folder := os.Getenv("CONCORD_DATA")
	if folder == "" {
		t.Fatal("CONCORD_DATA does not name the folder of the data sets")
	}
	for _, tr := range trials {
		t.Run(filepath.Dir(tr.file), func(t *testing.T) {
			records := readAll(t, filepath.Join(folder, tr.file))
			c := tr.contract(t, records)
			var local, together, central float64
			for s := range splits {
				l, d, a := tr.run(t, c, records, uint64(s))
				local, together, central = local+l/splits, together+d/splits, central+a/splits
			}
			t.Logf("mean ROC-AUC over %d splits: local %.4f, collaboration %.4f, central %.4f", splits, local, together, central)
			if math.Abs(central-together) > tr.gap {
				t.Errorf("collaboration %.4f, central %.4f: more than %g apart", together, central, tr.gap)
			}
			if together <= local {
				t.Errorf("collaboration %.4f is not above local %.4f", together, local)
			}
		})
	}
}

func readAll(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return records
}

// contract takes all columns but the label's as features, with the smallest and
// largest value of the whole data set as their ranges.
func (tr *trial) contract(t *testing.T, records [][]string) *contract.Contract {
	t.Helper()
	header := records[0]
	if tr.label == "" {
		tr.label = header[len(header)-1]
	}
	var b strings.Builder
	fmt.Fprintf(&b, "name: Trial\nparties: %d\nfeatures:\n", len(tr.sizes))
	for j, name := range header {
		if name == tr.label {
			continue
		}
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, r := range records[1:] {
			v, err := strconv.ParseFloat(r[j], 64)
			if err != nil {
				t.Fatal(err)
			}
			lo, hi = min(lo, v), max(hi, v)
		}
		fmt.Fprintf(&b, "  - {name: %q, range: [%v, %v]}\n", name, lo, hi)
	}
	fmt.Fprintf(&b, "label: {name: %q, levels: [\"0\", \"1\"], positive: %q}\nbasis: {kind: pca, dim: 1}\n", tr.label, tr.positive)
	c, err := contract.ParseYAML([]byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	c.Basis.Dim = tr.dim
	return c
}

// run plays one study on one split and returns the mean ROC-AUC over parties.
func (tr *trial) run(t *testing.T, c *contract.Contract, records [][]string, split uint64) (local, together, central float64) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(split, 1))
	rows, rest, err := lab.Partition(len(records)-1, tr.sizes, rnd)
	if err != nil {
		t.Fatal(err)
	}
	read := func(rows []int) *table.Table {
		var b strings.Builder
		w := csv.NewWriter(&b)
		w.Write(records[0])
		for _, i := range rows {
			w.Write(records[i+1])
		}
		w.Flush()
		tab, err := table.ReadCSV(strings.NewReader(b.String()), "trial.csv", c, table.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return tab
	}
	test := read(rest)
	seed, err := anchor.SeedFromBytes(secret.NewBytes(slices.Repeat([]byte{byte(split + 1)}, anchor.SeedSize)))
	if err != nil {
		t.Fatal(err)
	}
	var parts []analyst.Contribution
	var made []*party.Contribution
	var all []int
	for i := range rows {
		var key [32]byte
		key[0], key[1] = byte(split), byte(i)
		tab := read(rows[i])
		p, err := party.Prepare(c, tab, party.EffectiveFloors(c, nil), party.Agreed{Seed: seed}, rand.NewChaCha8(key))
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, p)
		parts = append(parts, analyst.Contribution{Party: fmt.Sprint(i), X: p.X, A: p.A, Labels: p.Labels, Anchor: p.Anchor})
		local += baseline(t, c, tab, test) / float64(len(rows))
		all = append(all, rows[i]...)
	}
	g, err := analyst.Align(c, wire.Hash{byte(split)}, parts)
	if err != nil {
		t.Fatal(err)
	}
	trained, err := analyst.Train(context.Background(), c, wire.Hash{byte(split)}, parts, g)
	if err != nil {
		t.Fatal(err)
	}
	h, err := onnx.FromModel(trained.Model)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range made {
		model, err := party.Accept(c, wire.Hash{}, party.Agreed{}, p.Basis, g.G[i], h)
		if err != nil {
			t.Fatal(err)
		}
		out, err := model.Run(test.X().Reveal())
		if err != nil {
			t.Fatal(err)
		}
		together += judge(t, c, out.Scores, test) / float64(len(rows))
	}
	return local, together, baseline(t, c, read(all), test)
}

func baseline(t *testing.T, c *contract.Contract, train, test *table.Table) float64 {
	t.Helper()
	prep, err := c.Preparation(nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := lab.Baseline(context.Background(), c, prep, []*table.Table{train}, test, "roc_auc")
	if err != nil {
		t.Fatal(err)
	}
	return got[0]
}

func judge(t *testing.T, c *contract.Contract, scores *mat.Dense, test *table.Table) float64 {
	t.Helper()
	s, err := lab.Judge(c, scores, test, "roc_auc")
	if err != nil {
		t.Fatal(err)
	}
	return s[0]
}
