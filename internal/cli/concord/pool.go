package concord

import (
	"github.com/spf13/cobra"

	"concord/internal/visit"
	"concord/table"
)

func (p *program) poolCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pool",
		Short: "Figures of all parties together, by masked sums that show nobody's own",
		Long: `Some contracts prepare rows by figures of all parties together: means, deviations,
shares of levels, common directions. The parties add them up with masks on them, so
that each learns the sums and nobody a site's own; the analyst learns neither. What
leaves is prepared, reviewed and approved like a contribution, once for each stage
that the contract has. Check the file first: what is summed cannot be taken back, and a
wrong unit at one site spoils the figures of all.

  concord check data.csv
  concord pool prepare data.csv
  concord pool review
  concord pool approve
  concord sync                         every step that needs no decision

Everybody first sends masked figures (ready), then what takes the masks off the sum
(reveal). Where one party's message never comes, the others go on without it when all
of them say so:

  concord pool without "East hospital"

With pool: true in policy.yaml, sync prepares and approves the later stages of the same
file by itself.`,
	}
	cmd.AddCommand(p.poolPrepareCommand(), p.poolReviewCommand(), p.poolApproveCommand(), p.poolWithoutCommand(),
		p.poolRevealCommand(), p.poolFlagCommand())
	return cmd
}

func (p *program) poolPrepareCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "prepare DATA",
		Short: "Compute this site's figures of the next stage; nothing is sent",
		Args:  cobra.ExactArgs(1),
	}
	cmd.RunE = withData(addDataFlags(cmd), func(path string, opt table.Options) error {
		return p.visit(visit.Pooling, func(v *visit.Visit) error {
			done, err := v.PreparePool(path, opt, p.otherFile)
			switch {
			case err != nil:
				return err
			case done.Stage == 0:
				p.printf("all figures are pooled\nnext: concord prepare data.csv\n")
			default:
				p.printf("prepared stage %d of %d, %s, of %d rows: %d bytes in %s; nothing has left\n",
					done.Stage, done.Of, done.Report.Stage, done.Report.Rows, done.Manifest.Bytes(), done.Folder)
				p.printf("next: concord pool review\n")
			}
			return nil
		})
	})
	return cmd
}

// otherFile asks whether to go on with another file than that of which this site's figures
// were pooled.
func (p *program) otherFile(now, before visit.Source) bool {
	p.printf("! %s (SHA-256 %s) is not the file of which this site's figures were pooled (%s)\n", now.Path,
		now.SHA256.Short(), before.SHA256.Short())
	p.printf("%s\n", wrapped("! the figures that are pooled stay those of the old file, and what is made of them fits "+
		"it. Whoever learns figures of both files, all other parties together for one, learns what changed between them: "+
		"of a single row that was corrected, that row", 2, 100))
	return p.yes("type yes to go on with the other file: ")
}

func (p *program) poolWithoutCommand() *cobra.Command {
	return p.byFile(&cobra.Command{
		Use:   "without NAME",
		Short: "Sign that a party's message did not come, and go on without it",
		Long: `Signs that the message of a party for the present stage did not come here, and that
this site continues without it. Nothing is summed without it before every other party
has signed the same. From then on what it sends for the larger set is refused, so that
no two sums show its figures by their difference. Nobody can sign who has revealed.

The party that is left out still learns the figures, and contributes by them.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.visit(visit.Pooling, func(v *visit.Visit) error {
				done, err := v.PoolWithout(cmd.Context(), args[0])
				if done.First != nil && err == nil {
					p.printf("the common directions now come from %q; tell the other parties to run the same command\nnext: "+
						"concord sync\n", done.First.Name)
				}
				return p.next(done.Turn, err)
			})
		},
	}, true)
}

func (p *program) poolRevealCommand() *cobra.Command {
	return p.byFile(&cobra.Command{
		Use:   "reveal",
		Short: "Take the masks off although others want to go on without somebody",
		Long: `Where others have signed to go on without a party whose message is here, sync waits for
people to say the same (concord pool without NAME). This command stays with the present
set instead, and takes this site's masks off its sum. That opens the sum when enough do
so, and nothing before; whoever has revealed cannot go on without anybody in this stage.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.visit(visit.Pooling, func(v *visit.Visit) error { return p.next(v.PoolReveal(cmd.Context())) })
		},
	}, true)
}
