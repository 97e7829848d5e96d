package concord

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	basisspec "concord/basis/spec"
	"concord/internal/visit"
	"concord/party"
	"concord/table"
)

func (p *program) prepareCommand() *cobra.Command {
	var how visit.Preparing
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
	cmd.RunE = withData(addDataFlags(cmd), func(path string, opt table.Options) error {
		return p.visit(visit.Confirmed, func(v *visit.Visit) error {
			how.Other, how.Anew = p.otherFile, func(before int) bool { return p.askAgain(v, before) }
			d, err := v.Prepare(path, opt, how)
			if err == nil {
				p.tellPrepared(v, d)
			}
			return err
		})
	})
	cmd.Flags().StringVar(&how.View, "view", "", viewFlag)
	cmd.Flags().BoolVar(&how.Again, "again", false,
		"prepare anew although a contribution was sealed and the server refused it; asks")
	return cmd
}

func contributions(n int) string {
	if n == 1 {
		return "a contribution"
	}
	return fmt.Sprintf("%d contributions", n)
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

// tellPrepared says what was prepared.
func (p *program) tellPrepared(v *visit.Visit, d visit.Draft) {
	p.printReport(v, d.Report)
	if n := marked(d.Report); n > 0 {
		p.printf("! %d of %d figures say what to think about before saying yes: concord review shows them\n", n,
			len(d.Report.Findings))
	}
	p.printf("prepared %d files of %d bytes in %s; nothing has left\n", len(d.Manifest.Members), d.Manifest.Bytes(),
		d.Folder)
	if v.NRI() {
		p.printf("sealed to the analyst at once: this site keeps neither the basis nor the order of the rows\n")
	}
	p.printf("next: concord review\n")
}

// askAgain says what another contribution gives away beside those that were sealed
// before, and wants a yes to that (party.TestAgain shows it).
func (p *program) askAgain(v *visit.Visit, before int) bool {
	l, m := v.Contract.Basis.Dim, v.Contract.M()
	p.printf("%s of this study was sealed here before; the server may have kept it, whatever it says\n",
		contributions(before))
	p.printf("%s\n", wrapped("! whoever has both images of a row puts them beside each other by their anchors: the "+
		"order of each is told by the other", 2, 100))
	switch directions := min(m, (before+1)*l); v.Contract.Basis.Kind {
	case basisspec.Random, basisspec.Perturbed:
		all := ""
		if directions == m {
			all = ": all that there is, so that whole rows may come back"
		}
		p.printf("%s\n", wrapped(fmt.Sprintf("! the new basis leaves out other directions than the old one: with any one "+
			"party the analyst undoes up to %d of %d%s", directions, m, all), 2, 100))
	case basisspec.CommonRandom: // the same directions, whatever the rows
		p.printf("! rows that changed, were added or left out show\n")
	default:
		p.printf("%s\n", wrapped("! from a changed file the new basis leaves out other directions than the old one; rows "+
			"that changed, were added or left out show", 2, 100))
	}
	p.printf("! the figures of the new report speak of it alone; the ledger counts both\n")
	return p.yes("type yes to prepare another contribution: ")
}

func (p *program) printReport(v *visit.Visit, r party.Report) {
	people := ""
	if v.Contract.Subject != "" {
		people = fmt.Sprintf(" of %d people (column %s)", r.People, v.Contract.Subject)
	}
	columns := ""
	if m := v.Contract.M(); m != r.Features {
		columns = fmt.Sprintf(", %d columns with a column for each level", m)
	}
	p.printf("%d rows%s, %d features%s\n", r.Rows, people, r.Features, columns)
	for k, n := range r.Classes {
		p.printf("  %s %s: %d rows\n", v.Contract.Label.Name, v.Contract.Label.Levels[k], n)
	}
	if r.Dropped > 0 {
		p.printf("  %d rows were dropped, of which the basis leaves out too little\n", r.Dropped)
	}
	if r.Rank > 0 {
		p.printf("a secret %s basis of %d columns keeps %.1f %% of the rows' variation (rank %d)\n",
			v.Contract.Basis.Kind, r.Dim, 100*r.Energy, r.Rank)
	}
}
