package concord

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"concord/bundle"
	"concord/internal/cli"
	"concord/internal/reviewpage"
	"concord/internal/visit"
	"concord/wire"
)

func (p *program) reviewCommand() *cobra.Command {
	var html, pictures string
	var all bool
	cmd := &cobra.Command{
		Use:   "review",
		Short: "Show exactly what would leave, and to whom",
		Long: `Shows what would leave, to whom, and which figures somebody should think about;
after send, what has left. --all says every figure in a sentence, and what it
means that this leaves. With --html it writes all of it into one HTML file for the
person who approves, with the floors beside the figures: a page that needs no
network, to be read or printed. The file holds figures of this site's rows. It
replaces an earlier page only, and does not go into the site's folder.

Where features are the pixels of a square, --pictures DATA.csv, the file that was
prepared, puts rows into the page beside what the basis keeps of them; the page
then holds raw rows. Under nri there is no basis any more, and no pictures.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			asPage := cmd.Flags().Changed("html")
			if pictures != "" && !asPage {
				return cli.Usagef("--pictures are for an HTML file: give --html too")
			}
			return p.visit(visit.Looking, func(v *visit.Visit) error {
				w, err := v.Review()
				switch {
				case err != nil:
				case asPage:
					if err = v.ReviewPage(w, html, pictures); err == nil {
						p.printf("wrote %s: open it with a browser; it holds figures of this site's own rows, so keep it here\n", html)
					}
				default:
					p.printReview(v, w, all)
				}
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "every figure in a sentence, and what it means")
	cmd.Flags().StringVar(&html, "html", "", "write an HTML file instead of showing it here")
	cmd.Flags().StringVar(&pictures, "pictures", "", "the file that was prepared, for pictures of rows in the HTML file")
	return cmd
}

func shape(lengths []int) string {
	dims := make([]string, len(lengths))
	for i, n := range lengths {
		dims[i] = fmt.Sprint(n)
	}
	return strings.Join(dims, " × ")
}

// printReview shows what would leave, or has left.
func (p *program) printReview(v *visit.Visit, w visit.Review, all bool) {
	p.printDraft(v, w.Manifest)
	p.printReport(v, w.Report)
	p.printFindings(w.Report, all)
	where := fmt.Sprintf("the files are in %s; numpy.load opens them", w.Folder)
	if v.NRI() {
		where = fmt.Sprintf("the files are sealed to the analyst in %s; nobody here can open them", w.Folder)
	}
	p.printf("\n%s\n", where)
	if all {
		p.printf("\nWhat this means:\n")
		for _, said := range reviewpage.Meaning(v.Contract) {
			p.printf("%s\n", wrapped("- "+said, 2, 100))
		}
	} else {
		p.printf("labels leave as they are; the analyst with any one party undoes the projection: concord review --all\n")
	}
	p.printSpent(w.Spent)
	switch {
	case w.Left:
		p.printf("\nthis has left: the analyst acknowledged it at %s\n", w.Receipt.Received.Format(time.RFC3339))
	case w.Approved:
		p.printf("\napproved; next: concord send\n")
	default:
		p.printf("\nnothing has left; next: concord approve\n")
	}
}

// printDraft lists what would leave: to whom, which files, their hashes.
func (p *program) printDraft(v *visit.Visit, m *bundle.Manifest) {
	p.printf("%s of %q for study %q\n", m.Kind, v.ID.Statement.Name, v.Contract.Name)
	p.printf("%s", viewLine(v, m))
	for _, r := range m.Recipients {
		if s := v.Chain.In(v.Chain.At(m.Epoch), r); s != nil {
			p.printf("  to %s %q (%s)\n", s.Role, s.Name, r.Short())
		}
	}
	for _, member := range m.Members {
		p.printf("  %-12s %12d bytes  %-14s %s\n", member.Name, member.Bytes, shape(member.Shape), member.SHA256)
		if inside := member.Sealed; inside != nil {
			p.printf("  %-12s %12d bytes  %-14s %s\n", "  inside", inside.Bytes, shape(inside.Shape), inside.SHA256)
		}
	}
	p.printf("  manifest %s\n", m.Hash())
}

// viewLine says of whom which features are, for what leaves; "" without views.
func viewLine(v *visit.Visit, m *bundle.Manifest) string {
	if m.View == "" {
		return ""
	}
	c, err := v.Whole.Through(m.View)
	if err != nil {
		return fmt.Sprintf("  view %q, which is not in the contract\n", wire.Printable(m.View))
	}
	return fmt.Sprintf("  view %q: %d of %d features, the others are not known here: %s\n", m.View, len(c.Features),
		len(v.Whole.Features), visit.FirstOf(visit.MissingFrom(c), 8))
}

// printSpent prints what left of the same rows before.
func (p *program) printSpent(lines []string) {
	if lines == nil {
		return
	}
	last := len(lines) - 1
	p.printf("\nof the same file there left before:\n")
	for _, line := range lines[:last] {
		p.printf("  %s\n", line)
	}
	p.printf("%s\n", wrapped(lines[last], 0, 100))
}
