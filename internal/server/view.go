package server

import (
	"context"
	"fmt"
	"slices"

	"concord/bundle"
	"concord/internal/api"
	"concord/internal/store"
	"concord/study"
)

// view is a study as the store has it now.
type view struct {
	hash     study.Hash
	contract *study.Contract
	problem  string
	members  []*study.Statement // the parties that have joined
	// roster is nil until it is closed; what follows is empty until then.
	roster        *study.Roster
	epoch         study.Hash
	confirmations []*study.Confirmation
	setup         []store.Bundle
	contributions []store.Bundle
	results       []store.Bundle
}

// view reads a study from the store.
func (s *Server) view(ctx context.Context, hash study.Hash) (*view, error) {
	st, err := s.store.Study(ctx, hash)
	if err != nil {
		return nil, err
	}
	v := &view{hash: hash, problem: st.Problem}
	if v.contract, err = s.contract(st); err != nil {
		return nil, err
	}
	if v.roster, v.members, err = s.closedRoster(ctx, hash, v.contract); err != nil || v.roster == nil {
		return v, err
	}
	v.epoch = v.roster.Epoch(hash)
	if v.confirmations, err = s.store.Confirmations(ctx, hash, v.epoch); err != nil {
		return nil, err
	}
	for kind, dst := range map[string]*[]store.Bundle{
		bundle.KindSetup:        &v.setup,
		bundle.KindContribution: &v.contributions,
		bundle.KindResult:       &v.results,
	} {
		if *dst, err = s.store.Sent(ctx, hash, v.epoch, kind); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// contract decodes a study's contract once.
func (s *Server) contract(st store.Study) (*study.Contract, error) {
	if c, ok := s.contracts.Load(st.Hash); ok {
		return c.(*study.Contract), nil
	}
	c, err := study.DecodeContract(st.Contract)
	if err == nil {
		s.contracts.Store(st.Hash, c)
	}
	return c, err
}

// closedRoster returns the roster once as many parties have joined as the
// contract says, nil before, and the parties in either case.
func (s *Server) closedRoster(ctx context.Context, hash study.Hash, c *study.Contract) (*study.Roster, []*study.Statement, error) {
	s.mu.Lock()
	roster := s.closed[hash]
	s.mu.Unlock()
	if roster != nil {
		return roster, roster.Parties(), nil
	}
	members, err := s.store.Members(ctx, hash)
	if err != nil || len(members) < c.Parties {
		return nil, members, err
	}
	roster, err = study.NewRoster(c, 1, append(slices.Clone(members), s.id.Statement))
	if err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	s.closed[hash] = roster
	s.mu.Unlock()
	return roster, members, nil
}

// memberByKey returns the party of a study that holds a TLS key.
func (s *Server) memberByKey(ctx context.Context, hash, key study.Hash) (*study.Statement, error) {
	st, err := s.store.Study(ctx, hash)
	if err != nil {
		return nil, err
	}
	c, err := s.contract(st)
	if err != nil {
		return nil, err
	}
	_, members, err := s.closedRoster(ctx, hash, c)
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		if m.TLSKey == key {
			return m, nil
		}
	}
	return nil, forbidden("the connection's key belongs to no party of this study")
}

// confirmed reports whether a party has confirmed the roster.
func (v *view) confirmed(party study.Hash) bool {
	return slices.ContainsFunc(v.confirmations, func(c *study.Confirmation) bool { return c.Party == party })
}

// missing names the parties from which no bundle of a list came.
func (v *view) missing(sent []store.Bundle) []string {
	return v.without(func(party study.Hash) bool {
		return slices.ContainsFunc(sent, func(b store.Bundle) bool { return b.Sender == party })
	})
}

func (v *view) without(has func(study.Hash) bool) []string {
	var names []string
	for _, m := range v.members {
		if !has(m.Fingerprint()) {
			names = append(names, m.Name)
		}
	}
	return names
}

// status says how far the study is and whose turn it is.
func (v *view) status() api.Status {
	st := api.Status{Expected: v.contract.Parties, Present: len(v.members), Problem: v.problem}
	if v.roster == nil {
		st.State = api.StateJoining
		st.WaitingFor = []string{fmt.Sprintf("%d more to join", v.contract.Parties-len(v.members))}
		return st
	}
	for _, step := range []struct {
		state   api.State
		missing []string
	}{
		{api.StateConfirming, v.without(v.confirmed)},
		{api.StateSetup, v.missing(v.setup)},
		{api.StateContributing, v.missing(v.contributions)},
	} {
		if len(step.missing) > 0 {
			st.State, st.WaitingFor = step.state, step.missing
			return st
		}
	}
	switch {
	case v.problem != "":
		st.State = api.StateFailed
	case len(v.results) < v.contract.Parties:
		st.State, st.WaitingFor = api.StateTraining, []string{"the analyst"}
	default:
		st.State = api.StateReleased
	}
	return st
}

// viewOf loads a study for one of its parties.
func (s *Server) viewOf(ctx context.Context, hash, party study.Hash) (*view, *study.Statement, error) {
	v, err := s.view(ctx, hash)
	if err != nil {
		return nil, nil, err
	}
	for _, m := range v.members {
		if m.Fingerprint() == party {
			return v, m, nil
		}
	}
	return nil, nil, forbidden("%s is no party of this study", party.Short())
}

// Status says how far a study is and who is awaited.
func (s *Server) Status(ctx context.Context, hash study.Hash) (api.Status, error) {
	v, err := s.view(ctx, hash)
	if err != nil {
		return api.Status{}, err
	}
	return v.status(), nil
}
