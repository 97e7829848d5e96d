package reviewpage

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"concord/bundle"
	"concord/identity"
	"concord/internal/sitepage"
	"concord/party"
	"concord/release"
	"concord/wire"
)

// mostFeatures is how many features a table names; a longer one nobody reads.
const mostFeatures = 20

// view is what the template shows beside the page itself.
type view struct {
	Page
	Hash       wire.Hash
	Command    string // that approves
	Recipients []recipient
	Members    []part
	Labels     []label
	FloorRows  []floorRow
	Against    []against
	Warnings   int
	Best       []feature // that come back best
	More       int       // features that Best leaves out
	Following  []feature // that follow a direction
	Meaning    []string
	Figure     template.HTML // of the pictures
}

// recipient is somebody to whom the contribution goes.
type recipient struct {
	Fingerprint         wire.Hash
	*identity.Statement // nil if the roster does not have it
}

// part is one file; Inside says that the line tells what the one before holds.
type part struct {
	Name, What   string
	Shape, Dtype string
	Bytes        int64
	SHA256       wire.Hash
	Inside       bool
}

type label struct {
	Level string
	Rows  int
	Share string
	Bar   float64
}

// floorRow is a figure beside its floor.
type floorRow struct {
	What, Figure, Floor, By string
	// State is "kept", "not kept" or "no floor".
	State string
}

// NotKept says that the row needs to be seen.
func (r floorRow) NotKept() bool { return r.State == "not kept" }

// against is all findings that speak against one.
type against struct {
	Who      string
	Findings []party.Finding
}

// feature is a line of a table of features, with the share that its bar shows.
type feature struct {
	Name, Figure string
	Near, Chance string
	Bar          float64
}

func (p Page) view() (view, error) {
	v := view{Page: p, Hash: p.Manifest.Hash(), Meaning: Meaning(p.Contract), FloorRows: p.floorRows()}
	v.Command = "concord approve " + v.Hash.Short()
	if len(p.Site.ApproverKey) > 0 {
		v.Command += " --key FILE"
	}
	for _, fingerprint := range p.Manifest.Recipients {
		s, err := p.Roster.Member(fingerprint)
		if err != nil {
			s = nil
		}
		v.Recipients = append(v.Recipients, recipient{fingerprint, s})
	}
	for _, m := range p.Manifest.Members {
		v.Members = append(v.Members, part{m.Name, p.whatIs(m.Name), shape(m.Shape), m.Dtype, m.Bytes, m.SHA256, false})
		if in := m.Sealed; in != nil {
			name := strings.TrimSuffix(m.Name, ".age")
			v.Members = append(v.Members, part{name, p.whatIs(name), shape(in.Shape), in.Dtype, in.Bytes, in.SHA256, true})
		}
	}
	for k, n := range p.Report.Classes {
		share := float64(n) / float64(max(1, p.Report.Rows))
		v.Labels = append(v.Labels, label{p.Contract.Label.Levels[k], n, percent(share), share})
	}
	for _, f := range p.Report.Findings {
		i := slices.IndexFunc(v.Against, func(a against) bool { return a.Who == f.Against })
		if i < 0 {
			i = len(v.Against)
			v.Against = append(v.Against, against{Who: f.Against})
		}
		v.Against[i].Findings = append(v.Against[i].Findings, f)
		if f.Warn {
			v.Warnings++
		}
	}
	best := p.Report.Reconstructed[:min(mostFeatures, len(p.Report.Reconstructed))]
	v.More = len(p.Report.Reconstructed) - len(best)
	for _, f := range best {
		v.Best = append(v.Best, feature{Name: f.Feature, Figure: number(f.Ratio), Bar: 1 - f.Ratio})
	}
	for _, e := range p.Report.Exposed {
		v.Following = append(v.Following, feature{Name: e.Feature, Figure: number(e.Correlation), Near: percent(e.Near), Chance: percent(e.Chance),
			Bar: e.Correlation})
	}
	if len(p.Pictures) == 0 {
		return v, nil
	}
	var err error
	v.Figure, err = drawn(p.Pictures)
	return v, err
}

