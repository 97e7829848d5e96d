package contract

import (
	"concord/identity"
	"concord/wire"
	"fmt"
	"slices"
)

// LeastBeyond is how many parties there must be behind every sum, beyond those who may
// collude.
const LeastBeyond = 3

// Holding are the parties whose views have the same features: they stand together in every
// pooled sum, since each is over all of them or over none.
type Holding struct {
	// Views are the names of these views: one, unless two differ by their width alone.
	Views []string
	// Parties are those of a roster that have one of them, in its order.
	Parties []*identity.Statement
}

// Name names the views of the holding in a sentence: like no other holding of the contract.
func (h Holding) Name() string {
	if len(h.Views) == 1 {
		return "view " + h.Views[0]
	}
	return "views " + quoted(h.Views)
}

// Holdings says which parties of a roster have the same features, for each set of features
// that a view has; nil where the contract has no views.
func (c *Contract) Holdings(parties []*identity.Statement) []Holding {
	var out []Holding
	c = c.Whole()
	for _, v := range c.Views {
		k := slices.IndexFunc(out, func(h Holding) bool { return slices.Equal(c.view(h.Views[0]).Features, v.Features) })
		if k < 0 {
			k = len(out)
			out = append(out, Holding{})
		}
		out[k].Views = append(out[k].Views, v.Name)
		for _, p := range parties {
			if p.View == v.Name {
				out[k].Parties = append(out[k].Parties, p)
			}
		}
	}
	return out
}

// view is the view of a name, nil if there is none.
func (c *Contract) view(name string) *View {
	for i := range c.Views {
		if c.Views[i].Name == name {
			return &c.Views[i]
		}
	}
	return nil
}

// CheckView compares the view in a party's statement with the contract: one that it has,
// and where figures are pooled one must be named. Everybody then knows before any figure
// leaves of whom each sum is.
func (c *Contract) CheckView(s *identity.Statement) error {
	c = c.Whole()
	switch {
	case s.Role != identity.RoleParty:
		return nil
	case s.View == "" && c.StatesViews():
		return fmt.Errorf("contract: %q does not say which view of the features it has, and figures are pooled over those who have the same: it joins with --view, one of %s", s.Name, wire.List(c.ViewNames(), 8))
	case s.View != "" && len(c.Views) == 0:
		return fmt.Errorf("contract: %q says that it has the view %q, and the contract has no views", s.Name, s.View)
	case s.View != "" && c.view(s.View) == nil:
		return fmt.Errorf("contract: %q says that it has the view %q; the contract has %s", s.Name, s.View, wire.List(c.ViewNames(), 8))
	}
	return nil
}

// StatesViews says whether every party's statement must name its view: where the contract
// has views and pools figures.
func (c *Contract) StatesViews() bool { return c.Pooling != nil && len(c.Whole().Views) > 0 }

// CheckHoldings says whether figures can be pooled over these parties without showing
// those of a few: where parties have different features, every feature's sum is over those
// who have it, and what two such sums differ by is the figures of those who have one
// and not the other. Sums can be added and subtracted, so that the parties of every view must
// be [LeastBeyond] at least beyond those who may collude. The error names the view, its
// features and the cure.
func (c *Contract) CheckHoldings(parties []*identity.Statement) error {
	c = c.Whole()
	if !c.StatesViews() {
		return nil
	}
	for _, p := range parties {
		if err := c.CheckView(p); err != nil {
			return err
		}
	}
	least := c.Pooling.Colluders + LeastBeyond
	for _, h := range c.Holdings(parties) {
		if n := len(h.Parties); n < least {
			return fmt.Errorf("contract: %d %s view %s (%s), and pooled figures need %d at least: sums over those who have a feature and those who have not would show the figures of %d beside %s that may collude; give more sites this view, or these another one",
				n, have(n), quoted(h.Views), wire.List(c.view(h.Views[0]).Features, 8), least, n, partiesWord(c.Pooling.Colluders))
		}
	}
	return nil
}

func have(n int) string {
	if n == 1 {
		return "site has the"
	}
	return "sites have the"
}

func partiesWord(n int) string {
	if n == 1 {
		return "one"
	}
	return fmt.Sprint(n)
}

// quoted lists names in quotation marks.
func quoted(names []string) string {
	out := ""
	for i, n := range names {
		if i > 0 {
			out += ", "
		}
		out += fmt.Sprintf("%q", n)
	}
	return out
}

// checkViews compares the rows of views with the contract's.
func (f *Figures) checkViews(c *Contract) error {
	holdings := c.Holdings(nil)
	if len(f.Views) != len(holdings) {
		return fmt.Errorf("contract: pooled figures have the rows of %d views with different features, the contract has %d", len(f.Views), len(holdings))
	}
	total := int64(0)
	for i, n := range f.Views {
		if n < 0 || n > f.Rows {
			return fmt.Errorf("contract: pooled figures: the rows of %s are not from 0 to all", holdings[i].Name())
		}
		total += n
	}
	if f.Views != nil && total != f.Rows {
		return fmt.Errorf("contract: pooled figures: the rows of the views are not all rows")
	}
	return nil
}

// RowsOfBoth says how many rows the parties have that have two features, by their indices in
// c: those of all views that have both. Of one feature it is asked twice.
func (f *Figures) RowsOfBoth(c *Contract) func(a, b int) int64 {
	whole := c.Whole()
	if len(whole.Views) == 0 {
		return func(int, int) int64 { return f.Rows }
	}
	holdings := whole.Holdings(nil)
	has := make([][]bool, len(holdings)) // by holding and feature of c
	for i, h := range holdings {
		names := map[string]bool{}
		for _, name := range whole.view(h.Views[0]).Features {
			names[name] = true
		}
		for _, feature := range c.Features {
			has[i] = append(has[i], names[feature.Name])
		}
	}
	return func(a, b int) int64 {
		n := int64(0)
		for i, rows := range f.Views {
			if has[i][a] && has[i][b] {
				n += rows
			}
		}
		return n
	}
}
