package analystcli

import (
	"fmt"

	"github.com/spf13/cobra"

	"concord/study"
)

func (p *program) inviteCommand() *cobra.Command {
	var label, prefix string
	cmd := &cobra.Command{
		Use:   "invite",
		Short: "Print a one-time invite for one party",
		Long: `Prints one line that lets one party join a study: the server's address, the
hashes of the contract and of the analyst's identity, and a secret that works
once. Give it to that party over a channel you trust; whoever reads it first can
join in its place, which people then notice when they compare the roster.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, id, cfg, st, err := p.open()
			if err != nil {
				return err
			}
			defer st.Close()
			s, err := pick(cmd.Context(), st, prefix)
			if err != nil {
				return err
			}
			invite := study.NewInvite(cfg.Address, s.Hash, id.Statement.Fingerprint())
			if err := st.AddInvite(cmd.Context(), s.Hash, study.HashOf(invite.Secret.Reveal()), label); err != nil {
				return err
			}
			fmt.Fprintln(p.out, invite.Line())
			return nil
		},
	}
	cmd.Flags().StringVar(&label, "for", "", "whom the invite is for, for your own records")
	cmd.Flags().StringVar(&prefix, "study", "", "the first digits of the study's hash, if there are several")
	return cmd
}
