package concord

import (
	"fmt"
	"strings"

	"concord/contract"
	"concord/masked"
	"concord/party"
	"concord/pooled"
	"concord/wire"
)

// holders are the parties of setup that have the same features, where the contract has views:
// of each lot there must be enough in every set that is summed.
func (v *visit) holders() []masked.Holders {
	var out []masked.Holders
	for _, h := range v.whole.Holdings(v.chain.Root().Parties()) {
		lot := masked.Holders{Name: viewsNamed(h)}
		for _, p := range h.Parties {
			lot.Parties = append(lot.Parties, p.Fingerprint())
		}
		out = append(out, lot)
	}
	return out
}

// viewsOf says for each of a set of parties which features it has, by the name of the first
// view that has them; nil where the contract has none.
func (v *visit) viewsOf(set []wire.Hash) []string {
	if len(v.whole.Views) == 0 {
		return nil
	}
	named := map[wire.Hash]string{}
	for _, h := range v.whole.Holdings(v.chain.Root().Parties()) {
		for _, p := range h.Parties {
			named[p.Fingerprint()] = h.Views[0]
		}
	}
	out := make([]string, len(set))
	for i, p := range set {
		out[i] = named[p]
	}
	return out
}

// viewsNamed names a lot of parties that have the same features.
func viewsNamed(h contract.Holding) string {
	if len(h.Views) == 1 {
		return fmt.Sprintf("the view %q", h.Views[0])
	}
	return "the " + h.Name() // each in quotation marks
}

// standTogether is how many parties stand behind every sum in which this site is: all that take
// part, or where there are views those that have the same features.
func (v *visit) standTogether(all int) int {
	for _, h := range v.whole.Holdings(v.chain.Root().Parties()) {
		n, own := 0, false
		for _, p := range h.Parties {
			if v.chain.Present(p.Fingerprint()) != nil {
				n++
			}
			own = own || v.chain.Same(p.Fingerprint(), v.own())
		}
		if own {
			return n
		}
	}
	return all
}

// ofThisView says whom standTogether counts, where there are views.
func (v *visit) ofThisView() string {
	if len(v.whole.Views) == 0 {
		return ""
	}
	return " of those that have this site's view"
}

// viewAlone says who knows this site's figures of what no other view has, where there are views.
func (v *visit) viewAlone() string {
	if len(v.whole.Views) == 0 {
		return ""
	}
	return fmt.Sprintf("the other parties with this site's view together (%d here) know its figures of the features that no other view has, and ", v.standTogether(1)-1)
}

// printPoolView says of which features this site's figures are 0.
func (p *program) printPoolView(v *visit) {
	if v.contract.Within == nil {
		return
	}
	p.printf("view %q: %d of %d features; this site adds 0 to the sums of the others, %s. Each sum is over the sites that have the feature:\n",
		v.contract.ViewOf(), len(v.contract.Features), len(v.whole.Features), firstOf(missingFrom(v.contract), 8))
	for _, h := range v.whole.Holdings(v.chain.Root().Parties()) {
		var names []string
		for _, s := range h.Parties {
			names = append(names, fmt.Sprintf("%q", s.Name))
		}
		p.printf("  %s: %s\n", viewsNamed(h), strings.Join(names, ", "))
	}
}

// completedWords says what a gaussian anchor has for columns that no site has together.
func (v *visit) completedWords(pool *pooled.Pool) ([]string, error) {
	if v.whole.Anchor.Kind != "gaussian" || len(v.whole.Views) == 0 {
		return nil, nil
	}
	var agreed party.Agreed
	agreePooled(&agreed, pool)
	about, err := agreed.Completed(v.whole)
	if err != nil {
		return nil, err
	}
	var out []string
	if about.Missing > 0 {
		text := fmt.Sprintf("the anchor: %d pairs of columns are at no site together, and get the covariance that the columns between them explain", about.Missing)
		if about.Blind > 0 {
			text += fmt.Sprintf("; for %d of them there is nothing in between, and it is 0", about.Blind)
		}
		out = append(out, text)
	}
	// The columns of a category always sum to 1, which takes the least step of shrinking.
	if about.Shrunk > 0.001 {
		out = append(out, fmt.Sprintf("the anchor: covariances of different sites' rows do not fit each other; they are brought %g %% nearer to 0", 100*about.Shrunk))
	}
	return out, nil
}
