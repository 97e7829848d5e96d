package visit

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"concord/bundle"
	"concord/contract"
	"concord/internal/visit/event"
	"concord/table"
	"concord/wire"
)

// viewHere is the view of the features that this site is known to have: the one with which it
// joined, or else that of the contribution that is prepared here; "" if there is none.
func (v *Visit) viewHere() string {
	if view := v.ID.Statement.View; view != "" {
		return view
	}
	return v.preparedView()
}

// preparedView is the view of the contribution that is prepared here, or "".
func (v *Visit) preparedView() string {
	if len(v.Whole.Views) == 0 {
		return ""
	}
	m, err := v.loadManifest(bundle.KindContribution)
	if err != nil {
		return "" // whoever needs it reads it again, and says what is wrong
	}
	return m.View
}

// through makes the contract that of a site with a view.
func (v *Visit) through(view string) error {
	c, err := v.Whole.Through(view)
	if err != nil {
		return err
	}
	v.Contract = c
	return nil
}

// viewsText lists the views with their features.
func (v *Visit) viewsText() string {
	var out []string
	for _, w := range v.Whole.Views {
		out = append(out, fmt.Sprintf("%q (%s)", w.Name, FirstOf(w.Features, 8)))
	}
	return strings.Join(out, ", ")
}

// FirstOf names at most n of a list.
func FirstOf(names []string, n int) string {
	if len(names) <= n {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:n], ", "), len(names)-n)
}

// needView refuses where the contract has views and none is chosen yet.
func (v *Visit) needView() error {
	if len(v.Whole.Views) > 0 && v.Contract.Within == nil {
		return wire.WithHint(errors.New("this site has not prepared anything yet, so that it has no view of the features"),
			"run concord prepare data.csv")
	}
	return nil
}

// MissingFrom lists the features that a view lacks.
func MissingFrom(c *contract.Contract) []string {
	var out []string
	for _, f := range c.Whole().Features {
		if !slices.Contains(c.FeatureNames(), f.Name) {
			out = append(out, f.Name)
		}
	}
	return out
}

// chooseView finds the view that a file has and goes on with it: the one with which this site
// joined, the one that is named, or else the only one whose features are all in the header with no other feature of
// the contract. It tells which one it is, and what is not read.
func (v *Visit) chooseView(path string, opt table.Options, named string) error {
	if len(v.Whole.Views) == 0 {
		if named != "" {
			return misusef("--view %s: the contract of this study has no views", named)
		}
		return nil
	}
	columns, err := table.Names(path, v.Whole, opt)
	if err != nil {
		return err
	}
	view, how := named, "as said"
	if joined := v.ID.Statement.View; joined != "" {
		if named != "" && named != joined {
			return misusef("--view %s: this site joined with the view %q", named, joined)
		}
		view, how = joined, "with which this site joined"
	}
	if view == "" {
		how = "as the header fits"
		fit, exact := v.Whole.Fitting(columns)
		switch {
		case len(exact) == 1:
			view = exact[0]
		case len(fit) == 0:
			return wire.WithHint(fmt.Errorf("%s: the header has all features of no view; the contract has %s", path,
				v.viewsText()),
				"names must be spelled as in the contract, capitals and spaces included; with --view NAME the missing ones are "+
					"listed")
		default:
			return wire.WithHint(fmt.Errorf("%s: the header has the features of several views, or of more than one: %s",
				path, strings.Join(fit, ", ")),
				"say which one this site takes part with: --view NAME")
		}
	}
	if err := v.through(view); err != nil {
		return misusef("%s", strings.TrimPrefix(err.Error(), "contract: "))
	}
	chosen := event.ViewChosen{Contract: v.Contract, View: view, How: how}
	for _, f := range v.Whole.Features {
		if slices.Contains(columns, f.Name) && !slices.Contains(v.Contract.FeatureNames(), f.Name) {
			chosen.Idle = append(chosen.Idle, f.Name)
		}
	}
	v.tell(chosen)
	return nil
}
