package table_test

import (
	"encoding/csv"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"concord/contract"
	"concord/table"
)

// TestAges holds days and ages beside those of Python's datetime (testdata/ages.py), bit
// for bit, across 29 February and the centuries without one.
func TestAges(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/ages.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) < 300 {
		t.Fatal(len(rows), err)
	}
	for _, row := range rows[1:] {
		for k, as := range []string{"days", "age"} {
			c := &contract.Contract{Label: contract.Label{Name: "label", Type: "number"}, Standardise: "none", MaxRows: 10,
				Features: []contract.Feature{{Name: "born", Type: contract.Date, As: as, From: row[1], Layout: "DD.MM.YYYY", Range: &contract.Range{Min: -1e6, Max: 1e6}}}}
			d := strings.Split(row[0], "-")
			got, err := table.ReadCSV(strings.NewReader("born,label\n"+d[2]+"."+d[1]+"."+d[0]+",1\n"), "x.csv", c, table.Options{})
			if row[2] == "no" {
				if err == nil || !strings.Contains(err.Error(), "line 2, column 1 (born)") {
					t.Errorf("%s, which is not in the calendar: %v", row[0], err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			want, err := strconv.ParseFloat(row[2+k], 64)
			if err != nil {
				t.Fatal(err)
			}
			x := got.X().Reveal().At(0, 0)
			day, err := time.Parse(time.DateOnly, row[0])
			if err != nil {
				t.Fatal(err)
			}
			value, err := c.Features[0].DateValue(day)
			if err != nil || x != want || value != want {
				t.Errorf("from %s to %s as %s: %v in a table, %v as a new value, want %v (%v)", row[0], row[1], as, x, value, want, err)
			}
		}
	}
}
