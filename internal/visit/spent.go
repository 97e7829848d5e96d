package visit

import (
	"fmt"
	"slices"
	"time"

	"concord/bundle"
	"concord/internal/site"
	"concord/wire"
)

// ledgerPath is where this site counts what left, as its policy says.
func (v *Visit) ledgerPath() (string, error) {
	own, err := v.site.Policy()
	if err != nil || own == nil {
		return "", err
	}
	return own.Ledger, nil
}

// spend counts what was prepared and approved before it is sealed: a contribution, or a
// piece of the anchor, which shows near-raw rows of the same people.
func (v *Visit) spend(m *bundle.Manifest) error {
	from, err := v.loadSource(m.Kind)
	if err != nil {
		return err
	}
	r, err := v.report(m.Kind)
	if err != nil {
		return err
	}
	path, err := v.ledgerPath()
	if err != nil {
		return err
	}
	e := site.Spent{Time: time.Now().UTC().Truncate(time.Second), Study: v.Study, Name: v.Contract.Name,
		Manifest: m.Hash(), Source: from.SHA256, Rows: r.Rows, Dim: r.Dim, Site: v.Own()}
	if m.Kind == bundle.KindSetup {
		e.Dim, e.PieceFor = v.Contract.M(), len(m.Recipients)
		if member, ok := m.Member(PieceMember + ".npy"); ok && len(member.Shape) == 2 {
			e.Rows = member.Shape[0]
		}
	} else if n := v.Contract.Noise; n != nil {
		e.Epsilon, e.Delta = n.Epsilon, n.Delta
	}
	return v.site.Spend(path, e)
}

// sealedBefore lists this site's contributions to this study that were sealed, or were
// about to be.
func (v *Visit) sealedBefore() ([]site.Spent, error) {
	path, err := v.ledgerPath()
	if err != nil {
		return nil, err
	}
	return v.site.SpentIn(path, v.Study, v.Own())
}

// before lists what left, or may have, of the same file as what is prepared.
func (v *Visit) before(m *bundle.Manifest) ([]site.Spent, error) {
	from, err := v.loadSource(m.Kind)
	if err != nil {
		return nil, err
	}
	path, err := v.ledgerPath()
	if err != nil {
		return nil, err
	}
	return v.site.SpentOn(path, from.SHA256, m.Hash())
}

// spentBefore says what left of the same rows before, a line each, and at the end what
// that comes to; nothing if nothing did.
func (v *Visit) spentBefore(m *bundle.Manifest) ([]string, error) {
	before, err := v.before(m)
	if err != nil || len(before) == 0 {
		return nil, err
	}
	var lines []string
	epsilon, delta, bare, directions := 0.0, 0.0, 0, 0
	if m.Kind == bundle.KindContribution {
		directions = v.Contract.Basis.Dim
	}
	for _, e := range before {
		what, of := fmt.Sprintf("%d directions of %d rows", e.Dim, e.Rows), "without differential privacy"
		switch {
		case e.PieceFor > 0:
			what = fmt.Sprintf("%d near-raw rows for the anchor, readable by %d other parties", e.Rows, e.PieceFor)
			bare++
		case e.Epsilon > 0:
			of = fmt.Sprintf("epsilon %g, delta %g", e.Epsilon, e.Delta)
			directions += e.Dim
		default:
			directions += e.Dim
			bare++
		}
		epsilon, delta = epsilon+e.Epsilon, delta+e.Delta
		lines = append(lines, fmt.Sprintf("%s  %s, %s, %s", e.Time.Format("2006-01-02"), wire.Printable(e.Name), what, of))
	}
	n := v.Contract.Noise
	switch {
	case m.Kind == bundle.KindSetup:
		return append(lines, "together they show more of these rows than each alone"), nil
	case n != nil && n.Guarantees() && bare > 0:
		return append(lines, fmt.Sprintf("%d of them had no guarantee, so that of this one says little of the rows as a "+
			"whole", bare)), nil
	case n != nil && n.Guarantees():
		return append(lines, fmt.Sprintf("with this one they add up to epsilon %g, delta %g (basic composition)",
			epsilon+n.Epsilon, delta+n.Delta)), nil
	}
	last := "together they show more of these rows than each alone, and the figures here speak of this one alone"
	if directions > v.Contract.Basis.Dim {
		last = fmt.Sprintf("several projections of the same rows together show more of them than each alone: with this "+
			"one up to %d directions, where the figures here speak of %d",
			directions, v.Contract.Basis.Dim)
		same := !slices.ContainsFunc(before, func(e site.Spent) bool { return e.Study != v.Study })
		if same && directions >= v.Contract.Width() {
			last += fmt.Sprintf("; of %d %s that may be all there is to know, for whoever undoes them all",
				v.Contract.Width(), v.Contract.ColumnsWord())
		}
	}
	return append(lines, last), nil
}
