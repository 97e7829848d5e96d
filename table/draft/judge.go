package draft

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"concord/table"
)

// judgement is what is proposed for a column.
type judgement struct {
	// kind is a contract's type of feature; "" leaves the column out.
	kind   string
	levels []string // of a boolean, by a pair that is known
	layout string   // of a date
	few    int      // different values of a category, and of whole numbers that may be one
	id     bool     // tells people apart, as it seems
	codes  []string // that mark missing cells here, as it seems
	notes  []string // what to think about; nothing in it is a value of the file
	why    string   // it is left out
}

// mostCategory is how many levels a category may have to be taken for one.
const mostCategory = 50

func (c *column) judge() judgement {
	j := c.weighCodes()
	n := c.filled()
	different, counted := c.different()
	layout, question := c.dates.layout(n)
	switch {
	case c.name == "":
		return j.out("has no name in the header; give it one")
	case c.double:
		return j.out("has the name of a column further left; give it another")
	case c.invalid > 0:
		return j.out("is not valid UTF-8; save the file as UTF-8")
	case n == 0:
		return j.out("has no value")
	case counted && different == 1:
		return j.out("has one and the same value in all rows that have any: at this site it says nothing")
	}
	numeric := c.numbers + c.commas
	switch {
	case c.identifies(n, numeric):
		j.id = true
		return j.out("looks like an identifier: write it as subject: if it tells people apart")
	case numeric == n:
		c.judgeNumber(&j, n)
	case layout != "":
		j.kind, j.layout = "date", layout
	case question != "":
		return j.out("holds " + question)
	case c.dates.mostly(n) != "":
		j.kind, j.layout = "date", c.dates.mostly(n)
		j.note("some cells are no dates of this layout, or not in the calendar: mend them, or name the marks of missing values in missing_values")
	case counted && c.pair() != nil:
		j.kind, j.levels = "boolean", c.pair()
	case 10*numeric >= 9*n:
		j.kind = "numeric"
		j.note("some cells are no numbers: mend them, or name the marks of missing values in missing_values")
	case counted && c.long == 0 && different <= mostCategory && repeats(n, different):
		j.kind, j.few = "category", different
		if folded := c.folded(); folded < different {
			j.note("some of the levels differ in capitals only: spell them alike")
		}
		if numeric > 0 {
			j.note("some of the levels are numbers and some are not")
		}
	default:
		return j.out("is text: a study takes numbers, dates and categories; make one of it if it matters, such as present or absent")
	}
	if c.empty > 0 || j.codes != nil {
		j.note("some cells are missing, and their rows are refused without a rule: %s", missingRule(j.kind))
	}
	return j
}

func (c *column) judgeNumber(j *judgement, n int64) {
	different, counted := c.different()
	j.kind = "numeric"
	if c.commas > 0 {
		j.note("numbers have a decimal comma here: read the file with --decimal-comma")
	}
	if c.commas == 0 && counted && different == 2 && c.levels["0"] > 0 && c.levels["1"] > 0 {
		j.kind = "boolean"
		return
	}
	if counted && different <= 12 && repeats(n, different) && c.whole == c.numbers && c.commas == 0 {
		j.few = different
		j.note("%d different whole numbers: if they stand for categories, write type: category, or ordinal if they have an order, and levels: [...]", different)
	}
	if c.all && c.whole == c.numbers && c.cells >= 30 {
		j.note("all values differ: if it is an identifier, take it out")
	}
}

// repeats reports whether values repeat as levels do: n of them, so many different.
func repeats(n int64, different int) bool {
	return n >= 2*int64(different) && (different <= 10 || n >= 5*int64(different))
}

