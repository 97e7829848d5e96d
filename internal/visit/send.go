package visit

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"concord/audit"
	"concord/bundle"
	"concord/internal/client"
	"concord/internal/durable"
	"concord/internal/post"
	"concord/internal/visit/event"
	"concord/wire"
)

// forgetSent removes under nri what the analyst has acknowledged: the sealed files,
// of which the manifest tells what they were (NRI Algorithm 2, step 3). It can be
// repeated.
func (v *Visit) forgetSent() error {
	if !v.NRI() || !v.site.Sent(bundle.KindContribution) {
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
	err = v.noteOnce(audit.Event{Kind: audit.Removed,
		Note: "the sealed contribution, which the analyst has acknowledged: under nri this site keeps its manifest only"})
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

// Send seals what was approved and sends it. It reports whether that was done before.
func (v *Visit) Send(ctx context.Context) (already bool, err error) {
	if v.site.Sent(bundle.KindContribution) {
		return true, v.forgetSent()
	}
	c, err := v.connect()
	if err != nil {
		return false, err
	}
	// Where the server is out of reach the contribution is sealed all the same.
	var away *client.Unreachable
	if _, err := v.follow(ctx, c); err != nil && !errors.As(err, &away) {
		return false, err
	}
	return false, v.sendContribution(ctx, c)
}

func (v *Visit) sendContribution(ctx context.Context, c post.Post) error {
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
		v.tell(event.ContributionSent{Bytes: n, Later: true})
		return nil
	}
	if err != nil {
		return wire.WithHint(err, hintOf(err, "nothing is lost: correct the cause and run concord send again"))
	}
	if err := v.forgetSent(); err != nil {
		return err
	}
	v.tell(event.ContributionSent{Bytes: n, Receipts: v.site.Path("receipts")})
	return nil
}
