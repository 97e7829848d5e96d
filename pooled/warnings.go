package pooled

import (
	"fmt"
	"slices"
	"strings"

	"concord/contract"
)

// RareLevel is the number of rows below which people are told that a level is rare.
const RareLevel = 10

// Warnings are what a person should know before the sums of a stage leave a site, besides
// what every stage shows: rows are the site's, and levels how many of them each level of
// each feature has, nil for numbers. What is said of the site stays there.
func Warnings(c *contract.Contract, stage contract.Stage, rows int, levels [][]int) []string {
	var out []string
	switch m := c.M(); stage.Kind {
	case contract.StageFigures:
		var rare []string
		for j, f := range c.Features {
			for k, n := range levels[j] {
				if n > 0 && n < RareLevel {
					rare = append(rare, f.Name+" "+f.Spellings()[k])
				}
			}
		}
		if rare != nil {
			out = append(out, fmt.Sprintf("%s: fewer than %d rows here. All other parties together learn how few; where nobody else has any, each of them does", some(rare), RareLevel))
		}
	case contract.StageMoments:
		if rows < m {
			out = append(out, fmt.Sprintf("%d rows have second moments of %d columns: all other parties together can tell from these whether a person whose values they know is among the rows. A sketch (pooling: sketch) shows less, and more rows than columns hide it", rows, m))
		}
	}
	return out
}

// Told says in words what the pooled figures mean for the preparation of all rows, for
// people at a site: columns that do not vary, and levels that hardly anybody has, without
// saying how many.
func Told(c *contract.Contract, figures *contract.Figures) []string {
	var constant, rare []string
	for j, f := range c.Features {
		g := figures.Features[j]
		if _, variance := g.Moments(); variance == 0 && f.Indexed() == 0 {
			constant = append(constant, f.Name)
		}
		if f.Indexed() == 0 {
			continue
		}
		for k, n := range g.Levels {
			switch {
			case n == 0:
				constant = append(constant, f.Name+" "+f.Spellings()[k])
			case n < RareLevel:
				rare = append(rare, f.Name+" "+f.Spellings()[k])
			}
		}
	}
	var out []string
	if constant != nil {
		out = append(out, fmt.Sprintf("%s: the same in all parties' rows; such a column is centred and not scaled, and says nothing", some(constant)))
	}
	if rare != nil {
		out = append(out, fmt.Sprintf("%s: fewer than %d rows of all parties together; scaled to variance 1 such a column makes those rows long, and longer rows stand out among those that leave: join rare levels in a new contract", some(rare), RareLevel))
	}
	return out
}

// some names up to five.
func some(names []string) string {
	slices.Sort(names)
	if len(names) <= 5 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:5], ", "), len(names)-5)
}
