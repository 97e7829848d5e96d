package concord

import (
	"context"

	"github.com/spf13/cobra"

	"concord/bundle"
	"concord/identity"
	"concord/internal/visit"
)

func (p *program) admitCommand() *cobra.Command {
	var keyFile string
	cmd := &cobra.Command{
		Use:   "admit NAME",
		Short: "Give the anchor to a party that came after setup",
		Long: `Seals what the parties agreed in setup to a party that came later: the anchor's
seed, and where the anchor is made of pieces the pieces too, which show near-raw
rows of every party. It goes by the relay, which cannot read it. One member does
it, after the members whom the contract names have confirmed the newcomer; who
has the anchor can, together with the analyst, undo every party's projection.

What would leave is listed, and asks for a yes.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.visit(visit.Confirmed, func(v *visit.Visit) error { return p.admit(cmd.Context(), v, args[0], keyFile) })
		},
	}
	cmd.Flags().StringVar(&keyFile, "key", "", "the approver's private key, where this site joined with an approver")
	return p.byFile(cmd, true)
}

func (p *program) admit(ctx context.Context, v *visit.Visit, name, keyFile string) error {
	done, err := v.Admit(ctx, name, keyFile, func(m *bundle.Manifest, to *identity.Statement, pieces bool) error {
		if pieces {
			p.printf("! the pieces show near-raw rows of all parties to %q\n", to.Name)
		}
		return p.approves(v, m, "", "")
	})
	switch {
	case done.To == nil:
	case done.Already:
		p.printf("the anchor was sent to %q already, and acknowledged\n", done.To.Name)
	case done.Later:
		p.printf("sealed the anchor to %q, %d bytes, for the next parcel\n", done.To.Name, done.Bytes)
		p.printGiveNext()
	default:
		p.printf("sent the anchor to %q: %d bytes, sealed to it alone\n", done.To.Name, done.Bytes)
	}
	return err
}
