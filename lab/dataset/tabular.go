package dataset

import (
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"concord/learn"
)

// loadNumbers reads a table of numbers with classes in the column label.
func loadNumbers(path string, positive, width, height int, notes ...string) func(dir string) (*Data, error) {
	return func(dir string) (*Data, error) {
		f, err := tableOf(dir, path)
		if err != nil {
			return nil, err
		}
		c := &coding{frame: f}
		c.numbers(f.others("label")...)
		d, err := c.data(nil, c.label("label"), positive, notes...)
		if err != nil {
			return nil, err
		}
		d.Width, d.Height = width, height
		return d, nil
	}
}

// loadMice reads the mice protein expression set: 77 proteins, 8 classes, 15
// rows of each of 72 mice, who are the groups. A missing number is the mean of
// its column.
func loadMice(dir string) (*Data, error) {
	f, err := tableOf(dir, "mice_protein/mice_protein.csv.gz")
	if err != nil {
		return nil, err
	}
	c := &coding{frame: f}
	c.numbers(f.others("MouseID", "Genotype", "Treatment", "Behavior", "label")...)
	for _, col := range c.cols {
		imputed(col, mean)
	}
	ids := c.want("MouseID")
	d, err := c.data(nil, c.label("label"), -1,
		"A missing number is the mean of its column over all rows.",
		"The groups are the 72 mice; rows of one mouse in training and test tell too much.")
	if err != nil {
		return nil, err
	}
	if ids.firstMissing > 0 {
		return nil, f.cellError(ids.firstMissing, ids, "the mouse is missing")
	}
	mice := make([]string, f.n)
	for i, k := range ids.codes { // mouse_replicate
		mice[i] = ids.texts[k]
		if at := strings.LastIndexByte(mice[i], '_'); at >= 0 {
			mice[i] = mice[i][:at]
		}
	}
	d.Groups = slices.Compact(slices.Sorted(slices.Values(mice)))
	for _, mouse := range mice {
		k, _ := slices.BinarySearch(d.Groups, mouse)
		d.Group = append(d.Group, k)
	}
	return d, nil
}

// loadAdult reads the census set's training rows, then its test rows: 6 numbers
// and 8 categories with levels from both. Where cells of a category are missing
// (work class, occupation, country), all levels have a column and missing is 0
// in each; the others go without their first level. That makes
//
//	m = 6 + 8 + 15 + 6 + 14 + 5 + 4 + 1 + 41 = 100
func loadAdult(dir string) (*Data, error) {
	return adult(dir, func(c *coding, names ...string) {
		for _, name := range names {
			if col := c.want(name); col != nil && col.firstMissing > 0 {
				c.levels(0, name)
			} else {
				c.levels(1, name)
			}
		}
	}, "Categories are one-hot; where cells are missing (workclass, occupation, native_country) missing is the level without a column, elsewhere the first.")
}

// adult reads the training rows and below them the test rows, whose categories levels
// codes.
func adult(dir string, levels func(c *coding, names ...string), note string) (*Data, error) {
	f, err := tableOf(dir, adultFiles[0].Path)
	if err != nil {
		return nil, err
	}
	test, err := tableOf(dir, adultFiles[1].Path)
	if err != nil {
		return nil, err
	}
	train := f.n
	if err := f.append(test); err != nil {
		return nil, err
	}
	c := &coding{frame: f}
	c.numbers("age", "fnlwgt", "education_num", "capital_gain", "capital_loss", "hours_per_week")
	levels(c, "workclass", "education", "marital_status", "occupation", "relationship", "race", "sex", "native_country")
	d, err := c.data(nil, c.label("label"), 1, note)
	if err != nil {
		return nil, err
	}
	for i := train; i < f.n; i++ {
		d.Test = append(d.Test, i)
	}
	return d, nil
}

// append puts the rows of g, which must have the same columns, below those of f.
func (f *frame) append(g *frame) error {
	if len(f.columns) != len(g.columns) {
		return g.errorf("%d columns, %s has %d", len(g.columns), f.file, len(f.columns))
	}
	for j, c := range f.columns {
		o := g.columns[j]
		if c.name != o.name {
			return g.errorf("column %d is %q, in %s it is %q", j+1, o.name, f.file, c.name)
		}
		for i, k := range o.codes {
			if k >= 0 {
				c.addText([]byte(o.texts[k]), i+2)
			} else {
				c.addMissing(i + 2)
			}
		}
	}
	f.n += g.n
	return nil
}

// eicuFeatures are 25 columns of the APACHE admission data. [nosaka2025] does not
// name its own 25. Left out are scores, columns that are empty in more than
// half of the rows, and those that are only known at the end of the stay.
var eicuFeatures = []string{
	"age", "male", "admissionheight", "admissionweight",
	"intubated", "vent", "dialysis", "eyes", "motor", "verbal",
	"wbc", "temperature", "respiratoryrate", "sodium", "heartrate", "meanbp",
	"hematocrit", "creatinine", "bun", "glucose",
	"electivesurgery", "diabetes", "immunosuppression", "metastaticcancer", "readmit",
}

// loadEICU reads the demonstration part of the eICU Collaborative Research
// Database: what is learned is the length of the stay in the unit, in days.
func loadEICU(dir string) (*Data, error) {
	f, err := tableOf(dir, "eicu_demo/eicu_demo_mortality.csv.gz")
	if err != nil {
		return nil, err
	}
	stays, err := tableOf(dir, "eicu_demo/raw_patient.csv.gz")
	if err != nil {
		return nil, err
	}
	c := &coding{frame: f}
	c.numbers(eicuFeatures...)
	for j, col := range c.cols {
		if c.names[j] == "electivesurgery" {
			imputed(col, func([]float64) float64 { return 0 })
		}
		imputed(col, median)
	}
	p := &coding{frame: stays}
	id, minutes := p.want("patientunitstayid"), p.want("unitdischargeoffset")
	if p.err != nil {
		return nil, p.err
	}
	days := make(map[float64]float64, stays.n)
	for i, v := range id.numbers {
		days[v] = minutes.numbers[i] / (24 * 60)
	}
	los := mat.NewDense(max(1, f.n), 1, nil)
	if id = c.want("patientunitstayid"); id != nil {
		for i, v := range id.numbers {
			stay, ok := days[v]
			if !ok || stay != stay {
				return nil, f.errorf("row %d: the stay has no length in %s", i+1, stays.file)
			}
			los.Set(i, 0, stay)
		}
	}
	hospitals := c.label("hospitalid")
	d, err := c.data(nil, learn.Target{Values: los}, -1,
		"Learned: days in the unit ("+strconv.Itoa(f.n)+" stays). A missing number is the median of its column over all rows, a missing electivesurgery is 0.",
		"The groups are the hospitals, each with at most 10 stays: a party is made of several.")
	if err != nil {
		return nil, err
	}
	d.Groups, d.Group = hospitals.Classes, hospitals.Labels
	return d, nil
}
