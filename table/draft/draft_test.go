package draft

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"concord/contract"
)

// drafted is the study.yaml of a CSV text.
func drafted(t *testing.T, text string, opt Options) string {
	t.Helper()
	r := csv.NewReader(strings.NewReader(text))
	r.FieldsPerRecord = -1
	records, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	d, err := New(records[0], opt)
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range records[1:] {
		var cells [][]byte
		for _, cell := range record {
			cells = append(cells, []byte(cell))
		}
		d.Add(cells)
	}
	var b bytes.Buffer
	if err := d.YAML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// column is a file of one column, x, beside another that is plain.
func oneColumn(cells ...string) string {
	var b strings.Builder
	b.WriteString("x,other\n")
	for i, cell := range cells {
		fmt.Fprintf(&b, "%q,%d.5\n", cell, i*i%7)
	}
	return b.String()
}

// times repeats cells.
func times(n int, cells ...string) []string {
	var out []string
	for range n {
		out = append(out, cells...)
	}
	return out
}

func TestTypes(t *testing.T) {
	var ids, names, dates []string
	for i := range 40 {
		ids = append(ids, fmt.Sprint(i+100))
		names = append(names, fmt.Sprintf("patient %c%d", 'A'+i%26, i))
		dates = append(dates, fmt.Sprintf("20%02d-0%d-1%d", i, 1+i%9, i%10))
	}
	for _, c := range []struct {
		name  string
		cells []string
		want  string // a regular expression
	}{
		{"numbers", times(3, "1.5", "2.25", "-3e2"), `- name: x\n    type: numeric\n    unit: FILL IN.*\n    range: FILL IN\n`},
		{"zero and one", times(4, "0", "1", ""), `# some cells are missing, .*\n  - name: x\n    type: boolean\n  -`},
		{"true and false", times(4, "false", "true"), `- name: x\n    type: boolean\n  -`},
		{"yes and no", times(4, "Yes", "No"), `- name: x\n    type: boolean\n    levels: \["No", "Yes"\]\n`},
		{"levels", times(5, "red", "green", "blue"), `type: category .*\n    levels: FILL IN  # 3 at this site`},
		{"levels in capitals", times(5, "red", "Red", "blue"), `# some of the levels differ in capitals only`},
		{"coded", times(9, "1", "2", "3"), `# 3 different whole numbers: if they stand for categories`},
		{"iso dates", dates, `type: date\n    layout: YYYY-MM-DD\n    as: FILL IN.*\n    from: FILL IN.*\n    range: FILL IN`},
		{"dates with dots", times(3, "31.01.2020", "01.02.2021"), `layout: DD.MM.YYYY`},
		{"days and months of one digit", times(3, "31.01.2020", "1.2.2021"), `layout: D.M.YYYY`},
		{"days of one digit, the month first", times(3, "1/31/2020", "02/3/2021"), `layout: M/D/YYYY`},
		{"the month first", times(3, "01/31/2020", "02/03/2021"), `layout: MM/DD/YYYY`},
		{"the day first", times(3, "31/01/2020", "02/03/2021"), `layout: DD/MM/YYYY`},
		{"dates that may be both", times(3, "01/02/2020", "02/03/2021"), `#   x holds dates of which nothing here says whether day or month`},
		{"dates that contradict each other", times(3, "31/01/2020", "01/31/2021"), `#   x holds dates, some with the day first`},
		{"a day that does not exist among dates", append(append([]string{}, dates[:30]...), "2020-02-31"), `# some cells are no dates of this layout.*\n  - name: x\n    type: date\n    layout: YYYY-MM-DD`},
		{"days that do not exist", times(3, "2020-02-30", "2020-01-01"), `type: category`},
		{"text", names, `#   x looks like an identifier`},
		{"long text", append(names[:20:20], names[:20]...), `#   x is text: `},
		{"running numbers", ids, `#   x looks like an identifier`},
		{"one value", times(9, "7"), `#   x has one and the same value`},
		{"no value", times(9, ""), `#   x has no value`},
		{"a code", append(times(9, "1.5", "2.5"), "-999"), `# missing_values: \["-999"\]\n#   "-999" in x\n`},
		{"a code among negative numbers", append(times(9, "1.5", "-2.5"), "-999"), `^[^-]*features:`},
		{"a word for missing", append(times(9, "1.5", "2.5"), "NA"), `# missing_values: \["?NA"?\]`},
		{"another that package strconv reads", append(times(9, "1.5", "2.5"), "NaN"), `# missing_values: \["?NaN"?\]`},
		{"a word that may be a level", append(times(9, "mild", "severe"), "none"), `# "none" may mean missing, or be a level\n  - name: x\n    type: category.*\n    levels: FILL IN  # 3 `},
		{"some cells that are no numbers", append(times(20, "1.5", "2.5"), "<0.1"), `# some cells are no numbers.*\n  - name: x\n    type: numeric`},
		{"decimal commas", times(9, "1,5", "2,25"), `# numbers have a decimal comma here`},
	} {
		got := drafted(t, oneColumn(c.cells...), Options{})
		if !regexp.MustCompile(c.want).MatchString(got) {
			t.Errorf("%s: want %s in\n%s", c.name, c.want, got)
		}
	}
	if got := drafted(t, oneColumn(times(9, "1,5", "2,25")...), Options{DecimalComma: true}); strings.Contains(got, "comma") || !strings.Contains(got, "- name: x\n    type: numeric") {
		t.Errorf("told of decimal commas:\n%s", got)
	}
}

// secretCells are all values of random files that are long enough to be recognised in
// the draft, none of which may be in it.
func TestCopiesNoValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		b := make([]byte, 6)
		for i := range b {
			b[i] = byte('a' + rng.IntN(26))
		}
		return "zq" + string(b)
	}
	for range 200 {
		p := 1 + rng.IntN(6)
		var header []string
		kinds := make([]int, p)
		pools := make([][]string, p)
		for j := range p {
			header = append(header, fmt.Sprintf("col%c", 'A'+j))
			kinds[j] = rng.IntN(6)
			for range 3 {
				pools[j] = append(pools[j], word())
			}
		}
		text := strings.Join(header, ",") + "\n"
		var secrets []string
		for range 20 + rng.IntN(60) {
			for j := range p {
				var cell string
				switch kinds[j] {
				case 0:
					cell = fmt.Sprintf("%.5f", 1e4*rng.NormFloat64())
				case 1:
					cell = fmt.Sprint(100_000 + rng.IntN(900_000))
				case 2:
					cell = pools[j][rng.IntN(3)]
				case 3:
					cell = word()
				case 4:
					cell = fmt.Sprintf("19%02d-0%d-1%d", rng.IntN(100), 1+rng.IntN(9), rng.IntN(10))
				case 5:
					cell = fmt.Sprintf("%d,%d", 100_000+rng.IntN(1000), rng.IntN(99))
				}
				if rng.IntN(8) > 0 {
					secrets = append(secrets, cell)
				} else {
					cell = ""
				}
				text += `"` + cell + `"`
				if j < p-1 {
					text += ","
				}
			}
			text += "\n"
		}
		got := drafted(t, text, Options{Label: header[rng.IntN(p)]})
		for _, cell := range secrets {
			if strings.Contains(got, cell) {
				t.Fatalf("the value %s of the file\n%s\nis in the draft\n%s", cell, text, got)
			}
		}
	}
}

