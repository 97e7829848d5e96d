package table_test

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"concord/contract"
	"concord/secret"
	"concord/table"
)

// contract has three features, of which kg has no range, and two classes.
func newContract() *contract.Contract {
	return &contract.Contract{
		Features: []contract.Feature{
			{Name: "age", Type: "numeric", Unit: "years", Range: &contract.Range{Min: 0, Max: 120}},
			{Name: "bmi", Type: "numeric", Range: &contract.Range{Min: 10, Max: 70}},
			{Name: "kg", Type: "numeric"},
		},
		Label:       contract.Label{Name: "outcome", Type: "class", Levels: []string{"benign", "malignant"}, Positive: "malignant"},
		Standardise: "none",
		MaxRows:     100,
	}
}

func read(t *testing.T, text string, c *contract.Contract, opt table.Options) *table.Table {
	t.Helper()
	got, err := table.ReadCSV(strings.NewReader(text), "patients.csv", c, opt)
	if err != nil {
		t.Fatalf("ReadCSV: %v", err)
	}
	return got
}

func rows(x secret.Matrix) [][]float64 {
	n, _ := x.Dims()
	out := make([][]float64, n)
	for i := range out {
		out[i] = x.Reveal().RawRowView(i)
	}
	return out
}

func TestReadCSV(t *testing.T) {
	want := [][]float64{{63, 27.5, 80}, {41, 22, 61.25}, {63, 27.5, 80}}
	for _, test := range []struct {
		name, text string
		lines      []int
	}{
		{"plain", "age,bmi,kg,outcome\n63,27.5,80,malignant\n41,22,61.25,benign\n63,27.5,80,malignant\n", []int{2, 3, 4}},
		{"other order of columns", "outcome,kg,age,bmi\nmalignant,80,63,27.5\nbenign,61.25,41,22\nmalignant,80,63,27.5\n", []int{2, 3, 4}},
		{"byte order mark", "\ufeffage,bmi,kg,outcome\n63,27.5,80,malignant\n41,22,61.25,benign\n63,27.5,80,malignant\n", []int{2, 3, 4}},
		{"carriage returns, no last line end", "age,bmi,kg,outcome\r\n63,27.5,80,malignant\r\n41,22,61.25,benign\r\n63,27.5,80,malignant", []int{2, 3, 4}},
		{"spaces and quotation marks", " age , \"bmi\",kg,outcome\n63 ,\t27.5,\" 80 \", \"malignant\"\n41,22,61.25,benign \n63,27.5,80,malignant\n", []int{2, 3, 4}},
		{"spellings of numbers", "age,bmi,kg,outcome\n6.3e1,+27.50,80.,malignant\n41,22,.6125E+02,benign\n0630e-1,27.5,80,malignant\n", []int{2, 3, 4}},
		{"empty lines and line ends in cells", "\nage,bmi,kg,outcome\n\n63,\"\n27.5\",80,malignant\n41,22,61.25,benign\n\n\n63,27.5,80,malignant\n\n", []int{4, 6, 9}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := read(t, test.text, newContract(), table.Options{})
			if diff := cmp.Diff(want, rows(got.X())); diff != "" {
				t.Errorf("X (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]int{1, 0, 1}, got.Labels()); diff != "" {
				t.Errorf("Labels (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]int{1, 2}, got.ClassCounts()); diff != "" {
				t.Errorf("ClassCounts (-want +got):\n%s", diff)
			}
			if got.Values() != nil {
				t.Errorf("Values = %v, want nil", got.Values())
			}
			if got.Rows() != 3 {
				t.Errorf("Rows = %d, want 3", got.Rows())
			}
			for i, line := range test.lines {
				if got.Line(i) != line {
					t.Errorf("Line(%d) = %d, want %d", i, got.Line(i), line)
				}
			}
		})
	}
}

func TestLabelModes(t *testing.T) {
	const without, with = "age,bmi,kg\n63,27.5,80\n", "age,bmi,kg,outcome\n63,27.5,80,benign\n"
	for _, test := range []struct {
		name, text string
		mode       table.LabelMode
		want       []int
	}{
		{"optional and absent", without, table.Optional, nil},
		{"optional and there", with, table.Optional, []int{0}},
		{"ignored and absent", without, table.Ignored, nil},
		{"ignored and there", with, table.Ignored, nil},
		{"ignored and wrong", strings.Replace(with, "benign", "?", 1), table.Ignored, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := read(t, test.text, newContract(), table.Options{Label: test.mode})
			if diff := cmp.Diff(test.want, got.Labels()); diff != "" {
				t.Errorf("Labels (-want +got):\n%s", diff)
			}
			if (got.ClassCounts() == nil) != (test.want == nil) {
				t.Errorf("ClassCounts = %v with labels %v", got.ClassCounts(), test.want)
			}
		})
	}
}

