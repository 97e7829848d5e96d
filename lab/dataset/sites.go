package dataset

import (
	"fmt"
	"path"
	"slices"

	"concord/learn"
)

// The sets here are coded as a contract codes tables, for experiments on what real
// sites would gain: a category has a column for each level, and one more where cells
// are missing; a missing number stays missing, so that the pooled mean of those who take
// part can stand for it. Nothing is filled in from rows that nobody holds.

// contractLevels takes categories: a column of 0 and 1 for every level, and one for
// missing cells where there are any.
func (c *coding) contractLevels(names ...string) {
	for _, name := range names {
		c.levels(0, name)
		if col := c.want(name); col != nil && col.firstMissing > 0 {
			missing := make([]float64, c.n)
			for i, k := range col.codes {
				if k < 0 {
					missing[i] = 1
				}
			}
			c.names = append(c.names, name+"=(missing)")
			c.cols = append(c.cols, missing)
		}
	}
}

// grouped takes the rows that are named (nil means all) and have a cell in the column
// by, whose levels become the groups; what says in a note what they are.
func (c *coding) grouped(rows []int, by, what string, y func(rows []int) learn.Target, notes ...string) (*Data, error) {
	col := c.want(by)
	if c.err != nil {
		return nil, c.err
	}
	if rows == nil {
		rows = upTo(c.n)
	}
	groups, of, err := col.levels(c.n)
	if err != nil {
		return nil, c.errorf("%v", err)
	}
	all := len(rows)
	rows = slices.DeleteFunc(slices.Clone(rows), func(i int) bool { return of[i] < 0 })
	note := "The groups are " + what + "."
	if left := all - len(rows); left > 0 {
		note += fmt.Sprintf(" %d rows that have none are left out.", left)
	}
	d, err := c.data(rows, y(rows), 1, append(notes, note)...)
	if err != nil {
		return nil, err
	}
	d.Groups = groups
	for _, i := range rows {
		d.Group = append(d.Group, of[i])
	}
	return d, nil
}

// loadEICUDeaths reads the demonstration part of eICU to learn who dies in hospital,
// with the hospitals' region or size as groups.
func loadEICUDeaths(by, what string) func(dir string) (*Data, error) {
	return func(dir string) (*Data, error) {
		f, err := tableOf(dir, "eicu_demo/eicu_demo_mortality.csv.gz")
		if err != nil {
			return nil, err
		}
		c := &coding{frame: f}
		c.numbers(eicuFeatures...)
		c.contractLevels("unittype")
		all := c.label("label")
		return c.grouped(nil, by, what, func(rows []int) learn.Target { return targetOf(all, rows) },
			"Label 1: died in hospital. 25 numbers known on the first day and the type of the unit; scores that were made of them are left out.")
	}
}

func targetOf(y learn.Target, rows []int) learn.Target {
	out := learn.Target{Classes: y.Classes, Labels: make([]int, len(rows))}
	for i, r := range rows {
		out.Labels[i] = y.Labels[r]
	}
	return out
}

// A horizonSet is a table of R's package survival, whose label is whether the event
// came within a time.
type horizonSet struct {
	file string
	days float64
	// event is the value of status that counts; every other is a loss from sight, a
	// transplant too.
	event  float64
	what   string     // the event, for the note
	only   [2]float64 // the value of etype that rows must have; {1: 0} for all
	number []string
	levels []string
	by     string // groups; empty for none
	whose  string
}

// load leaves out who was lost from sight before the horizon without an event: nobody
// knows their label.
func (s horizonSet) load(dir string) (*Data, error) {
	f, err := tableOf(dir, path.Join("survival", s.file))
	if err != nil {
		return nil, err
	}
	c := &coding{frame: f}
	c.numbers(s.number...)
	c.contractLevels(s.levels...)
	time, status := c.want("time"), c.want("status")
	etype := time
	if s.only[0] > 0 {
		etype = c.want("etype")
	}
	if c.err != nil {
		return nil, c.err
	}
	if at := max(time.firstMissing, status.firstMissing); at > 0 {
		return nil, f.errorf("line %d: time or status is missing", at)
	}
	var rows []int
	is := make([]bool, f.n)
	lost := 0
	for i := range f.n {
		if s.only[0] > 0 && etype.numbers[i] != s.only[1] {
			continue
		}
		is[i] = status.numbers[i] == s.event && time.numbers[i] <= s.days
		if !is[i] && time.numbers[i] < s.days {
			lost++
			continue
		}
		rows = append(rows, i)
	}
	notes := []string{fmt.Sprintf("Label 1: %s within %g days. %d who were lost from sight before that are left out, since nobody knows their label; that favours those who are followed long.", s.what, s.days, lost)}
	y := binary(is)
	if s.by == "" {
		return c.data(rows, targetOf(y, rows), 1, notes...)
	}
	return c.grouped(rows, s.by, s.whose, func(rows []int) learn.Target { return targetOf(y, rows) }, notes...)
}

var (
	colonDeath = horizonSet{
		file: "colon.csv", days: 1826, event: 1, what: "death", only: [2]float64{1, 2},
		number: []string{"sex", "age", "obstruct", "perfor", "adhere", "nodes", "differ", "extent", "surg", "node4"},
		levels: []string{"rx"},
	}
	lungDeath = horizonSet{
		file: "lung.csv", days: 365, event: 2, what: "death",
		number: []string{"age", "sex", "ph.ecog", "ph.karno", "pat.karno", "meal.cal", "wt.loss"},
		by:     "inst", whose: "the institutions that enrolled the patients",
	}
	pbcDeath = horizonSet{
		file: "pbc.csv", days: 1096, event: 2, what: "death",
		number: []string{"trt", "age", "ascites", "hepato", "spiders", "edema", "bili", "chol", "albumin", "copper", "alk.phos", "ast", "trig", "platelet", "protime", "stage"},
		levels: []string{"sex"},
	}
	veteranDeath = horizonSet{
		file: "veteran.csv", days: 90, event: 1, what: "death",
		number: []string{"trt", "karno", "diagtime", "age", "prior"},
		levels: []string{"celltype"},
	}
)

// loadAdultLevels reads the census set coded as a contract with missing: own has it:
//
//	m = 6 + 9 + 16 + 7 + 15 + 6 + 5 + 2 + 42 = 108
func loadAdultLevels(dir string) (*Data, error) {
	return adult(dir, (*coding).contractLevels, "A category has a column for each level, and one for missing cells (workclass, occupation, native_country).")
}