// weighCodes decides which cells that look like marks of missing values are some: a
// number only where it stands out, minus nines among numbers that are not negative, and
// nines that are longer than all others. The rest is counted as values again.
func (c *column) weighCodes() judgement {
	var j judgement
	for _, code := range slices.Sorted(maps.Keys(c.codes)) {
		x, isNumber := table.ParseNumber(code, false)
		standsOut := !isNumber || x < 0 && !c.negative || x > 0 && wholeDigits(x) > c.digits
		if standsOut && c.numbers+c.commas+c.dates.iso+c.dates.dots+c.dates.slashes+c.dates.isoTime > 0 {
			j.codes = append(j.codes, code)
			continue
		}
		if !isNumber && !explicitCode(code) {
			j.codes = append(j.codes, code)
			continue
		}
		if !isNumber && explicitCode(code) {
			// "none" and "unknown" may well be levels of a category.
			j.note("%q may mean missing, or be a level", code)
		}
		k := c.codes[code]
		delete(c.codes, code)
		if isNumber {
			c.numbers += k
			c.whole += k
			c.all = c.all && k == 1
			c.successive = false
		}
		if c.levels != nil {
			c.levels[code] += k
		}
	}
	return j
}

// explicitCode says whether a mark is a word that a category may have as a level.
func explicitCode(code string) bool {
	switch strings.ToLower(code) {
	case "none", "unknown", "unbekannt", "missing", "-":
		return true
	}
	return false
}

// identifierWords are words of a name that an identifier has.
var identifierWords = []string{"id", "ids", "mrn", "patient", "patientid", "subject", "subjectid", "person", "uid", "uuid", "guid", "key", "case", "caseid", "nr", "number", "recordid", "stayid"}

// identifies reports whether a column looks like an identifier: by its name and because
// values are whole numbers or text, or because every row has another one.
func (c *column) identifies(n, numeric int64) bool {
	words := strings.FieldsFunc(strings.ToLower(c.name), func(r rune) bool { return strings.ContainsRune(" _-.#", r) })
	named := slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains(identifierWords, w) || strings.HasSuffix(w, "id") && len(w) > 4
	})
	different, counted := c.different()
	many := !counted || int64(different)*3 >= n || different > mostCategory
	switch {
	case n < 2 || numeric == n && c.whole < numeric:
		return false
	case named && many:
		return true
	case !c.all || n < 10:
		return false
	}
	return numeric < n && c.dates.layoutless() || numeric == n && c.successive
}

func (d *dates) layoutless() bool { return d.iso+d.isoTime+d.dots+d.slashes == 0 }

// pairs are spellings of no and yes that are known without the file, no first.
var pairs = [][2]string{{"false", "true"}, {"no", "yes"}, {"n", "y"}, {"f", "t"}, {"nein", "ja"}, {"n", "j"}, {"non", "oui"}, {"absent", "present"}, {"negative", "positive"}, {"off", "on"}}

// pair is the column's two levels as they are spelled, no first, if they are a known
// pair; nil if not.
func (c *column) pair() []string {
	if len(c.levels) != 2 {
		return nil
	}
	two := slices.Sorted(maps.Keys(c.levels))
	for _, p := range pairs {
		a, b := strings.ToLower(two[0]), strings.ToLower(two[1])
		switch {
		case a == p[0] && b == p[1]:
			return two
		case a == p[1] && b == p[0]:
			return []string{two[1], two[0]}
		}
	}
	return nil
}

// folded is how many levels there are when capitals do not count.
func (c *column) folded() int {
	seen := map[string]bool{}
	for level := range c.levels {
		seen[strings.ToLower(level)] = true
	}
	return len(seen)
}

func (j *judgement) note(format string, args ...any) {
	j.notes = append(j.notes, fmt.Sprintf(format, args...))
}

func (j judgement) out(why string) judgement {
	j.why = why
	return j
}

// missingRule says what a contract can say about missing cells of a kind.
func missingRule(kind string) string {
	if kind == "category" {
		return "missing: common (the most common level of all sites) or own (a level of its own)"
	}
	return "missing: mean (of all sites)"
}
