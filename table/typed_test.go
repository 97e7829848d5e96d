package table_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"concord/contract"
	"concord/table"
)

// typedContract has a feature of every type.
func typedContract() *contract.Contract {
	one := 1.0
	return &contract.Contract{
		Features: []contract.Feature{
			{Name: "age", Type: contract.Numeric, Range: &contract.Range{Min: 0, Max: 120}, Missing: contract.MissingMean},
			{Name: "ward", Type: contract.Category, Levels: []string{"Süd", "Nord", "7"}, Missing: contract.MissingOwn},
			{Name: "smoker", Type: contract.Boolean, Missing: contract.MissingConstant, Fill: &one},
			{Name: "drinks", Type: contract.Boolean, Levels: []string{"nein", "ja"}},
			{Name: "stage", Type: contract.Ordinal, Levels: []string{"I", "II", "III"}},
			{Name: "born", Type: contract.Date, As: "age", From: "2020-01-01", Layout: "DD.MM.YYYY", Range: &contract.Range{Min: 0, Max: 110}},
			{Name: "seen", Type: contract.Date, As: "days", From: "2020-01-01", Layout: "YYYY-MM-DD", Missing: contract.MissingMean},
		},
		MissingValues: []string{"NA", "-999"},
		Label:         contract.Label{Name: "outcome", Type: "class", Levels: []string{"no", "yes"}, Positive: "yes"},
		Standardise:   "none",
		Subject:       "patient",
		MaxRows:       100,
	}
}

const typedHeader = "patient;age;ward;smoker;drinks;stage;born;seen;outcome\n"

var sameNaN = cmpopts.EquateNaNs()

