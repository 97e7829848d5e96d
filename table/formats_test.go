package table_test

import (
	"database/sql"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"concord/contract"
	"concord/table"
)

// typedRows are the rows that every format of the following tests holds.
const typedRows = typedHeader +
	"a;63.5;Süd;true;ja;I;01.01.2000;2020-01-03;yes\n" +
	"b;;;;nein;II;31.12.1999;;no\n" +
	"a;0;7;false;ja;III;29.02.1996;2019-12-31;no\n"

// sameAsTyped compares a source with typedRows, and its place for rows with their
// numbers.
func sameAsTyped(t *testing.T, path string, opt table.Options, format string) {
	t.Helper()
	want := read(t, typedRows, typedContract(), table.Options{})
	got, err := table.Open(path, typedContract(), opt)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	if diff := cmp.Diff(rows(want.X()), rows(got.X()), sameNaN); diff != "" {
		t.Errorf("X (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want.Labels(), got.Labels()); diff != "" {
		t.Errorf("Labels (-want +got):\n%s", diff)
	}
	if got.People() != 2 || got.Line(2) != 3 {
		t.Errorf("%d people, the last row is %d; want 2, 3", got.People(), got.Line(2))
	}
	sum, err := table.Scan(path, typedContract(), opt, func(*table.Row) error { return nil })
	if err != nil || sum.Format != format || sum.Rows != 3 {
		t.Errorf("Scan: %v, %+v; want the format %s", err, sum, format)
	}
}

// refused holds that a source is refused with the given error and hint, which are
// compared without the path.
func refused(t *testing.T, path string, c *contract.Contract, opt table.Options, want, hint string) {
	t.Helper()
	got, err := table.Open(path, c, opt)
	var errs *table.Errors
	if !errors.As(err, &errs) || got != nil {
		t.Errorf("accepted, or another error: %v", err)
		return
	}
	text := strings.ReplaceAll(err.Error(), table.PublicName(path), "FILE")
	text = regexp.MustCompile(`needs [0-9]+ bytes of memory`).ReplaceAllString(text, "needs N bytes of memory") // as a compressor has it
	if text != want || errs.Hint() != hint {
		t.Errorf("got:\n%s\nhint %s\nwant:\n%s\nhint %s", text, errs.Hint(), want, hint)
	}
	for _, cell := range []string{"4711", "swordfish"} {
		if strings.Contains(err.Error()+errs.Hint(), cell) {
			t.Errorf("the error shows %q", cell)
		}
	}
}

// typedRecord is a row of typedRows in Parquet's types.
type typedRecord struct {
	Outcome string  `parquet:"outcome,dict"`
	Seen    *int64  `parquet:"seen,optional,timestamp(microsecond)"`
	Born    int32   `parquet:"born,date"`
	Stage   string  `parquet:"stage,enum"`
	Drinks  bool    `parquet:"drinks"`
	Smoker  *int32  `parquet:"smoker,optional"`
	Ward    *string `parquet:"ward,optional,zstd"`
	Age     float32 `parquet:"age,snappy"`
	Patient string  `parquet:"patient"`
}

func typedRecords() []typedRecord {
	day := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }
	micro := func(t time.Time) *int64 { us := t.UnixMicro() + 86399e6; return &us } // the last second of the day
	is := func(v int32) *int32 { return &v }
	text := func(s string) *string { return &s }
	return []typedRecord{
		{"yes", micro(day(2020, 1, 3)), 10957, "I", true, is(1), text("Süd"), 63.5, "a"},
		{"no", nil, 10956, "II", false, nil, nil, float32(math.NaN()), "b"},
		{"no", micro(day(2019, 12, 31)), 9555, "III", true, is(0), text(" 7"), 0, "a"},
	}
}

