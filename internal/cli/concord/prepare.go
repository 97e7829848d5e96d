package concord

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"filippo.io/age"
	"github.com/spf13/cobra"

	"concord/audit"
	"concord/basis"
	basisspec "concord/basis/spec"
	"concord/bundle"
	"concord/identity"
	"concord/internal/durable"
	"concord/internal/site"
	"concord/party"
	"concord/release"
	"concord/table"
	"concord/wire"
)

func (p *program) prepareCommand() *cobra.Command {
	var again bool
	var view string
	cmd := &cobra.Command{
		Use:   "prepare DATA",
		Short: "Compute what would leave; nothing is sent",
		Long: `Reads the rows of DATA, checks them against the contract, chooses a new secret basis and
computes the projected rows and the projected anchor. They lie as .npy files in
contribution/leaves in this site's folder, for review; the basis lies in
contribution/stays. Preparing again replaces both and their approval.

In a study of protocol nri nothing that could bring basis or order of rows back is
kept: what would leave is sealed to the analyst at once, as .npy.age files that
nobody here can read, beside a manifest with shapes and SHA-256 and a report that
was computed before. The basis is gone, and a second prepare makes another.

Once a contribution was sealed, nothing is prepared anew, because the server may have
it: two images of the same rows give away more than one. Where the server refuses it
and says that it has not kept it, --again says what the two would give away, and asks.`,
		Args: cobra.ExactArgs(1),
	}
	data := addDataFlags(cmd)
	cmd.RunE = withData(data, func(path string, opt table.Options) error { return p.prepare(path, opt, view, again) })
	cmd.Flags().StringVar(&view, "view", "", viewFlag)
	cmd.Flags().BoolVar(&again, "again", false, "prepare anew although a contribution was sealed and the server refused it; asks")
	return cmd
}

func (p *program) prepare(path string, opt table.Options, view string, again bool) error {
	v, unlock, err := p.changeConfirmed()
	if err != nil {
		return err
	}
	defer unlock()
	sealed := v.site.Has("outbox", bundle.KindContribution+".bundle")
	before, err := v.sealedBefore()
	if err != nil {
		return err
	}
	if v.site.Sent(bundle.KindContribution) || (sealed || len(before) > 0) && !again {
		return wire.WithHint(errors.New("this site's contribution is sealed and may have reached the server; it cannot be prepared anew"),
			"run concord send to make sure it has arrived")
	}
	agreed, err := v.agreed()
	if err != nil {
		return err
	}
	if err := p.chooseView(v, path, opt, view); err != nil {
		return err
	}
	from, t, err := readRows(path, v.contract, opt)
	if err != nil {
		return err
	}
	defer t.Erase()
	if err := from.unchanged(v.prepareAgain(bundle.KindContribution)); err != nil {
		return err
	}
	if err := p.askOtherFile(v, from, true); err != nil {
		return err
	}
	floors, err := v.floors()
	if err != nil {
		return err
	}
	if sealed || len(before) > 0 {
		if err := p.askAgain(v, max(1, len(before))); err != nil {
			return err
		}
	}
	made, err := party.Prepare(v.contract, t, floors, agreed, basis.NewSource())
	if err != nil {
		return err
	}
	defer made.Erase()
	var sealTo []age.Recipient
	if v.nri() {
		if sealTo, err = recipientKeys([]*identity.Statement{v.analyst}); err != nil {
			return err
		}
	}
	if sealed { // first, so that no crash leaves it beside another basis
		if _, err := v.note(audit.Event{Kind: audit.Removed, Note: "the sealed contribution that was not acknowledged, to prepare another"}); err != nil {
			return err
		}
		if err := durable.Remove(v.site.Outbox(bundle.KindContribution)); err != nil {
			return err
		}
	}
	m, err := v.putDraft(v.contributionDraft(made), sealTo, func(dir string, m *bundle.Manifest) error {
		report, err := json.MarshalIndent(made.Report, "", "  ")
		if err != nil {
			return err
		}
		err = errors.Join(
			os.WriteFile(filepath.Join(dir, reportFile), append(report, '\n'), draftPerm),
			from.write(dir),
			keepBasis(dir, made.Basis),
		)
		if err != nil {
			return err
		}
		return v.writePrepared(dir, m)
	})
	if err != nil {
		return err
	}
	p.printReport(v, made.Report)
	if n := marked(made.Report); n > 0 {
		p.printf("! %d of %d figures say what to think about before saying yes: concord review shows them\n", n, len(made.Report.Findings))
	}
	p.printf("prepared %d files of %d bytes in %s; nothing has left\n", len(m.Members), m.Bytes(), v.site.Leaves(bundle.KindContribution))
	if v.nri() {
		p.printf("sealed to the analyst at once: this site keeps neither the basis nor the order of the rows\n")
	}
	p.printf("next: concord review\n")
	return nil
}

