//go:build data

package dataset_test

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

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
	"ames":     {3304, 3951},
	"cyp2d6":   {10616, 2514},
	"cyp3a4":   {7218, 5110},
	"hiv":      {39684, 1443},
	"tox21":    {4890, 942},
	"mice":     {150, 135, 150, 135, 135, 105, 135, 135},
	"adult":    {37155, 11687},
	"digits":   {178, 182, 177, 183, 181, 182, 181, 179, 174, 180},
	"wdbc":     {212, 357},
	"olivetti": slices.Repeat([]int{10}, 40),
	"eicu":     {},
	// Coded as a contract has it: see sites.go.
	"adult-levels":  {37155, 11687},
	"eicu-region":   {1445, 147},
	"eicu-size":     {1367, 129},
	"colon-death":   {511, 404},
	"lung-death":    {65, 120},
	"pbc-death":     {312, 82},
	"veteran-death": {61, 73},
	// Simulated: see TestCredit and TestHospital.
	"credit":   {1573, 2359},
	"hospital": {41, 59},
}

// gaps are the sets whose missing numbers stay missing.
func gaps(name string) bool {
	return strings.HasPrefix(name, "eicu-") || strings.HasSuffix(name, "-death")
}

// absent are the sets whose files are not in the folder.
var absent = map[string]string{
	"qsar":   "qsar_biodeg/biodeg.csv",
	"cyp1a2": "tdc_cyp1a2_veith/morgan2048_r2.npz",
}

func TestPublishedData(t *testing.T) {
	dir := dataDir(t)
	for _, info := range dataset.Published() {
		t.Run(info.Name, func(t *testing.T) {
			d, err := dataset.Load(dir, info.Name)
			if file := absent[info.Name]; file != "" {
				if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), file) {
					t.Fatalf("error %v, want one that names the absent %s", err, file)
				}
				return
			}
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
			want, ok := counts[info.Name]
			if !ok {
				t.Errorf("no label counts are written down, there are %v", got)
			}
			if !slices.Equal(got, want) {
				t.Errorf("rows of the classes %v: %v, want %v", d.Y.Classes, got, want)
			}
			if two := len(d.Y.Classes) == 2; two != (d.Positive == 1) || !two && d.Positive != -1 {
				t.Errorf("positive class %d of %d", d.Positive, len(d.Y.Classes))
			}
			for from := 0; from < n; from += 5000 {
				rows := make([]int, min(n-from, 5000))
				for i := range rows {
					rows[i] = from + i
				}
				x, _ := d.Take(rows)
				for i := range rows {
					for j, v := range x.RawRowView(i) {
						if math.IsNaN(v) && !gaps(info.Name) || math.IsInf(v, 0) {
							t.Fatalf("row %d, feature %q is not finite", i+from+1, d.Features[j])
						}
					}
				}
			}
		})
	}
}

// TestCodingData compares cells with what NumPy 1.24 makes of the files.
func TestCodingData(t *testing.T) {
	dir := dataDir(t)
	for _, tt := range []struct {
		set, feature string
		row          int
		want         float64
	}{
		{"pima", "glucose", 75, 121.6867627785059},
		{"pima", "pressure", 7, 72.40518417462484},
		{"pima", "triceps", 2, 29},
		{"pima", "insulin", 0, 125},
		{"pima", "mass", 9, 32.3},
		{"pima", "pregnant", 1, 1},
		{"heart", "oldpeak", 1, 3.1},
		{"heart", "ca=2", 0, 1},
		{"heart", "thal=3", 0, 1},
		{"mice", "DYRK1A_N", 0, 0.503643884},
		{"mice", "BCL2_N", 0, 0.13476174899371068},
		{"adult", "workclass=State-gov", 0, 1},
		{"adult", "age", 32561, 25},
		{"eicu", "wbc", 0, 10.2},
		{"ames", "bit_203", 0, 1},
		{"ames", "bit_204", 0, 0},
	} {
		d, err := dataset.Load(dir, tt.set)
		if err != nil {
			t.Fatal(err)
		}
		x, _ := d.Take([]int{tt.row})
		j := slices.Index(d.Features, tt.feature)
		// A mean of 768 numbers: their rounding errors, n eps of the mean.
		if j < 0 || math.Abs(x.At(0, j)-tt.want) > 1080*0x1p-52*math.Abs(tt.want) {
			t.Errorf("%s: %s of row %d is %v, want %v", tt.set, tt.feature, tt.row, x.At(0, max(0, j)), tt.want)
		}
	}
}

// TestSumsData compares sums over whole rows with NumPy's.
func TestSumsData(t *testing.T) {
	dir := dataDir(t)
	for _, tt := range []struct {
		set   string
		row   int
		scale float64
		want  float64
	}{
		{"mnist", 60000, 255, 18454},
		{"mnist", 69999, 255, 41833},
		{"fashion", 60000, 255, 39603},
		{"fashion", 69999, 255, 59384},
		{"ames", 0, 1, 24},
		{"hiv", 0, 1, 17},
		{"tox21", 0, 1, 36},
	} {
		d, err := dataset.Load(dir, tt.set)
		if err != nil {
			t.Fatal(err)
		}
		x, _ := d.Take([]int{tt.row})
		if got := math.Round(mat.Sum(x) * tt.scale); got != tt.want {
			t.Errorf("%s: row %d sums to %v, want %v", tt.set, tt.row, got, tt.want)
		}
	}
}

func TestSplitsAndGroupsData(t *testing.T) {
	dir := dataDir(t)
	for _, tt := range []struct {
		set                  string
		groups, largest      int
		test, first, classes int
	}{
		{"mnist", 0, 0, 10000, 60000, 10},
		{"fashion", 0, 0, 10000, 60000, 10},
		{"adult", 0, 0, 16281, 32561, 2},
		{"mice", 72, 15, 0, 0, 8},
		{"eicu", 186, 10, 0, 0, 0},
	} {
		d, err := dataset.Load(dir, tt.set)
		if err != nil {
			t.Fatal(err)
		}
		size := make([]int, len(d.Groups)+1)
		for _, g := range d.Group {
			size[g]++
		}
		if len(d.Groups) != tt.groups || slices.Max(size) != tt.largest {
			t.Errorf("%s: %d groups of up to %d rows, want %d of %d", tt.set, len(d.Groups), slices.Max(size), tt.groups, tt.largest)
		}
		if len(d.Test) != tt.test || tt.test > 0 && d.Test[0] != tt.first {
			t.Errorf("%s: %d test rows, want %d from %d on", tt.set, len(d.Test), tt.test, tt.first)
		}
		if len(d.Y.Classes) != tt.classes {
			t.Errorf("%s: %d classes, want %d", tt.set, len(d.Y.Classes), tt.classes)
		}
	}
}

// TestLengthOfStayData: the first stay lasted 1.5625 days by the file itself.
func TestLengthOfStayData(t *testing.T) {
	d, err := dataset.Load(dataDir(t), "eicu")
	if err != nil {
		t.Fatal(err)
	}
	// The file rounds days to four decimals.
	if got := d.Y.Values.At(0, 0); math.Abs(got-1.5625) > 0.00005 {
		t.Errorf("%v days, want 1.5625", got)
	}
}
