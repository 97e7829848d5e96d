package profile

import (
	"math"

	"concord/contract"
	"concord/table"
)

// ReportFormat is the version of a report's JSON.
const ReportFormat = 1

// Report is what [Survey] found, for the people of the site. Its JSON is stable
// (docs/formats.md).
type Report struct {
	Format int `json:"format"`
	// Stays reminds whoever finds the file.
	Stays string `json:"stays"`
	// Study is the contract's name, File the file's, Source what it is.
	Study  string `json:"study"`
	File   string `json:"file"`
	Source string `json:"source,omitempty"`
	// Fits says whether there are no problems.
	Fits bool `json:"fits"`
	// Problems are why the file cannot be used as it is; Remarks are to be thought about.
	Problems []Finding `json:"problems"`
	Remarks  []Finding `json:"remarks"`
	// Complete says whether all of the file was read, and every column of the contract is
	// there. Otherwise the figures are of the part that could be.
	Complete bool `json:"complete"`
	// Rows are those that were read; BadRows could not be divided into cells.
	Rows    int `json:"rows"`
	BadRows int `json:"bad_rows,omitempty"`
	// People is nil where the contract names no subject.
	People *People `json:"people,omitempty"`
	// Equal is how many rows are equal to an earlier one in all features and the label;
	// beyond eight million different rows an estimate.
	Equal      int64           `json:"equal_rows"`
	EqualAbout bool            `json:"equal_rows_estimated,omitempty"`
	Features   []FeatureReport `json:"features"`
	Label      LabelReport     `json:"label"`
}

// People says whose the rows are.
type People struct {
	Count int `json:"count"`
	// Several is how many people have more than one row, Most the most rows of one.
	Several int `json:"with_several_rows"`
	Most    int `json:"most_rows"`
	// Unknown is how many rows do not say whose they are.
	Unknown int `json:"rows_of_nobody,omitempty"`
}

// FeatureReport is about one feature of the contract.
type FeatureReport struct {
	Name string `json:"name"`
	Type string `json:"type"`
	Unit string `json:"unit,omitempty"`
	// Column is the file's, from 1, or 0 where it has none.
	Column int `json:"column"`
	// Count is how many cells have a value, those outside the range among them. Missing
	// are the cells without one. Rule is the contract's for them.
	Count   int64  `json:"count"`
	Missing int64  `json:"missing"`
	Rule    string `json:"missing_rule,omitempty"`
	// Outside are values outside the range, Unknown those that are none of the contract's
	// levels, Malformed those that cannot be read as the type says.
	Outside   int64 `json:"outside,omitempty"`
	Unknown   int64 `json:"unknown_levels,omitempty"`
	Malformed int64 `json:"malformed,omitempty"`
	// Of numbers and dates, in the contract's unit. The smallest and the largest are cells
	// of the file. The deviation is that of a sample.
	Min       *float64 `json:"min,omitempty"`
	Max       *float64 `json:"max,omitempty"`
	Mean      *float64 `json:"mean,omitempty"`
	Deviation *float64 `json:"deviation,omitempty"`
	// Levels count the rows of each level, in the contract's order.
	Levels []LevelCount `json:"levels,omitempty"`
	// Constant says that all values are equal.
	Constant bool `json:"constant,omitempty"`
	// Rest are the figures of the other sites together, where pooled figures were given.
	Rest *RestReport `json:"rest,omitempty"`
}

// RestReport is a column of numbers at the other sites.
type RestReport struct {
	Count     float64 `json:"count"`
	Mean      float64 `json:"mean"`
	Deviation float64 `json:"deviation"`
}

// LevelCount is how many rows have a level.
type LevelCount struct {
	Level string `json:"level"`
	Rows  int64  `json:"rows"`
}

// LabelReport is about the label: classes, or a number.
type LabelReport struct {
	Name      string       `json:"name"`
	Type      string       `json:"type"`
	Count     int64        `json:"count"`
	Classes   []LevelCount `json:"classes,omitempty"`
	Min       *float64     `json:"min,omitempty"`
	Max       *float64     `json:"max,omitempty"`
	Mean      *float64     `json:"mean,omitempty"`
	Deviation *float64     `json:"deviation,omitempty"`
}

