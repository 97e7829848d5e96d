package profile_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"concord/contract"
	"concord/table"
	"concord/table/profile"
)

const contractYAML = `name: Wards
parties: 3
features:
  - {name: age, unit: years, range: [0, 120]}
  - {name: sex, type: category, levels: [female, male]}
  - {name: smoker, type: boolean, levels: ["no", "yes"], missing: constant, fill: "no"}
  - {name: stage, type: ordinal, levels: [I, II, III]}
  - {name: admitted, type: date, as: days, from: "2020-01-01", layout: YYYY-MM-DD, range: [-4000, 4000]}
  - {name: glucose, unit: mg/dl, range: [0, 2000], missing: constant, fill: 100}
label: {name: outcome, levels: [alive, dead], positive: dead}
subject: patient
standardise: range
missing_values: [NA]
`

func newContract(t testing.TB) *contract.Contract {
	t.Helper()
	c, err := contract.ParseYAML([]byte(contractYAML))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const header = "patient,age,sex,smoker,stage,admitted,glucose,outcome\n"

// ward is a file that fits.
func ward(rows int) []string {
	var out []string
	for i := range rows {
		out = append(out, fmt.Sprintf("p%d,%d,%s,%s,%s,2021-0%d-%d,%s,%s", i/2, 20+i*7%60, []string{"female", "male"}[i%2], []string{"no", "yes", "NA"}[i%3],
			[]string{"I", "II", "III"}[i%3], 1+i%9, 10+i%15, []string{"101.5", "", "88"}[i%3], []string{"alive", "dead"}[i/3%2]))
	}
	return out
}

func survey(t testing.TB, c *contract.Contract, text string, opt profile.Options) *profile.Report {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ward.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := profile.Survey(path, c, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func file(rows []string) string { return header + strings.Join(rows, "\n") + "\n" }

func TestSurveyFits(t *testing.T) {
	r := survey(t, newContract(t), file(ward(40)), profile.Options{})
	if !r.Fits || len(r.Problems) > 0 || !r.Complete || r.Rows != 40 {
		t.Fatalf("%+v", r)
	}
	if p := r.People; p.Count != 20 || p.Several != 20 || p.Most != 2 {
		t.Errorf("people %+v, want 20, each with two rows", p)
	}
	age, smoker, glucose := r.Features[0], r.Features[2], r.Features[5]
	if age.Count != 40 || age.Missing != 0 || *age.Min < 20 || *age.Max > 79 || age.Column != 2 {
		t.Errorf("age: %+v", age)
	}
	if smoker.Missing != 13 || smoker.Levels[0].Rows+smoker.Levels[1].Rows != 27 || smoker.Min != nil {
		t.Errorf("smoker: %+v", smoker)
	}
	if glucose.Missing != 13 || glucose.Count != 27 || math.Abs(*glucose.Mean-(14*101.5+13*88)/27) > 1e-12 {
		t.Errorf("glucose: %+v", glucose)
	}
	if got := r.ClassCounts(); !slices.Equal(got, []int{21, 19}) {
		t.Errorf("classes %v, want 21 and 19", got)
	}
}

// find returns the findings of a kind about a feature.
func find(list []profile.Finding, kind, feature string) []profile.Finding {
	return slices.DeleteFunc(slices.Clone(list), func(f profile.Finding) bool { return f.Kind != kind || f.Feature != feature })
}

// Every cell that is wrong is counted, with the lines of the first, and nothing of what
// stands in it is told.
func TestSurveyTellsAll(t *testing.T) {
	rows := ward(60)
	change := func(line int, column int, cell string) { // lines from 2
		cells := strings.Split(rows[line-2], ",")
		cells[column] = cell
		rows[line-2] = strings.Join(cells, ",")
	}
	for i := range 30 { // more than the reader describes
		change(3+i, 1, "777")
	}
	change(2, 2, "secretlevel")
	change(40, 2, "Female")
	change(41, 3, "secretword")
	change(42, 4, "")
	change(43, 5, "31.12.2020")
	change(44, 6, "<secret9")
	change(45, 7, "")
	change(46, 7, "secretclass")
	change(47, 0, "")
	rows[46] = "too,few"                  // line 48
	rows[47] = rows[47] + ",one too many" // line 49
	r := survey(t, newContract(t), file(rows), profile.Options{})
	if r.Fits {
		t.Fatal("fits")
	}
	for _, want := range []struct {
		kind, feature string
		count         int64
		lines         []int
		text          string
	}{
		{"outside", "age", 30, []int{3, 4, 5, 6, 7}, "30 values lie outside the contract's range, 0 to 120 years"},
		{"level", "sex", 2, []int{2, 40}, "2 cells have none of the contract's levels: female, male"},
		{"level", "smoker", 1, []int{41}, "no, yes"},
		{"missing", "stage", 1, []int{42}, "1 cell is missing"},
		{"malformed", "admitted", 1, []int{43}, "1 cell cannot be read"},
		{"malformed", "glucose", 1, []int{44}, "1 cell cannot be read"},
		{"label", "outcome", 1, []int{45}, "1 row has no label"},
		{"label", "outcome", 1, []int{46}, "1 row has none of the contract's classes: alive, dead"},
		{"subject", "patient", 1, nil, "1 row does not say whose row it is"},
	} {
		ok := slices.ContainsFunc(find(r.Problems, want.kind, want.feature), func(f profile.Finding) bool {
			return f.Count == want.count && slices.Equal(f.Lines, want.lines) && strings.Contains(f.Text, want.text)
		})
		if !ok {
			t.Errorf("no %s of %s with %q, %v, %d", want.kind, want.feature, want.text, want.lines, want.count)
		}
	}
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"secret", "Female", "31.12", `"few`, "one too many"} {
		if strings.Contains(string(b), secret) {
			t.Errorf("the report has %q of the file:\n%s", secret, b)
		}
	}
	if n := r.BadRows; n != 2 || r.Rows != 58 {
		t.Errorf("%d rows and %d bad ones, want 58 and 2:\n%s", r.Rows, n, b)
	}
	if age := r.Features[0]; *age.Max != 777 || age.Outside != 30 || age.Count != 58 {
		t.Errorf("age %+v", age)
	}
}

// Where columns are missing or too many, the others have their figures.
func TestSurveyOfOtherColumns(t *testing.T) {
	cut := func(drop int, add string) string {
		lines := append([]string{strings.TrimSpace(header)}, ward(30)...)
		for i, line := range lines {
			cells := strings.Split(line, ",")
			if drop >= 0 {
				cells = slices.Delete(cells, drop, drop+1)
			}
			if add != "" {
				cells = append(cells, map[bool]string{true: add, false: "7"}[i == 0])
			}
			lines[i] = strings.Join(cells, ",")
		}
		return strings.Join(lines, "\n") + "\n"
	}
	for _, c := range []struct {
		name, text, problem string
		known               int
	}{
		{"without a feature", cut(1, ""), "a column is missing: age", 5},
		{"without the label", cut(7, ""), "a column is missing: outcome", 6},
		{"without the subject", cut(0, ""), "a column is missing: patient", 6},
		{"with one more", cut(-1, "colour"), "colour", 6},
		{"with one twice", cut(-1, "age"), "twice", 5},
	} {
		r := survey(t, newContract(t), c.text, profile.Options{})
		if r.Fits || r.Complete || len(r.Features) != 6 || !strings.Contains(r.Problems[0].Text, c.problem) || r.Problems[0].Kind != "header" {
			t.Errorf("%s: %+v", c.name, r.Problems)
			continue
		}
		known := 0
		for _, f := range r.Features {
			if f.Count > 0 {
				known++
			}
		}
		if known != c.known || r.Rows != 30 {
			t.Errorf("%s: %d features with figures of %d rows, want %d and 30: %+v", c.name, known, r.Rows, c.known, r.Problems)
		}
	}
	for _, text := range []string{"", header, "a;b;c\n1;2;3\n", "\xff\xfea\x00", "x,y\n1,2\n"} {
		if r := survey(t, newContract(t), text, profile.Options{}); r.Fits || len(r.Problems) == 0 || r.Rows != 0 || len(r.Features) != 6 {
			t.Errorf("%q: %+v", text, r)
		}
	}
	if _, err := profile.Survey(filepath.Join(t.TempDir(), "absent.csv"), newContract(t), profile.Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// A file that breaks off is reported as far as it goes.
func TestSurveyBreaksOff(t *testing.T) {
	rows := ward(40)
	rows[20] = `"p1,30,female`
	r := survey(t, newContract(t), file(rows), profile.Options{})
	if r.Fits || r.Complete || r.Rows != 20 || r.Features[0].Count != 20 {
		t.Errorf("%d rows, %+v", r.Rows, r.Problems)
	}
}

func TestSurveyConstantsAndCopies(t *testing.T) {
	rows := ward(30)
	for i, row := range rows {
		cells := strings.Split(row, ",")
		cells[1], cells[2], cells[6] = "50", "male", ""
		rows[i] = strings.Join(cells, ",")
	}
	rows = append(rows, rows[3], rows[3], rows[4])
	r := survey(t, newContract(t), file(rows), profile.Options{})
	// Prepare refuses a number that is the same in all rows. A level that all have and a column
	// of gaps it takes.
	if len(r.Problems) != 1 || len(find(r.Problems, "constant", "age")) != 1 {
		t.Errorf("the age is not said to be constant: %+v", r.Problems)
	}
	for _, name := range []string{"sex", "glucose"} {
		if len(find(r.Remarks, "constant", name)) != 1 {
			t.Errorf("%s is not said to be constant: %+v", name, r.Remarks)
		}
	}
	if r.Equal != 3 || len(find(r.Remarks, "equal", "")) != 1 {
		t.Errorf("%d equal rows, want 3: %+v", r.Equal, r.Remarks)
	}
}

// What is surveyed in parts and merged is what is surveyed at once.
func TestCollectorMerge(t *testing.T) {
	c := newContract(t)
	collect := func(rows []string) *profile.Collector {
		p := profile.NewCollector(c)
		if len(rows) == 0 {
			return p
		}
		people := map[string]int{}
		for i := range 600 {
			people[fmt.Sprintf("p%d", i)] = i
		}
		var of []string
		for _, row := range rows {
			of = append(of, strings.Split(row, ",")[0])
		}
		at := 0
		_, err := table.ScanCSV(strings.NewReader(file(rows)), "part", c, table.Options{Survey: true}, func(r *table.Row) error {
			r.Subject = people[of[at]] // as one scan of all would number them
			at++
			return p.Add(r)
		})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	rows := ward(1000)
	whole := collect(rows)
	for _, cut := range [][2]int{{0, 1000}, {1, 2}, {300, 301}, {256, 512}, {400, 900}} {
		a, b, d := collect(rows[:cut[0]]), collect(rows[cut[0]:cut[1]]), collect(rows[cut[1]:])
		b.Merge(d)
		a.Merge(b)
		if got, want := encoded(t, a), encoded(t, whole); got != want {
			t.Errorf("cut at %v:\n%s\nwant\n%s", cut, got, want)
		}
	}
}

func encoded(t testing.TB, c *profile.Collector) string {
	t.Helper()
	b, err := json.Marshal(c.Report())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Pooled figures minus one's own are the others'.
func TestSurveyAgainstPooled(t *testing.T) {
	c := newContract(t)
	opt := profile.Options{Pooled: make([]contract.FeatureFigures, 6)}
	all := append(ward(400), ward(100)...)
	for i := 400; i < 500; i++ {
		cells := strings.Split(all[i], ",")
		if cells[6] != "" && cells[6] != "NA" {
			var x float64
			fmt.Sscan(cells[6], &x)
			cells[6] = fmt.Sprint((x + float64(i%7)) / 18.016)
		}
		cells[2] = map[string]string{"female": "male", "male": "female"}[cells[2]]
		all[i] = strings.Join(cells, ",")
	}
	pool := func(rows []string) {
		r := survey(t, c, file(rows), profile.Options{})
		for j, f := range r.Features {
			g := contract.FeatureFigures{Count: f.Count, Missing: f.Missing}
			if f.Levels == nil {
				n := float64(f.Count)
				g.Mean, g.Variance = *f.Mean, *f.Deviation**f.Deviation*(n-1)/n
			}
			for _, l := range f.Levels {
				g.Levels = append(g.Levels, l.Rows)
			}
			opt.Pooled[j] = g
		}
	}
	pool(all)
	honest := survey(t, c, file(all[:100]), opt)
	other := survey(t, c, file(all[400:]), opt)
	if u := find(other.Remarks, "unit", "glucose"); len(u) != 1 || math.Abs(u[0].Factor*18.016-1) > 1e-9 || !strings.Contains(u[0].Text, "glucose)") {
		t.Errorf("glucose in mmol/l: %+v", other.Remarks)
	}
	rest := other.Features[5].Rest
	clean := survey(t, c, file(all[:400]), profile.Options{}).Features[5]
	if math.Abs(rest.Mean/(*clean.Mean)-1) > 1e-12 || math.Abs(rest.Deviation/(*clean.Deviation)-1) > 1e-9 || int64(rest.Count) != clean.Count {
		t.Errorf("the rest %+v, want mean %v, deviation %v of %d", rest, *clean.Mean, *clean.Deviation, clean.Count)
	}
	if n := len(find(honest.Remarks, "unit", "glucose")); n != 0 {
		t.Errorf("an honest site among others of which one is wrong: %+v", honest.Remarks)
	}
}

// The address of a database stands in a report without user and password.
func TestSurveyNamesNoPassword(t *testing.T) {
	r, err := profile.Survey("postgres://keeper:swordfish@127.0.0.1:1/rows?sslmode=disable", newContract(t), profile.Options{Table: table.Options{Query: "SELECT 1"}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if r.Fits || r.File != "postgres://127.0.0.1:1/rows" || strings.Contains(string(b), "sword") || strings.Contains(string(b), "keeper") {
		t.Errorf("%s", b)
	}
}

// Rows that are wrong in the same way are one problem.
func TestSurveyOfManyLongRows(t *testing.T) {
	lines := ward(60)
	for i := range lines {
		switch {
		case i < 8:
			lines[i] += ",0"
		case i == 9:
			lines[i] += ",0,0"
		}
	}
	r := survey(t, newContract(t), header+strings.Join(lines, "\n")+"\n", profile.Options{})
	rows := find(r.Problems, "row", "")
	if len(rows) != 2 || rows[0].Count != 8 || !slices.Equal(rows[0].Lines, []int{2, 3, 4, 5, 6}) || rows[1].Count != 1 || !slices.Equal(rows[1].Lines, []int{11}) || r.BadRows != 9 {
		t.Errorf("%d bad rows, %+v", r.BadRows, rows)
	}
}
