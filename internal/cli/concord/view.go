package concord

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"concord/bundle"
	"concord/contract"
	"concord/internal/cli"
	"concord/table"
	"concord/wire"
)

// viewFlag says what --view is for.
const viewFlag = "which view of the features the file has, where the contract has views (default: the one with which this site joined, else the one that its header fits)"

// viewHere is the view of the features that this site is known to have: the one with which it
// joined, or else that of the contribution that is prepared here; "" if there is none.
func (v *visit) viewHere() string {
	if view := v.id.Statement.View; view != "" {
		return view
	}
	return v.preparedView()
}

// preparedView is the view of the contribution that is prepared here, or "".
func (v *visit) preparedView() string {
	if len(v.whole.Views) == 0 {
		return ""
	}
	m, err := v.loadManifest(bundle.KindContribution)
	if err != nil {
		return "" // whoever needs it reads it again, and says what is wrong
	}
	return m.View
}

// through makes the contract that of a site with a view.
func (v *visit) through(view string) error {
	c, err := v.whole.Through(view)
	if err != nil {
		return err
	}
	v.contract = c
	return nil
}

// chooseView finds the view that a file has and goes on with it: the one with which this site
// joined, the one that is named, or else the only one whose features are all in the header with no other feature of
// the contract. It says which one it is, and what is not read.
func (p *program) chooseView(v *visit, path string, opt table.Options, named string) error {
	if len(v.whole.Views) == 0 {
		if named != "" {
			return cli.Usagef("--view %s: the contract of this study has no views", named)
		}
		return nil
	}
	columns, err := table.Names(path, v.whole, opt)
	if err != nil {
		return err
	}
	view, how := named, "as said"
	if joined := v.id.Statement.View; joined != "" {
		if named != "" && named != joined {
			return cli.Usagef("--view %s: this site joined with the view %q", named, joined)
		}
		view, how = joined, "with which this site joined"
	}
	if view == "" {
		how = "as the header fits"
		fit, exact := v.whole.Fitting(columns)
		switch {
		case len(exact) == 1:
			view = exact[0]
		case len(fit) == 0:
			return wire.WithHint(fmt.Errorf("%s: the header has all features of no view; the contract has %s", path, v.viewsText()),
				"names must be spelled as in the contract, capitals and spaces included; with --view NAME the missing ones are listed")
		default:
			return wire.WithHint(fmt.Errorf("%s: the header has the features of several views, or of more than one: %s", path, strings.Join(fit, ", ")),
				"say which one this site takes part with: --view NAME")
		}
	}
	if err := v.through(view); err != nil {
		return cli.Usagef("%s", strings.TrimPrefix(err.Error(), "contract: "))
	}
	p.printf("view %q, %s: %d of the contract's %d features\n", view, how, len(v.contract.Features), len(v.whole.Features))
	var idle []string
	for _, f := range v.whole.Features {
		if slices.Contains(columns, f.Name) && !slices.Contains(v.contract.FeatureNames(), f.Name) {
			idle = append(idle, f.Name)
		}
	}
	if idle != nil {
		p.printf("not read, since this view does not have them: %s\n", strings.Join(idle, ", "))
	}
	return nil
}

// viewsText lists the views with their features.
func (v *visit) viewsText() string {
	var out []string
	for _, w := range v.whole.Views {
		out = append(out, fmt.Sprintf("%q (%s)", w.Name, firstOf(w.Features, 8)))
	}
	return strings.Join(out, ", ")
}

func firstOf(names []string, n int) string {
	if len(names) <= n {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:n], ", "), len(names)-n)
}

// needView refuses where the contract has views and none is chosen yet.
func (v *visit) needView() error {
	if len(v.whole.Views) > 0 && v.contract.Within == nil {
		return wire.WithHint(errors.New("this site has not prepared anything yet, so that it has no view of the features"), "run concord prepare data.csv")
	}
	return nil
}

// viewLine says of whom which features are, for what leaves; "" without views.
func (v *visit) viewLine(m *bundle.Manifest) string {
	if m.View == "" {
		return ""
	}
	c, err := v.whole.Through(m.View)
	if err != nil {
		return fmt.Sprintf("  view %q, which the contract has not\n", wire.Printable(m.View))
	}
	return fmt.Sprintf("  view %q: %d of %d features, the others are not known here: %s\n", m.View, len(c.Features), len(v.whole.Features), firstOf(missingFrom(c), 8))
}

// missingFrom lists the features that a view lacks.
func missingFrom(c *contract.Contract) []string {
	var out []string
	for _, f := range c.Whole().Features {
		if !slices.Contains(c.FeatureNames(), f.Name) {
			out = append(out, f.Name)
		}
	}
	return out
}
