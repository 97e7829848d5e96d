package concord

import (
	"github.com/spf13/cobra"

	"concord/internal/visit"
)

func (p *program) rekeyCommand() *cobra.Command {
	return p.byFile(&cobra.Command{
		Use:   "rekey",
		Short: "Take new keys, signed by the old ones",
		Long: `Makes new keys at this site, signs them with the old ones and sends them to the
analyst, who signs too. The other parties' programs follow at their next visit and
tell people; nobody compares a phrase, and nothing that was sent has to be sent
again. The name and the approver stay.

The old keys stay in identities/, readable by their owner only: what was sealed to
them opens with nothing else. So new keys do not take back what a thief of the old ones
can open. Where the old keys are lost, the analyst removes the site and it joins anew.

Interrupted, the command goes on when it is repeated. By files the answer comes with
a parcel, and concord take takes the new keys.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.visit(visit.Confirmed, func(v *visit.Visit) error {
				k, err := v.Rekey(cmd.Context())
				if err != nil {
					return err
				}
				if k.Later {
					p.printf("new keys, fingerprint %s, are asked for with the next parcel; the old ones count until the answer "+
						"is taken\n", k.Fingerprint.Short())
					return nil
				}
				p.printf("this site has new keys, fingerprint %s, as of roster %d; the old ones stay in %s for what was sealed "+
					"to them\n",
					k.Fingerprint.Short(), k.Roster, k.Folder)
				p.printf("tell the other parties: their programs say the same fingerprint\n")
				return nil
			})
		},
	}, true)
}
