package concord

import (
	"strings"

	"github.com/spf13/cobra"

	"concord/bundle"
	"concord/internal/cli"
	"concord/internal/visit"
	"concord/wire"
)

func (p *program) approveCommand() *cobra.Command {
	var policy, key string
	cmd := &cobra.Command{
		Use:   "approve [MANIFEST]",
		Short: "Say yes to exactly what review shows",
		Long: `Signs the manifest that review shows: these files, with these hashes, to these
recipients. Whatever is changed afterwards is not sent. Asks for a yes, unless
the first 12 or more digits of the manifest are given, as review prints them.

Without a person a program approves by a written policy only: --policy names the
file, which must say approve: true, every figure must keep its floors, and the same
rows must not have left more often than it says (projections, 1). The approval then
carries the policy's name, here and at the analyst. Every approval is noted in
approvals.log.

Where this site joined with an approver's key, that person approves: --key names
the file with the private key.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			digits := strings.Join(args, "")
			if digits != "" && policy != "" {
				return cli.Usagef("give digits, which a person has seen, or a policy, not both")
			}
			const left = "this contribution was approved, and has left"
			return p.visit(visit.Confirmed, func(v *visit.Visit) error {
				if policy != "" {
					m, by, err := v.ApproveByPolicy(policy, key)
					if m != nil && err == nil {
						p.printf("approved by policy %q, without a person; noted in %s\n", by.Name, by.Log)
					}
					return p.approved(m, err, left, string(visit.StepSend))
				}
				m, err := v.Approve(key, func(m *bundle.Manifest) error {
					err := p.approves(v, m, digits, "the prepared contribution")
					if err == errNotApproved {
						err = wire.WithHint(err, "run the command again and type yes, or give the first 12 digits of the manifest")
					}
					return err
				})
				return p.approved(m, err, left, string(visit.StepSend))
			})
		},
	}
	cmd.Flags().StringVar(&policy, "policy", "", "approve by this policy file, without a person")
	cmd.Flags().StringVar(&key, "key", "", "the approver's private key, where this site joined with an approver")
	return cmd
}