func writeParquet[T any](t *testing.T, rows []T, options ...parquet.WriterOption) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := parquet.NewGenericWriter[T](f, options...)
	for i := range rows { // a row at a time, so that there are several groups
		if _, err := w.Write(rows[i : i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestParquet(t *testing.T) {
	sameAsTyped(t, writeParquet(t, typedRecords()), table.Options{}, "Parquet")
	sameAsTyped(t, writeParquet(t, typedRecords(), parquet.MaxRowsPerRowGroup(1)), table.Options{}, "Parquet")
	sameAsTyped(t, writeParquet(t, typedRecords(), parquet.MaxRowsPerRowGroup(2), parquet.DataPageStatistics(true)), table.Options{}, "Parquet")
}

// TestFuzzSeeds keeps testdata/rows.parquet readable; CONCORD_WRITE_SEEDS writes it anew.
func TestFuzzSeeds(t *testing.T) {
	type row struct {
		Age     int32    `parquet:"age"`
		BMI     float32  `parquet:"bmi,snappy"`
		KG      *float64 `parquet:"kg,optional"`
		Outcome string   `parquet:"outcome,dict"`
	}
	kg := 61.25
	seed := filepath.Join("testdata", "rows.parquet")
	if os.Getenv("CONCORD_WRITE_SEEDS") != "" {
		b, err := os.ReadFile(writeParquet(t, []row{{63, 27.5, &kg, "benign"}, {41, 22, &kg, "malignant"}}))
		if err == nil {
			err = os.WriteFile(seed, b, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, query := range map[string]string{"rows.parquet": "", "columns.npz": "", "structured.npy": "", "rows.db": "SELECT * FROM rows"} {
		got, err := table.Open(filepath.Join("testdata", name), newContract(), table.Options{Query: query})
		if err != nil || got.Rows() != 2 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestParquetDefects(t *testing.T) {
	t.Parallel()
	type wrong struct {
		Patient float64   `parquet:"patient"`
		Age     string    `parquet:"age"`
		Ward    int64     `parquet:"ward"`
		Smoker  float64   `parquet:"smoker"`
		Drinks  int32     `parquet:"drinks"`
		Stage   []string  `parquet:"stage,list"`
		Born    int64     `parquet:"born"`
		Seen    string    `parquet:"seen"`
		Outcome time.Time `parquet:"outcome,date"`
		Note    string    `parquet:"note"`
	}
	refused(t, writeParquet(t, []wrong{{Age: "4711"}}), typedContract(), table.Options{},
		`FILE: column 10: the column "note" is not in the contract`, "remove the column; if it ought to be used, ask the analyst for a contract that has it")
	refused(t, writeParquet(t, []wrong{{Age: "4711"}}), typedContract(), table.Options{AllowExtra: true},
		`FILE: column 2 (age): the column is of type STRING, and the contract wants numbers
FILE: column 5 (drinks): the column is of type INT(32,true), and the contract wants truth values
FILE: column 6 (stage): the column is of type group, and the contract wants a level: I, II, III
FILE: column 7 (born): the column is of type INT(64,true), and the contract wants dates
FILE: column 9 (outcome): the column is of type DATE, and the contract wants a class: no, yes`,
		"write the column as numbers: text is not converted; "+
			"no level of the contract is spelled as such values are: write the column as text, spelled as in the contract; "+
			"turn the column into numbers, text, truth values or dates before; "+
			"write the column as dates, or as text in the contract's layout")

	records := typedRecords()
	records[1].Age, records[1].Stage, records[2].Patient = 4711, "swordfish", ""
	records[2].Born = 20_000
	refused(t, writeParquet(t, records), typedContract(), table.Options{},
		`FILE: row 2, column 8 (age): the value is outside the contract's range, 0 to 120
FILE: row 2, column 4 (stage): the value is none of the contract's levels: I, II, III
FILE: row 3, column 3 (born): the value is outside the contract's range, 0 to 110 years
FILE: row 3, column 9 (patient): the cell is empty`,
		"correct the value or leave the row out; if it is right, the contract's range is too narrow; "+hintComplete)

	type other struct {
		Number int64 `parquet:"a"`
	}
	refused(t, writeParquet(t, []other{{1}}), typedContract(), table.Options{},
		"FILE: none of the contract's 9 columns is in it", "names must be spelled as in the contract, capitals and spaces included")
	refused(t, writeParquet(t, typedRecords()[:0]), typedContract(), table.Options{}, "FILE: has a header and no rows", hintNoRows)
	refused(t, writeParquet(t, typedRecords()), typedContract(), table.Options{DecimalComma: true},
		"FILE: is no CSV text, and has neither a delimiter nor a decimal comma", "leave --delimiter and --decimal-comma away")

	// A file that was cut, or altered, is refused and does not bring the program down.
	whole, err := os.ReadFile(writeParquet(t, typedRecords()))
	if err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(t.TempDir(), "broken.parquet")
	step := 1
	if testing.Short() {
		step = 31
	}
	for n := 0; n < len(whole); n += step {
		if err := os.WriteFile(broken, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := table.Open(broken, typedContract(), table.Options{}); err == nil {
			t.Fatalf("the first %d of %d bytes are accepted", n, len(whole))
		}
	}
}

// TestParquetHugeCell: a cell of 200 megabytes, which compresses to little, is refused
// before room is made for it.
func TestParquetHugeCell(t *testing.T) {
	if testing.Short() {
		t.Skip("writes a cell of 200 MB")
	}
	type row struct {
		Age string `parquet:"age,zstd"`
	}
	path := writeParquet(t, []row{{strings.Repeat("x", 200<<20)}, {"y"}}, parquet.DataPageStatistics(false), parquet.SkipPageBounds("age"))
	info, err := os.Stat(path)
	if err != nil || info.Size() > 10<<20 {
		t.Fatalf("the file has %d bytes: %v", info.Size(), err)
	}
	c := newContract()
	c.Features = []contract.Feature{{Name: "age", Type: contract.Category, Levels: []string{"x", "y"}}}
	used := peakHeap(t, func() {
		refused(t, path, c, table.Options{Label: table.Ignored},
			"FILE: column 1 (age): a page of the column needs N bytes of memory; at most 134217728 are read\nFILE: reading stopped after 1 problem, there may be more",
			"look for a cell that is far too long; else write the file with smaller pages (one megabyte each is usual)")
	})
	if used > 64<<20 {
		t.Errorf("%d bytes of heap were taken", used)
	}
}

func TestSQLite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b?c#%41.db")
	db, err := sql.Open("sqlite", "file:"+strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23", " ", "%20").Replace(path))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range []string{
		"CREATE TABLE rows (patient TEXT, age, ward TEXT, smoker INTEGER, drinks TEXT, stage TEXT, born TEXT, seen DATE, outcome TEXT, note TEXT)",
		"INSERT INTO rows VALUES ('a', 63.5, 'Süd', 1, 'ja', 'I', '01.01.2000', '2020-01-03', 'yes', 'swordfish')",
		"INSERT INTO rows VALUES ('b', NULL, NULL, NULL, 'nein', 'II', '31.12.1999', NULL, 'no', '')",
		"INSERT INTO rows VALUES ('a', '0', 7, 0, 'ja', 'III', '29.02.1996', '2019-12-31', 'no', 4711)",
		"CREATE VIEW one AS SELECT 1",
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	const columns = "SELECT patient, age, ward, smoker, drinks, stage, born, seen, outcome"
	sameAsTyped(t, path, table.Options{Query: columns + " FROM rows ORDER BY rowid"}, "SQLite")
	sameAsTyped(t, path, table.Options{Query: "/* all */ -- of them\n SELECT * FROM rows ORDER BY rowid;", AllowExtra: true}, "SQLite")
	sameAsTyped(t, path, table.Options{Query: "WITH r AS (SELECT * FROM rows ORDER BY rowid) " + columns + " FROM r"}, "SQLite")

	const noSelect, select_ = "FILE: the query gives no rows: it is no SELECT", "write a query that begins with SELECT"
	for query, want := range map[string]struct{ err, hint string }{
		"":                           {"FILE: is a database, and no query says which rows are meant", `give one with --query 'SELECT …' or --query-file FILE; its tables are "one", "rows"`},
		"DELETE FROM rows":           {noSelect, select_},
		"ATTACH 'x.db' AS x":         {noSelect, select_},
		"PRAGMA query_only(0)":       {noSelect, select_},
		"SELECT patient FROM absent": {"FILE: the query fails: no such table: absent", "try the query in sqlite3"},
		"SELECT json_extract('{}', patient) FROM rows": {"FILE: the query fails on a value, or in a function", "try the query in sqlite3, which shows the value"},
		"SELEC":                                 {noSelect, select_},
		"WITH x AS (SELECT 1) DELETE FROM rows": {"FILE: the query would write; it may only read", select_},
		columns + " FROM rows WHERE 0":          {"FILE: has a header and no rows", hintNoRows},
		columns + ", note FROM rows": {`FILE: column 10: the column "note" is not in the contract`,
			"remove the column; if it ought to be used, ask the analyst for a contract that has it"},
		"SELECT patient, age, ward, smoker, drinks, stage, born, seen, note AS outcome FROM rows WHERE note <> ''": {
			"FILE: row 1, column 9 (outcome): the label is none of the contract's classes: no, yes\nFILE: row 2, column 9 (outcome): the label is none of the contract's classes: no, yes", ""},
		"SELECT patient, 0 AS age, ward, smoker, drinks, stage, born, 17.5 AS seen, zeroblob(999999999) AS outcome FROM rows": {
			"FILE: a cell has more than 16777216 bytes", "leave the column out of the query"},
		"SELECT patient, 'x' AS age, 7.5 AS ward, smoker, drinks, stage, born, 17.5 AS seen, outcome FROM rows LIMIT 1": {
			"FILE: row 1, column 2 (age): the value is not a number\nFILE: row 1, column 3 (ward): the value is none of the contract's levels: Süd, Nord, 7\n" +
				"FILE: row 1, column 8 (seen): the cell holds numbers, and dates are wanted", ""},
	} {
		t.Run(query, func(t *testing.T) {
			refused(t, path, typedContract(), table.Options{Query: query}, want.err, want.hint)
		})
	}
	var n int
	if err := db.QueryRow("SELECT count(*) FROM rows").Scan(&n); err != nil || n != 3 {
		t.Errorf("%d rows are left: %v", n, err)
	}
	csv := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(csv, []byte(typedRows), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, csv, typedContract(), table.Options{Query: "SELECT 1"}, "FILE: is no database, and a query was given", "leave --query away")
	damaged := filepath.Join(t.TempDir(), "damaged.db")
	if err := os.WriteFile(damaged, []byte("SQLite format 3\x00 and so on"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, damaged, typedContract(), table.Options{Query: "SELECT 1"}, "FILE: the database is damaged", "copy it again; while another program has it open, copy it with sqlite3's .backup")
}

// numpyFiles writes typedRows as NumPy does.
const numpyFiles = `
import sys, numpy as np
d = sys.argv[1]
nat = np.datetime64('NaT')
c = dict(patient=np.array([1, 2, 1]), age=np.array([63.5, np.nan, 0], '>f4'), ward=np.array(['Süd', '', '7']),
  smoker=np.array([1, 1, 0], bool), drinks=np.array([b'ja', b'nein', b'ja']), stage=np.array(['I', 'II', 'III'], '>U3'),
  born=np.array(['2000-01-01', '1999-12-31', '1996-02-29'], 'M8[D]'), seen=np.array(['2020-01-03T12:00', nat, '2019-12-31T23:59'], 'M8[ns]'),
  outcome=np.array(['yes', 'no', 'no']))
np.savez(d + '/plain.npz', **c)
np.savez_compressed(d + '/packed.npz', **c)
r = np.zeros(3, dtype=np.dtype([(k, v.dtype) for k, v in c.items()], align=True))
for k, v in c.items(): r[k] = v
np.save(d + '/structured.npy', r)
m = np.array([[63, 27.5, 80, 1], [41, 22, 61.25, 0], [63, 27.5, 80, 1]])
np.save(d + '/matrix.npy', m)
np.save(d + '/fortran.npy', np.asfortranarray(m))
np.save(d + '/whole.npy', m.astype('>i2'))
np.save(d + '/one.npy', m[:, 0])
np.save(d + '/objects.npy', np.array([1, 'x', None], dtype=object))
np.save(d + '/nested.npy', np.zeros(3, dtype=[('age', '<f8', (2,))]))
np.savez(d + '/lengths.npz', age=np.zeros(3), bmi=np.zeros(2))
np.savez(d + '/square.npz', age=np.zeros((3, 3)))
np.savez(d + '/kinds.npz', age=np.array(['4711']), bmi=np.array([1+2j]))
np.savez(d + '/text.npz', age=np.array(['4711']), bmi=np.zeros(1), kg=np.zeros(1), outcome=np.array([0.5]))
`

func TestNumPy(t *testing.T) {
	if testing.Short() {
		t.Skip("runs Python and NumPy")
	}
	t.Parallel()
	dir := t.TempDir()
	python := os.Getenv("PYTHON")
	if python == "" {
		python = "/usr/bin/python3"
	}
	if out, err := exec.Command(python, "-c", numpyFiles, dir).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", python, err, out)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	typed := func(name, format string) {
		t.Run(name, func(t *testing.T) {
			c := typedContract()
			c.Features[2].Missing, c.Features[2].Fill = "", nil
			want := strings.Replace(typedRows, "b;;;;", "b;;;true;", 1)
			got, err := table.Open(at(name), c, table.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(rows(read(t, want, c, table.Options{}).X()), rows(got.X()), sameNaN); diff != "" {
				t.Errorf("X (-want +got):\n%s", diff)
			}
			if got.People() != 2 {
				t.Errorf("%d people, want 2", got.People())
			}
			sum, err := table.Scan(at(name), c, table.Options{}, func(*table.Row) error { return nil })
			if err != nil || sum.Format != format {
				t.Errorf("Scan: %v, %+v", err, sum)
			}
		})
	}
	typed("plain.npz", "NumPy archive")
	typed("packed.npz", "NumPy archive")
	typed("structured.npy", "NumPy")

	numbers := newContract()
	numbers.Label = contract.Label{Name: "outcome", Type: "class", Levels: []string{"0", "1"}, Positive: "1"}
	names := []string{"age", "bmi", "kg", "outcome"}
	for _, name := range []string{"matrix.npy", "fortran.npy", "whole.npy"} {
		got, err := table.Open(at(name), numbers, table.Options{Names: names})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := [][]float64{{63, 27.5, 80}, {41, 22, 61.25}, {63, 27.5, 80}}
		if name == "whole.npy" {
			want = [][]float64{{63, 27, 80}, {41, 22, 61}, {63, 27, 80}}
		}
		if diff := cmp.Diff(want, rows(got.X())); diff != "" {
			t.Errorf("%s: X (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff([]int{1, 0, 1}, got.Labels()); diff != "" {
			t.Errorf("%s: labels (-want +got):\n%s", name, diff)
		}
	}
	const hint = "save the columns with numpy.savez, each under its own name, or as a structured array; for a matrix give the columns' names with --columns"
	const numbersHint = "write the column as numbers: text is not converted"
	for _, test := range []struct {
		name, want, hint string
		opt              table.Options
	}{
		{"matrix.npy", "FILE: is a matrix, whose columns have no names", "give the names of all columns, in order, with --columns age,weight,outcome; or save the columns with numpy.savez, each under its own name", table.Options{}},
		{"matrix.npy", "FILE: the matrix has 4 columns, and --columns names 3", "name every column, in order", table.Options{Names: names[:3]}},
		{"one.npy", "FILE: is an array of 1 dimensions; a matrix or a structured array is read", hint, table.Options{}},
		{"objects.npy", "FILE: cannot be read: npy: the array holds Python objects (a pickle), only numbers are read", hint, table.Options{}},
		{"nested.npy", `FILE: cannot be read: npy: field "age" is an array itself, only plain ones are read`, hint, table.Options{}},
		{"lengths.npz", "FILE: column 2 (bmi): the array has 2 rows, the one before 3", "save arrays of one length", table.Options{}},
		{"square.npz", "FILE: column 1 (age): the array is no column", hint, table.Options{}},
		{"kinds.npz", `FILE: column 2 (bmi): cannot be read: npy: dtype "<c16" is not read, only f4, f8, i1 to i8, u1 to u8, b1, S, U and M8`, hint, table.Options{}},
		{"text.npz", "FILE: column 1 (age): the column is of type <U4, and the contract wants numbers", numbersHint, table.Options{}},
		{"plain.npz", "FILE: has names for its columns; --columns is for the matrix of a .npy file", "leave --columns away", table.Options{Names: names}},
	} {
		t.Run(test.name, func(t *testing.T) { refused(t, at(test.name), numbers, test.opt, test.want, test.hint) })
	}
	// Cut files: .npy by its size, .npz by its directory or its checksums.
	for _, name := range []string{"matrix.npy", "structured.npy", "packed.npz"} {
		whole, err := os.ReadFile(at(name))
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; n < len(whole); n += 7 {
			if err := os.WriteFile(at("cut"), whole[:n], 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := table.Open(at("cut"), typedContract(), table.Options{}); err == nil {
				t.Fatalf("%s: the first %d of %d bytes are accepted", name, n, len(whole))
			}
		}
	}
}

func TestIDX(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const pictures = "\x00\x00\x08\x03\x00\x00\x00\x02\x00\x00\x00\x02\x00\x00\x00\x02" + "\x00\x01\x02\xff" + "\x04\x05\x06\x07"
	const labels = "\x00\x00\x08\x01\x00\x00\x00\x02" + "\x01\x00"
	c := &contract.Contract{Standardise: "none", MaxRows: 10, Label: contract.Label{Name: "digit", Type: "class", Levels: []string{"0", "1"}}}
	for j := range 4 {
		c.Features = append(c.Features, contract.Feature{Name: fmt.Sprint("pixel", j+1), Type: contract.Numeric, Range: &contract.Range{Min: 0, Max: 255}})
	}
	y := write("labels", labels)
	for _, path := range []string{write("pictures", pictures), write("pictures.gz", compressed(pictures))} {
		for _, labels := range []string{y, write("labels.gz", compressed(labels))} {
			got, err := table.Open(path, c, table.Options{Labels: labels})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([][]float64{{0, 1, 2, 255}, {4, 5, 6, 7}}, rows(got.X())); diff != "" {
				t.Errorf("X (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]int{1, 0}, got.Labels()); diff != "" {
				t.Errorf("Labels (-want +got):\n%s", diff)
			}
		}
	}
	path := filepath.Join(dir, "pictures")
	if _, err := table.Open(path, c, table.Options{Label: table.Optional}); err != nil {
		t.Errorf("without labels: %v", err)
	}
	for _, test := range []struct{ name, content, labels, want, hint string }{
		{"no labels", pictures, "", "FILE: a column is missing: digit", "names must be spelled as in the contract, capitals and spaces included"},
		{"cut", pictures[:len(pictures)-1], labels, "FILE: cannot be read after row 1: the file ends there, and says that it has 2 rows", "the file is damaged or was not copied completely; copy it again"},
		{"too long", pictures + "x", labels, "FILE: cannot be read after row 2: more data follow after the last row", "the file is damaged or was not copied completely; copy it again"},
		{"cut header", pictures[:9], labels, "FILE: cannot be read: the file ends in its header", ""},
		{"other labels", pictures, "\x00\x00\x08\x01\x00\x00\x00\x03" + "\x01\x00\x01", "FILE: the file of the labels has 3 rows, this one 2", ""},
		{"pictures for labels", pictures, pictures, "FILE: the file of the labels has 4 elements a row; one is wanted", ""},
		{"text for labels", pictures, "0\n1\n", "FILE: the file of the labels is no IDX file", "give --labels the IDX file with one label a picture"},
		{"another class", pictures, labels[:9] + "\x02", "FILE: row 2, column 5 (digit): the label is none of the contract's classes: 0, 1", ""},
		{"no pixels", "\x00\x00\x08\x02\x00\x00\x00\x02\x00\x00\x00\x00", labels, "FILE: cannot be read: a row has 0 elements; 1 to 1048576 are read", ""},
		{"endless", "\x00\x00\x08\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", labels, "FILE: cannot be read: a row has 4294967295 elements; 1 to 1048576 are read", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			opt := table.Options{}
			if test.labels != "" {
				opt.Labels = write("y", test.labels)
			}
			refused(t, write("x", test.content), c, opt, test.want, test.hint)
		})
	}
}
