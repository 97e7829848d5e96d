package dataset_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/parquet-go/parquet-go"
	"gonum.org/v1/gonum/mat"

	"concord/lab/dataset"
	"concord/learn"
)

// rowsOf are all rows of d.
func rowsOf(d *dataset.Data) [][]float64 {
	n, _ := d.X.Dims()
	var rows [][]float64
	for i := range n {
		x, _ := d.Take([]int{i})
		rows = append(rows, x.RawRowView(0))
	}
	return rows
}

// read opens a file with the text.
func read(t testing.TB, text string, opt dataset.Options) (*dataset.Data, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dataset.Open(path, opt)
}

const mixed = "age,town,site,spare,label\n" +
	"31,\"b, c\",x,7,yes\n" +
	"NA,a,,7,no\n" +
	"1e2,a,y,7,no\n" +
	" 5 ,d,x,7,yes\n"

func TestCSV(t *testing.T) {
	nan := math.NaN()
	for _, tt := range []struct {
		name, text string
		opt        dataset.Options
		features   []string
		rows       [][]float64
		classes    []string
		labels     []int
		values     []float64
		positive   int
		groups     []string
		group      []int
		notes      int
	}{
		{
			name: "mixed", text: mixed,
			features: []string{"age", "town=b, c", "town=d", "site=x", "site=y"},
			rows:     [][]float64{{31, 1, 0, 1, 0}, {nan, 0, 0, 0, 0}, {100, 0, 0, 0, 1}, {5, 0, 1, 1, 0}},
			classes:  []string{"no", "yes"}, labels: []int{1, 0, 0, 1}, positive: 1, notes: 2,
		},
		{
			name: "grouped and dropped", text: mixed, opt: dataset.Options{By: "site", Drop: []string{"town", "spare"}, Positive: "no"},
			features: []string{"age"},
			rows:     [][]float64{{31}, {nan}, {100}, {5}},
			classes:  []string{"no", "yes"}, labels: []int{1, 0, 0, 1}, positive: 0,
			groups: []string{"x", "y", "(missing)"}, group: []int{0, 2, 1, 0}, notes: 1,
		},
		{
			name: "semicolons, byte order mark, CRLF", text: "\ufeffa;label\r\n1;2\r\n3;10\r\n4;2.0\r\n",
			features: []string{"a"}, rows: [][]float64{{1}, {3}, {4}},
			classes: []string{"2", "10"}, labels: []int{0, 1, 0}, positive: 1,
		},
		{
			name: "tabs with empty cells", text: "a\tb\tlabel\n1\t\tu\n\t2\tv\n3\t4\tw\n",
			features: []string{"a", "b"}, rows: [][]float64{{1, nan}, {nan, 2}, {3, 4}},
			classes: []string{"u", "v", "w"}, labels: []int{0, 1, 2}, positive: -1,
		},
		{
			name: "numbers", text: "a,label\n1,0.5\n2,1\n", features: []string{"a"},
			rows: [][]float64{{1}, {2}}, values: []float64{0.5, 1}, positive: -1,
		},
		{
			name: "numbers by order", text: "a,label\n1,0\n2,1\n", opt: dataset.Options{Task: dataset.Regression},
			features: []string{"a"}, rows: [][]float64{{1}, {2}}, values: []float64{0, 1}, positive: -1,
		},
		{
			name: "classes by order", text: "a,label\n1,0.5\n2,1\n", opt: dataset.Options{Task: dataset.Classes, Positive: "0.50"},
			features: []string{"a"}, rows: [][]float64{{1}, {2}}, classes: []string{"0.5", "1"}, labels: []int{0, 1}, positive: 0,
		},
		{
			name: "rows' names as R writes them", text: ",a,out\n1,5,u\n2,6,v\n", opt: dataset.Options{Label: "out"},
			features: []string{"column1", "a"}, rows: [][]float64{{1, 5}, {2, 6}},
			classes: []string{"u", "v"}, labels: []int{0, 1}, positive: 1,
		},
		{
			name: "missing in many ways", text: "a,label\nna,u\nN/A,v\nnull,u\n?,v\n.,v\n\"\",u\nnan,u\n1,u\n2,v\n",
			features: []string{"a"}, rows: [][]float64{{nan}, {nan}, {nan}, {nan}, {nan}, {nan}, {nan}, {1}, {2}},
			classes: []string{"u", "v"}, labels: []int{0, 1, 0, 1, 1, 0, 0, 0, 1}, positive: 1,
		},
		{
			name: "not numbers", text: "a,b,label\n0x10,inf,u\n1_0,1,v\n", features: []string{"a=1_0", "b=inf"},
			rows: [][]float64{{0, 1}, {1, 0}}, classes: []string{"u", "v"}, labels: []int{0, 1}, positive: 1, notes: 1,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, packed := range []bool{false, true} {
				text := tt.text
				if packed {
					text = string(gzipped(t, []byte(text)))
				}
				d, err := read(t, text, tt.opt)
				if err != nil {
					t.Fatal(err)
				}
				equal(t, "features", tt.features, d.Features)
				equal(t, "rows", tt.rows, rowsOf(d))
				equal(t, "classes", tt.classes, d.Y.Classes)
				equal(t, "labels", tt.labels, d.Y.Labels)
				equal(t, "groups", tt.groups, d.Groups)
				equal(t, "group", tt.group, d.Group)
				if d.Y.Values != nil {
					equal(t, "values", tt.values, d.Y.Values.RawMatrix().Data)
				} else {
					equal(t, "values", tt.values, nil)
				}
				if d.Positive != tt.positive || len(d.Notes) != tt.notes {
					t.Errorf("positive %d, notes %q", d.Positive, d.Notes)
				}
			}
		})
	}
}

