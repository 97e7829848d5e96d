package concord

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"concord/identity"
	"concord/internal/api"
	"concord/internal/post"
	"concord/internal/site"
	"concord/member"
	"concord/wire"
)

func (p *program) rekeyCommand() *cobra.Command {
	return p.byFile(&cobra.Command{
		Use:   "rekey",
		Short: "Take new keys, signed by the old ones",
		Long: `Makes new keys at this site, signs them with the old ones and sends them to the
analyst, who signs too. The other parties' programs follow at their next visit and
tell people; nobody compares a phrase, and nothing that was sent has to be sent
again. The name and the approver stay.

The old keys stay in identities/, readable by their owner only: what was sealed to
them opens with nothing else. So new keys do not take back what a thief of the old ones
can open. Where the old keys are lost, the analyst removes the site and it joins anew.

Interrupted, the command goes on when it is repeated. By files the answer comes with
a parcel, and concord take takes the new keys.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.rekey(cmd.Context()) },
	}, true)
}

func (p *program) rekey(ctx context.Context) error {
	v, unlock, err := p.changeConfirmed()
	if err != nil {
		return err
	}
	defer unlock()
	next, err := v.site.Next()
	if err != nil {
		return err
	}
	if next != nil {
		// An interrupted re-key. If the analyst has signed it, the server knows the new
		// keys and not the old ones.
		done, err := p.resumeRekey(ctx, v, next)
		if done || err != nil {
			return err
		}
	}
	c, err := v.dial()
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := p.follow(ctx, v, c); err != nil {
		return err
	}
	if next == nil {
		if next, err = identity.New(identity.RoleParty, v.id.Statement.Name, v.id.Statement.ApproverKey); err != nil {
			return err
		}
		if view := v.id.Statement.View; view != "" {
			if next, err = next.WithView(view); err != nil {
				return err
			}
		}
		if err := v.site.PutNext(next); err != nil {
			return err
		}
	}
	a, err := v.chain.Propose(member.AmendRekey, v.own(), next.Statement, "")
	if err != nil {
		return err
	}
	a.Sign(v.id)
	a.Sign(next)
	answer, err := c.Amend(ctx, a.Encode())
	if errors.Is(err, post.ErrLater) {
		p.printf("new keys, fingerprint %s, are asked for with the next parcel; the old ones count until the answer is taken\n", next.Statement.Fingerprint().Short())
		return nil
	}
	if err != nil {
		return err
	}
	told := api.Amended{Amendment: answer.Amendment}
	signed, err := member.DecodeAmendment(answer.Amendment)
	if err != nil || !signed.Same(a) {
		return wire.WithHint(errors.New("the server answers with another amendment than this site signed"), "tell the analyst")
	}
	if err := site.Follow(v.chain, told); err != nil {
		return err
	}
	if err := v.site.PutAmended(v.chain.Head().Number, told); err != nil {
		return err
	}
	return p.rekeyed(v, next)
}

// resumeRekey follows a re-key that the analyst signed before this site heard of it.
func (p *program) resumeRekey(ctx context.Context, v *visit, next *identity.Identity) (bool, error) {
	old := v.id
	v.id = next
	defer func() { v.id = old }()
	c, err := v.dial()
	if err != nil {
		return false, err
	}
	defer c.Close()
	answer, err := c.Roster(ctx)
	if refusedAsStranger(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := p.followAnswer(v, answer); err != nil {
		return false, err
	}
	if v.chain.Present(next.Statement.Fingerprint()) == nil {
		return false, nil // not signed yet; a server would have known nobody
	}
	return true, p.rekeyed(v, next)
}

// rekeyed takes the new keys, which the chain names.
func (p *program) rekeyed(v *visit, next *identity.Identity) error {
	v.roster, v.epoch = v.chain.Head(), v.chain.Epoch()
	if present := v.chain.Present(next.Statement.Fingerprint()); present == nil || present.Fingerprint() != next.Statement.Fingerprint() {
		return fmt.Errorf("the roster does not name the new keys %s", next.Statement.Fingerprint().Short())
	}
	if err := v.finishRekey(); err != nil {
		return err
	}
	p.printf("this site has new keys, fingerprint %s, as of roster %d; the old ones stay in %s for what was sealed to them\n",
		next.Statement.Fingerprint().Short(), v.roster.Number, v.site.Path("identities"))
	p.printf("tell the other parties: their programs say the same fingerprint\n")
	return nil
}
