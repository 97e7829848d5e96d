//go:build data

package dataset_test

import (
	"math"
	"os"
	"testing"

	"concord/lab/dataset"
)

func dataDir(t *testing.T) string {
	dir := os.Getenv("CONCORD_DATA")
	if dir == "" {
		t.Fatal("CONCORD_DATA does not say where the data are")
	}
	return dir
}

// counts are the labels of each class, in the order of the classes, as the
// folder's index has them or as the label's rule makes them.
var counts = map[string][]int{
	"pima":     {500, 268},
	"heart":    {499, 526},
	"colon":    {440, 448},
	"kidney":   {49, 27},
	"lung":     {123, 44},
	"pbc":      {154, 122},
	"veteran":  {84, 53},
	"mnist":    {6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958},
	"fashion":  {7000, 7000, 7000, 7000, 7000, 7000, 7000, 7000, 7000, 7000},
	"olivetti": nil, // 10 each
}

func TestPublishedData(t *testing.T) {
	dir := dataDir(t)
	for _, info := range dataset.Published() {
		t.Run(info.Name, func(t *testing.T) {
			d, err := dataset.Load(dir, info.Name)
			if err != nil {
				t.Fatal(err)
			}
			n, m := d.X.Dims()
			if info.Rows != n || info.Cols != m || len(d.Features) != m {
				t.Errorf("%d × %d with %d names, want %d × %d", n, m, len(d.Features), info.Rows, info.Cols)
			}
			got := make([]int, len(d.Y.Classes))
			for _, k := range d.Y.Labels {
				got[k]++
			}
			t.Log(n, m, got, d.Features[:min(5, m)])
			if want := counts[info.Name]; want != nil {
				for k := range want {
					if got[k] != want[k] {
						t.Errorf("%d rows of class %s, want %d", got[k], d.Y.Classes[k], want[k])
					}
				}
			}
			x, _ := d.Take([]int{0, n / 2, n - 1})
			for i := range 3 {
				for j, v := range x.RawRowView(i) {
					if math.IsNaN(v) || math.IsInf(v, 0) {
						t.Fatalf("row %d, feature %q is not finite", i, d.Features[j])
					}
				}
			}
		})
	}
}
