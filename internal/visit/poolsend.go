package visit

import (
	"context"
	"errors"
	"slices"

	"concord/bundle"
	"concord/internal/post"
	"concord/internal/site"
	"concord/internal/visit/event"
	"concord/masked"
	"concord/wire"
)

// sendPool seals and sends every message of the round that is not acknowledged yet, the
// approved ready messages and what follows from them.
func (v *Visit) sendPool(ctx context.Context, c post.Post, r *poolRound) error {
	for i, m := range r.own() {
		number := i + 1
		if m.Kind != masked.KindReady {
			if err := r.draftMessage(number, m.Kind+".json", m, nil); err != nil {
				return err
			}
		}
		name := site.PoolName(r.stage, number)
		if r.stale(name, m) {
			continue
		}
		if m.Kind == masked.KindReady && !v.site.Has("outbox", name+".bundle") {
			if err := r.answers(name, m.Set); err != nil {
				return err
			}
		}
		if err := v.sendMessage(ctx, c, name, m.Kind); err != nil {
			return err
		}
	}
	return nil
}

// sendMessage seals a message of masked sums, once, and sends it until it is
// acknowledged.
func (v *Visit) sendMessage(ctx context.Context, c post.Post, name, what string) error {
	if v.site.Sent(name) {
		return nil
	}
	if !v.site.Has("outbox", name+".bundle") {
		m, err := v.loadManifest(name)
		if err != nil {
			return err
		}
		if !mustApprove(m) {
			if !v.site.HasDraft(name, "leaves", approvalFile) {
				if err := v.approveFollowing(name, m); err != nil {
					return err
				}
			}
		} else if hasFigures(m) {
			if err := errors.Join(v.stillHolds(name, m), v.keepSource(name)); err != nil {
				return err
			}
		}
		if err := v.sealDraft(name); err != nil {
			return err
		}
	}
	n, err := v.sendOutbox(ctx, c, name)
	later := errors.Is(err, post.ErrLater)
	if err != nil && !later {
		return err
	}
	v.tell(event.MessageSent{Name: name, What: what, Bytes: n, Later: later})
	return nil
}

// forwardPool passes on the ready messages of parties that others want to leave out, where
// this site has them.
func (v *Visit) forwardPool(ctx context.Context, c post.Post, r *poolRound, proposed []wire.Hash) error {
	for _, m := range r.Forward() {
		if m.Kind != masked.KindReady || !slices.Contains(proposed, m.Sender) {
			continue
		}
		number := firstForward
		for ; v.site.HasDraft(site.PoolName(r.stage, number)); number++ {
			known, err := v.loadManifest(site.PoolName(r.stage, number))
			if err != nil {
				return err
			}
			if in, ok := known.Member(forwardMember); ok && in.SHA256 == wire.HashOf(m.Head) {
				break
			}
		}
		if err := r.draftMessage(number, forwardMember, m, nil); err != nil {
			return err
		}
		if err := v.sendMessage(ctx, c, site.PoolName(r.stage, number), "passed on"); err != nil {
			return err
		}
	}
	return nil
}

func (v *Visit) approveFollowing(name string, m *bundle.Manifest) error {
	id, err := v.idIn(m.Epoch)
	if err != nil {
		return err
	}
	return v.approveAs(name, m, id.SigningKey(), policyFollows, id.Statement.SigningKey)
}

// policyFollows stands in approvals of messages that follow from what was approved: that
// all ready messages are here, that a message did not come, the common directions. The
// site's own key signs them.
const policyFollows = "follows"

// stale reports whether a ready message that was not sealed is for a set that was left: it
// need not leave any more.
func (r *poolRound) stale(name string, m masked.Message) bool {
	return m.Kind == masked.KindReady && !r.v.site.Has("outbox", name+".bundle") && !slices.Equal(m.Set, r.Members())
}
