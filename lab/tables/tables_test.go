package tables_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"concord/contract"
	"concord/lab"
	"concord/lab/tables"
	"concord/table"
)

func made(t *testing.T) (dir string, read func(name string) []byte) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "tables")
	if err := tables.Write(dir); err != nil {
		t.Fatal(err)
	}
	return dir, func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
}

// TestWrite: the files have the defects that they are there for, are the same each time,
// and replace nothing.
func TestWrite(t *testing.T) {
	dir, read := made(t)
	_, again := made(t)
	for _, name := range []string{"north.csv", "east.csv", "south.csv.gz", "south-mended.csv", "west.parquet", "later.csv", "study.yaml", "README.md"} {
		if !bytes.Equal(read(name), again(name)) {
			t.Errorf("%s differs the second time", name)
		}
	}
	if err := tables.Write(dir); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("a folder with files: %v", err)
	}
	north := string(read("north.csv"))
	if !strings.HasPrefix(north, "\uFEFFpatient;birth;") || !strings.Contains(north, ",") || strings.Contains(north, ".") {
		t.Error("north.csv has no mark, no semicolons or no decimal commas")
	}
	east := string(read("east.csv"))
	if !strings.HasPrefix(east, "readmitted,") || !strings.Contains(east, ",NA,") {
		t.Error("east.csv has the usual order, or no NA")
	}
	z, err := gzip.NewReader(bytes.NewReader(read("south.csv.gz")))
	if err != nil {
		t.Fatal(err)
	}
	south, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for line := range strings.Lines(string(south)) {
		id, _, _ := strings.Cut(line, ",")
		seen[id]++
	}
	twice := 0
	for _, n := range seen {
		if n > 1 {
			twice++
		}
	}
	if twice != 1 {
		t.Errorf("south.csv.gz has %d patients twice, want 1", twice)
	}
	if !bytes.HasPrefix(read("west.parquet"), []byte("PAR1")) {
		t.Error("west.parquet is none")
	}
}

// TestContract: the mended tables fit the contract; South's as it came does not, for its
// glucose; and all hospitals together have what the contract's preparation fills in.
func TestContract(t *testing.T) {
	dir, read := made(t)
	c, err := contract.ParseYAML(read("study.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if c.Basis.Kind != "common" || c.Standardise != "pooled" || len(c.Stages()) != 2 {
		t.Errorf("basis %s, standardise %s, stages %v", c.Basis.Kind, c.Standardise, c.Stages())
	}
	var all []*table.Table
	for name, rows := range map[string]int{"north.csv": 180, "east.csv": 120, "south-mended.csv": 90, "later.csv": 400} {
		one, err := table.Open(filepath.Join(dir, name), c, table.Options{DecimalComma: name == "north.csv"})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if one.Rows() != rows {
			t.Errorf("%s has %d rows, want %d", name, one.Rows(), rows)
		}
		for k, n := range one.ClassCounts() {
			if n < rows/5 {
				t.Errorf("%s has %d rows of %q", name, n, c.Label.Levels[k])
			}
		}
		all = append(all, one)
	}
	_, err = table.Open(filepath.Join(dir, "south.csv.gz"), c, table.Options{})
	if err == nil || !strings.Contains(err.Error(), "glucose") {
		t.Errorf("South's table as it came: %v", err)
	}
	prepare, err := lab.Preparation(c, all)
	if err != nil {
		t.Fatal(err)
	}
	// Prepared by their own figures all columns have mean 0 and variance 1.
	m := prepare.M()
	sum, squares, n := make([]float64, m), make([]float64, m), 0.0
	for _, one := range all {
		z := one.Prepared(prepare).Reveal()
		for i := range one.Rows() {
			n++
			for j := range m {
				sum[j] += z.At(i, j)
				squares[j] += z.At(i, j) * z.At(i, j)
			}
		}
	}
	for j, name := range c.ColumnNames() {
		if math.Abs(sum[j]/n) > 1e-12 || math.Abs(squares[j]/n-1) > 1e-12 {
			t.Errorf("column %s has mean %g and mean square %g", name, sum[j]/n, squares[j]/n)
		}
	}
}
