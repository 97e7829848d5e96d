package concord

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"concord/identity"
	"concord/wire"
)

// poolWithout signs that a party's message did not come.
func (p *program) poolWithout(ctx context.Context, name string) error {
	var gone *identity.Statement
	named := func(v *visit) error {
		for _, s := range v.chain.Root().Parties() {
			if strings.EqualFold(s.Name, name) || strings.HasPrefix(s.Fingerprint().String(), name) && len(name) >= 12 {
				gone = s
			}
		}
		if gone == nil {
			return fmt.Errorf("no party of setup is called %q", name)
		}
		return nil
	}
	return p.decidePool(ctx, named, func(v *visit, r *poolRound) (sends bool, err error) {
		if r == nil {
			return false, p.skipFirst(v, gone)
		}
		if err := r.Without(gone.Fingerprint()); err != nil {
			return false, err
		}
		if err := r.keep(); err != nil {
			return false, err
		}
		p.printf("signed that the message of %q for stage %d did not come, and that this site goes on without it\n", gone.Name, r.stage)
		return true, nil
	})
}

// poolReveal reveals for the present set while others want to leave it.
func (p *program) poolReveal(ctx context.Context) error {
	agreed := func(v *visit) error {
		_, ok, err := v.site.Seed()
		if err != nil {
			return err
		}
		if !ok {
			return wire.WithHint(errors.New("the parties have not agreed the anchor yet; nothing is revealed before"), "run concord sync")
		}
		return nil
	}
	return p.decidePool(ctx, agreed, func(v *visit, r *poolRound) (sends bool, err error) {
		if r == nil {
			return false, errors.New("all sums are known; nothing is left to reveal")
		}
		if len(r.Next().Proposed) == 0 {
			return false, wire.WithHint(errors.New("nobody wants to go on without a party that this site would stay with"), "run concord sync, which reveals when that is due")
		}
		return true, p.revealPool(v, r)
	})
}

// decidePool looks whether a decision can be taken, fetches what has come for the stage
// under way, and sends what decide made, if it says so. decide gets no round where all
// sums are known.
func (p *program) decidePool(ctx context.Context, look func(*visit) error, decide func(*visit, *poolRound) (sends bool, err error)) error {
	v, unlock, err := p.changePooling()
	if err != nil {
		return err
	}
	defer unlock()
	if err := look(v); err != nil {
		return err
	}
	c, err := v.dial()
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := p.follow(ctx, v, c); err != nil {
		return err
	}
	stage, err := v.poolStage()
	if err != nil {
		return err
	}
	var r *poolRound
	if stage > 0 {
		if r, err = v.loadRound(stage); err != nil {
			return err
		}
		if err := p.fetchPool(ctx, c, r); err != nil {
			return err
		}
	}
	sends, err := decide(v, r)
	if err != nil || !sends {
		return err
	}
	if err := p.sendPool(ctx, c, r); err != nil {
		return err
	}
	return p.poolWaits(v, r.Next())
}