const clinic = `patient_id,age,sex,smoker,weight,glucose,stage,admitted,note,outcome
p-0001,63,f,no,71.5,101,1,2019-05-31,came alone,alive
p-0002,47,m,yes,84.1,95,2,2019-06-02,fell on the stairs,dead
p-0003,71,f,no,,210,3,2019-06-02,seen by Dr Smith,alive
p-0004,58,m,no,66.0,-999,2,2019-06-11,second stay,alive
p-0004,58,m,NA,65.2,99,1,2019-07-01,-,dead
p-0005,39,f,no,58.9,88,1,2019-07-04,discharged early,alive
p-0006,82,m,yes,91.3,143,3,2019-07-09,transferred,dead
p-0007,66,f,no,77.7,121,2,2019-07-09,chest pain again,alive
`

// A person fills the blanks in, and it is a contract.
func TestFillInAndParse(t *testing.T) {
	text := drafted(t, clinic, Options{Label: "outcome"})
	if _, err := contract.ParseYAML([]byte(text)); err == nil || !strings.Contains(err.Error(), "FILL IN still stands in name (line") {
		t.Fatalf("a draft with its blanks: %v", err)
	}
	for _, fill := range [][2]string{
		{"name: FILL IN", "name: Clinics"},
		{"parties: FILL IN", "parties: 3"},
		{"    unit: FILL IN  # or take the line out\n    range: FILL IN  # often [0, 120] in years", "    unit: years\n    range: [0, 120]"},
		{"    unit: FILL IN  # or take the line out\n    range: FILL IN  # often [0.3, 400] in kg", "    unit: kg\n    range: [0, 400]"},
		{"    unit: FILL IN  # or take the line out\n    range: FILL IN  # often [0, 2000] in mg/dl, or [0, 110] in mmol/l", "    unit: mg/dl\n    range: [0, 2000]"},
		{"    unit: FILL IN  # or take the line out\n    range: FILL IN\n", "    range: [1, 4]\n"},
		{"    layout: YYYY-MM-DD\n    as: FILL IN  # days since the day below, or age in years on it\n    from: FILL IN  # YYYY-MM-DD\n    range: FILL IN",
			"    as: days\n    from: \"2019-01-01\"\n    range: [0, 3650]"},
		{"levels: FILL IN  # 2 at this site, as they are spelled in the file; --levels writes them\n  positive: FILL IN", "levels: [alive, dead]\n  positive: dead"},
		{"levels: FILL IN  # 2 at this site, as they are spelled in the file; --levels writes them", "levels: [f, m]"},
		{"# missing_values", "missing_values"},
	} {
		if !strings.Contains(text, fill[0]) {
			t.Fatalf("the blank %q is not in\n%s", fill[0], text)
		}
		text = strings.Replace(text, fill[0], fill[1], 1)
	}
	c, err := contract.ParseYAML([]byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if want := "age sex smoker weight glucose stage admitted"; strings.Join(c.FeatureNames(), " ") != want {
		t.Errorf("features %v, want %s", c.FeatureNames(), want)
	}
	if !strings.Contains(text, "# subject: patient_id") || strings.Contains(text, "p-000") || strings.Contains(text, "Smith") {
		t.Errorf("the draft is\n%s", text)
	}
}

func TestLevelsOnDemand(t *testing.T) {
	got := drafted(t, clinic, Options{Label: "outcome", Subject: "patient_id", Levels: true})
	for _, want := range []string{"levels: [f, m]", "levels: [alive, dead]", "subject: patient_id\n", "but the levels of categories, which were asked for"} {
		if !strings.Contains(got, want) {
			t.Errorf("want %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "name: patient_id") {
		t.Errorf("the subject is a feature in\n%s", got)
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		names []string
		opt   Options
		want  string
	}{
		{nil, Options{}, "no columns"},
		{[]string{"age", "63"}, Options{}, "column 2 looks like a value"},
		{[]string{"age", "2019-05-31"}, Options{}, "column 2 looks like a value"},
		{[]string{"age", "y"}, Options{Label: "z"}, `the label's column "z" is not in the header`},
		{[]string{"age", "y"}, Options{Subject: "z"}, `the subject's column "z" is not`},
		{[]string{"age", "y"}, Options{Subject: "y", Label: "y"}, "both"},
	} {
		_, err := New(c.names, c.opt)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "63") || strings.Contains(err.Error(), "2019") {
			t.Errorf("%q: %v, want %s", c.names, err, c.want)
		}
	}
}

// Whatever stands in a header, the draft is YAML in which only blanks are missing, or
// names are told that a contract cannot have.
func FuzzNames(f *testing.F) {
	for _, name := range []string{"age", "größe", "a b", "a: b", "# c", "- d", `"`, `'x`, "null", "no", "{}", "[", "a\nb", "\u2028", "x\x00", "*a", "&a", "!t", "|", ">", "%", "@", "`", "a #b", "~", "<script>"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		d, err := New([]string{name, "other"}, Options{})
		if err != nil {
			return
		}
		for i := range 12 {
			d.Add([][]byte{fmt.Append(nil, i*i), fmt.Append(nil, i, ".5")})
		}
		var b bytes.Buffer
		if err := d.YAML(&b); err != nil {
			t.Fatal(err)
		}
		text := strings.Replace(b.String(), "name: FILL IN", "name: x", 1)
		text = strings.Replace(text, "parties: FILL IN", "parties: 3", 1)
		text = strings.ReplaceAll(text, "range: FILL IN", "range: [0, 10000]")
		text = regexp.MustCompile(`(?m)^    unit: FILL IN.*\n`).ReplaceAllString(text, "")
		text = strings.Replace(text, "name: FILL IN  # the", "name: predicted  # the", 1)
		text = strings.Replace(text, "  levels: FILL IN\n", "", 1)
		text = strings.Replace(text, "features:\n", "features:\n  - {name: one, range: [0, 1]}\n", 1)
		c, err := contract.ParseYAML([]byte(text))
		if err != nil {
			t.Fatalf("%q: %v in\n%s", name, err, text)
		}
		if strings.Contains(text, "looks like an identifier") {
			return // as a column named nr does, and is left out
		}
		if contract.CheckColumn(strings.TrimSpace(name)) == nil && strings.TrimSpace(name) != "other" && c.Features[1].Name != strings.TrimSpace(name) {
			t.Errorf("%q became %q", name, c.Features[1].Name)
		}
	})
}
