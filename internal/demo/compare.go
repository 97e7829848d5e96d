package demo

import (
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"

	"concord/bundle"
	"concord/contract"
	"concord/internal/durable"
	"concord/internal/report"
	"concord/lab"
	"concord/learn"
	"concord/metric"
	"concord/release"
	"concord/table"
)

// compared is what is known of one party at the end.
type compared struct {
	rows           int
	sent, received int64
	local, collab  report.Scores
	heldOut        report.HeldOut // what the collaboration's model made of them
}

// compare computes the baselines, reads what the parties predicted, prints the
// table and writes the report.
func (d *demo) compare(ctx context.Context, took time.Duration) error {
	c := d.contract
	test, err := table.Open(filepath.Join(d.Dir, "new-patients.csv"), c, table.Options{})
	if err != nil {
		return err
	}
	parties := make([]compared, d.Parties)
	var tables []*table.Table
	for i := range parties {
		t, err := table.Open(filepath.Join(d.party(i), "data.csv"), c, table.Options{})
		if err != nil {
			return err
		}
		p := &parties[i]
		p.rows = t.Rows()
		if p.local, err = baseline(ctx, c, []*table.Table{t}, test); err != nil {
			return err
		}
		scores, err := d.predicted(i, test)
		if err != nil {
			return err
		}
		if p.collab, err = asScores(lab.Judge(c, scores, test, judgedBy...)); err != nil {
			return err
		}
		if p.heldOut, err = heldOut(c, scores, test.Labels()); err != nil {
			return err
		}
		p.sent = d.sent[hospitals[i]]
		if p.received, err = bytesIn(filepath.Join(d.party(i), "concord-site", "inbox")); err != nil {
			return err
		}
		tables = append(tables, t)
	}
	central, err := baseline(ctx, c, tables, test)
	if err != nil {
		return err
	}
	d.print(parties, central, test.Rows())
	return d.report(parties, central, test, took)
}

// baseline trains the contract's model on all rows of tables and judges it on the test set.
func baseline(ctx context.Context, c *contract.Contract, tables []*table.Table, test *table.Table) (report.Scores, error) {
	prep, err := c.Preparation(nil)
	if err != nil {
		return report.Scores{}, err
	}
	return asScores(lab.Baseline(ctx, c, prep, tables, test, judgedBy...))
}

// judgedBy are what the demonstration compares models by.
var judgedBy = []string{"roc_auc", "accuracy"}

func asScores(v []float64, err error) (report.Scores, error) {
	if err != nil {
		return report.Scores{}, err
	}
	return report.Scores{ROCAUC: v[0], Accuracy: v[1]}, nil
}

// calibrationBins is the number of bins of a calibration curve, as many as
// scikit-learn takes: of the 204 rows few have a probability in the middle.
const calibrationBins = 5

// heldOut counts the rows by true and predicted class, and puts them in bins by
// the probability of the positive class, if the model gives probabilities.
func heldOut(c *contract.Contract, scores *mat.Dense, labels []int) (report.HeldOut, error) {
	positive := c.PositiveLevel()
	h := report.HeldOut{Levels: c.Label.Levels, Positive: c.Label.Levels[positive]}
	var err error
	if h.Confusion, err = metric.Confusion(labels, learn.Predicted(scores), len(h.Levels)); err != nil {
		return report.HeldOut{}, err
	}
	if c.Model.Kind == "ridge" || c.Model.Kind == "svm-linear" {
		return h, nil // their scores may be any numbers
	}
	is := make([]bool, len(labels))
	for i, k := range labels {
		is[i] = k == positive
	}
	h.Calibration, err = metric.CalibrationCurve(is, mat.Col(nil, positive, scores), calibrationBins, metric.Uniform)
	if err != nil {
		return report.HeldOut{}, err
	}
	return h, nil
}