func TestTypedCells(t *testing.T) {
	got := read(t, typedHeader+
		"a; 63,5 ;Süd;true;ja;I;01.01.2000;2020-01-03;yes\n"+
		"b;NA;NA;;nein; II ;31.12.1999;NA;no\n"+
		"a;-999;7;FALSE;ja;III;29.02.1996;2019-12-31;no\n"+
		"c;-999,0;;0;nein;I;01.01.2020;;no\n", typedContract(), table.Options{DecimalComma: true})
	nan := math.NaN()
	want := [][]float64{
		{63.5, 0, 1, 1, 0, 7305 / 365.25, 2},
		{nan, nan, nan, 0, 1, 7306 / 365.25, nan},
		{nan, 2, 0, 1, 2, 8707 / 365.25, -1},
		{nan, nan, 0, 0, 0, 0, nan},
	}
	if diff := cmp.Diff(want, rows(got.X()), sameNaN); diff != "" {
		t.Errorf("X (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{3, 2, 1, 0, 0, 0, 2}, got.Missing()); diff != "" {
		t.Errorf("Missing (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{2, 1, 1, 0, 0, 0, 1}, got.Subset([]int{1, 2}).Missing()); diff != "" {
		t.Errorf("Missing of rows 2 and 3 (-want +got):\n%s", diff)
	}
	if got.People() != 3 {
		t.Errorf("%d people, want 3", got.People())
	}
	if diff := cmp.Diff([]int{1, 0, 0, 0}, got.Labels()); diff != "" {
		t.Errorf("Labels (-want +got):\n%s", diff)
	}
}

// TestPrepared: gaps are filled, categories are columns, and all are standardised.
func TestPrepared(t *testing.T) {
	c := typedContract()
	got := read(t, typedHeader+"a;;NA;;nein;II;01.01.2020;;no\nb;60;Nord;0;ja;III;01.01.2020;2020-01-11;no\n", c, table.Options{})
	// m = 10: age, ward × 4, smoker, drinks, stage, born, seen.
	p := &contract.Preparation{Fill: []float64{50, 3, 1, math.NaN(), math.NaN(), math.NaN(), 4}, Levels: []int{0, 4, 0, 0, 0, 0, 0},
		Centre: []float64{50, 0, 0.5, 0, 0, 0, 0, 0, 0, 0}, Scale: []float64{10, 1, 0.5, 1, 1, 1, 1, 1, 1, 2}}
	want := [][]float64{
		{0, 0, -1, 0, 1, 1, 0, 1, 0, 2},
		{1, 0, 1, 0, 0, 0, 1, 2, 0, 5},
	}
	if diff := cmp.Diff(want, rows(got.Prepared(p))); diff != "" {
		t.Errorf("Prepared (-want +got):\n%s", diff)
	}
}

// typedDefects are cells that one feature refuses, with message and hint.
var typedDefects = []struct{ name, cell, problem, hint string }{
	{"age", "121", "the value is outside the contract's range, 0 to 120", "correct the value or leave the row out; if it is right, the contract's range is too narrow"},
	{"ward", "swordfish", "the value is none of the contract's levels: Süd, Nord, 7", ""},
	{"ward", "nORD", "the value is none of the contract's levels: Süd, Nord, 7", "levels must be spelled as in the contract, capitals included"},
	{"ward", "Sud", "the value is none of the contract's levels: Süd, Nord, 7", "levels must be spelled as in the contract; the file writes one with other accents"},
	{"ward", "Su\u0308d", "the value is none of the contract's levels: Süd, Nord, 7", "levels must be spelled as in the contract; the file writes one with other accents"},
	{"ward", "N-ord", "the value is none of the contract's levels: Süd, Nord, 7", "levels must be spelled as in the contract; the file writes one with other spaces or punctuation"},
	{"ward", "7.0", "the value is none of the contract's levels: Süd, Nord, 7", "levels must be spelled as in the contract; the file writes one as another spelling of the same number, such as 1.0 for 1"},
	{"ward", "n/a", "the value is none of the contract's levels: Süd, Nord, 7", hintMark},
	{"ward", "S\xfcd", "the cell is not valid UTF-8", hintLatin1},
	{"smoker", "yes", "the value is none of the contract's two spellings: false, true", ""},
	{"drinks", "1", "the value is none of the contract's two spellings: nein, ja", ""},
	{"drinks", "", "the cell is empty", hintComplete},
	{"drinks", "NA", "the cell is a missing value", hintComplete},
	{"stage", "1", "the value is none of the contract's levels: I, II, III", ""},
	{"born", "1999-12-31", "the value is not a date as the contract wants it, DD.MM.YYYY", hintDate},
	{"born", "1.1.1999", "the value is not a date as the contract wants it, DD.MM.YYYY", hintDate},
	{"born", "31.02.1999", "the value is not a date as the contract wants it, DD.MM.YYYY", hintDate},
	{"born", "01.01.1999 08:15", "the value is not a date as the contract wants it, DD.MM.YYYY", "write the date alone, without the time of the day"},
	{"born", "36526", "the value is not a date as the contract wants it, DD.MM.YYYY", "a spreadsheet has turned the date into a number: format the column as dates before saving it"},
	{"born", "swordfish", "the value is not a date as the contract wants it, DD.MM.YYYY", ""},
	{"born", "02.01.2020", "the value is outside the contract's range, 0 to 110 years", "correct the value or leave the row out; if it is right, the contract's range is too narrow"},
}

const hintDate = "write every date in the contract's layout; one of another layout, or that is not in the calendar, is not guessed at"

func TestTypedDefects(t *testing.T) {
	good := map[string]string{"patient": "a", "age": "63", "ward": "Nord", "smoker": "1", "drinks": "ja", "stage": "I", "born": "01.01.2000", "seen": "2020-01-03", "outcome": "yes"}
	names := strings.Split(strings.TrimSpace(typedHeader), ";")
	for _, test := range typedDefects {
		cells := make([]string, len(names))
		column := 0
		for i, name := range names {
			if cells[i] = good[name]; name == test.name {
				cells[i], column = test.cell, i+1
			}
		}
		_, err := table.ReadCSV(strings.NewReader(typedHeader+strings.Join(cells, ";")+"\n"), "x.csv", typedContract(), table.Options{})
		var errs *table.Errors
		if !errors.As(err, &errs) {
			t.Errorf("%s %q: error is %v", test.name, test.cell, err)
			continue
		}
		want := fmt.Sprintf("x.csv: line 2, column %d (%s): %s", column, test.name, test.problem)
		if err.Error() != want || errs.Hint() != test.hint {
			t.Errorf("%s %q:\ngot  %s\nwant %s\nhint %s\nwant %s", test.name, test.cell, err, want, errs.Hint(), test.hint)
		}
	}
}

// TestMixedEncodings: a Latin-1 cell after UTF-8 ones is told apart from a file that is
// all Latin-1.
func TestMixedEncodings(t *testing.T) {
	_, err := table.ReadCSV(strings.NewReader(typedHeader+
		"a;63;Süd;1;ja;I;01.01.2000;2020-01-03;yes\n"+
		"b;63;S\xfcd;1;ja;I;01.01.2000;2020-01-03;yes\n"), "x.csv", typedContract(), table.Options{})
	const want = "x.csv: line 3, column 3 (ward): the cell is not valid UTF-8, and cells before it are"
	if err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

// TestSurvey: problems are counted and do not end reading.
func TestSurvey(t *testing.T) {
	text := typedHeader +
		"a;121;Süd;true;ja;I;01.01.2000;2020-01-03;yes\n" +
		"b;x;West;;;II;31.12.1999;NA;no\n" +
		"c;only three;\n" +
		"d;5;\"Nord\"x;\n"
	text = strings.Replace(text, "d;5;\"Nord\"x;\n", "d;5;No\"rd\n", 1) +
		";7;Nord;1;ja;I;01.01.2000;2020-01-03;perhaps\n" + strings.Repeat("e;1000;Nord;1;ja;I;01.01.2000;2020-01-03;yes\n", 30)
	var visited []table.Row
	sum, err := table.ScanCSV(strings.NewReader(text), "x.csv", typedContract(), table.Options{Survey: true}, func(r *table.Row) error {
		row := *r
		row.X, row.Faults = append([]float64(nil), r.X...), append([]table.Fault(nil), r.Faults...)
		visited = append(visited, row)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	nan := math.NaN()
	want := []table.Row{
		{Number: 1, Line: 2, X: []float64{121, 0, 1, 1, 0, 7305 / 365.25, 2}, Class: 1, Value: nan, Subject: 0,
			Faults: []table.Fault{table.Outside, 0, 0, 0, 0, 0, 0, 0, 0}},
		{Number: 2, Line: 3, X: []float64{nan, nan, nan, nan, 1, 7306 / 365.25, nan}, Class: 0, Value: nan, Subject: 1,
			Faults: []table.Fault{table.Malformed, table.UnknownLevel, 0, table.Missing, 0, 0, 0, 0, 0}},
		{Number: 4, Line: 6, X: []float64{7, 1, 1, 1, 0, 7305 / 365.25, 2}, Class: -1, Value: nan, Subject: -1,
			Faults: []table.Fault{0, 0, 0, 0, 0, 0, 0, table.UnknownLevel, table.Missing}},
	}
	if diff := cmp.Diff(want, visited[:3], sameNaN, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if sum.Rows != 33 || len(visited) != 33 || sum.BadRows != 2 || sum.People != 3 {
		t.Errorf("%d rows, %d visited, %d bad, %d people; want 33, 33, 2, 3", sum.Rows, len(visited), sum.BadRows, sum.People)
	}
	if sum.Faults[0] != [table.Faults]int{table.Outside: 31, table.Malformed: 1} || sum.Outside[0] != 31 {
		t.Errorf("faults of age: %v, outside %v", sum.Faults[0], sum.Outside)
	}
	if diff := cmp.Diff([]int{0, 0, 1, 1, 0, 0, 1}, sum.Missing); diff != "" {
		t.Errorf("Missing (-want +got):\n%s", diff)
	}
	if len(sum.Problems) != table.MaxProblems {
		t.Errorf("%d problems are kept, want %d", len(sum.Problems), table.MaxProblems)
	}
	if sum.Format != "CSV, separated by semicolons" {
		t.Errorf("Format = %q", sum.Format)
	}
}

// TestScanStops: an error of visit comes back as it is, and nothing is read after.
func TestScanStops(t *testing.T) {
	stop := errors.New("enough")
	text := header + strings.Repeat("1,20,5,benign\n", 100_000)
	c := newContract()
	c.MaxRows = 1_000_000
	n := 0
	_, err := table.ScanCSV(strings.NewReader(text), "x.csv", c, table.Options{}, func(*table.Row) error {
		if n++; n == 5 {
			return stop
		}
		return nil
	})
	if err != stop || n != 5 {
		t.Errorf("error %v after %d rows, want %v after 5", err, n, stop)
	}
	func() {
		defer func() {
			if recover() != "oh" {
				t.Error("a panic of visit was lost")
			}
		}()
		_, _ = table.ScanCSV(strings.NewReader(text), "x.csv", c, table.Options{}, func(*table.Row) error { panic("oh") })
	}()
}
