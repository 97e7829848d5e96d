package draft

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"concord/contract"
)

// YAML writes study.yaml with its blanks. Once they are filled in, contract.ParseYAML takes
// it.
func (d *Draft) YAML(w io.Writer) error {
	var b bytes.Buffer
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# A first study.yaml, drafted from the shape of one site's file. Nothing in it is a value of a row%s.", map[bool]string{
		false: "", true: "\n# but the levels of categories, which were asked for: look at them before you pass this file on"}[d.opt.Levels])
	line("# Replace every %s by what the sites agree on; a contract is not made before. Ranges are the", contract.Blank)
	line("# smallest and the largest plausible value at any site, such as [0, 120], and no figures of data.")
	line("name: %s", contract.Blank)
	line("parties: %s  # how many sites take part", contract.Blank)

	var features, left []string
	var subjects []*column
	codes := map[string][]string{}
	for _, c := range d.columns {
		if c.name != "" && (c.name == d.opt.Label || c.name == d.opt.Subject) && !c.double {
			continue
		}
		j := c.judge()
		if j.id {
			subjects = append(subjects, c)
		}
		if contract.CheckColumn(c.name) != nil && c.name != "" {
			j.why = "has a name that a contract cannot have: invisible characters, two spaces in a row, or more than 200 characters; rename it"
		}
		if j.why != "" {
			left = append(left, fmt.Sprintf("#   %s %s", c.title(), j.why))
			continue
		}
		for _, code := range j.codes {
			codes[code] = append(codes[code], c.name)
		}
		features = append(features, d.feature(c, j))
	}
	if len(codes) > 0 {
		marks := slices.Sorted(maps.Keys(codes))
		line("# These look like marks of missing values; take away the # where they are:")
		line("# missing_values: [%s]", strings.Join(quoteAll(marks), ", "))
		for _, code := range marks {
			line("#   %s in %s", quote(code), short(codes[code]))
		}
	}
	line("features:")
	if len(features) == 0 {
		line("  # no column of this file can be one")
		line("  - %s", contract.Blank)
	}
	for _, f := range features {
		b.WriteString(f)
	}
	if left != nil {
		line("# Left out; columns that are not in a contract are refused: take them out of the file too, or of the query:")
		for _, text := range left {
			line("%s", text)
		}
	}
	d.label(line)
	switch {
	case d.opt.Subject != "":
		line("subject: %s", quote(d.opt.Subject))
	case len(subjects) > 0:
		line("# Rows of one person count once for the floors where a column says whose they are:")
		for _, c := range subjects {
			if contract.CheckColumn(c.name) == nil {
				line("# subject: %s", quote(c.name))
			}
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// feature writes one feature.
func (d *Draft) feature(c *column, j judgement) string {
	var b strings.Builder
	for _, note := range j.notes {
		fmt.Fprintf(&b, "  # %s\n", note)
	}
	fmt.Fprintf(&b, "  - name: %s\n", quote(c.name))
	switch j.kind {
	case "numeric":
		fmt.Fprintf(&b, "    type: numeric\n    unit: %s  # or take the line out\n    range: %s%s\n", contract.Blank, contract.Blank, often(c.name))
	case "boolean":
		b.WriteString("    type: boolean\n")
		if j.levels != nil && !slices.Equal(j.levels, []string{"false", "true"}) {
			fmt.Fprintf(&b, "    levels: [%s]\n", strings.Join(quoteAll(j.levels), ", "))
		}
	case "category":
		fmt.Fprintf(&b, "    type: category  # or ordinal, if the levels have an order\n    levels: %s\n", d.levels(c, j.few))
	case "date":
		fmt.Fprintf(&b, "    type: date\n    layout: %s\n    as: %s  # days since the day below, or age in years on it\n    from: %s  # YYYY-MM-DD\n    range: %s  # in days, or in years\n",
			j.layout, contract.Blank, contract.Blank, contract.Blank)
	}
	return b.String()
}

// levels are the column's, or a blank and their number.
func (d *Draft) levels(c *column, n int) string {
	if d.opt.Levels {
		return "[" + strings.Join(quoteAll(slices.Sorted(maps.Keys(c.levels))), ", ") + "]"
	}
	return fmt.Sprintf("%s  # %d at this site, as they are spelled in the file; --levels writes them", contract.Blank, n)
}

// label writes what is predicted.
func (d *Draft) label(line func(string, ...any)) {
	line("label:")
	i := slices.IndexFunc(d.columns, func(c *column) bool { return d.opt.Label != "" && c.name == d.opt.Label })
	if i < 0 {
		line("  name: %s  # the column that is predicted; take it out of features", contract.Blank)
		line("  # for classes; without levels it is a number")
		line("  levels: %s", contract.Blank)
		return
	}
	c := d.columns[i]
	j := c.weighCodes()
	line("  name: %s", quote(c.name))
	if c.empty > 0 || j.codes != nil {
		line("  # some cells are missing here, and a row without label is refused: leave those rows out")
	}
	different, counted := c.different()
	n := c.filled()
	switch {
	case counted && different == 2 && (c.levels["0"] > 0 && c.levels["1"] > 0 || c.pair() != nil):
		levels := c.pair()
		if levels == nil {
			levels = []string{"0", "1"}
		}
		line("  levels: [%s]", strings.Join(quoteAll(levels), ", "))
		line("  positive: %s", quote(levels[1]))
	case c.numbers+c.commas == n && (!counted || different > 20 || c.whole < n):
		line("  type: number")
	case counted && different <= mostCategory:
		line("  levels: %s", d.levels(c, different))
		if different == 2 {
			line("  positive: %s  # the class whose score makes the ROC curve", contract.Blank)
		}
	default:
		line("  # has more than %d different values that are no numbers: classes need few", mostCategory)
		line("  levels: %s", contract.Blank)
	}
}

// title names a column for people: by its name, of which sixty characters are shown, or
// where it has none by its place.
func (c *column) title() string {
	if c.name == "" {
		return fmt.Sprintf("column %d", c.at)
	}
	const most = 60
	if name := []rune(c.name); len(name) > most {
		return quote(string(name[:most])) + "…"
	}
	return quote(c.name)
}

func often(name string) string {
	if say := plausibleRange(name); say != "" {
		return "  # often " + say
	}
	return ""
}

// quote spells text for YAML: in double quotation marks, which read as JSON does,
// unless it is a plain word.
func quote(s string) string {
	plain := s != "" && !reserved[strings.ToLower(s)]
	for i, r := range s {
		letter := r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		plain = plain && (letter || i > 0 && ('0' <= r && r <= '9' || r == '-' || r == '.'))
	}
	if plain {
		return s
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err) // a string always has a JSON form
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// reserved are words that YAML reads as something else than text.
var reserved = map[string]bool{"true": true, "false": true, "yes": true, "no": true, "on": true, "off": true, "null": true, "y": true, "n": true, "nan": true, "inf": true}

func quoteAll(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = quote(s)
	}
	return out
}

// short lists names, the first ten.
func short(names []string) string {
	const most = 10
	if len(names) <= most {
		return strings.Join(quoteAll(names), ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(quoteAll(names[:most]), ", "), len(names)-most)
}