func equal[T any](t *testing.T, what string, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateNaNs(), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestAutoTask(t *testing.T) {
	for _, tt := range []struct {
		different int
		classes   bool
	}{{2, true}, {20, true}, {21, false}} {
		text := "a,label\n"
		for i := range 2 * tt.different {
			text += fmt.Sprintf("%d,%d\n", i, i%tt.different)
		}
		d, err := read(t, text, dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if d.Y.Classification() != tt.classes {
			t.Errorf("%d different whole numbers: classes %v", tt.different, d.Y.Classes)
		}
	}
}

// TestIdentifiers: a number that is different in every row may be an identifier.
func TestIdentifiers(t *testing.T) {
	text := "id,age,label\n"
	for i := range 60 {
		text += fmt.Sprintf("%d,%d,%d\n", 1000+i, i%30, i%2)
	}
	d, err := read(t, text, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Notes) != 1 || !strings.HasSuffix(d.Notes[0], "identifiers: id.") || len(d.Features) != 2 {
		t.Errorf("features %q, notes %q", d.Features, d.Notes)
	}
}

func TestOpenNoFile(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "d.csv")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{folder: "is a folder", os.DevNull: "is no regular file"} {
		for _, name := range []string{"link.csv", "link.npz"} {
			link := filepath.Join(t.TempDir(), name) // as a pipe would be, but none waits here
			if err := os.Symlink(path, link); err != nil {
				t.Fatal(err)
			}
			if _, err := dataset.Open(link, dataset.Options{}); err == nil || !strings.Contains(err.Error(), name+": "+want) {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
}

// TestDigest: each part counts, however rows are stored.
func TestDigest(t *testing.T) {
	made := func() *dataset.Data {
		return &dataset.Data{Features: []string{"a", "b"}, X: dataset.Dense(mat.NewDense(2, 2, []float64{1, 2, 3, 4})), Y: learn.Target{Classes: []string{"u", "v"}, Labels: []int{0, 1}}}
	}
	seen := map[[32]byte]string{made().Digest(): "unchanged"}
	if again := made().Digest(); seen[again] == "" {
		t.Error("two digests of the same data differ")
	}
	for name, change := range map[string]func(*dataset.Data){
		"number":  func(d *dataset.Data) { d.X = dataset.Dense(mat.NewDense(2, 2, []float64{1, 2, 3, 5})) },
		"shape":   func(d *dataset.Data) { d.X = dataset.Dense(mat.NewDense(1, 4, []float64{1, 2, 3, 4})) },
		"bytes":   func(d *dataset.Data) { d.X = dataset.Bytes(2, 2, []byte{1, 2, 3, 4}) },
		"byte":    func(d *dataset.Data) { d.X = dataset.Bytes(2, 2, []byte{1, 2, 3, 5}) },
		"bits":    func(d *dataset.Data) { d.X = dataset.Bits(2, 2, []byte{0x40, 0x80}) },
		"bit":     func(d *dataset.Data) { d.X = dataset.Bits(2, 2, []byte{0x40, 0xc0}) },
		"label":   func(d *dataset.Data) { d.Y.Labels[0] = 1 },
		"class":   func(d *dataset.Data) { d.Y.Classes[0] = "w" },
		"values":  func(d *dataset.Data) { d.Y = learn.Target{Values: mat.NewDense(2, 1, []float64{1, 2})} },
		"value":   func(d *dataset.Data) { d.Y = learn.Target{Values: mat.NewDense(2, 1, []float64{1, 3})} },
		"group":   func(d *dataset.Data) { d.Group, d.Groups = []int{0, 1}, []string{"x", "y"} },
		"test":    func(d *dataset.Data) { d.Test = []int{1} },
		"feature": func(d *dataset.Data) { d.Features = []string{"a", "c"} },
	} {
		d := made()
		change(d)
		if other, ok := seen[d.Digest()]; ok {
			t.Errorf("another %s has the digest of %s", name, other)
		}
		seen[d.Digest()] = name
	}
}

func TestCSVRefused(t *testing.T) {
	ids := "name,a,label\n"
	for i := range 60 {
		ids += fmt.Sprintf("secret%d,%d,%d\n", i, i, i%2)
	}
	for _, tt := range []struct {
		name, text string
		opt        dataset.Options
		want       string
	}{
		{"empty", "", dataset.Options{}, "t.csv: is empty"},
		{"only a header", "a,label\n", dataset.Options{}, "number of rows is 0"},
		{"one row", "a,label\n1,u\n", dataset.Options{}, "number of rows is 1, there must be at least 2"},
		{"ragged", "a,label\n1,u\nsecret,u,3\n", dataset.Options{}, "line 3: the row has 3 fields, the header 2"},
		{"ragged after a cell of two lines", "a,label\n\"1\n2\",u\nsecret\n", dataset.Options{}, "line 4: the row has 1 field"},
		{"open quotation", "a,label\n1,\"secret\n", dataset.Options{}, "line 2, column 2: the cell begins with a quotation mark"},
		{"label missing", "a,label\n1,u\n2,\n", dataset.Options{}, `line 3, column 2 ("label"): the label is missing`},
		{"no label", "a,b\n1,2\n3,4\n", dataset.Options{}, `there is no column "label" (the label), the columns are: a, b`},
		{"no by", "a,label\n1,2\n3,4\n", dataset.Options{By: "c"}, `there is no column "c"`},
		{"no drop", "a,label\n1,2\n3,4\n", dataset.Options{Drop: []string{"c"}}, `there is no column "c"`},
		{"label dropped", "a,label\n1,2\n3,4\n", dataset.Options{Drop: []string{"label"}}, "to be dropped and used"},
		{"no header", "17,secret,label\n1,u,1\n2,u,0\n", dataset.Options{Label: "out"}, `no column "out" (the label), and column 1 has a number as its name: the first line must name the columns`},
		{"no header, twice", "17,17,u\n1,2,u\n", dataset.Options{}, "columns 1 and 2 have the same name, a number"},
		{"a name that a terminal obeys", "a\x1b[31m,b\n1,2\n3,4\n", dataset.Options{}, `the columns are: "a\x1b[31m", b`},
		{"carriage returns", "a,label\r1,u\r2,v\r", dataset.Options{}, "the lines end with carriage returns only"},
		{"too large", "a,label\n1,u\n1e101,v\n", dataset.Options{}, `column 1 ("a"): the number in row 2 is beyond ±1e+100`},
		{"too small", "a,label\n1e-101,u\n2e-101,v\n", dataset.Options{}, `column 1 ("a"): no number is larger than 1e-100`},
		{"label too large", "a,label\n1,0.5\n2,-1e200\n", dataset.Options{}, `column 2 ("label"): the label in row 2 is beyond ±1e+100`},
		{"label of identifiers", ids, dataset.Options{Label: "name"}, "the label has 60 classes in 60 rows"},
		{"names twice", "a,a,label\n1,2,3\n", dataset.Options{}, `columns 1 and 2 have the same name "a"`},
		{"identifiers", ids, dataset.Options{}, `column 1 ("name") has more than 50 different cells, the first that is no number in line 2: leave it out with --drop "name"`},
		{"constant", "a,label\n1,u\n1,v\n", dataset.Options{}, "no column is left"},
		{"constant label", "a,label\n1,u\n2,u\n", dataset.Options{}, "the label is the same in all 2 rows"},
		{"constant numbers", "a,label\n1,3\n2,3\n", dataset.Options{Task: dataset.Regression}, "the label is the same in all 2 rows"},
		{"text as numbers", "a,label\n1,2\n2,secret\n", dataset.Options{Task: dataset.Regression}, `line 3, column 2 ("label"): the label must be a number`},
		{"positive unknown", "a,label\n1,u\n2,secret\n", dataset.Options{Positive: "w"}, `the label has no class "w"`},
		{"positive of three", "a,label\n1,u\n2,v\n3,w\n", dataset.Options{Positive: "w"}, "has 3 classes, a positive one is for two"},
		{"positive of numbers", "a,label\n1,0.5\n2,1\n", dataset.Options{Positive: "1"}, "no positive class"},
		{"huge cell", "a,label\n1,u\n" + strings.Repeat("s", 70000) + ",v\n", dataset.Options{}, `line 3, column 1 ("a"): the cell has 70000 bytes, at most 65536`},
		{"huge name", strings.Repeat("s", 300) + ",label\n1,u\n", dataset.Options{}, "column 1: the name has 300 bytes"},
		{"not UTF-8", "a,label\n\xff,u\n", dataset.Options{}, `line 2, column 1 ("a"): the cell is not UTF-8`},
		{"UTF-16", "\xff\xfea\x00", dataset.Options{}, "UTF-16"},
		{"too long", ids, dataset.Options{MaxBytes: 100}, "line 4: the table is larger than 100 bytes"},
		{"too large", ids, dataset.Options{MaxBytes: 1000}, "line 29: the table is larger than 1000 bytes"},
		{"cut gzip", "\x1f\x8b\x08", dataset.Options{}, "t.csv: cannot be read: unexpected EOF"},
		{"cut gzip data", string(gzipped(t, []byte(ids))[:60]), dataset.Options{}, "t.csv: cannot be read: unexpected EOF"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := read(t, tt.text, tt.opt)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("error %v, want one with %q", err, tt.want)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error %q holds a cell", err)
			}
		})
	}
}

func TestOpenFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.CSV")
	if err := os.WriteFile(path, []byte(mixed), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := dataset.Open(path, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "name", "a.CSV", d.Name)
	sheet := filepath.Join(dir, "a.xlsx")
	if err := os.WriteFile(sheet, []byte("PK\x03\x04 and the rest of a zip archive"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := dataset.Open(sheet, dataset.Options{}); err == nil || !strings.Contains(err.Error(), "is a zip file or a spreadsheet") {
		t.Errorf("error %v", err)
	}
	if _, err := dataset.Open(filepath.Join(dir, "none.csv"), dataset.Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func TestNPZ(t *testing.T) {
	d, err := dataset.Open("testdata/classes.npz", dataset.Options{Label: "y"})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "features", []string{"x1", "x3"}, d.Features)
	equal(t, "rows", [][]float64{{1, 0.5}, {2, math.NaN()}, {3, -0.25}, {4, 8}}, rowsOf(d))
	equal(t, "classes", []string{"0", "1"}, d.Y.Classes)
	equal(t, "labels", []int{1, 0, 1, 1}, d.Y.Labels)
	if d.Positive != 1 || len(d.Notes) != 1 {
		t.Errorf("positive %d, notes %q", d.Positive, d.Notes)
	}
	d, err = dataset.Open("testdata/regression.npz", dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "values", []float64{0.5, 1.5, 2.5, 3.5}, d.Y.Values.RawMatrix().Data)
	if d.Positive != -1 {
		t.Errorf("positive %d", d.Positive)
	}

	for file, want := range map[string]string{
		"bad_rows.npz":     "X has 4 rows, y has 2",
		"bad_names.npz":    `the arrays must be X and y, there are ["data" "y"]`,
		"bad_infinite.npz": `row 2, column 1 ("x1"): the number is infinite`,
		"bad_y.npz":        `row 2, column 2 ("y"): the label is missing`,
		"make.py.npz":      "no such file",
	} {
		_, err := dataset.Open(filepath.Join("testdata", file), dataset.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", file, err, want)
		}
	}
	if _, err = dataset.Open("testdata/classes.npz", dataset.Options{By: "site"}); err == nil {
		t.Error("an .npz file is grouped by a column")
	}
}

type person struct {
	Age    int32    `parquet:"age"`
	Weight *float64 `parquet:"weight,optional"`
	Dose   float32  `parquet:"dose"`
	Count  uint64   `parquet:"count"`
	Smoker bool     `parquet:"smoker"`
	Town   *string  `parquet:"town,optional,dict"`
	Label  string   `parquet:"label"`
}

func parquetFile[T any](t testing.TB, rows ...T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.parquet")
	if err := parquet.WriteFile(path, rows, parquet.MaxRowsPerRowGroup(2)); err != nil {
		t.Fatal(err)
	}
	return path
}

func people(t testing.TB) string {
	w, a, b := 60.5, "a", "b"
	return parquetFile(t,
		person{31, &w, 0.5, 1 << 40, true, &a, "yes"},
		person{-2, nil, float32(math.NaN()), 2, false, &b, "no"},
		person{33, nil, 2, 3, true, nil, "no"},
	)
}

func TestParquet(t *testing.T) {
	d, err := dataset.Open(people(t), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	nan := math.NaN()
	equal(t, "features", []string{"age", "dose", "count", "smoker=true", "town=a", "town=b"}, d.Features) // weight does not vary
	equal(t, "rows", [][]float64{{31, 0.5, 1 << 40, 1, 1, 0}, {-2, nan, 2, 0, 0, 1}, {33, 2, 3, 1, 0, 0}}, rowsOf(d))
	equal(t, "classes", []string{"no", "yes"}, d.Y.Classes)
	equal(t, "labels", []int{1, 0, 0}, d.Y.Labels)

	d, err = dataset.Open(people(t), dataset.Options{Label: "smoker", By: "town", Drop: []string{"label", "count"}})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "features", []string{"age", "dose"}, d.Features)
	equal(t, "classes", []string{"false", "true"}, d.Y.Classes)
	equal(t, "group", []int{0, 1, 2}, d.Group)
}

func TestParquetRefused(t *testing.T) {
	type nested struct {
		A struct {
			B int32 `parquet:"b"`
		} `parquet:"a"`
		Label string `parquet:"label"`
	}
	type list struct {
		A     []int32 `parquet:"a"`
		Label string  `parquet:"label"`
	}
	type day struct {
		A     int32  `parquet:"a,date"`
		Label string `parquet:"label"`
	}
	type float struct {
		A     float64 `parquet:"a"`
		Label string  `parquet:"label"`
	}
	for _, tt := range []struct{ name, path, want string }{
		{"nested", parquetFile(t, nested{}, nested{}), `column 1 ("a") is of type group`},
		{"list", parquetFile(t, list{}, list{}), `column 1 ("a") is of type list`},
		{"date", parquetFile(t, day{}, day{}), `column 1 ("a") is of type DATE`},
		{"infinite", parquetFile(t, float{1, "u"}, float{2, "v"}, float{math.Inf(1), "v"}), `row 3, column 1 ("a"): the cell is infinite`},
		{"huge cell", parquetFile(t, float{1, strings.Repeat("s", 70000)}), `row 1, column 2 ("label"): the cell has 70000 bytes`},
	} {
		_, err := dataset.Open(tt.path, dataset.Options{})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", tt.name, err, tt.want)
		}
	}
	d, err := dataset.Open(parquetFile(t, day{1, "u"}, day{2, "v"}), dataset.Options{Drop: []string{"a"}})
	if err == nil || !strings.Contains(err.Error(), "no column is left") {
		t.Errorf("%v, error %v", d, err)
	}
	if _, err := dataset.Open(people(t), dataset.Options{MaxBytes: 100}); err == nil || !strings.Contains(err.Error(), "the table is larger than 100 bytes") {
		t.Errorf("error %v", err)
	}
}

// TestParquetFooter: a length that the file does not have is refused before room is
// made for it.
func TestParquetFooter(t *testing.T) {
	path := people(t)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copy(b[len(b)-8:], []byte{0xff, 0xff, 0xff, 0xff})
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = dataset.Open(path, dataset.Options{})
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "is not whole Parquet") {
		t.Errorf("error %v", err)
	}
	if room := after.TotalAlloc - before.TotalAlloc; room > 1<<20 { // a small file takes a few kB
		t.Errorf("%d bytes were allocated", room)
	}
}

// TestParquetCut wants every beginning of a file, and the file with a byte of
// its data changed, to be an error or a table, not a panic.
func TestParquetCut(t *testing.T) {
	t.Parallel()
	whole, err := os.ReadFile(people(t))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "cut.parquet")
	for n := 0; n < len(whole); n += 7 {
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := dataset.Open(path, dataset.Options{}); err == nil {
			t.Errorf("%d of %d bytes are read", n, len(whole))
		}
	}
	for at := 4; at < len(whole)-8; at += 5 {
		changed := slices.Clone(whole)
		changed[at] ^= 0x11
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		if d, err := dataset.Open(path, dataset.Options{}); err == nil {
			if n, m := d.X.Dims(); n != 3 || len(d.Features) != m {
				t.Errorf("byte %d changed: %d × %d", at, n, m)
			}
		}
	}
}

// FuzzCSV wants whatever is taken to be a table whose parts fit each other.
func FuzzCSV(f *testing.F) {
	for _, text := range []string{
		mixed, "a;label\n1;2\n3;10\n", "a\tb\tlabel\n1\t\tu\n\t2\tv\n", "\ufeff,label\r\n\"1\n\",u\r\n2,v\r\n",
		"label,label\n", "a,label\n-0,u\n0,v\n1e999,u\n", "\x1f\x8b", "a,label\n1,\xff\n", "a,label\n1,NA\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := read(t, text, dataset.Options{MaxLevels: 5, MaxBytes: 1 << 16})
		if err != nil {
			return
		}
		n, m := d.X.Dims()
		if n < 2 || m < 1 || len(d.Features) != m {
			t.Fatalf("%d × %d, %d names", n, m, len(d.Features))
		}
		for i, row := range rowsOf(d) {
			for j, v := range row {
				if math.IsInf(v, 0) {
					t.Fatalf("row %d, column %d is infinite", i, j)
				}
			}
		}
		if d.Y.Classification() {
			if len(d.Y.Labels) != n || slices.Min(d.Y.Labels) < 0 || slices.Max(d.Y.Labels) >= len(d.Y.Classes) {
				t.Fatalf("%d labels of %d classes for %d rows", len(d.Y.Labels), len(d.Y.Classes), n)
			}
		} else if r, c := d.Y.Values.Dims(); r != n || c != 1 {
			t.Fatalf("%d × %d values for %d rows", r, c, n)
		}
	})
}
