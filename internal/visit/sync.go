package visit

import (
	"context"
	"errors"

	"concord/bundle"
	"concord/internal/site"
	"concord/wire"
)

// Advance does every due step that needs no decision, and says whose turn it is then.
func (v *Visit) Advance(ctx context.Context) (Turn, error) {
	var none Turn
	c, err := v.connect()
	if err != nil {
		return none, err
	}
	if err := v.become(ctx, c); err != nil {
		return none, err
	}
	if err := v.holds(Confirmed); err != nil {
		return none, err
	}
	answer, err := v.follow(ctx, c)
	if err != nil {
		return none, err
	}
	if err := v.tellPending(answer); err != nil {
		return none, err
	}
	if err := v.exchangeNotes(ctx, c); err != nil {
		return none, err
	}
	if v.site.Has(site.ModelFile) {
		return v.fetchResult(ctx, c)
	}
	if v.Contract.Anchor.Pieces() {
		waits, err := v.pieceWaits()
		if err != nil {
			return none, err
		}
		if waits != "" {
			return Turn{Do: waits}, v.sendConfirmation(ctx)
		}
	}
	setupErr := v.setup(ctx, c)
	var waiting *wire.Waiting
	if setupErr != nil && !errors.As(setupErr, &waiting) {
		return none, setupErr
	}
	if v.pools() {
		decides, err := v.advancePool(ctx, c, setupErr == nil)
		t := none
		if decides {
			t = v.turnNow()
		}
		if setupErr == nil && (err != nil || decides) || err != nil && !errors.As(err, &waiting) {
			return t, err
		}
		if setupErr != nil {
			return t, setupErr
		}
	}
	if setupErr != nil {
		return none, setupErr
	}
	if v.site.Sent(bundle.KindContribution) {
		if err := v.forgetSent(); err != nil {
			return none, err
		}
		return v.fetchResult(ctx, c)
	}
	if v.site.Has(bundle.KindContribution, "leaves", approvalFile) {
		return none, v.sendContribution(ctx, c)
	}
	return v.turnNow(), nil
}
