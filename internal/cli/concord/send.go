package concord

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"concord/audit"
	"concord/bundle"
	"concord/internal/client"
	"concord/internal/durable"
	"concord/internal/post"
	"concord/wire"
)

func (p *program) sendCommand() *cobra.Command {
	return p.byFile(&cobra.Command{
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
				if err := v.forgetSent(); err != nil {
					return err
				}
				p.printf("sent already, and acknowledged\nnext: concord receive, when everybody has sent\n")
				return nil
			}
			c, err := v.dial()
			if err != nil {
				return err
			}
			defer c.Close()
			// Where the server is out of reach the contribution is sealed all the same.
			var away *client.Unreachable
			if _, err := p.follow(cmd.Context(), v, c); err != nil && !errors.As(err, &away) {
				return err
			}
			return p.sendContribution(cmd.Context(), v, c)
		},
	}, true)
}

func (p *program) sendContribution(ctx context.Context, v *visit, c post.Post) error {
	if !v.site.Has("outbox", bundle.KindContribution+".bundle") {
		m, _, err := v.loadDraft(bundle.KindContribution)
		if err != nil {
			return err
		}
		if _, err := v.loadApproval(bundle.KindContribution, m); err != nil {
			return err
		}
		if err := v.stillHolds(bundle.KindContribution, m); err != nil {
			return err
		}
		if err := v.spend(m); err != nil {
			return err
		}
		if err := v.sealDraft(bundle.KindContribution); err != nil {
			return err
		}
	}
	n, err := v.sendOutbox(ctx, c, bundle.KindContribution)
	if errors.Is(err, post.ErrLater) {
		p.printf("sealed %d bytes to the analyst, for the next parcel\n", n)
		p.printGiveNext()
		return nil
	}
	if err != nil {
		return wire.WithHint(err, hintOf(err, "nothing is lost: correct the cause and run concord send again"))
	}
	if err := v.forgetSent(); err != nil {
		return err
	}
	p.printf("sent %d bytes, sealed to the analyst; the receipt is in %s\n", n, v.site.Path("receipts"))
	p.printf("next: concord receive, when everybody has sent\n")
	return nil
}

// forgetSent removes under nri what the analyst has acknowledged: the sealed files,
// of which the manifest tells what they were ([imakura2023], algorithm 2, step 3). It can be
// repeated.
func (v *visit) forgetSent() error {
	if !v.nri() || !v.site.Sent(bundle.KindContribution) {
		return nil
	}
	paths := []string{v.site.Outbox(bundle.KindContribution)}
	entries, err := os.ReadDir(v.site.Leaves(bundle.KindContribution))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		// Whatever the manifest lists, which somebody may have edited meanwhile.
		if strings.HasSuffix(e.Name(), ".age") {
			paths = append(paths, v.site.Leaves(bundle.KindContribution, e.Name()))
		}
	}
	if len(paths) == 1 && !v.site.Has("outbox", bundle.KindContribution+".bundle") {
		return nil // done before
	}
	err = v.noteOnce(audit.Event{Kind: audit.Removed, Note: "the sealed contribution, which the analyst has acknowledged: under nri this site keeps its manifest only"})
	if err != nil {
		return err
	}
	return durable.Remove(paths...)
}

// hintOf is an error's own hint, or another.
func hintOf(err error, otherwise string) string {
	if h, ok := err.(interface{ Hint() string }); ok && h.Hint() != "" {
		return h.Hint()
	}
	return otherwise
}
