package visit

import (
	"context"
	"errors"
	"fmt"

	"concord/identity"
	"concord/internal/api"
	"concord/internal/post"
	"concord/member"
	"concord/wire"
)

// NewKeys are keys that this site takes or has asked for.
type NewKeys struct {
	Fingerprint wire.Hash
	// Later says that the old ones count until the analyst's answer is taken.
	Later  bool
	Roster int
	Folder string // of the old ones
}

// Rekey makes new keys, signed by the old ones, or goes on with those that it made.
func (v *Visit) Rekey(ctx context.Context) (NewKeys, error) {
	var none NewKeys
	next, err := v.site.Next()
	if err != nil {
		return none, err
	}
	if next != nil {
		// An interrupted re-key. If the analyst has signed it, the server knows the new
		// keys and not the old ones.
		done, err := v.resumeRekey(ctx, next)
		if err != nil {
			return none, err
		}
		if done {
			return v.rekeyed(next)
		}
	}
	c, err := v.connect()
	if err != nil {
		return none, err
	}
	if _, err := v.follow(ctx, c); err != nil {
		return none, err
	}
	if next == nil {
		if next, err = identity.New(identity.RoleParty, v.ID.Statement.Name, v.ID.Statement.ApproverKey); err != nil {
			return none, err
		}
		if view := v.ID.Statement.View; view != "" {
			if next, err = next.WithView(view); err != nil {
				return none, err
			}
		}
		if err := v.site.PutNext(next); err != nil {
			return none, err
		}
	}
	a, err := v.Chain.Propose(member.AmendRekey, v.Own(), next.Statement, "")
	if err != nil {
		return none, err
	}
	a.Sign(v.ID)
	a.Sign(next)
	answer, err := c.Amend(ctx, a.Encode())
	if errors.Is(err, post.ErrLater) {
		return NewKeys{Fingerprint: next.Statement.Fingerprint(), Later: true}, nil
	}
	if err != nil {
		return none, err
	}
	signed, err := member.DecodeAmendment(answer.Amendment)
	if err != nil || !signed.Same(a) {
		return none, wire.WithHint(errors.New("the server answers with another amendment than this site signed"),
			"tell the analyst")
	}
	if err := v.amend(api.Amended{Amendment: answer.Amendment}); err != nil {
		return none, err
	}
	return v.rekeyed(next)
}

// resumeRekey follows a re-key that the analyst signed before this site heard of it.
func (v *Visit) resumeRekey(ctx context.Context, next *identity.Identity) (bool, error) {
	old := v.ID
	v.ID = next
	defer func() { v.ID = old }()
	c, err := v.dial() // with the new keys, for this question
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
	if err := v.followAnswer(answer); err != nil {
		return false, err
	}
	// If it is not signed yet, a server would have known nobody.
	return v.Chain.Present(next.Statement.Fingerprint()) != nil, nil
}

// rekeyed takes the new keys, which the chain names.
func (v *Visit) rekeyed(next *identity.Identity) (NewKeys, error) {
	fingerprint := next.Statement.Fingerprint()
	if present := v.Chain.Present(fingerprint); present == nil || present.Fingerprint() != fingerprint {
		return NewKeys{}, fmt.Errorf("the roster does not name the new keys %s", fingerprint.Short())
	}
	return NewKeys{Fingerprint: fingerprint, Roster: v.roster.Number, Folder: v.site.Path("identities")}, v.finishRekey()
}
