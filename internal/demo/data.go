package demo

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"

	"concord/lab"
)

//go:embed data/wdbc.csv
var wdbc string

//go:embed data/study.yaml
var studyYAML string

// The split is the same in every run; what the parties keep secret is not.
const splitSeed = 7

// firstSizes are the rows of the first three hospitals; smallSize those of any
// more. What is left over is the test set, which no hospital trains on.
var firstSizes = []int{220, 120, 25}

const smallSize = 25

// hospitals are the parties' names, in order.
var hospitals = []string{
	"North hospital", "East hospital", "West clinic", "South clinic",
	"Lake clinic", "Hill clinic", "Coast clinic", "River clinic",
}

// sizes returns how many rows each of n parties gets.
func sizes(n int) []int {
	out := append([]int(nil), firstSizes[:min(n, len(firstSizes))]...)
	for len(out) < n {
		out = append(out, smallSize)
	}
	return out
}

// dataset is the embedded data as CSV records: a header, and rows whose last
// field is the diagnosis in words.
type dataset struct {
	header []string
	rows   [][]string
}

func loadDataset() (*dataset, error) {
	records, err := csv.NewReader(strings.NewReader(wdbc)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("demo: embedded data: %w", err)
	}
	d := &dataset{header: records[0], rows: records[1:]}
	last := len(d.header) - 1
	d.header[last] = "diagnosis"
	for _, row := range d.rows {
		switch row[last] {
		case "0":
			row[last] = "malignant"
		case "1":
			row[last] = "benign"
		default:
			return nil, fmt.Errorf("demo: embedded data: the label %q is neither 0 nor 1", row[last])
		}
	}
	return d, nil
}

// split returns the row indices of every party and of the test set.
func (d *dataset) split(parties int) (parts [][]int, test []int, err error) {
	return lab.Partition(len(d.rows), sizes(parties), rand.New(rand.NewPCG(splitSeed, splitSeed)))
}

// write puts some of the rows into a CSV file, as a hospital would have it.
func (d *dataset) write(path string, rows []int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	w.Write(d.header)
	for _, i := range rows {
		w.Write(d.rows[i])
	}
	w.Flush()
	if err := w.Error(); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