// predicted reads the scores (n × classes) that a party wrote with concord
// predict.
func (d *demo) predicted(i int, test *table.Table) (*mat.Dense, error) {
	path := filepath.Join(d.party(i), "predictions.csv")
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, err
	}
	levels := d.contract.Label.Levels
	if len(records) != test.Rows()+1 || len(records[0]) != 2+len(levels) {
		return nil, fmt.Errorf("demo: %s has %d lines of %d columns, want %d of %d",
			path, len(records), len(records[0]), test.Rows()+1, 2+len(levels))
	}
	scores := mat.NewDense(test.Rows(), len(levels), nil)
	for i, record := range records[1:] {
		for k := range levels {
			v, err := strconv.ParseFloat(record[2+k], 64)
			if err != nil {
				return nil, fmt.Errorf("demo: %s: line %d: %w", path, i+2, err)
			}
			scores.Set(i, k, v)
		}
	}
	return scores, nil
}

// bytesIn is the size of the bundles in a folder.
func bytesIn(dir string) (int64, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	var total int64
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return 0, err
		}
		total += info.Size()
	}
	return total, nil
}

func (d *demo) print(parties []compared, central report.Scores, test int) {
	out := d.out
	fmt.Fprintf(out, "\nOn %d patients nobody trained on:\n\n", test)
	fmt.Fprintf(out, "                                      ROC-AUC                           accuracy\n")
	fmt.Fprintf(out, "                 rows  bytes sent     local  collaboration  central     local  collaboration  central\n")
	for i, p := range parties {
		fmt.Fprintf(out, "%-15s %5d  %10d    %.4f         %.4f   %.4f    %.4f         %.4f   %.4f\n",
			hospitals[i], p.rows, p.sent, p.local.ROCAUC, p.collab.ROCAUC, central.ROCAUC,
			p.local.Accuracy, p.collab.Accuracy, central.Accuracy)
	}
	smallest := slices.IndexFunc(parties, func(p compared) bool {
		return p.rows == slices.MinFunc(parties, func(a, b compared) int { return a.rows - b.rows }).rows
	})
	s := parties[smallest]
	fmt.Fprintf(out, "\n%s, the smallest, goes from %.4f alone to %.4f together; a model of all raw rows has %.4f.\n",
		hospitals[smallest], s.local.ROCAUC, s.collab.ROCAUC, central.ROCAUC)
	fmt.Fprintf(out, "No raw row left a hospital, and the server never had what undoes the projection.\n")
}

// report writes report.html.
func (d *demo) report(parties []compared, central report.Scores, test *table.Table, took time.Duration) error {
	out := report.Study{
		Title:    d.contract.Name,
		Made:     time.Now(),
		TestRows: test.Rows(),
		Central:  central,
		Phrase:   d.phrase,
		Notes: []string{
			fmt.Sprintf("The whole study took %.1f seconds, every command included.", took.Seconds()),
		},
		Steps: d.steps,
	}
	for line := range strings.Lines(release.Describe(d.contract)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		out.Contract = append(out.Contract, report.Field{Name: name, Value: strings.TrimSpace(value)})
	}
	for i, p := range parties {
		manifest, err := d.manifest(i)
		if err != nil {
			return err
		}
		entry := report.Party{
			Name: hospitals[i], Rows: p.rows, BytesSent: p.sent, BytesReceived: p.received,
			Local: p.local, Collaboration: p.collab, HeldOut: p.heldOut,
		}
		for _, m := range manifest.Members {
			entry.Leaves = append(entry.Leaves, report.Member{
				Name: m.Name, Shape: strings.Trim(strings.ReplaceAll(fmt.Sprint(shape(m)), " ", " × "), "[]"),
				Bytes: m.Bytes, SHA256: m.SHA256.String(),
			})
		}
		out.Epoch = manifest.Epoch.String()
		out.Parties = append(out.Parties, entry)
	}
	return durable.Write(filepath.Join(d.Dir, "report.html"), 0o644, func(f *os.File) error { return report.Write(f, out) })
}

// shape is that of a member, or of what a sealed one holds.
func shape(m bundle.Member) []int {
	if m.Sealed != nil {
		return m.Sealed.Shape
	}
	return m.Shape
}

// manifest is that of a party's contribution.
func (d *demo) manifest(i int) (*bundle.Manifest, error) {
	b, err := os.ReadFile(filepath.Join(d.party(i), "concord-site", "contribution", "leaves", "manifest.json"))
	if err != nil {
		return nil, err
	}
	return bundle.DecodeManifest(b)
}