// askAgain says what another contribution gives away beside those that were sealed
// before, and wants a yes to that (party.TestAgain shows it).
func (p *program) askAgain(v *visit, before int) error {
	l, m := v.contract.Basis.Dim, v.contract.M()
	p.printf("%s of this study was sealed here before; the server may have kept it, whatever it says\n", contributions(before))
	p.printf("%s\n", wrapped("! whoever has both images of a row puts them beside each other by their anchors: the order of each is told by the other", 2, 100))
	switch directions := min(m, (before+1)*l); v.contract.Basis.Kind {
	case basisspec.Random, basisspec.Perturbed:
		all := ""
		if directions == m {
			all = ": all that there is, so that whole rows may come back"
		}
		p.printf("%s\n", wrapped(fmt.Sprintf("! the new basis leaves out other directions than the old one: with any one party the analyst undoes up to %d of %d%s", directions, m, all), 2, 100))
	case basisspec.CommonRandom: // the same directions, whatever the rows
		p.printf("! rows that changed, were added or left out show\n")
	default:
		p.printf("%s\n", wrapped("! from a changed file the new basis leaves out other directions than the old one; rows that changed, were added or left out show", 2, 100))
	}
	p.printf("! the figures of the new report speak of it alone; the ledger counts both\ntype yes to prepare another contribution: ")
	answer, _ := p.in.ReadString('\n')
	if strings.ToLower(strings.TrimSpace(answer)) != "yes" {
		return errors.New("nothing was prepared; what was sealed is as it was")
	}
	return nil
}

func contributions(n int) string {
	if n == 1 {
		return "a contribution"
	}
	return fmt.Sprintf("%d contributions", n)
}

// keepBasis writes the basis, if there is one to keep.
func keepBasis(dir string, b *basis.Basis) error {
	if b == nil {
		return nil
	}
	return site.WriteBasis(dir, b)
}

// nri says whether the site keeps no basis.
func (v *visit) nri() bool { return v.contract.Protocol == "nri" }

// reportFile holds the party.Report of the prepared contribution.
const reportFile = "report.json"

func (v *visit) contributionDraft(made *party.Contribution) bundle.Draft {
	d := bundle.Draft{
		Header: v.header(bundle.KindContribution, []*identity.Statement{v.analyst}),
		Anchor: &made.Anchor,
		View:   v.contract.ViewOf(),
	}
	d.Members = append(d.Members, bundle.FromMatrix(release.MemberX, made.X)...)
	d.Members = append(d.Members, bundle.FromMatrix(release.MemberA, made.A)...)
	if made.Labels != nil {
		d.Members = append(d.Members, bundle.FromInts(release.MemberY, made.Labels))
	} else {
		d.Members = append(d.Members, bundle.FromMatrix(release.MemberY, made.Values)...)
	}
	return d
}

func (p *program) printReport(v *visit, r party.Report) {
	people := ""
	if v.contract.Subject != "" {
		people = fmt.Sprintf(" of %d people (column %s)", r.People, v.contract.Subject)
	}
	columns := ""
	if m := v.contract.M(); m != r.Features {
		columns = fmt.Sprintf(", %d columns with a column for each level", m)
	}
	p.printf("%d rows%s, %d features%s\n", r.Rows, people, r.Features, columns)
	for k, n := range r.Classes {
		p.printf("  %s %s: %d rows\n", v.contract.Label.Name, v.contract.Label.Levels[k], n)
	}
	if r.Dropped > 0 {
		p.printf("  %d rows were dropped, of which the basis leaves out too little\n", r.Dropped)
	}
	if r.Rank > 0 {
		p.printf("a secret %s basis of %d columns keeps %.1f %% of the rows' variation (rank %d)\n",
			v.contract.Basis.Kind, r.Dim, 100*r.Energy, r.Rank)
	}
}

// wrapped breaks text into lines of at most width characters; those after the first
// are indented.
func wrapped(text string, indent, width int) string {
	var b strings.Builder
	at := 0
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case at+1+n > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			at = indent
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String()
}
