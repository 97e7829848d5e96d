package visit

import (
	"fmt"

	"concord/contract"
	"concord/masked"
	"concord/party"
	"concord/pooled"
	"concord/wire"
)

// holders are the parties of setup that have the same features, where the contract has views:
// of each lot there must be enough in every set that is summed.
func (v *Visit) holders() []masked.Holders {
	var out []masked.Holders
	for _, h := range v.Whole.Holdings(v.Chain.Root().Parties()) {
		lot := masked.Holders{Name: ViewsNamed(h)}
		for _, p := range h.Parties {
			lot.Parties = append(lot.Parties, p.Fingerprint())
		}
		out = append(out, lot)
	}
	return out
}

// viewsOf says for each of a set of parties which features it has, by the name of the first
// view that has them; nil where the contract has none.
func (v *Visit) viewsOf(set []wire.Hash) []string {
	if len(v.Whole.Views) == 0 {
		return nil
	}
	named := map[wire.Hash]string{}
	for _, h := range v.Whole.Holdings(v.Chain.Root().Parties()) {
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

// ViewsNamed names a lot of parties that have the same features.
func ViewsNamed(h contract.Holding) string {
	if len(h.Views) == 1 {
		return fmt.Sprintf("the view %q", h.Views[0])
	}
	return "the " + h.Name() // each in quotation marks
}

// StandTogether is how many parties stand behind every sum in which this site is: all that take
// part, or where there are views those that have the same features.
func (v *Visit) StandTogether(all int) int {
	for _, h := range v.Whole.Holdings(v.Chain.Root().Parties()) {
		n, own := 0, false
		for _, p := range h.Parties {
			if v.Chain.Present(p.Fingerprint()) != nil {
				n++
			}
			own = own || v.Chain.Same(p.Fingerprint(), v.Own())
		}
		if own {
			return n
		}
	}
	return all
}

// CompletedWords says what a gaussian anchor has for columns that no site has together.
func (v *Visit) CompletedWords(pool *pooled.Pool) ([]string, error) {
	if v.Whole.Anchor.Kind != "gaussian" || len(v.Whole.Views) == 0 {
		return nil, nil
	}
	var agreed party.Agreed
	agreePooled(&agreed, pool)
	about, err := agreed.Completed(v.Whole)
	if err != nil {
		return nil, err
	}
	var out []string
	if about.Missing > 0 {
		text := fmt.Sprintf("the anchor: %d pairs of columns are at no site together, and get the covariance that the "+
			"columns between them explain", about.Missing)
		if about.Blind > 0 {
			text += fmt.Sprintf("; for %d of them there is nothing in between, and it is 0", about.Blind)
		}
		out = append(out, text)
	}
	// The columns of a category always sum to 1, which takes the least step of shrinking.
	if about.Shrunk > 0.001 {
		out = append(out, fmt.Sprintf("the anchor: covariances of different sites' rows do not fit each other; they are "+
			"brought %g %% nearer to 0", 100*about.Shrunk))
	}
	return out, nil
}
