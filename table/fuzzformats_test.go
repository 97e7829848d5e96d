package table_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"concord/table"
)

// FuzzOpen holds for every format that no file panics, and that what is wrong with one is
// told as problems of the file.
func FuzzOpen(f *testing.F) {
	for _, name := range []string{"matrix.npy", "structured.npy", "columns.npz", "rows.parquet", "pictures.idx", "pictures.idx.gz", "rows.db"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(header + "1,20,5,benign\n"))
	c := newContract()
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, opt := range []table.Options{{}, {Names: []string{"age", "bmi", "kg", "outcome"}, AllowExtra: true}, {Query: "SELECT * FROM rows", Survey: true}} {
			got, err := table.Open(path, c, opt)
			if err != nil {
				var errs *table.Errors
				if !errors.As(err, &errs) || len(errs.Problems) == 0 || len(errs.Problems) > table.MaxProblems || got != nil {
					t.Fatalf("error is %T: %v", err, err)
				}
			} else if n, m := got.X().Dims(); n != got.Rows() || n < 1 || n > c.MaxRows || m != len(c.Features) {
				t.Fatalf("X is %d × %d, Rows %d", n, m, got.Rows())
			}
		}
	})
}
