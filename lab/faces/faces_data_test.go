//go:build data

package faces_test

import (
	"os"
	"testing"

	"concord/lab/dataset"
	"concord/lab/faces"
)

// TestFacesOfData draws the figure of the real pictures, with the settings that the
// command has.
func TestFacesOfData(t *testing.T) {
	folder := os.Getenv("CONCORD_DATA")
	if folder == "" {
		t.Fatal("CONCORD_DATA does not name the folder of the data sets")
	}
	d, err := dataset.Load(folder, "olivetti")
	if err != nil {
		t.Fatal(err)
	}
	r, err := faces.Run(t.Context(), d, faces.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	checkOrder(t, r)
	if r.PartyRows != 100 || r.PictureSensitivity != 64 || len(r.Figure().Columns) != 6 {
		t.Errorf("%d pictures a party, sensitivity %g, %d drawn", r.PartyRows, r.PictureSensitivity, len(r.Figure().Columns))
	}
	for _, row := range r.Rows {
		if row.Guess != nil {
			t.Logf("%-40s 1 − R² %.3g, linked %.2f", row.Name, row.Guess.Unexplained, row.Guess.Linked)
		}
	}
}