// Phase is how far the contribution is: "prepared", "approved", "sealed" or "sent".
func (p Page) Phase() string {
	switch {
	case p.Receipt != nil:
		return "sent"
	case p.Sealed:
		return "sealed"
	case p.Approval != nil:
		return "approved"
	}
	return "prepared"
}

// Person says whether a person approved, rather than a program by a policy.
func (p Page) Person() bool { return p.Approval.Policy == bundle.PolicyPerson }

// ApproverText is the public key of the site's separate approver, or "".
func (p Page) ApproverText() string {
	if len(p.Site.ApproverKey) == 0 {
		return ""
	}
	return identity.ApproverText(p.Site.ApproverKey)
}

// EnergyPercent is the share of the variation that the basis keeps, in hundredths.
func (p Page) EnergyPercent() float64 { return 100 * p.Report.Energy }

// NRI says whether the files are sealed at once.
func (p Page) NRI() bool { return p.Contract.Protocol == "nri" }

// whatIs says what a member of a contribution holds.
func (p Page) whatIs(name string) string {
	if strings.HasSuffix(name, ".age") {
		return "sealed to the analyst; nobody here can read it"
	}
	switch base, _, _ := strings.Cut(name, "."); base {
	case release.MemberX:
		if p.Contract.Noise != nil {
			return "rows through the secret basis, with noise, in random order"
		}
		return "rows through the secret basis, in random order"
	case release.MemberA:
		return "the secret anchor through the same basis"
	case release.MemberY:
		return "each row's label, as it is"
	}
	return ""
}

// floorRows puts every figure that has a floor beside it.
func (p Page) floorRows() []floorRow {
	r, f, c := p.Report, p.Floors, p.Contract
	least := func(what string, n int, floor party.Floor) floorRow {
		return floorRow{what, sitepage.Count(n, ""), "at least " + sitepage.Count(floor.Least, ""), strings.TrimPrefix(floor.By, "of "), kept(n >= floor.Least)}
	}
	people := "people, one for each row"
	if c.Subject != "" {
		people = "different people, column " + c.Subject
	}
	rows := []floorRow{least("rows", r.Rows, f.Rows), least(people, r.People, f.People)}
	for k, n := range r.Classes {
		rows = append(rows, least(fmt.Sprintf("rows of class %q", c.Label.Levels[k]), n, f.PerClass))
	}
	if len(r.Findings) == 0 {
		return rows
	}
	eps := floorRow{"least share of a row's length that the basis leaves out (eps)", number(r.Eps), "", "nobody", "no floor"}
	if f.Eps > 0 {
		eps.State = kept(r.Eps >= f.Eps)
		eps.Floor, eps.By = fmt.Sprintf("at least %g", f.Eps), "this site"
		if c.Floors.Eps >= f.Eps {
			eps.By = "the contract"
		}
	}
	if r.Dropped > 0 {
		eps.What += "; " + sitepage.Count(r.Dropped, "row") + " below it dropped"
	}
	most := func(what, figure string, value, bound float64, shown string) floorRow {
		if bound == 0 {
			return floorRow{what, figure, "", "nobody", "no floor"}
		}
		return floorRow{what, figure, "at most " + shown, "this site", kept(value <= bound)}
	}
	rows = append(rows, eps)
	if len(r.Exposed) > 0 {
		worst := r.Exposed[0].Correlation
		rows = append(rows, most("largest correlation of a feature with a direction", number(worst), worst, f.Correlation, fmt.Sprintf("%g", f.Correlation)))
	}
	return append(rows, most("reconstructed rows nearest to their own person", percent(r.Linked), r.Linked, f.Linkage, fmt.Sprintf("%g %%", 100*f.Linkage)))
}

func kept(yes bool) string {
	if yes {
		return "kept"
	}
	return "not kept"
}

func shape(lengths []int) string {
	dims := make([]string, len(lengths))
	for i, n := range lengths {
		dims[i] = fmt.Sprint(n)
	}
	return strings.Join(dims, " × ")
}

// number shows a figure with three decimals.
func number(x float64) string { return fmt.Sprintf("%.3f", x) }

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }
