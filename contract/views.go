package contract

import (
	"concord/wire"
	"fmt"
	"slices"
)

// Within says that a contract is seen by a site which has one view of the features.
type Within struct {
	// Whole is the contract that was signed.
	Whole *Contract
	// View is the view's name.
	View string
}

// Through returns the contract as a site has it that holds the named view: its features
// are the view's, its basis has the view's dimension. Tables, preparation, basis, report
// and model of such a site follow from it like from any other contract; it has the whole
// one in Within, and is never encoded. Without views the name is "", and c is returned.
// The errors say which views there are.
func (c *Contract) Through(view string) (*Contract, error) {
	c = c.Whole()
	if len(c.Views) == 0 {
		if view != "" {
			return nil, fmt.Errorf("contract: view %q: the contract has no views", view)
		}
		return c, nil
	}
	k := slices.IndexFunc(c.Views, func(v View) bool { return v.Name == view })
	if k < 0 {
		if view == "" {
			return nil, fmt.Errorf("contract: no view is named; the contract has %s", wire.List(c.ViewNames(), 8))
		}
		return nil, fmt.Errorf("contract: there is no view %q; the contract has %s", view, wire.List(c.ViewNames(), 8))
	}
	v := c.Views[k]
	through := *c
	through.Within = &Within{c, view}
	through.Features = nil
	for _, f := range c.Features {
		if slices.Contains(v.Features, f.Name) {
			through.Features = append(through.Features, f)
		}
	}
	through.Basis.Dim = v.Dim
	if through.Alignment.Dim == 0 {
		through.Alignment.Dim = c.D() // which does not depend on the view
	}
	return &through, nil
}

// Whole is the contract with all features: c itself, unless it is seen through a view.
func (c *Contract) Whole() *Contract {
	if c.Within != nil {
		return c.Within.Whole
	}
	return c
}

// ViewOf is the name of the view through which c is seen, or "".
func (c *Contract) ViewOf() string {
	if c.Within != nil {
		return c.Within.View
	}
	return ""
}

// ViewNames lists the views.
func (c *Contract) ViewNames() []string {
	var names []string
	for _, v := range c.Views {
		names = append(names, v.Name)
	}
	return names
}

// ViewColumns says for each encoded column which of the whole contract's it is.
func (c *Contract) ViewColumns() []int {
	var out []int
	at := 0
	for _, f := range c.Whole().Features {
		n := f.Columns()
		if slices.ContainsFunc(c.Features, func(g Feature) bool { return g.Name == f.Name }) {
			for k := range n {
				out = append(out, at+k)
			}
		}
		at += n
	}
	return out
}

// through are the figures of the features that a site has.
func (f *Figures) through(c *Contract) *Figures {
	if c.Within == nil {
		return f
	}
	out := *f
	out.Features = nil
	for j, g := range c.Whole().Features {
		if slices.ContainsFunc(c.Features, func(h Feature) bool { return h.Name == g.Name }) {
			out.Features = append(out.Features, f.Features[j])
		}
	}
	return &out
}

// Fitting lists the views that a file with these columns has: those whose features are
// all there. Exact are those of which no other feature of the contract is there.
func (c *Contract) Fitting(columns []string) (fit, exact []string) {
	c = c.Whole()
	for _, v := range c.Views {
		missing, more := 0, 0
		for _, f := range c.Features {
			has, there := slices.Contains(v.Features, f.Name), slices.Contains(columns, f.Name)
			switch {
			case has && !there:
				missing++
			case there && !has:
				more++
			}
		}
		if missing == 0 {
			fit = append(fit, v.Name)
			if more == 0 {
				exact = append(exact, v.Name)
			}
		}
	}
	return fit, exact
}

// Disjoint lists pairs of views, by index, that share no feature, not even by way of
// other views: nothing that any party holds relates them.
func (c *Contract) Disjoint() [][2]int {
	n := len(c.Views)
	group := make([]int, n)
	for i := range group {
		group[i] = i
	}
	for i := range n {
		for j := range i {
			if group[i] == group[j] || !slices.ContainsFunc(c.Views[i].Features, func(f string) bool { return slices.Contains(c.Views[j].Features, f) }) {
				continue
			}
			from, to := group[i], group[j]
			for k := range group {
				if group[k] == from {
					group[k] = to
				}
			}
		}
	}
	var out [][2]int
	for i := range n {
		for j := i + 1; j < n; j++ {
			if group[i] != group[j] {
				out = append(out, [2]int{i, j})
			}
		}
	}
	return out
}
