package partycli

import (
	"context"

	"github.com/spf13/cobra"

	"concord/bundle"
	"concord/internal/cli"
	"concord/internal/client"
	"concord/study"
)

func (p *program) sendCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "send",
		Short: "Seal and send what was approved",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v, unlock, err := p.changeConfirmed()
			if err != nil {
				return err
			}
			defer unlock()
			if v.site.Sent(bundle.KindContribution) {
				p.printf("sent already, and acknowledged\nnext: concord receive, when everybody has sent\n")
				return nil
			}
			c, err := v.dial()
			if err != nil {
				return err
			}
			defer c.Close()
			return p.sendContribution(cmd.Context(), v, c)
		},
	}
}

func (p *program) sendContribution(ctx context.Context, v *visit, c *client.Client) error {
	if !v.site.Has("outbox", bundle.KindContribution+".bundle") {
		if err := v.sealDraft(bundle.KindContribution, []*study.Statement{v.analyst}); err != nil {
			return err
		}
	}
	n, err := v.sendOutbox(ctx, c, bundle.KindContribution)
	if err != nil {
		return cli.WithHint(err, hintOf(err, "nothing is lost: correct the cause and run concord send again"))
	}
	p.printf("sent %d bytes, sealed to the analyst; the receipt is in %s\n", n, v.site.Path("receipts"))
	p.printf("next: concord receive, when everybody has sent\n")
	return nil
}

// hintOf is an error's own hint, or another.
func hintOf(err error, otherwise string) string {
	if h, ok := err.(interface{ Hint() string }); ok && h.Hint() != "" {
		return h.Hint()
	}
	return otherwise
}
