package concord

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"concord/bundle"
	"concord/internal/cli"
	"concord/internal/reviewpage"
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
			return p.review(cmd.Flags().Changed("html"), html, pictures, all)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "every figure in a sentence, and what it means")
	cmd.Flags().StringVar(&html, "html", "", "write an HTML file instead of showing it here")
	cmd.Flags().StringVar(&pictures, "pictures", "", "the file that was prepared, for pictures of rows in the HTML file")
	return cmd
}

func (p *program) review(asPage bool, path, pictures string, all bool) error {
	if pictures != "" && !asPage {
		return cli.Usagef("--pictures are for an HTML file: give --html too")
	}
	v, err := p.open()
	if err != nil {
		return err
	}
	if err := v.needRoster(); err != nil {
		return err
	}
	m, err := v.reviewed()
	if err != nil {
		return err
	}
	r, err := v.report(bundle.KindContribution)
	if err != nil {
		return err
	}
	if asPage {
		return p.writePage(v, m, r, path, pictures)
	}
	p.printDraft(v, m)
	p.printReport(v, r)
	p.printFindings(r, all)
	where := fmt.Sprintf("the files are in %s; numpy.load opens them", v.site.Leaves(bundle.KindContribution))
	if v.nri() {
		where = fmt.Sprintf("the files are sealed to the analyst in %s; nobody here can open them", v.site.Leaves(bundle.KindContribution))
	}
	p.printf("\n%s\n", where)
	if all {
		p.printf("\nWhat this means:\n")
		for _, said := range reviewpage.Meaning(v.contract) {
			p.printf("%s\n", wrapped("- "+said, 2, 100))
		}
	} else {
		p.printf("labels leave as they are; the analyst with any one party undoes the projection: concord review --all\n")
	}
	if err := p.printSpent(v, m); err != nil {
		return err
	}
	switch _, err := v.loadApproval(bundle.KindContribution, m); {
	case v.site.Sent(bundle.KindContribution):
		receipt, err := v.receipt(bundle.KindContribution)
		if err != nil {
			return err
		}
		p.printf("\nthis has left: the analyst acknowledged it at %s\n", receipt.Received.Format(time.RFC3339))
	case err == nil:
		p.printf("\napproved; next: concord send\n")
	default:
		p.printf("\nnothing has left; next: concord approve\n")
	}
	return nil
}

// reviewed is the manifest of what would leave, or has left.
func (v *visit) reviewed() (*bundle.Manifest, error) {
	if !v.site.Sent(bundle.KindContribution) {
		m, _, err := v.loadDraft(bundle.KindContribution)
		if err != nil {
			return nil, err
		}
		return m, v.checkPrepared(bundle.KindContribution, m)
	}
	m, err := v.loadManifest(bundle.KindContribution)
	if err != nil {
		return nil, err
	}
	receipt, err := v.receipt(bundle.KindContribution)
	if err != nil {
		return nil, err
	}
	if receipt.Manifest != m.Hash() {
		return nil, fmt.Errorf("%s is not what left: it is %s, the analyst's receipt is for %s",
			v.site.Leaves(bundle.KindContribution, manifestFile), m.Hash().Short(), receipt.Manifest.Short())
	}
	if err := v.checkPrepared(bundle.KindContribution, m); err != nil {
		// Whoever reads the report of what has left is told; nothing can be prepared again.
		return nil, errors.New(err.Error())
	}
	return m, nil
}

// printDraft lists what would leave: to whom, which files, their hashes.
func (p *program) printDraft(v *visit, m *bundle.Manifest) {
	p.printf("%s of %q for study %q\n", m.Kind, v.id.Statement.Name, v.contract.Name)
	p.printf("%s", v.viewLine(m))
	for _, r := range m.Recipients {
		if s := v.chain.In(v.chain.At(m.Epoch), r); s != nil {
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

func shape(lengths []int) string {
	dims := make([]string, len(lengths))
	for i, n := range lengths {
		dims[i] = fmt.Sprint(n)
	}
	return strings.Join(dims, " × ")
}

func (p *program) approveCommand() *cobra.Command {
	var opt approveOptions
	cmd := &cobra.Command{
		Use:   "approve [MANIFEST]",
		Short: "Say yes to exactly what review shows",
		Long: `Signs the manifest that review shows: these files, with these hashes, to these
recipients. Whatever is changed afterwards is not sent. Asks for a yes, unless
the first 12 or more digits of the manifest are given, as review prints them.

Without a person a program approves by a written policy only: --policy names the
file, which must say approve: true, every figure must keep its floors, and the same
rows must not have left more often than it says (projections, 1). The approval then carries the policy's name, here and at the analyst. Every approval
is noted in approvals.log.

Where this site joined with an approver's key, that person approves: --key names
the file with the private key.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return p.approve(strings.Join(args, ""), opt) },
	}
	cmd.Flags().StringVar(&opt.policy, "policy", "", "approve by this policy file, without a person")
	cmd.Flags().StringVar(&opt.key, "key", "", "the approver's private key, where this site joined with an approver")
	return cmd
}

type approveOptions struct{ policy, key string }

func (p *program) approve(digits string, opt approveOptions) error {
	v, unlock, err := p.changeConfirmed()
	if err != nil {
		return err
	}
	defer unlock()
	if v.site.Sent(bundle.KindContribution) {
		p.printf("this contribution was approved, and has left\n")
		return nil
	}
	m, _, err := v.loadDraft(bundle.KindContribution)
	if err != nil {
		return err
	}
	if err := v.stillHolds(bundle.KindContribution, m); err != nil {
		return err
	}
	key, err := v.approverKey(opt.key)
	if err != nil {
		return err
	}
	hash, by := m.Hash().String(), bundle.PolicyPerson
	switch {
	case digits != "" && opt.policy != "":
		return cli.Usagef("give digits, which a person has seen, or a policy, not both")
	case opt.policy != "":
		if by, err = v.policyAllows(opt.policy, m); err != nil {
			return err
		}
	case digits != "" && len(digits) < 12:
		return cli.Usagef("give at least 12 digits of the manifest, or none")
	case digits != "" && !strings.HasPrefix(hash, digits):
		return fmt.Errorf("the prepared contribution is not %s; it is %s: review it again", digits, m.Hash().Short())
	case digits == "":
		p.printDraft(v, m)
		p.printf("type yes to approve that these files leave: ")
		answer, err := p.in.ReadString('\n')
		if err != nil { // the answer, or its end, left the line open
			p.printf("\n")
		}
		if strings.ToLower(strings.TrimSpace(answer)) != "yes" {
			return wire.WithHint(errors.New("not approved; nothing has left"), "run the command again and type yes, or give the first 12 digits of the manifest")
		}
	}
	if err := v.approveDraft(bundle.KindContribution, m, key, by); err != nil {
		return err
	}
	if by != bundle.PolicyPerson {
		p.printf("approved by policy %q, without a person; noted in %s\n", by, v.site.Path("approvals.log"))
	}
	p.printf("approved %s\nnext: concord send\n", m.Hash().Short())
	return nil
}
