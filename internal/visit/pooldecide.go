package visit

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"concord/identity"
	"concord/internal/post"
	"concord/internal/visit/event"
	"concord/wire"
)

// Without is what came of going on without a party.
type Without struct {
	party *identity.Statement
	stage int
	// First is who makes the common directions now, where those were awaited.
	First *identity.Statement
	Turn  Turn
}

// PoolWithout signs that a party's message did not come, and that this site goes on without
// it.
func (v *Visit) PoolWithout(ctx context.Context, name string) (Without, error) {
	var done Without
	for _, s := range v.Chain.Root().Parties() {
		if strings.EqualFold(s.Name, name) || strings.HasPrefix(s.Fingerprint().String(), name) && len(name) >= 12 {
			done.party = s
		}
	}
	if done.party == nil {
		return done, fmt.Errorf("no party of setup is called %q", name)
	}
	c, r, err := v.presentRound(ctx)
	if err != nil {
		return done, err
	}
	if r == nil {
		done.First, err = v.skipFirst(done.party)
		return done, err
	}
	if err := r.Without(done.party.Fingerprint()); err != nil {
		return done, err
	}
	if err := r.keep(); err != nil {
		return done, err
	}
	done.stage = r.stage
	v.tell(event.GoesOnWithout{Party: done.party, Stage: r.stage})
	if err := v.sendPool(ctx, c, r); err != nil {
		return done, err
	}
	done.Turn, err = v.poolWaits(r.Next())
	return done, err
}

// PoolReveal takes this site's masks off the sum of the present set while others want to
// leave it.
func (v *Visit) PoolReveal(ctx context.Context) (Turn, error) {
	_, ok, err := v.site.Seed()
	if err != nil {
		return Turn{}, err
	}
	if !ok {
		return Turn{}, wire.WithHint(errors.New("the parties have not agreed the anchor yet; nothing is revealed before"),
			"run concord sync")
	}
	c, r, err := v.presentRound(ctx)
	if err != nil {
		return Turn{}, err
	}
	if r == nil {
		return Turn{}, errors.New("all sums are known; nothing is left to reveal")
	}
	if len(r.Next().Proposed) == 0 {
		return Turn{}, wire.WithHint(errors.New("nobody wants to go on without a party that this site would stay with"),
			"run concord sync, which reveals when that is due")
	}
	if err := v.revealPool(r); err != nil {
		return Turn{}, err
	}
	if err := v.sendPool(ctx, c, r); err != nil {
		return Turn{}, err
	}
	return v.poolWaits(r.Next())
}

// presentRound is the stage under way, with what has come for it; nil where all sums are
// known.
func (v *Visit) presentRound(ctx context.Context) (post.Post, *poolRound, error) {
	c, err := v.connect()
	if err != nil {
		return nil, nil, err
	}
	if _, err := v.follow(ctx, c); err != nil {
		return nil, nil, err
	}
	stage, err := v.poolStage()
	if err != nil || stage == 0 {
		return c, nil, err
	}
	r, err := v.loadRound(stage)
	if err != nil {
		return nil, nil, err
	}
	return c, r, v.fetchPool(ctx, c, r)
}