func TestNumberLabel(t *testing.T) {
	c := newContract()
	c.Label = contract.Label{Name: "days", Type: "number"}
	got := read(t, "days,age,bmi,kg\n-3.5,1,20,1\n1e3,2,20,1\n", c, table.Options{})
	if diff := cmp.Diff([]float64{-3.5, 1000}, got.Values()); diff != "" {
		t.Errorf("Values (-want +got):\n%s", diff)
	}
	if got.Labels() != nil || got.ClassCounts() != nil {
		t.Errorf("Labels, ClassCounts = %v, %v, want none", got.Labels(), got.ClassCounts())
	}
}

func TestAllowExtraAndOutOfRange(t *testing.T) {
	// The columns that are skipped hold what would be refused in another.
	text := "id,age,note,bmi,kg,note,\n1,-1,\"a,\xff\",27.5,80,,x\n2,121,NaN,10,-80,?,x\n3,0,0x1,70,0,,x\n"
	got := read(t, text, newContract(), table.Options{Label: table.Optional, AllowExtra: true, AllowOutOfRange: true})
	want := [][]float64{{-1, 27.5, 80}, {121, 10, -80}, {0, 70, 0}}
	if diff := cmp.Diff(want, rows(got.X())); diff != "" {
		t.Errorf("X (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{2, 0, 0}, got.OutOfRange()); diff != "" {
		t.Errorf("OutOfRange (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{1, 0, 0}, got.Subset([]int{1, 2}).OutOfRange()); diff != "" {
		t.Errorf("OutOfRange of rows 2 and 3 (-want +got):\n%s", diff)
	}
}

func TestStandardised(t *testing.T) {
	const text = "age,bmi,kg,outcome\n0,10,7,benign\n60,40,8,benign\n120,70,9,benign\n"
	c := newContract()
	c.Features[2].Range = &contract.Range{Min: 6, Max: 10}
	c.Standardise = "range"
	got := read(t, text, c, table.Options{})
	// All quotients are exact in binary.
	if diff := cmp.Diff([][]float64{{-1, -1, -0.5}, {0, 0, 0}, {1, 1, 0.5}}, rows(got.Standardised())); diff != "" {
		t.Errorf("range (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([][]float64{{0, 10, 7}, {60, 40, 8}, {120, 70, 9}}, rows(got.X())); diff != "" {
		t.Errorf("Standardised changed the raw rows (-want +got):\n%s", diff)
	}
	c.Standardise = "none"
	got = read(t, text, c, table.Options{})
	if diff := cmp.Diff(rows(got.X()), rows(got.Standardised())); diff != "" {
		t.Errorf("none (-want +got):\n%s", diff)
	}
}

func TestConstant(t *testing.T) {
	got := read(t, "age,bmi,kg,outcome\n50,20,0,benign\n51,20,-0,malignant\n50,20,0,benign\n", newContract(), table.Options{})
	if diff := cmp.Diff([]int{1, 2}, got.Constant()); diff != "" {
		t.Errorf("Constant (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{0, 1, 2}, got.Subset([]int{0, 2}).Constant()); diff != "" {
		t.Errorf("Constant of equal rows (-want +got):\n%s", diff)
	}
}

func TestSubset(t *testing.T) {
	all := read(t, "age,bmi,kg,outcome\n1,20,5,benign\n2,30,6,malignant\n3,40,7,benign\n", newContract(), table.Options{})
	got := all.Subset([]int{2, 0, 2})
	if diff := cmp.Diff([][]float64{{3, 40, 7}, {1, 20, 5}, {3, 40, 7}}, rows(got.X())); diff != "" {
		t.Errorf("X (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{0, 0, 0}, got.Labels()); diff != "" {
		t.Errorf("Labels (-want +got):\n%s", diff)
	}
	if got.Line(0) != 4 || got.Line(1) != 2 {
		t.Errorf("lines %d, %d, want 4, 2", got.Line(0), got.Line(1))
	}
	got.Erase()
	if diff := cmp.Diff([][]float64{{1, 20, 5}, {2, 30, 6}, {3, 40, 7}}, rows(all.X())); diff != "" {
		t.Errorf("erasing a subset changed the table (-want +got):\n%s", diff)
	}

	none := all.Subset(nil)
	n, m := none.Standardised().Dims()
	if none.Rows() != 0 || n != 0 || m != 0 || none.Constant() != nil {
		t.Errorf("empty subset: %d rows, standardised %d × %d, constant %v", none.Rows(), n, m, none.Constant())
	}
	if diff := cmp.Diff([]int{0, 0}, none.ClassCounts()); diff != "" {
		t.Errorf("ClassCounts of no rows (-want +got):\n%s", diff)
	}

	for _, i := range []int{-1, 3} {
		func() {
			defer func() {
				if r := fmt.Sprint(recover()); r != fmt.Sprintf("table: Subset: row %d of a table with 3 rows", i) {
					t.Errorf("Subset(%d): %s", i, r)
				}
			}()
			all.Subset([]int{i})
		}()
	}
}

func TestErase(t *testing.T) {
	got := read(t, "age,bmi,kg,outcome\n1,20,5,malignant\n", newContract(), table.Options{})
	got.Erase()
	if diff := cmp.Diff([][]float64{{0, 0, 0}}, rows(got.X())); diff != "" {
		t.Errorf("X (-want +got):\n%s", diff)
	}
	if got.Labels()[0] != 0 {
		t.Error("a label survived")
	}
}

// A table prints only its size, wherever it stands.
func TestPrintsOnlySize(t *testing.T) {
	const marker = "47.11"
	tab := read(t, "age,bmi,kg,outcome\n"+marker+","+marker+","+marker+",malignant\n", newContract(), table.Options{})
	const want = "table(1 rows × 3 features)"
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x", "%g"} {
		if got := fmt.Sprintf(verb, tab); got != want {
			t.Errorf("%s prints %q, want %q", verb, got, want)
		}
		inside := struct{ inner table.Table }{*tab}
		if got := fmt.Sprintf(verb, inside); strings.Contains(got, marker) || strings.Contains(got, "4047") {
			t.Errorf("%s of a struct prints %q", verb, got)
		}
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("read", "table", tab)
	if !strings.Contains(log.String(), want) {
		t.Errorf("log says %q", log.String())
	}
	if b, err := json.Marshal(tab); !errors.Is(err, secret.ErrEncode) {
		t.Errorf("json.Marshal = %q, %v, want %v", b, err, secret.ErrEncode)
	}
	if b, err := tab.MarshalBinary(); err != secret.ErrEncode {
		t.Errorf("MarshalBinary = %q, %v, want %v", b, err, secret.ErrEncode)
	}
}

// What is written by encoding/csv in any order of columns is read back exactly.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newContract()
		m := rapid.IntRange(1, 6).Draw(t, "m")
		n := rapid.IntRange(1, 20).Draw(t, "n")
		c.Features = nil
		for j := range m {
			c.Features = append(c.Features, contract.Feature{Name: fmt.Sprintf("f, \"%d\"", j), Type: "numeric"})
		}
		finite := rapid.Float64().Filter(func(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) })
		order := rapid.Permutation(slices.Collect(func(yield func(int) bool) {
			for j := 0; j <= m && yield(j); j++ {
			}
		})).Draw(t, "order")
		want := make([][]float64, n)
		labels := make([]int, n)
		var text strings.Builder
		w := csv.NewWriter(&text)
		w.UseCRLF = rapid.Bool().Draw(t, "crlf")
		record := make([]string, m+1)
		for to, j := range order {
			record[to] = append(c.FeatureNames(), c.Label.Name)[j]
		}
		write(t, w, record)
		for i := range n {
			want[i] = rapid.SliceOfN(finite, m, m).Draw(t, "row")
			labels[i] = rapid.IntRange(0, 1).Draw(t, "label")
			for to, j := range order {
				if j == m {
					record[to] = c.Label.Levels[labels[i]]
				} else {
					record[to] = strconv.FormatFloat(want[i][j], rapid.SampledFrom([]byte("efgEG")).Draw(t, "format"), -1, 64)
				}
			}
			write(t, w, record)
		}
		w.Flush()
		got, err := table.ReadCSV(strings.NewReader(text.String()), "x", c, table.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, rows(got.X())); diff != "" {
			t.Errorf("X (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(labels, got.Labels()); diff != "" {
			t.Errorf("Labels (-want +got):\n%s", diff)
		}
	})
}

func write(t *rapid.T, w *csv.Writer, record []string) {
	if err := w.Write(record); err != nil {
		t.Fatal(err)
	}
}
