package release

import (
	"fmt"
	"strings"

	anchorspec "concord/anchor/spec"
	"concord/contract"
	"concord/wire"
)

type liner func(what, format string, args ...any)

// maxListed features are listed one a line: people check their ranges, which
// decide how much each one weighs in what leaves.
const maxListed = 40

// describeFeatures says what each feature is, and what becomes of a missing value.
func describeFeatures(c *contract.Contract, line liner) {
	if m := c.M(); m != len(c.Features) {
		line("features", "%d, which become %d columns: one for each level of a category", len(c.Features), m)
	} else {
		line("features", "%d", len(c.Features))
	}
	for j, f := range c.Features {
		if j == maxListed {
			line("", "… and %d more; contract.json has them all", len(c.Features)-j)
			break
		}
		line("", "%s", describe(f))
	}
	if len(c.MissingValues) > 0 {
		line("missing", "empty cells, and %s", wire.List(c.MissingValues, 8))
	}
	for i, v := range c.Views {
		what := ""
		if i == 0 {
			what = "views"
		}
		line(what, "%q has %d of the features, %d columns leave: %s", v.Name, len(v.Features), v.Dim, wire.List(v.Features, 8))
	}
	if c.StatesViews() {
		line("", "a figure is pooled over the sites that have the feature; %d sites at least must have each view,", c.Pooling.Colluders+contract.LeastBeyond)
		line("", "and each says at join which one it has: concord join --view")
	}
	if apart := c.Disjoint(); len(apart) > 0 && c.Anchor.Kind != anchorspec.Public {
		line("", "NOTHING RELATES %q and %q: they share no feature, and a %s anchor knows nothing of both;", c.Views[apart[0][0]].Name, c.Views[apart[0][1]].Name, c.Anchor.Kind)
		line("", "their parties gain little or nothing from each other, and may lose; a public anchor relates them")
	}
}

// describe is a feature in a line.
func describe(f contract.Feature) string {
	var b strings.Builder
	b.WriteString(f.Name)
	if f.Type != contract.Numeric {
		b.WriteString(", " + f.Type)
	}
	switch f.Type {
	case contract.Category:
		b.WriteString(" of " + wire.List(f.Levels, 8))
	case contract.Boolean:
		b.WriteString(", " + strings.Join(f.Spellings(), " or "))
	case contract.Ordinal:
		b.WriteString(", from low to high " + wire.List(f.Levels, 8))
	case contract.Date:
		fmt.Fprintf(&b, " as %s, in %s", f.Layout, f.UnitText())
	}
	if f.Range != nil {
		fmt.Fprintf(&b, ", %g to %g", f.Range.Min, f.Range.Max)
	}
	if f.Unit != "" {
		b.WriteString(" " + f.Unit)
	}
	switch f.Missing {
	case contract.MissingMean:
		b.WriteString("; a missing one becomes the pooled mean")
	case contract.MissingCommon:
		b.WriteString("; a missing one becomes the pooled most common level")
	case contract.MissingOwn:
		b.WriteString("; missing is a level of its own")
	case contract.MissingConstant:
		if f.Ranged() {
			fmt.Fprintf(&b, "; a missing one becomes %g", *f.Fill)
		} else {
			b.WriteString("; a missing one becomes " + f.Spellings()[int(*f.Fill)])
		}
	}
	return b.String()
}

// describePooling says what columns are scaled by, and what is pooled for it.
func describePooling(c *contract.Contract, line liner) {
	switch c.Standardise {
	case "range":
		line("standardise", "each feature's range is mapped to [-1, 1]")
	case "pooled":
		line("standardise", "each column has mean 0 and variance 1 over all parties' rows")
	default:
		line("standardise", "nothing: features are taken as they are")
	}
	if p := c.Pooling; p != nil {
		var stages []string
		for _, s := range c.Stages() {
			stages = append(stages, s.String())
		}
		line("pooled", "%s: every party learns the totals over all parties, the analyst nothing;", strings.Join(stages, ", "))
		least, of := c.Parties-p.Colluders, ""
		if c.StatesViews() { // sums of what one view alone has
			least, of = contract.LeastBeyond, " with the same view"
		}
		line("", "%d colluding learn the totals of the others together, of %d parties%s at least", p.Colluders, least, of)
		if p.Weights == "equal" {
			line("", "each party counts the same in the common basis, however many rows it has")
		}
		if p.Sketch > 0 {
			line("", "the common basis is of a sketch of %d columns and %d power steps", p.Sketch, p.Power)
		}
	}
	if c.Lift != nil {
		line("lift", "%d random Fourier features of the parties' seed, gamma %g, before the basis", c.Lift.Dim, c.Lift.Gamma)
	}
}
