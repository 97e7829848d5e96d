package table_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"concord/contract"
	_ "concord/internal/repeatable" // the same cases every time
	"concord/table"
)

const header = "age,bmi,kg,outcome\n"

// defects are the ways in which a file can be wrong, each with the exact error
// and hint. Cells of features hold the digits 4711 or the word swordfish, which
// no message may repeat.
var defects = []struct {
	name, text string
	opt        table.Options
	want, hint string
}{
	// The file.
	{name: "empty", text: "",
		want: "patients.csv: is empty", hint: "the first line must be the header with the columns' names"},
	{name: "only empty lines", text: "\ufeff\r\n\n  \n",
		want: "patients.csv: is empty", hint: "the first line must be the header with the columns' names"},
	{name: "header only", text: header,
		want: "patients.csv: has a header and no rows", hint: hintNoRows},
	{name: "UTF-16, little end first", text: utf16Text("\ufeff"+header+"1,20,4711,benign\n", false),
		want: "patients.csv: is UTF-16 text; UTF-8 is read", hint: "save it as CSV in UTF-8"},
	{name: "UTF-16, big end first", text: utf16Text("\ufeff"+header+"1,20,4711,benign\n", true),
		want: "patients.csv: is UTF-16 text; UTF-8 is read", hint: "save it as CSV in UTF-8"},
	{name: "UTF-16 without mark", text: utf16Text(header+"1,20,4711,benign\n", false),
		want: "patients.csv: has zero bytes: it is UTF-16 text, or no text at all; UTF-8 is read", hint: "save it as CSV in UTF-8"},
	{name: "spreadsheet", text: "PK\x03\x04\x14\x00\x06\x00",
		want: "patients.csv: is a zip file or a spreadsheet, not CSV text", hint: "save the sheet as CSV (UTF-8, comma)"},
	{name: "old spreadsheet", text: "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00",
		want: "patients.csv: is a spreadsheet, not CSV text", hint: "save the sheet as CSV (UTF-8, comma)"},
	{name: "Parquet", text: "PAR1\x15\x04\x15",
		want: "patients.csv: is a Parquet file, and CSV text is wanted here", hint: "name the file itself; it cannot be read from a pipe"},
	{name: "NumPy", text: "\x93NUMPY\x01\x00",
		want: "patients.csv: is a NumPy file, and CSV text is wanted here", hint: "name the file itself; it cannot be read from a pipe"},
	{name: "twice compressed", text: compressed(compressed(header)),
		want: "patients.csv: is compressed more than once", hint: "compress it once, with gzip, or not at all"},
	{name: "truncated gzip", text: compressed(header + "1,20,4711,benign\n")[:30],
		want: "patients.csv: cannot be read: unexpected EOF", hint: "the file is damaged or was not copied completely; copy it again"},
	{name: "altered gzip", text: altered(compressed(header + "1,20,4711,benign\n")),
		want: "patients.csv: cannot be read: gzip: invalid checksum", hint: "the file is damaged or was not copied completely; copy it again"},
	{name: "carriage returns only", text: "age,bmi,kg,outcome\r1,20,4711,benign\r",
		want: "patients.csv: line 1: the lines end with carriage returns only", hint: "save the file with line feeds (Unix) or both (Windows)"},
	{name: "semicolons and decimal commas", text: "age;bmi;kg;outcome\n1;20;47,11;benign\n",
		want: "patients.csv: line 2, column 3 (kg): the value is not a number; it has a comma", hint: hintComma},
	{name: "a semicolon too much", text: "\"age\";\"bmi\";\"kg\";\"outcome\"\n1;20;47;11;benign\n",
		want: "patients.csv: line 2: the row has 5 fields, the header 4", hint: "inside a cell semicolons separate too: write such cells in quotation marks"},
	{name: "decimal points where commas are said", text: "age;bmi;kg;outcome\n1;20;47.11;benign\n1;20;4.711,5;benign\n", opt: table.Options{DecimalComma: true},
		want: "patients.csv: line 2, column 3 (kg): the value is not a number; it has a point, and the decimal comma is wanted\n" +
			"patients.csv: line 3, column 3 (kg): the value is not a number; it has a point, and the decimal comma is wanted",
		hint: "write numbers with a decimal comma, and without thousands separators; or leave --decimal-comma away"},
	{name: "two possible separators", text: "age,note;kg,bmi;outcome\n",
		want: "patients.csv: line 1: the header does not tell what separates its columns: it could be commas or semicolons",
		hint: "say it with --delimiter, for example --delimiter ';' or --delimiter tab"},
	{name: "another separator than is said", text: "age;bmi;kg;outcome\n1;20;4711;benign\n", opt: table.Options{Delimiter: '|'},
		want: "patients.csv: line 1: none of the contract's 4 columns is in the header", hint: "the first line must be the header with the columns' names; it was read as one column: --delimiter says what separates columns"},
	{name: "zero byte", text: header + "1,20,5,benign\n1,20,\x004711,benign\n",
		want: "patients.csv: has zero bytes: it is UTF-16 text, or no text at all; UTF-8 is read", hint: "save it as CSV in UTF-8"},
	{name: "zero bytes far behind", text: header + strings.Repeat("1,20,5,benign\n", 6000) + "1,20,\x004711,be\x00nign\n", opt: table.Options{MaxRows: 10_000},
		want: "patients.csv: line 6002, column 3 (kg): the cell has a zero byte\n" +
			"patients.csv: line 6002, column 4 (outcome): the cell has a zero byte",
		hint: "the file is damaged or no text: write it anew"},
	{name: "separator named", text: "sep=,\n" + header + "1,20,4711,benign\n",
		want: "patients.csv: line 1: the first line is not the header; it names the separator", hint: "remove the first line"},

	// The header.
	{name: "no header", text: "1,20,4711,benign\n2,21,4711,benign\n",
		want: "patients.csv: line 1: the header is missing: the first line has 3 values and none of the contract's names",
		hint: "the first line must be the header with the columns' names"},
	{name: "other header", text: "swordfish,b\n1,2\n",
		want: "patients.csv: line 1: none of the contract's 4 columns is in the header",
		hint: "the first line must be the header with the columns' names"},
	{name: "missing column", text: "age,kg,outcome\n1,4711,benign\n",
		want: "patients.csv: line 1: a column is missing: bmi",
		hint: "names must be spelled as in the contract, capitals and spaces included"},
	{name: "missing label", text: "age,bmi,kg\n1,20,4711\n",
		want: "patients.csv: line 1: a column is missing: outcome",
		hint: "names must be spelled as in the contract, capitals and spaces included"},
	{name: "missing columns, one of them respelled", text: "kg,B.M.I,outcome\n4711,20,benign\n",
		want: "patients.csv: line 1: 2 columns are missing: age, bmi\n" +
			`patients.csv: line 1, column 2: the column "B.M.I" is not in the contract`,
		hint: `names must be spelled as in the contract, capitals and spaces included: the file has "B.M.I", the contract "bmi"; ` +
			`rename it if it is the contract's "bmi"`},
	{name: "extra columns", text: "id,age,bmi,kg,outcome,,63.5,2nd visit,swordtail\u202e" + strings.Repeat("x", 80) + "\n1,1,20,4711,benign,,,,\n",
		want: `patients.csv: line 1, column 1: the column "id" is not in the contract` + "\n" +
			"patients.csv: line 1, column 6: the column has no name\n" +
			"patients.csv: line 1, column 7: the column is not in the contract; its name looks like a value and is not shown\n" +
			"patients.csv: line 1, column 8: the column is not in the contract; its name looks like a value and is not shown\n" +
			`patients.csv: line 1, column 9: the column "swordtail\u202e` + strings.Repeat("x", 50) + `…" is not in the contract`,
		hint: "remove the column; if it ought to be used, ask the analyst for a contract that has it; " +
			"remove the column; spreadsheets write one for a comma at the line's end, other programs for row numbers"},
	{name: "header with a quotation mark that a row closes", text: "age,bmi,kg,outcome,\"id\n1,20,4711,benign,5\n1,20,4711,benign,swordfish\"\n",
		want: "patients.csv: line 1, column 5: the column is not in the contract; its name has line ends or control characters and is not shown",
		hint: `look for a quotation mark (") that is not closed; or remove the column`},
	{name: "header with control characters", text: "age,bmi,kg,outcome,\x1b[31mid\n1,20,4711,benign,5\n",
		want: "patients.csv: line 1, column 5: the column is not in the contract; its name has line ends or control characters and is not shown",
		hint: `look for a quotation mark (") that is not closed; or remove the column`},
	{name: "column twice", text: "age,bmi,age ,kg,outcome\n1,20,1,4711,benign\n",
		want: "patients.csv: line 1, column 3 (age): the name stands in the header twice, first in column 1", hint: "keep one of the two columns"},
	{name: "column twice where extra columns are allowed", text: "age,bmi,age,kg,outcome\n1,20,1,4711,benign\n", opt: table.Options{AllowExtra: true},
		want: "patients.csv: line 1, column 3 (age): the name stands in the header twice, first in column 1", hint: "keep one of the two columns"},
	{name: "header in Latin-1", text: "age,bmi,kg,outcome,gr\xf6\xdfe\n1,20,4711,benign,1\n",
		want: "patients.csv: line 1, column 5: the name is not valid UTF-8", hint: hintLatin1},
	{name: "header with a stray quotation mark", text: "age,bm\"i,kg,outcome\n1,20,4711,benign\n",
		want: `patients.csv: line 1, column 2: the cell has a quotation mark (") and does not begin with one` + "\n" +
			"patients.csv: reading stopped after 1 problem, there may be more",
		hint: hintQuote},

	// Rows.
	{name: "short row", text: header + "1,20,4711,benign\n4711\n",
		want: "patients.csv: line 3: the row has 1 field, the header 4"},
	{name: "long row", text: header + "\n1,20,47,11,benign\n",
		want: "patients.csv: line 3: the row has 5 fields, the header 4",
		hint: "a comma inside a cell separates: write numbers with a decimal point, and text with a comma in quotation marks"},
	{name: "too many rows", text: header + strings.Repeat("1,20,4711,benign\n", 3), opt: table.Options{MaxRows: 2},
		want: "patients.csv: line 4: there are more than 2 rows, the most that may be read",
		hint: "the contract's max_rows bounds what one party may contribute"},
	{name: "more rows than the contract allows", text: header + strings.Repeat("1,20,4711,benign\n", 101),
		want: "patients.csv: line 102: there are more than 100 rows, the most that may be read",
		hint: "the contract's max_rows bounds what one party may contribute"},
	{name: "stray quotation mark", text: header + "1,47\"11,5,benign\n1,20,x4711,benign\n",
		want: `patients.csv: line 2, column 2: the cell has a quotation mark (") and does not begin with one` + "\n" +
			"patients.csv: line 3, column 3 (kg): the value is not a number",
		hint: hintQuote},
	{name: "text after a quotation mark", text: header + "1,\"47\"11,5,benign\n1,20,x,benign\n",
		want: `patients.csv: line 2, column 2: the cell begins with a quotation mark (") that is not closed at its end` + "\n" +
			"patients.csv: reading stopped after 1 problem, there may be more",
		hint: hintQuote},
	{name: "open quotation mark", text: header + "1,20,4711,benign\n1,20,4711,\"benign\n1,20,4711,benign\n",
		want: `patients.csv: line 3, column 4: the cell begins with a quotation mark (") that is not closed at its end` + "\n" +
			"patients.csv: reading stopped after 1 problem, there may be more",
		hint: hintQuote},
	{name: "endless cell", text: header + "1,20,4711,benign\n1,20,4711,\"benign\n" + strings.Repeat("1,20,4711,benign\n", 100_000),
		want: "patients.csv: line 3: the row that begins here has 1052672 bytes or more",
		hint: `look for a quotation mark (") that is not closed`},

	// Cells.
	{name: "text", text: header + "1,swordfish,4711,benign\n",
		want: "patients.csv: line 2, column 2 (bmi): the value is not a number"},
	{name: "several problems in other order", text: "outcome,kg,bmi,age\nbenign,4711,swordfish,1\nbenign,,20,471100\n",
		want: "patients.csv: line 2, column 3 (bmi): the value is not a number\n" +
			"patients.csv: line 3, column 4 (age): the value is outside the contract's range, 0 to 120 years\n" +
			"patients.csv: line 3, column 2 (kg): the cell is empty",
		hint: "correct the value or leave the row out; if it is right, the contract's range is too narrow; " +
			"the contract wants a value here: fill the cell in or leave the row out"},
	{name: "cell on a later line of its row", text: header + "\"\n\n1\",swordfish,4711,benign\n",
		want: "patients.csv: line 4, column 2 (bmi): the value is not a number"},
	{name: "empty", text: header + "1, ,4711,benign\n",
		want: "patients.csv: line 2, column 2 (bmi): the cell is empty", hint: hintComplete},
	{name: "marks of missing values", text: header + "NA,#N/A,null,benign\nn/a,-,.,benign\n?,<NA>,None,benign\n",
		want: cells("the cell marks a missing value", 2, 3, 4), hint: hintMark},
	{name: "not finite", text: header + "NaN,-inf,+Infinity,benign\nnan(4711),INF,1.#QNAN,benign\n∞,-1.#IND00,sNaN,benign\n",
		want: cells("the value is not a finite number", 2, 3, 4), hint: hintMark},
	{name: "decimal comma", text: header + "\"4,711\",\"1.234,5\",\"-47,11e3\",benign\n",
		want: cells("the value is not a number; it has a comma", 2),
		hint: hintComma},
	{name: "not decimal", text: header + "0x4711,4_711,0x1p-2,benign\n-0X.8P1,1.2.3,0b1,benign\n",
		want: cells("the value is not a decimal number", 2) + "\n" +
			"patients.csv: line 3, column 1 (age): the value is not a decimal number\n" +
			"patients.csv: line 3, column 2 (bmi): the value is not a decimal number\n" +
			"patients.csv: line 3, column 3 (kg): the value is not a number",
		hint: "write numbers in decimal, for example 0.25 or 2.5e-1; write the number alone, without unit or sign of comparison"},
	{name: "units and signs", text: header + "47 years,<11,−4711,benign\n", want: cells("the value is not a number", 2),
		hint: "write the number alone, without unit or sign of comparison; write the minus sign as -"},
	{name: "incomplete numbers", text: header + "4711e,+,e5,benign\n4711e+,+-1,.e1,benign\n", want: cells("the value is not a number", 2, 3),
		hint: "write the number alone, without unit or sign of comparison"},
	{name: "too large", text: header + "1,20,4711e4711,benign\n",
		want: "patients.csv: line 2, column 3 (kg): the number is too large for 64 bits"},
	{name: "not UTF-8", text: header + "1,20,4711\xa0,benign\n1,20,5,b\xe9nigne\n",
		want: "patients.csv: line 2, column 3 (kg): the cell is not valid UTF-8\n" +
			"patients.csv: line 3, column 4 (outcome): the cell is not valid UTF-8",
		hint: hintLatin1},
	{name: "neither UTF-8 nor Latin-1", text: header + "1,20,5,b\x81nigne\n",
		want: "patients.csv: line 2, column 4 (outcome): the cell is not valid UTF-8", hint: "save the file as CSV in UTF-8"},
	{name: "out of range", text: header + "1,4711,5,benign\n-0.001,70.000001,5,benign\n",
		want: "patients.csv: line 2, column 2 (bmi): the value is outside the contract's range, 10 to 70\n" +
			"patients.csv: line 3, column 1 (age): the value is outside the contract's range, 0 to 120 years\n" +
			"patients.csv: line 3, column 2 (bmi): the value is outside the contract's range, 10 to 70",
		hint: "correct the value or leave the row out; if it is right, the contract's range is too narrow"},
	{name: "unknown class", text: header + "1,20,4711,swordfish\n1,20,4711,\n1,20,4711,Benign\n",
		want: "patients.csv: line 2, column 4 (outcome): the label is none of the contract's classes: benign, malignant\n" +
			"patients.csv: line 3, column 4 (outcome): the cell is empty\n" +
			"patients.csv: line 4, column 4 (outcome): the label is none of the contract's classes: benign, malignant",
		hint: "the contract wants a value here: fill the cell in or leave the row out; classes must be spelled as in the contract, capitals included"},
	{name: "optional label that is there must be right", text: header + "1,20,4711,swordfish\n", opt: table.Options{Label: table.Optional},
		want: "patients.csv: line 2, column 4 (outcome): the label is none of the contract's classes: benign, malignant"},
	{name: "as many problems as are told", text: header + strings.Repeat("swordfish,20,4711,benign\n", 50),
		want: "patients.csv: lines 2, 3, 4, 5, 6 and 15 more, column 1 (age): the value is not a number\npatients.csv: reading stopped after 20 problems, there may be more"},
}

