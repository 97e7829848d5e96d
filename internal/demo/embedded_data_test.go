//go:build data

package demo

import (
	"os"
	"path/filepath"
	"testing"
)

// TestDataEmbeddedCopy: the embedded data are the data set, byte for byte.
func TestDataEmbeddedCopy(t *testing.T) {
	folder := os.Getenv("CONCORD_DATA")
	if folder == "" {
		t.Fatal("CONCORD_DATA does not name the folder of the data sets")
	}
	want, err := os.ReadFile(filepath.Join(folder, "breast_cancer_wdbc", "wdbc.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if wdbc != string(want) {
		t.Error("internal/demo/data/wdbc.csv is not the data set's wdbc.csv")
	}
}
