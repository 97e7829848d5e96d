package concordd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"concord/internal/store"
	"concord/wire"
)

func (p *program) inviteCommand() *cobra.Command {
	var label, prefix, tls string
	var list, admit bool
	cmd := &cobra.Command{
		Use:   "invite",
		Short: "Print a one-time invite for one party",
		Long: `Prints one line that lets one party join a study: the server's address, the
hashes of the contract and of the analyst's identity, and a secret that works
once. Give it to that party over a channel you trust; whoever reads it first can
ask in its place, which you notice in concordd admit, or people when they compare
the roster.

Whoever uses the invite asks to be let in (concordd admit). With --admit it is let
in at once: for scripts and demonstrations. That gives up your look at who came;
only the people who compare the roster's names and words are left to notice.`,
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
			if list {
				return p.listInvites(cmd.Context(), st, s.Hash)
			}
			invite, err := cfg.invite(tls, s.Hash, id.Statement.Fingerprint())
			if err != nil {
				return err
			}
			add := st.AddAskingInvite
			if admit {
				add = st.AddInvite
			}
			if err := add(cmd.Context(), s.Hash, wire.HashOf(invite.Secret.Reveal()), label); err != nil {
				return err
			}
			fmt.Fprintln(p.out, invite.Line())
			return nil
		},
	}
	cmd.Flags().StringVar(&label, "for", "", "whom the invite is for, for your own records")
	cmd.Flags().StringVar(&tls, "tls", "", "pinned or webpki, where the server offers both (default pinned); webpki is for a party behind an inspecting proxy")
	cmd.Flags().BoolVar(&admit, "admit", false, "let in whoever uses the invite, at once and unseen")
	cmd.Flags().BoolVar(&list, "list", false, "list the invites and who has used them, instead of making one")
	cmd.Flags().StringVar(&prefix, "study", "", "the first digits of the study's hash, if there are several")
	return cmd
}

// listInvites prints for whom invites were made and who joined with them. The
// secrets are not kept and cannot be shown again.
func (p *program) listInvites(ctx context.Context, st *store.Store, hash wire.Hash) error {
	invites, err := st.Invites(ctx, hash)
	if err != nil {
		return err
	}
	for _, v := range invites {
		used := "not used"
		if v.UsedBy != "" {
			used = fmt.Sprintf("used by %q", v.UsedBy)
		}
		switch {
		case v.Waiting:
			used += ", who asks to be let in"
		case v.Refused:
			used += ", who was turned away"
		}
		fmt.Fprintf(p.out, "for %-30q %s\n", v.Label, used)
	}
	return nil
}
