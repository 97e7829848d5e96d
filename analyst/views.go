package analyst

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"concord/align"
	"concord/contract"
)

// related says for each pair of views how many directions both see. It needs nothing but
// the anchor's images: whether an alignment has anything to go by is their matter alone.
func related(c *contract.Contract, parts []Contribution) ([]string, error) {
	var views []string
	groups := map[string][]*mat.Dense{}
	parties := map[string][]string{}
	for _, p := range parts {
		if groups[p.View] == nil {
			views = append(views, p.View)
		}
		groups[p.View] = append(groups[p.View], p.A)
		parties[p.View] = append(parties[p.View], strconv.Quote(p.Party))
	}
	slices.Sort(views)
	var in [][]*mat.Dense
	for _, v := range views {
		in = append(in, groups[v])
	}
	pairs, err := align.Between(in, c.Anchor.Kind == "orthonormal")
	if err != nil {
		return nil, fmt.Errorf("analyst: %w", err)
	}
	var notes []string
	for _, p := range pairs {
		v, w := views[p.First], views[p.Second]
		what := fmt.Sprintf("views %q (%s) and %q (%s)", v, strings.Join(parties[v], ", "), w, strings.Join(parties[w], ", "))
		largest, of := p.Cosines[0], min(p.Ranks[0], p.Ranks[1])
		switch {
		case p.Chance == 1:
			notes = append(notes, fmt.Sprintf("%s: %d anchor rows are too few to tell whether their %d and %d directions have to do with each other; more than %d rows can",
				what, c.Anchor.Rows, p.Ranks[0], p.Ranks[1], p.Ranks[0]+p.Ranks[1]+1))
		case p.Seen == 0:
			notes = append(notes, fmt.Sprintf("%s: NOTHING RELATES THEM under this anchor, and the alignment between them is arbitrary: of %d directions none is seen by both (largest cosine %.3f, by chance up to %.3f); "+
				"a public anchor with all columns relates views", what, of, largest, p.Chance))
		default:
			notes = append(notes, fmt.Sprintf("%s: of %d directions %d are seen by both, with cosines from %.3f to %.3f (by chance up to %.3f)",
				what, of, p.Seen, largest, p.Cosines[p.Seen-1], p.Chance))
		}
	}
	return notes, nil
}

// numbered is how package align calls a party.
var numbered = regexp.MustCompile(`^party (\d+)`)

// named says parties' names where package align has their numbers.
func named(warnings []string, parts []Contribution) []string {
	out := make([]string, len(warnings))
	for i, w := range warnings {
		out[i] = numbered.ReplaceAllStringFunc(w, func(s string) string {
			k, err := strconv.Atoi(strings.TrimPrefix(s, "party "))
			if err != nil || k < 1 || k > len(parts) {
				return s
			}
			return strconv.Quote(parts[k-1].Party)
		})
	}
	return out
}