const (
	hintComma    = "write numbers with a decimal point, and without thousands separators; where the comma is the decimal point of the whole file, say --decimal-comma"
	hintMark     = "only empty cells, and what the contract's missing_values name, are missing values: leave the cell empty, or ask the analyst for a contract that names the mark"
	hintLatin1   = "it looks like Latin-1 or Windows-1252: save the file as CSV in UTF-8"
	hintQuote    = "a cell with a comma, a quotation mark or a line end stands in quotation marks, and a quotation mark in it is doubled"
	hintNoRows   = "write the rows below the header; where they come from a query, look whether it finds any"
	hintComplete = "the contract wants a value here: fill the cell in or leave the row out"
)

// cells is the same problem in all features of the given lines.
func cells(problem string, lines ...int) string {
	var b strings.Builder
	for _, line := range lines {
		for _, column := range []string{"1 (age)", "2 (bmi)", "3 (kg)"} {
			fmt.Fprintf(&b, "patients.csv: line %d, column %s: %s\n", line, column, problem)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func utf16Text(s string, bigEndian bool) string {
	var b []byte
	for _, unit := range utf16.Encode([]rune(s)) {
		if bigEndian {
			b = append(b, byte(unit>>8), byte(unit))
		} else {
			b = append(b, byte(unit), byte(unit>>8))
		}
	}
	return string(b)
}

func compressed(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(s)); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.String()
}

// altered changes the checksum.
func altered(gz string) string {
	b := []byte(gz)
	b[len(b)-8] ^= 1
	return string(b)
}

func TestDefects(t *testing.T) {
	for _, test := range defects {
		t.Run(test.name, func(t *testing.T) {
			got, err := table.ReadCSV(strings.NewReader(test.text), "patients.csv", newContract(), test.opt)
			if err == nil {
				t.Fatalf("accepted, %d rows", got.Rows())
			}
			if got != nil {
				t.Error("a table came with the error")
			}
			if diff := cmp.Diff(test.want, err.Error()); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			var errs *table.Errors
			if !errors.As(err, &errs) {
				t.Fatalf("the error is a %T", err)
			}
			if diff := cmp.Diff(test.hint, errs.Hint()); diff != "" {
				t.Errorf("hint (-want +got):\n%s", diff)
			}
			for _, cell := range []string{"4711", "47,11", "swordfish"} {
				if strings.Contains(err.Error()+errs.Hint(), cell) {
					t.Errorf("the error shows %q", cell)
				}
			}
			var cell *table.CellError
			if !errors.As(err, &cell) || cell != errs.Problems[0] || cell.File != "patients.csv" {
				t.Errorf("errors.As finds %v, want the first problem", cell)
			}
		})
	}
}

// A gzip file that breaks off in the middle is refused, whatever rows came
// before.
func TestTruncatedGzip(t *testing.T) {
	var text strings.Builder
	text.WriteString(header)
	for i := range 20_000 {
		fmt.Fprintf(&text, "%d,20,%d,benign\n", i%100, i*i)
	}
	gz := compressed(text.String())
	_, err := table.ReadCSV(strings.NewReader(gz[:len(gz)*9/10]), "patients.csv", newContract(), table.Options{MaxRows: 20_000})
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("error is %v, want %v", err, io.ErrUnexpectedEOF)
	}
	if !regexp.MustCompile(`^patients\.csv: cannot be read after line 1[0-9]{4}: unexpected EOF$`).MatchString(err.Error()) {
		t.Errorf("error is %q", err)
	}
}

// Where there is one column, an empty line is an empty cell.
func TestEmptyLineInOneColumn(t *testing.T) {
	c := newContract()
	c.Features = c.Features[2:]
	opt := table.Options{Label: table.Ignored}
	if got := read(t, "kg\n1\n2\n\n", c, opt); got.Rows() != 2 {
		t.Errorf("%d rows, want 2", got.Rows())
	}
	_, err := table.ReadCSV(strings.NewReader("kg\n1\n\n2\n\"\"\n"), "x.csv", c, opt)
	want := "x.csv: line 3, column 1: the cell is empty\nx.csv: line 5, column 1 (kg): the cell is empty"
	if err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

func TestClassesAsNumbers(t *testing.T) {
	c := newContract()
	c.Label.Levels = []string{"0", "1"}
	_, err := table.ReadCSV(strings.NewReader(header+"1,20,5,1.0\n"), "x.csv", c, table.Options{})
	var errs *table.Errors
	if !errors.As(err, &errs) {
		t.Fatalf("error is %v", err)
	}
	const want = "classes must be spelled as in the contract; the file writes one as another spelling of the same number, such as 1.0 for 1"
	if errs.Hint() != want {
		t.Errorf("hint is %q, want %q", errs.Hint(), want)
	}
}

func TestManyNames(t *testing.T) {
	c := newContract()
	for k := range 30 {
		c.Features = append(c.Features, contract.Feature{Name: fmt.Sprint("f", k), Type: "numeric"})
	}
	_, err := table.ReadCSV(strings.NewReader(header+"1,20,5,benign\n"), "x.csv", c, table.Options{})
	want := "x.csv: line 1: 30 columns are missing: f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19 and 10 more"
	if err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

func TestOpen(t *testing.T) {
	const text = header + "1,20,5,benign\n"
	dir := t.TempDir()
	for name, content := range map[string]string{"a.csv": text, "b.csv.gz": compressed(text), "misnamed.csv": compressed("\ufeff" + text)} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := table.Open(path, newContract(), table.Options{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got.Rows() != 1 {
			t.Errorf("%s: %d rows, want 1", name, got.Rows())
		}
	}

	absent := filepath.Join(dir, "absent.csv")
	if _, err := table.Open(absent, newContract(), table.Options{}); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), absent) {
		t.Errorf("absent file: %v", err)
	}
	_, err := table.Open(dir, newContract(), table.Options{})
	if want := dir + ": is a folder"; err == nil || err.Error() != want {
		t.Errorf("folder: %v, want %s", err, want)
	}
}

// Whatever stands in a cell, the error does not show it.
func TestErrorsHideCells(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := rapid.SampledFrom([]string{"", "-", "<", "\"", "0x", "1,", "1;", "NaN", "\xff", "\x00"}).Draw(t, "before")
		after := rapid.StringN(0, 8, -1).Draw(t, "after")
		field := rapid.IntRange(0, 3).Draw(t, "field")
		record := []string{"1", "20", "5", "benign"}
		record[field] = before + "swordfish" + after
		_, err := table.ReadCSV(strings.NewReader(header+strings.Join(record, ",")+"\n"), "x.csv", newContract(), table.Options{})
		var errs *table.Errors
		if !errors.As(err, &errs) {
			t.Fatalf("error is %v", err)
		}
		if strings.Contains(err.Error()+errs.Hint(), "swordfish") {
			t.Errorf("the error shows the cell: %v; %s", err, errs.Hint())
		}
	})
}
