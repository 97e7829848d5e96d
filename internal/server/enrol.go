package server

import (
	"context"
	"crypto/hmac"

	"concord/identity"
	"concord/internal/api"
	"concord/internal/store"
	"concord/member"
	"concord/wire"
)

// Join takes a party into the roster that holds an unused invite, and returns the
// contract; asks is true while the party awaits the analyst's word. Whoever calls it has
// made sure that the statement is its sender's own. Joining again with the same
// invite changes nothing.
func (s *Server) Join(ctx context.Context, hash wire.Hash, secret []byte, statement *identity.Statement) (contract []byte, asks bool, err error) {
	return s.join(ctx, hash, wire.HashOf(secret), statement)
}

// JoinByProof is Join for a party that shows by member.JoinProof that it holds an
// invite. A proof is good for its statement only, any number of times.
func (s *Server) JoinByProof(ctx context.Context, hash wire.Hash, proof []byte, statement *identity.Statement) (contract []byte, asks bool, err error) {
	invite, err := s.inviteOf(ctx, hash, proof, statement.Encode())
	if err != nil {
		return nil, false, err
	}
	return s.join(ctx, hash, invite, statement)
}

// join is Join with an invite that the SHA-256 of its secret names.
func (s *Server) join(ctx context.Context, hash, invite wire.Hash, statement *identity.Statement) (contract []byte, asks bool, err error) {
	if statement.Role != identity.RoleParty {
		return nil, false, forbidden("the statement is an %s's; only parties join", statement.Role)
	}
	v, err := s.view(ctx, hash)
	if err != nil {
		return nil, false, err
	}
	if err := v.contract.CheckView(statement); err != nil {
		return nil, false, refused(err)
	}
	capacity := v.size
	if v.chain != nil {
		capacity = 0 // whoever comes now asks
	}
	admitted, err := s.store.Join(ctx, hash, invite, statement, s.id.Statement, capacity)
	if err != nil {
		return nil, false, err
	}
	s.log.Info("joined", "study", hash.Short(), "party", statement.Name, "fingerprint", statement.Fingerprint().Short(), "admitted", admitted)
	st, err := s.store.Study(ctx, hash)
	return st.Contract, !admitted, err
}

// TurnAway says no to a party that asks.
func (s *Server) TurnAway(ctx context.Context, hash, party wire.Hash) error {
	return s.store.TurnAway(ctx, hash, party)
}

// inviteOf finds the invite whose secret made a proof for a statement.
func (s *Server) inviteOf(ctx context.Context, hash wire.Hash, proof, statement []byte) (wire.Hash, error) {
	secrets, err := s.store.InviteKeys(ctx, hash)
	if err != nil {
		return wire.Hash{}, err
	}
	for _, key := range secrets {
		if hmac.Equal(proof, member.JoinProof(key, hash, s.id.Statement.Fingerprint(), statement)) {
			return key, nil
		}
	}
	return wire.Hash{}, store.ErrInvite
}

// Roster says to a party who has joined and who has confirmed.
func (s *Server) Roster(ctx context.Context, hash, party wire.Hash) (api.Roster, error) {
	v, _, err := s.viewOf(ctx, hash, party)
	if err != nil {
		return api.Roster{}, err
	}
	answer := s.rosterOf(v)
	answer.Witness, err = s.witness(ctx, hash, party)
	return answer, err
}

// Confirm keeps a party's own confirmation of the closed roster.
func (s *Server) Confirm(ctx context.Context, hash, party wire.Hash, raw []byte) error {
	v, sender, err := s.viewOf(ctx, hash, party)
	if err != nil {
		return err
	}
	if v.chain == nil {
		return notYet("the roster is not closed: %d of %d parties have joined", len(v.members), v.size)
	}
	c, err := member.DecodeConfirmation(raw)
	if err != nil {
		return refused(err)
	}
	if c.Party != party && !v.chain.Same(c.Party, party) {
		return forbidden("the confirmation is another party's")
	}
	if err := v.checkConfirmation(c); err != nil {
		return refused(err)
	}
	if err := s.store.AddConfirmation(ctx, v.hash, c); err != nil {
		return err
	}
	s.log.Info("confirmed", "study", v.hash.Short(), "party", sender.Name)
	return s.settle(ctx, hash)
}
