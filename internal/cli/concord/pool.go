package concord

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"concord/bundle"
	"concord/internal/cli"
	"concord/internal/durable"
	"concord/internal/site"
	"concord/masked"
	"concord/table"
	"concord/wire"
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
	var key string
	approve := &cobra.Command{
		Use:   "approve [MANIFEST]",
		Short: "Say yes to exactly what pool review shows",
		Long: `Signs the manifest that pool review shows. Asks for a yes, unless the first 12 or
more digits of the manifest are given. Where answering would show more than the sums,
beside what this site has answered before, it says so, and a yes has to be typed.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return p.approvePool(strings.Join(args, ""), key) },
	}
	approve.Flags().StringVar(&key, "key", "", "the approver's private key, where this site joined with an approver")
	var all bool
	review := &cobra.Command{
		Use:   "review",
		Short: "Show what is summed, this site's own figures, and what others learn",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return p.reviewPool(all) },
	}
	review.Flags().BoolVar(&all, "all", false, "every feature")
	prepare := &cobra.Command{
		Use:   "prepare DATA",
		Short: "Compute this site's figures of the next stage; nothing is sent",
		Args:  cobra.ExactArgs(1),
	}
	prepare.RunE = withData(addDataFlags(prepare), p.preparePool)
	cmd.AddCommand(
		prepare,
		review,
		approve,
		p.byFile(&cobra.Command{
			Use:   "without NAME",
			Short: "Sign that a party's message did not come, and go on without it",
			Long: `Signs that the message of a party for the present stage did not come here, and that
this site goes on without it. Nothing is summed without it before every other party
has signed the same. From then on what it sends for the larger set is refused, so that
no two sums show its figures by their difference. Nobody can sign who has revealed.

The party that is left out still learns the figures, and contributes by them.`,
			Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error { return p.poolWithout(cmd.Context(), args[0]) },
		}, true),
		p.byFile(&cobra.Command{
			Use:   "reveal",
			Short: "Take the masks off although others want to go on without somebody",
			Long: `Where others have signed to go on without a party whose message is here, sync waits for
people to say the same (concord pool without NAME). This command stays with the present
set instead, and takes this site's masks off its sum. That opens the sum when enough do
so, and nothing before; whoever has revealed cannot go on without anybody in this stage.`,
			Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return p.poolReveal(cmd.Context()) },
		}, true),
		p.poolFlagCommand(),
	)
	return cmd
}

// needsPooling refuses where the contract pools nothing, and at a site that came late.
func (v *visit) needsPooling() error {
	if !v.pools() {
		return cli.Usagef("this study pools no figures")
	}
	if err := v.enoughOfViews(v.chain.Root()); err != nil {
		return err
	}
	if v.late() {
		return wire.WithHint(errors.New("this site came after setup; it gets the pooled figures with the anchor"), "run concord sync")
	}
	return nil
}

// changePooling is changeConfirmed for a site that has a part in the masked sums.
func (p *program) changePooling() (*visit, func(), error) {
	v, unlock, err := p.changeConfirmed()
	if err != nil {
		return nil, nil, err
	}
	if err := v.needsPooling(); err != nil {
		unlock()
		return nil, nil, err
	}
	return v, unlock, nil
}

func (p *program) preparePool(path string, opt table.Options) error {
	v, unlock, err := p.changePooling()
	if err != nil {
		return err
	}
	defer unlock()
	stage, err := v.poolStage()
	if err != nil {
		return err
	}
	if stage == 0 {
		p.printf("all figures are pooled\nnext: concord prepare data.csv\n")
		return nil
	}
	name, report, err := p.draftPool(v, stage, path, opt, true)
	if err != nil {
		return err
	}
	m, err := v.loadManifest(name)
	if err != nil {
		return err
	}
	p.printf("prepared stage %d of %d, %s, of %d rows: %d bytes in %s; nothing has left\n",
		stage, len(v.whole.Stages()), report.Stage, report.Rows, m.Bytes(), v.site.Leaves(name))
	p.printf("next: concord pool review\n")
	return nil
}

// draftPool makes this site's masked figures of a stage of a file, and the draft of the
// message with them. With ask, a person may say yes to another file than that of which
// figures were pooled before; without, it is an error.
func (p *program) draftPool(v *visit, stage int, path string, opt table.Options, ask bool) (name string, report poolReport, err error) {
	r, err := v.loadRound(stage)
	if err != nil {
		return "", report, err
	}
	// Whatever the stage's own file says: it may be gone, or a copy from before.
	sealed, err := v.site.PoolMessages()
	if err != nil {
		return "", report, err
	}
	for _, name := range sealed {
		if at, _, _ := site.ParsePoolName(name); at != stage {
			continue
		}
		if len(r.own()) == 0 {
			return "", report, wire.WithHint(fmt.Errorf("this site's figures of stage %d have left, and %s does not know of them; a second message under the same masks would show the difference", stage, v.site.Pool(stageFile(stage))),
				"restore the site's folder from a copy, or let the others go on without this site")
		}
		return "", report, wire.WithHint(fmt.Errorf("this site's figures of stage %d are sealed and may have left; they cannot be prepared anew", stage), "run concord sync")
	}
	if r, err = v.resetRound(r); err != nil {
		return "", report, err
	}
	if due := r.Next().Due; due != masked.DueReady {
		return "", report, errors.New("the others go on without this site in this stage; it gets the sums by concord sync")
	}
	from, err := describeSource(path, v.contract, opt)
	if err != nil {
		return "", report, err
	}
	if err := p.askOtherFile(v, from, ask); err != nil {
		return "", report, err
	}
	floors, err := v.floors()
	if err != nil {
		return "", report, err
	}
	pool, err := v.pooledSoFar()
	if err != nil {
		return "", report, err
	}
	vector, report, err := v.scanned(path, pool, v.whole.Stages()[stage-1], opt, from)
	if err != nil {
		return "", report, err
	}
	defer vector.Erase()
	if err := from.unchanged(v.prepareAgain(site.PoolName(stage, 1))); err != nil {
		return "", report, err
	}
	if err := report.keeps(floors); err != nil {
		return "", report, err
	}
	if err := v.putVector(stage, vector); err != nil {
		return "", report, err
	}
	return r.draftReady(vector, func(dir string, m *bundle.Manifest) error {
		if err := errors.Join(report.write(dir), from.write(dir)); err != nil {
			return err
		}
		return v.writePrepared(dir, m)
	}, report)
}

// draftReady makes the ready message for the present set, and its draft.
func (r *poolRound) draftReady(vector masked.Vector, stays func(string, *bundle.Manifest) error, report poolReport) (string, poolReport, error) {
	if err := r.ready(vector); err != nil {
		return "", report, err
	}
	own := r.own()
	number := len(own)
	return site.PoolName(r.stage, number), report, r.draftMessage(number, readyMember, own[number-1], stays)
}

// resetRound forgets a stage of which nothing of this site was sealed, to prepare it
// anew.
func (v *visit) resetRound(r *poolRound) (*poolRound, error) {
	if len(r.own()) == 0 {
		return r, nil
	}
	for i := range r.own() {
		if err := os.RemoveAll(v.site.Draft(site.PoolName(r.stage, i+1))); err != nil {
			return nil, err
		}
	}
	if err := durable.Remove(v.site.Pool(stageFile(r.stage)), v.site.Pool(vectorFile(r.stage))); err != nil {
		return nil, err
	}
	return v.loadRound(r.stage)
}

// askOtherFile wants a person's yes to a file that is not the one of which this site's
// figures were pooled.
func (p *program) askOtherFile(v *visit, from source, ask bool) error {
	before, ok, err := v.pooledSource()
	if err != nil || !ok || before.SHA256 == from.SHA256 {
		return err
	}
	if !ask {
		return wire.WithHint(fmt.Errorf("%s is not the file of which this site's figures were pooled", from.Path), "run concord pool prepare with that file, or with this one, which then needs a yes")
	}
	p.printf("! %s (SHA-256 %s) is not the file of which this site's figures were pooled (%s)\n", from.Path, from.SHA256.Short(), before.SHA256.Short())
	p.printf("%s\n", wrapped("! the figures that are pooled stay those of the old file, and what is made of them fits it. Whoever learns figures of both files, all other parties together for one, learns what changed between them: of a single row that was corrected, that row", 2, 100))
	p.printf("type yes to go on with the other file: ")
	answer, _ := p.in.ReadString('\n')
	if strings.ToLower(strings.TrimSpace(answer)) != "yes" {
		return wire.WithHint(errors.New("not the file of which this site's figures were pooled; nothing was prepared"), "give the same file as before, or say yes to the other")
	}
	return nil
}