// Finding is one thing that is wrong, or that is to be thought about.
type Finding struct {
	// Kind is one of "file", "header", "row", "malformed", "missing", "outside", "level",
	// "constant", "size", "label", "subject", "floor", "unit", "differs", "equal".
	Kind    string `json:"kind"`
	Feature string `json:"feature,omitempty"`
	// Text says what it is and Cure what helps, or "".
	Text string `json:"text"`
	Cure string `json:"cure,omitempty"`
	// Count is how many cells or rows it is about, Lines where the first of them are.
	Count int64 `json:"count,omitempty"`
	Lines []int `json:"lines,omitempty"`
	// Rows says that Lines are numbers of rows, because the source has no lines.
	Rows bool `json:"lines_are_rows,omitempty"`
	// Evidence is that of a [Suspicion], and Factor and Offset its first conversion.
	Evidence float64 `json:"evidence,omitempty"`
	Factor   float64 `json:"factor,omitempty"`
	Offset   float64 `json:"offset,omitempty"`
}

// stays is what every report says of itself.
const stays = "figures of this site's rows, smallest and largest values among them: keep it at the site"

// Problem adds what makes the file unfit.
func (r *Report) Problem(f Finding) {
	r.Problems = append(r.Problems, f)
	r.Fits = false
}

// Remark adds what is to be thought about.
func (r *Report) Remark(f Finding) { r.Remarks = append(r.Remarks, f) }

// fill writes the collector's figures into the report. columns has the file's column of
// each feature.
func (c *Collector) fill(r *Report, columns []int) {
	c.flush()
	r.Rows = c.rows
	r.Equal, r.EqualAbout = c.equal.again(), !c.equal.exact()
	if c.contract.Subject != "" {
		p := &People{Unknown: c.noPerson}
		for _, n := range c.people {
			if n > 0 {
				p.Count++
			}
			if n > 1 {
				p.Several++
			}
			p.Most = max(p.Most, int(n))
		}
		r.People = p
	}
	for j, f := range c.contract.Features {
		of := &c.features[j]
		out := FeatureReport{Name: f.Name, Type: f.Type, Unit: f.UnitText(), Column: columns[j], Count: of.count(), Rule: f.Missing,
			Outside: of.faults[table.Outside], Unknown: of.faults[table.UnknownLevel], Malformed: of.faults[table.Malformed], Constant: of.constant()}
		if columns[j] > 0 {
			out.Missing = int64(c.rows) - out.Count - out.Unknown - out.Malformed
		}
		out.Levels = levelCounts(f.Spellings(), of.levels)
		if of.levels == nil {
			out.Min, out.Max, out.Mean, out.Deviation = of.moments.figures()
		}
		r.Features = append(r.Features, out)
	}
	l := c.contract.Label
	r.Label = LabelReport{Name: l.Name, Type: l.Type, Count: c.label.count(), Classes: levelCounts(l.Levels, c.label.levels)}
	if c.label.levels == nil {
		r.Label.Min, r.Label.Max, r.Label.Mean, r.Label.Deviation = c.label.moments.figures()
	}
}

func (m *Moments) figures() (low, high, mean, deviation *float64) {
	return number(m.Min()), number(m.Max()), number(m.Mean()), number(math.Sqrt(m.Variance()))
}

func levelCounts(names []string, counts []int64) []LevelCount {
	var out []LevelCount
	for k, n := range counts {
		out = append(out, LevelCount{names[k], n})
	}
	return out
}

// ClassCounts are the rows of each class, nil where the label is a number.
func (r *Report) ClassCounts() []int {
	var out []int
	for _, c := range r.Label.Classes {
		out = append(out, int(c.Rows))
	}
	return out
}

// PeopleCount is how many people there are, a row a person where the contract names no
// subject.
func (r *Report) PeopleCount() int {
	if r.People == nil {
		return r.Rows
	}
	return r.People.Count
}

// Side is a feature's column at the other sites together, from pooled figures.
func pooledSide(f contract.FeatureFigures) Side {
	s := Side{N: float64(f.Count), Mean: f.Mean}
	if f.Count > 1 {
		s.Variance = f.Variance * s.N / (s.N - 1)
	}
	return s
}

// Report is what has been counted so far, without judgement.
func (c *Collector) Report() *Report {
	r := &Report{Format: ReportFormat, Stays: stays, Study: c.contract.Name, Problems: []Finding{}, Remarks: []Finding{}, Complete: true, Fits: true}
	columns := make([]int, len(c.features))
	for j := range columns {
		columns[j] = j + 1
	}
	c.fill(r, columns)
	return r
}

// Wrong is how many cells are outside the range, have unknown levels or cannot be read.
func (f FeatureReport) Wrong() int64 { return f.Outside + f.Unknown + f.Malformed }
