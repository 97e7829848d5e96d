package server

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"concord/bundle"
	"concord/internal/api"
	"concord/internal/store"
	"concord/study"
)

// view is a study as the store has it at one moment. Requests share it: nothing in
// it changes.
type view struct {
	hash     study.Hash
	contract *study.Contract
	problem  string
	members  []*study.Statement // the parties that have joined and were let in
	asking   []*study.Statement // those that await the analyst's word
	// roster is nil until it is closed; what follows is empty until then.
	roster        *study.Roster
	epoch         study.Hash
	confirmations []*study.Confirmation
	setup         []store.Bundle
	contributions []store.Bundle
	results       []store.Bundle
	// people are the members by fingerprint, now is what the parties are told.
	people map[study.Hash]*study.Statement
	now    api.Status
}

// cached is the last view of a study that was read.
type cached struct {
	mu      sync.Mutex
	version int64 // of the store, taken before view was read
	view    *view
}

// view is the study as the store has it now. It is read once after every change of
// the store, however many requests ask.
func (s *Server) view(ctx context.Context, hash study.Hash) (*view, error) {
	s.mu.Lock()
	c := s.views[hash]
	s.mu.Unlock()
	if c == nil {
		// Only a study that exists gets an entry: anybody may ask for any hash.
		if _, err := s.store.Study(ctx, hash); err != nil {
			return nil, err
		}
		s.mu.Lock()
		if c = s.views[hash]; c == nil {
			c = new(cached)
			s.views[hash] = c
		}
		s.mu.Unlock()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	version, err := s.store.Version(ctx)
	if err != nil {
		return nil, err
	}
	if c.view != nil && c.version == version {
		return c.view, nil
	}
	c.view = nil
	v, err := s.read(ctx, hash)
	if err != nil {
		return nil, err
	}
	v.people = make(map[study.Hash]*study.Statement, len(v.members))
	for _, m := range v.members {
		v.people[s.fingerprint(m)] = m
	}
	v.now = v.status()
	c.version, c.view = version, v
	return v, nil
}

// fingerprint is that of a statement of the store, which keeps each once.
func (s *Server) fingerprint(m *study.Statement) study.Hash {
	if known, ok := s.prints.Load(m); ok {
		return known.(study.Hash)
	}
	f := m.Fingerprint()
	s.prints.Store(m, f)
	return f
}

// read reads a study from the store.
func (s *Server) read(ctx context.Context, hash study.Hash) (*view, error) {
	st, err := s.store.Study(ctx, hash)
	if err != nil {
		return nil, err
	}
	v := &view{hash: hash, problem: st.Problem}
	if v.contract, err = s.contract(st); err != nil {
		return nil, err
	}
	if v.asking, err = s.store.Asking(ctx, hash); err != nil {
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
	v, err := s.view(ctx, hash)
	if err != nil {
		return nil, err
	}
	for _, m := range v.members {
		if m.TLSKey == key {
			return m, nil
		}
	}
	return nil, s.stranger(ctx, hash, func(m *study.Statement) bool { return m.TLSKey == key }, "the connection's key belongs to")
}

// confirmed reports whether a party has confirmed the roster.
func (v *view) confirmed(party study.Hash) bool {
	return slices.ContainsFunc(v.confirmations, func(c *study.Confirmation) bool { return c.Party == party })
}

// missing names the parties from which no bundle of a list came.
func (v *view) missing(sent []store.Bundle) []string {
	senders := make(map[study.Hash]bool, len(sent))
	for _, b := range sent {
		senders[b.Sender] = true
	}
	return v.without(senders)
}

// unconfirmed names the parties that have not confirmed the roster.
func (v *view) unconfirmed() []string {
	yes := make(map[study.Hash]bool, len(v.confirmations))
	for _, c := range v.confirmations {
		yes[c.Party] = true
	}
	return v.without(yes)
}

// without names the parties of the roster that are not in a set.
func (v *view) without(set map[study.Hash]bool) []string {
	var names []string
	for i, m := range v.roster.Members {
		if m.Role == study.RoleParty && !set[v.roster.Fingerprint(i)] {
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
		for _, a := range v.asking {
			st.WaitingFor = append(st.WaitingFor, fmt.Sprintf("the analyst to admit %q", a.Name))
		}
		return st
	}
	for _, step := range []struct {
		state   api.State
		missing []string
	}{
		{api.StateConfirming, v.unconfirmed()},
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
	if m := v.people[party]; m != nil {
		return v, m, nil
	}
	return nil, nil, s.stranger(ctx, hash, func(m *study.Statement) bool { return m.Fingerprint() == party }, party.Short()+" is")
}

// stranger says why who asks is no party of a study.
func (s *Server) stranger(ctx context.Context, hash study.Hash, is func(*study.Statement) bool, who string) error {
	asking, err := s.store.Asking(ctx, hash)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(asking, is) {
		return &problem{http.StatusConflict, api.CodeAsks, "the analyst has not admitted this site yet", "ask the analyst to run concordd admit", nil}
	}
	away, err := s.store.TurnedAway(ctx, hash)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(away, is) {
		return store.ErrTurnedAway
	}
	return forbidden("%s no party of this study", who)
}

// Status says how far a study is and who is awaited.
func (s *Server) Status(ctx context.Context, hash study.Hash) (api.Status, error) {
	v, err := s.view(ctx, hash)
	if err != nil {
		return api.Status{}, err
	}
	return v.now, nil
}
