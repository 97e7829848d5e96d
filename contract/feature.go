package contract

import (
	"concord/wire"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Types of features.
const (
	Numeric  = "numeric"
	Category = "category"
	Boolean  = "boolean"
	Ordinal  = "ordinal"
	Date     = "date"
)

// Rules for missing values; without one they are refused.
const (
	MissingRefuse   = ""
	MissingMean     = "mean"
	MissingCommon   = "common"
	MissingOwn      = "own"
	MissingConstant = "constant"
)

// OwnLevel is what the level of missing values is called that the rule own adds.
const OwnLevel = "(missing)"

var (
	featureTypes = []string{Numeric, Category, Boolean, Ordinal, Date}
	// missingRules are those of each type, refuse excepted.
	missingRules = map[string][]string{
		Numeric:  {MissingMean, MissingConstant},
		Category: {MissingCommon, MissingOwn, MissingConstant},
		Boolean:  {MissingMean, MissingCommon, MissingConstant},
		Ordinal:  {MissingMean, MissingCommon, MissingConstant},
		Date:     {MissingMean, MissingConstant},
	}
	dateAs = []string{"days", "age"}
)

// Feature is one column of a file. Its raw value is a number: a numeric one as it is, a
// category or ordinal as the index of its level, from 0, a boolean as 0 or 1, a date as
// days or years, and NaN where it is missing.
type Feature struct {
	Name string `json:"name"`
	// Type is "numeric", "category", "boolean", "ordinal" or "date".
	Type string `json:"type"`
	// Levels are those of a category, and of an ordinal in their order, as the files
	// spell them; of a boolean its two spellings, that of false first, or none for false
	// and true, 0 and 1.
	Levels []string `json:"levels,omitempty"`
	// Unit is told to people; it is not converted.
	Unit string `json:"unit,omitempty"`
	// Range holds the smallest and the largest plausible value. A training
	// value outside is an error at the site. That of a date is in days or years.
	Range *Range `json:"range,omitempty"`
	// As says what a date becomes: "days" since From, or the "age" in years at From.
	As string `json:"as,omitempty"`
	// From is that day, as YYYY-MM-DD.
	From string `json:"from,omitempty"`
	// Layout is how the files spell a date: YYYY, MM or M, DD or D in any order, with
	// the same - . / or space between them, or nothing.
	Layout string `json:"layout,omitempty"`
	// Missing says what takes the place of a missing value: "" for nothing, it is
	// refused; "mean", the pooled mean; "common", the pooled most common level; "own", a
	// level of its own; "constant", Fill.
	Missing string `json:"missing,omitempty"`
	// Fill is the raw value of the rule constant.
	Fill *float64 `json:"fill,omitempty"`
}

// Columns is how many encoded columns the feature has: one for each level of a category
// (one more where missing values are a level of their own), otherwise one.
func (f Feature) Columns() int { return max(1, f.Indexed()) }

// Indexed is how many columns of 0 and 1 the feature has, or 0 for a number: what
// [Preparation] has in Levels.
func (f Feature) Indexed() int {
	switch {
	case f.Type != Category:
		return 0
	case f.Missing == MissingOwn:
		return len(f.Levels) + 1
	}
	return len(f.Levels)
}

// Spellings are the levels of a category or an ordinal, and the two words of a boolean,
// in the order of the raw values; nil for a number or a date.
func (f Feature) Spellings() []string {
	if f.Type == Boolean && f.Levels == nil {
		return []string{"false", "true"}
	}
	return f.Levels
}

// Ranged says whether a range belongs to the feature: it is a number or a date.
func (f Feature) Ranged() bool { return f.Type == Numeric || f.Type == Date }

// Bounds are the smallest and the largest raw value that a training row may have; ok is
// false for a number without a range.
func (f Feature) Bounds() (lo, hi float64, ok bool) {
	switch {
	case !f.Ranged():
		return 0, float64(len(f.Spellings()) - 1), true
	case f.Range == nil:
		return math.Inf(-1), math.Inf(1), false
	}
	return f.Range.Min, f.Range.Max, true
}

// UnitText is the unit as people read it: that of the contract, or what a date becomes.
func (f Feature) UnitText() string {
	switch {
	case f.Type != Date:
		return f.Unit
	case f.As == "age":
		return "years before " + f.From
	}
	return "days since " + f.From
}

// DaysOfYear turns days into years of an age.
const DaysOfYear = 365.25

// DateLayout is the layout in the words of package time.
func (f Feature) DateLayout() string {
	layout, _ := dateLayout(f.Layout)
	return layout
}

// DateValue is the raw value of a day: days since From, or the years from the day to
// From, in days over 365.25.
func (f Feature) DateValue(day time.Time) (float64, error) {
	from, err := time.Parse(time.DateOnly, f.From)
	if err != nil {
		return 0, fmt.Errorf("contract: feature %q: from is %q, must be a day such as 2020-01-31", f.Name, f.From)
	}
	y, m, d := day.Date()
	days := float64(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix()-from.Unix()) / (24 * 60 * 60)
	if f.As == "age" {
		return -days / DaysOfYear, nil
	}
	return days, nil
}

// dateLayout reads a layout of years, months and days.
func dateLayout(s string) (string, error) {
	bad := fmt.Errorf("must have YYYY, MM or M, and DD or D, with the same - . / or space between them, such as DD.MM.YYYY")
	rest, out := s, ""
	var separators []string
	seen := map[byte]bool{}
	for rest != "" {
		n := 1
		for n < len(rest) && rest[n] == rest[0] {
			n++
		}
		word := map[string]string{"YYYY": "2006", "MM": "01", "M": "1", "DD": "02", "D": "2"}[rest[:n]]
		switch {
		case word != "" && !seen[rest[0]]:
			seen[rest[0]] = true
			out += word
		case n == 1 && strings.Contains("-./ ", rest[:1]) && out != "" && n < len(rest):
			separators = append(separators, rest[:1])
			out += rest[:1]
		default:
			return "", bad
		}
		rest = rest[n:]
	}
	if len(seen) != 3 || len(separators) != 0 && (len(separators) != 2 || separators[0] != separators[1]) {
		return "", bad
	}
	if separators == nil && len(s) != len("YYYYMMDD") { // 1112020 is two days
		return "", bad
	}
	return out, nil
}

// Column is one encoded column of X.
type Column struct {
	// Feature is the index of its feature.
	Feature int
	// Level is the index of the level that is 1 in it, or -1 for a number.
	Level int
	// Name is that of the feature, or "feature=level".
	Name string
}

// Columns are the encoded columns in their order.
func (c *Contract) Columns() []Column {
	out := make([]Column, 0, c.M())
	for j, f := range c.Features {
		n := f.Indexed()
		if n == 0 {
			out = append(out, Column{j, -1, f.Name})
		}
		for k := range n {
			level := OwnLevel
			if k < len(f.Levels) {
				level = f.Levels[k]
			}
			out = append(out, Column{j, k, f.Name + "=" + level})
		}
	}
	return out
}

// ColumnNames are the names of the encoded columns in order.
func (c *Contract) ColumnNames() []string {
	var names []string
	for _, column := range c.Columns() {
		names = append(names, column.Name)
	}
	return names
}

// M is the number of encoded columns, m: see [Contract.Columns].
func (c *Contract) M() int {
	m := 0
	for _, f := range c.Features {
		m += f.Columns()
	}
	return m
}

// Width is how many columns the basis sees: those of the lift, or m.
func (c *Contract) Width() int {
	if c.Lift != nil {
		return c.Lift.Dim
	}
	return c.M()
}

// free is how many directions what the basis sees can vary in: the columns of a category
// always sum to 1.
func (c *Contract) free() int {
	if c.Lift != nil {
		return c.Lift.Dim
	}
	n := 0
	for _, f := range c.Features {
		n += f.free()
	}
	return n
}

func (f Feature) free() int { return max(1, f.Indexed()-1) }

// maxPooled bounds the values of which figures are pooled, and one over it the width of
// their range, so that squares and their sums stay far from the ends of float64.
const maxPooled = 1e60

// maxEncodings bounds features × encoded columns where there are levels: the model's
// graph has two matrices of that size.
const maxEncodings = 1 << 24

func (c *Contract) validateFeatures() error {
	if err := between("the number of features", len(c.Features), 2, MaxFeatures); err != nil {
		return err
	}
	seen := map[string]int{}
	levels := false
	for j, f := range c.Features {
		if err := checkText(fmt.Sprintf("features[%d].name", j+1), f.Name); err != nil {
			return err
		}
		if k, ok := seen[f.Name]; ok {
			return refuse(fmt.Sprintf("features[%d].name", j+1), "features %d and %d are both named %q", k+1, j+1, f.Name)
		}
		seen[f.Name] = j
		if err := f.validate(); err != nil {
			return inFeature(j, f.Name, err)
		}
		if f.Ranged() && f.Range == nil {
			if c.Standardise == "range" {
				return refuse(fmt.Sprintf("features[%d].range", j+1), "feature %q has no range, which standardise: range needs; write range: [smallest, largest]", f.Name)
			}
			if c.Pooling != nil {
				return refuse(fmt.Sprintf("features[%d].range", j+1), "feature %q has no range, and figures are pooled: sums are hidden only between known bounds; write range: [smallest, largest]", f.Name)
			}
		}
		if r := f.Range; r != nil && c.Pooling != nil && (max(math.Abs(r.Min), math.Abs(r.Max)) > maxPooled || r.Max-r.Min < 1/maxPooled) {
			return refuse(fmt.Sprintf("features[%d].range", j+1), "feature %q: range is [%g, %g], beyond what figures are pooled of: give the column in other units", f.Name, r.Min, r.Max)
		}
		levels = levels || f.Indexed() > 0
	}
	if err := between("the number of columns, levels counted", c.M(), 2, MaxFeatures); err != nil {
		return err
	}
	if !levels {
		return nil
	}
	if n := int64(len(c.Features)) * int64(c.M()); n > maxEncodings {
		return refuse("features", "features × columns, levels counted, is %d, must be at most %d", n, maxEncodings)
	}
	for _, column := range c.Columns() {
		if k, ok := seen[column.Name]; ok && k != column.Feature {
			return refuse(fmt.Sprintf("features[%d].name", column.Feature+1), "the column %q is of feature %q and of feature %q; rename one", column.Name, c.Features[k].Name, c.Features[column.Feature].Name)
		}
		seen[column.Name] = column.Feature
	}
	return nil
}

// validate checks what each type has. Errors do not say which feature it is.
func (f Feature) validate() error {
	if !slices.Contains(featureTypes, f.Type) {
		hint := ""
		if f.Type == "text" || f.Type == "string" {
			hint = "; free text has no place in a model: make categories of it, or leave it out"
		}
		return refuse("type", "type is %q, must be %s%s", f.Type, orList(featureTypes), hint)
	}
	for _, s := range []struct {
		key   string
		set   bool
		types []string
	}{
		{"levels", f.Levels != nil, []string{Category, Ordinal, Boolean}}, {"unit", f.Unit != "", []string{Numeric}},
		{"range", f.Range != nil, []string{Numeric, Date}}, {"as", f.As != "", []string{Date}},
		{"from", f.From != "", []string{Date}}, {"layout", f.Layout != "", []string{Date}},
	} {
		if s.set && !slices.Contains(s.types, f.Type) {
			return refuse(s.key, "%s belongs to type %s, this one is %s", s.key, orList(s.types), f.Type)
		}
	}
	if f.Unit != "" {
		if err := checkText("unit", f.Unit); err != nil {
			return err
		}
	}
	if f.Range != nil {
		lo, hi := f.Range.Min, f.Range.Max
		if !wire.Finite(lo) || !wire.Finite(hi) || lo >= hi || !wire.Finite(hi-lo) {
			return refuse("range", "range is [%g, %g], must be two finite numbers, the smaller first", lo, hi)
		}
	}
	if err := f.validateLevels(); err != nil {
		return err
	}
	if f.Type == Date {
		if err := oneOf("as", f.As, dateAs); err != nil {
			return err
		}
		if day, err := time.Parse(time.DateOnly, f.From); err != nil || day.Year() < 1 {
			return refuse("from", "from is %q, must be a day such as 2020-01-31, from which the date is counted", f.From)
		}
		if _, err := dateLayout(f.Layout); err != nil {
			return refuse("layout", "layout is %q, %v", f.Layout, err)
		}
	}
	return f.validateMissing()
}

func (f Feature) validateLevels() error {
	switch n := len(f.Levels); {
	case f.Type == Boolean && f.Levels != nil && n != 2:
		return refuse("levels", "levels has %d words, a boolean has two, that of false first", n)
	case f.Type == Category || f.Type == Ordinal:
		if err := between("the number of levels", n, 2, MaxLevels); err != nil {
			return err
		}
	}
	seen := map[string]bool{}
	for k, level := range f.Levels {
		if err := checkText(fmt.Sprintf("levels[%d]", k+1), level); err != nil {
			return err
		}
		if seen[level] {
			return refuse("levels", "levels has %q twice", level)
		}
		if level == OwnLevel && f.Missing == MissingOwn {
			return refuse("levels", "levels has %q, which is what missing: own adds", level)
		}
		seen[level] = true
	}
	return nil
}

func (f Feature) validateMissing() error {
	rules := missingRules[f.Type]
	if f.Missing != MissingRefuse && !slices.Contains(rules, f.Missing) {
		return refuse("missing", "missing is %q, must be %s for type %s", f.Missing, orList(append([]string{"refuse"}, rules...)), f.Type)
	}
	if f.Missing != MissingConstant {
		if f.Fill != nil {
			return refuse("fill", "fill belongs to missing: constant")
		}
		return nil
	}
	if f.Fill == nil {
		return refuse("missing", "missing is constant and fill is not given: what takes the place of a missing value")
	}
	lo, hi, _ := f.Bounds()
	v := *f.Fill
	if f.Ranged() {
		if !wire.Finite(v) || v < lo || v > hi {
			return refuse("fill", "fill is %g, must be a finite number inside the range", v)
		}
	} else if v != math.Trunc(v) || v < lo || v > hi {
		return refuse("fill", "fill is %g, must be one of the levels: %s", v, wire.List(f.Spellings(), 8))
	}
	return nil
}

// usesPooled says whether the rule for missing values needs pooled figures.
func (f Feature) usesPooled() bool { return f.Missing == MissingMean || f.Missing == MissingCommon }

// orList is "a, b or c".
func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// CheckColumn says what is wrong with a text as the name of a column, or as a level:
// nil if nothing is.
func CheckColumn(name string) error {
	if err := wire.CheckText("the name", name); err != nil {
		return fmt.Errorf("contract: %w", err)
	}
	return nil
}
