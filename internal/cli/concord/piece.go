package concord

import (
	"strings"

	"github.com/spf13/cobra"

	"concord/bundle"
	"concord/internal/visit"
	"concord/table"
)

func (p *program) pieceCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "piece",
		Short: "This site's piece of an anchor that is made of rows (low-rank, smote)",
		Long: `Some contracts have an anchor that looks like data: every party gives a piece made
of its own rows, which shows near-raw rows to every other party. So it is prepared,
reviewed and approved like a contribution, by a person:

  concord piece prepare data.csv
  concord piece review
  concord piece approve
  concord sync                         sends it, sealed to the other parties only

The analyst gets no piece.`,
	}
	var key string
	approve := &cobra.Command{
		Use:   "approve [MANIFEST]",
		Short: "Say yes to exactly what piece review shows",
		Long: `Signs the manifest that piece review shows. Asks for a yes, unless the first 12 or
more digits of the manifest are given. No policy approves a piece: a person does.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return p.visit(visit.Confirmed, func(v *visit.Visit) error {
				m, err := v.ApprovePiece(key,
					func(m *bundle.Manifest) error { return p.approves(v, m, strings.Join(args, ""), "what is prepared") })
				return p.approved(m, err, "this piece was approved, and has left", "concord sync")
			})
		},
	}
	approve.Flags().StringVar(&key, "key", "", "the approver's private key, where this site joined with an approver")
	prepare := &cobra.Command{
		Use:   "prepare DATA",
		Short: "Make the piece; nothing is sent",
		Args:  cobra.ExactArgs(1),
	}
	prepare.RunE = withData(addDataFlags(prepare), func(path string, opt table.Options) error {
		return p.visit(visit.Confirmed, func(v *visit.Visit) error {
			d, err := v.PreparePiece(path, opt)
			if err != nil {
				return err
			}
			p.printReport(v, d.Report)
			p.printFindings(d.Report, true)
			p.printf("prepared a piece of the anchor, %d bytes in %s; nothing has left\nnext: concord piece review\n",
				d.Manifest.Bytes(), d.Folder)
			return nil
		})
	})
	cmd.AddCommand(
		prepare,
		&cobra.Command{
			Use:   "review",
			Short: "Show what the piece is, and how near it is to true rows",
			Args:  cobra.NoArgs,
			RunE:  func(*cobra.Command, []string) error { return p.visit(visit.Looking, p.reviewPiece) },
		},
		approve,
	)
	return cmd
}

func (p *program) reviewPiece(v *visit.Visit) error {
	w, err := v.ReviewPiece()
	if err != nil {
		return err
	}
	p.printDraft(v, w.Manifest)
	p.printReport(v, w.Report)
	p.printFindings(w.Report, true)
	what := "your rows, of which only the largest directions are kept, with a little noise"
	if v.Contract.Anchor.Kind == "smote" {
		what = "rows that lie between one of yours and one of its nearest neighbours"
	}
	p.printf(`
What this means:
- %s are %s.
  Every other party gets them, and can read them: they are near-raw rows. So does a
  party that comes later, if those whom the contract names admit it (%s).
- %s is 32 random bytes, this site's share of the anchor's seed.
- The analyst gets neither. Together with any one party it has both.
- The files are in %s; numpy.load opens the piece.
`, visit.PieceMember+".npy", what, v.Contract.Admission.Describe(), visit.EntropyMember, w.Folder)
	p.printSpent(w.Spent)
	p.printState(w.Left, w.Sealed, w.Approved, "concord piece approve")
	return nil
}
