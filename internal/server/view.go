package server

import (
	"context"
	"net/http"
	"slices"
	"sync"

	"concord/bundle"
	"concord/contract"
	"concord/identity"
	"concord/internal/api"
	"concord/internal/store"
	"concord/member"
	"concord/release"
	"concord/wire"
)

// view is a study as the store has it at one moment. Requests share it: nothing in
// it changes.
type view struct {
	hash     wire.Hash
	contract *contract.Contract
	problem  string
	ended    string                // why the study has ended, or ""
	members  []*identity.Statement // the parties that have joined and were let in
	asking   []*identity.Statement // those that await the analyst's word
	standing store.Standing
	size     int // how many parties close the roster
	// chain is nil until the roster is closed; what follows is empty until then.
	chain *member.Chain
	// roster and epoch are the present ones.
	roster *member.Roster
	epoch  wire.Hash
	// confirmations are those of the roster that people confirm, the chain's root;
	// those of its steps are in the chain.
	confirmations []*member.Confirmation
	// pending is an add that members have still to confirm, with the roster that it
	// leads to and what they have said.
	pending *proposal
	// What parties and analyst have sent in any epoch of the chain.
	setup         []store.Bundle
	pool          []store.Bundle
	contributions []store.Bundle
	results       []store.Bundle
	// rounds are the models that were made, next is the number of the next.
	rounds []*release.Round
	next   int
	// people are the members by fingerprint, and whoever a pending add names; left
	// are those that took part and do not any more. now is what the parties are told.
	people, left map[wire.Hash]*identity.Statement
	now          api.Status
}

// proposal is an add that members have still to confirm.
type proposal struct {
	amendment     *member.Amendment
	roster        *member.Roster
	confirmations []*member.Confirmation
	missing       []string
}

// cached is the last view of a study that was read.
type cached struct {
	mu      sync.Mutex
	version int64 // of the store, taken before view was read
	view    *view
}

// view is the study as the store has it now. It is read once after every change of
// the store, however many requests ask.
func (s *Server) view(ctx context.Context, hash wire.Hash) (*view, error) {
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
	v.people = make(map[wire.Hash]*identity.Statement, len(v.members))
	for _, m := range v.members {
		v.people[s.fingerprint(m)] = m
	}
	if v.pending != nil {
		if m, err := v.pending.roster.Member(v.pending.amendment.Party); err == nil {
			v.people[v.pending.amendment.Party] = m
		}
	}
	v.now = v.status()
	c.version, c.view = version, v
	return v, nil
}

// fingerprint is that of a statement of the store, which keeps each once.
func (s *Server) fingerprint(m *identity.Statement) wire.Hash {
	if known, ok := s.prints.Load(m); ok {
		return known.(wire.Hash)
	}
	f := m.Fingerprint()
	s.prints.Store(m, f)
	return f
}

// read reads a study from the store.
func (s *Server) read(ctx context.Context, hash wire.Hash) (*view, error) {
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
	if v.standing, err = s.store.Standing(ctx, hash); err != nil {
		return nil, err
	}
	v.ended = v.standing.Ended
	if v.size = v.standing.Size; v.size == 0 {
		v.size = v.contract.Parties
	}
	if v.standing.Root == nil {
		if v.members, err = s.store.Members(ctx, hash); err != nil || len(v.members) < v.size {
			return v, err
		}
		// As many are in as it needs: the roster is closed.
		if err := s.store.CloseRoster(ctx, hash, v.size); err != nil {
			return nil, err
		}
		if v.standing, err = s.store.Standing(ctx, hash); err != nil || v.standing.Root == nil {
			return v, err
		}
	}
	return v, s.readChain(ctx, v)
}

// readChain reads what there is of a study whose roster is closed.
func (s *Server) readChain(ctx context.Context, v *view) (err error) {
	if v.chain, err = s.chainOf(ctx, v); err != nil {
		return err
	}
	v.roster, v.epoch = v.chain.Head(), v.chain.Epoch()
	v.members = v.roster.Parties()
	if v.confirmations, err = s.store.Confirmations(ctx, v.hash, v.chain.Setup()); err != nil {
		return err
	}
	left, err := s.store.Left(ctx, v.hash)
	if err != nil {
		return err
	}
	v.left = map[wire.Hash]*identity.Statement{}
	for _, m := range left {
		v.left[s.fingerprint(m)] = m
	}
	if a := v.standing.Pending; a != nil {
		p := &proposal{amendment: a}
		if p.roster, err = v.chain.Check(a, true); err != nil {
			return err
		}
		if p.confirmations, err = s.store.Confirmations(ctx, v.hash, a.To); err != nil {
			return err
		}
		if p.missing, err = v.chain.Missing(a, p.roster, p.confirmations); err != nil {
			return err
		}
		v.pending = p
	}
	if v.rounds, err = s.store.Rounds(ctx, v.hash); err != nil {
		return err
	}
	if v.next, err = s.store.NextRound(ctx, v.hash); err != nil {
		return err
	}
	all, err := s.store.All(ctx, v.hash)
	if err != nil {
		return err
	}
	for _, b := range all {
		if v.chain.At(b.Epoch) == nil {
			continue
		}
		switch b.Kind {
		case bundle.KindSetup:
			v.setup = append(v.setup, b)
		case bundle.KindPool:
			v.pool = append(v.pool, b)
		case bundle.KindContribution:
			v.contributions = append(v.contributions, b)
		case bundle.KindResult:
			v.results = append(v.results, b)
		}
	}
	return nil
}

// chainOf makes the chain that the store has; as long as it has the same one, once.
func (s *Server) chainOf(ctx context.Context, v *view) (*member.Chain, error) {
	s.mu.Lock()
	known := s.chains[v.hash]
	s.mu.Unlock()
	if known != nil && known.Root().Number == v.standing.Number && len(known.Steps()) == len(v.standing.Steps) {
		return known, nil
	}
	root, err := member.NewRoster(v.contract, v.standing.Number, append(slices.Clone(v.standing.Root), s.id.Statement))
	if err != nil {
		return nil, err
	}
	chain := member.NewChain(v.contract, v.hash, root)
	for _, a := range v.standing.Steps {
		var confirmations []*member.Confirmation
		if a.Kind == member.AmendAdd {
			if confirmations, err = s.store.Confirmations(ctx, v.hash, a.To); err != nil {
				return nil, err
			}
		}
		if err := chain.Extend(a, confirmations); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	s.chains[v.hash] = chain
	s.mu.Unlock()
	return chain, nil
}

// contract decodes a study's contract once.
func (s *Server) contract(st store.Study) (*contract.Contract, error) {
	if c, ok := s.contracts.Load(st.Hash); ok {
		return c.(*contract.Contract), nil
	}
	c, err := contract.Decode(st.Contract)
	if err == nil {
		s.contracts.Store(st.Hash, c)
	}
	return c, err
}

// memberByKey returns the party of a study that holds a TLS key.
func (s *Server) memberByKey(ctx context.Context, hash, key wire.Hash) (*identity.Statement, error) {
	v, err := s.view(ctx, hash)
	if err != nil {
		return nil, err
	}
	for _, m := range v.people {
		if m.TLSKey == key {
			return m, nil
		}
	}
	return nil, s.stranger(ctx, hash, func(m *identity.Statement) bool { return m.TLSKey == key }, "the connection's key belongs to")
}

// leftByKey returns the party that took part in a study, and left it, with a TLS key.
func (s *Server) leftByKey(ctx context.Context, hash, key wire.Hash) (*identity.Statement, error) {
	v, err := s.view(ctx, hash)
	if err != nil {
		return nil, err
	}
	for _, m := range v.left {
		if m.TLSKey == key {
			return m, nil
		}
	}
	return s.memberByKey(ctx, hash, key)
}

// confirmed reports whether a party has confirmed the roster in which it came.
func (v *view) confirmed(party wire.Hash) bool {
	if v.chain.Late(party) {
		return true // or it would not be in the chain
	}
	return slices.ContainsFunc(v.confirmations, func(c *member.Confirmation) bool { return v.chain.Same(c.Party, party) })
}

// missing names the parties of a roster of the chain from which no bundle of a list
// came.
func (v *view) missing(r *member.Roster, sent []store.Bundle) []string {
	senders := make(map[wire.Hash]bool, len(sent))
	for _, b := range sent {
		senders[v.chain.Origin(b.Sender)] = true
	}
	return v.without(r, senders)
}

// unconfirmed names the parties that have not confirmed the roster.
func (v *view) unconfirmed() []string {
	yes := make(map[wire.Hash]bool, len(v.confirmations))
	for _, c := range v.confirmations {
		yes[v.chain.Origin(c.Party)] = true
	}
	return v.without(v.chain.Root(), yes)
}

// without names the parties of a roster whose origins are not in a set.
func (v *view) without(r *member.Roster, set map[wire.Hash]bool) []string {
	var names []string
	for i, m := range r.Members {
		if m.Role == identity.RoleParty && !set[v.chain.Origin(r.Fingerprint(i))] {
			names = append(names, m.Name)
		}
	}
	return names
}

// setupDone reports whether every party of the roster that people confirmed has sent
// its share of the anchor: from then on changes of the roster are amendments.
func (v *view) setupDone() bool {
	return v.chain != nil && len(v.unconfirmed()) == 0 && (len(v.missing(v.chain.Root(), v.setup)) == 0 || len(v.chain.Steps()) > 0 && v.past())
}

// past reports whether the chain has a step that is only possible after setup: a
// setup bundle of who left may be gone.
func (v *view) past() bool {
	return slices.ContainsFunc(v.chain.Steps(), func(s member.Step) bool { return s.Amendment.Kind != member.AmendRekey })
}

// numbered are the messages of masked sums that have the place of a bundle: its stage and
// its number.
func (v *view) numbered(b store.Bundle) []store.Bundle {
	var out []store.Bundle
	for _, other := range v.pool {
		if b.Kind == other.Kind && b.Round == other.Round && b.Slot == other.Slot {
			out = append(out, other)
		}
	}
	return out
}

// unpooled names the parties whose messages of masked sums the others await, as far as
// their numbers tell: those that have sent fewer in the newest stage than others, or
// fewer than the two of a stage in which nobody is left out. Who was left out of a stage is
// not awaited in the next ones. What a message says, and whether a stage is done, only the
// parties know.
func (v *view) unpooled() []string {
	stages := api.PoolStages(v.contract) - 1
	if stages < 1 {
		return nil
	}
	sent := make([]map[wire.Hash]int, stages+1) // of each stage, the highest number of each party
	last, newest := 1, map[wire.Hash]int{}
	for _, b := range v.pool {
		if b.Round > stages || b.Number() > api.PoolOwn {
			continue
		}
		origin := v.chain.Origin(b.Sender)
		if sent[b.Round] == nil {
			sent[b.Round] = map[wire.Hash]int{}
		}
		sent[b.Round][origin] = max(sent[b.Round][origin], b.Number())
		newest[origin] = max(newest[origin], b.Round)
		last = max(last, b.Round)
	}
	gone, most := map[wire.Hash]bool{}, 2
	for stage := 1; stage <= last; stage++ {
		most = 2
		for _, n := range sent[stage] {
			most = max(most, n)
		}
		for _, m := range v.chain.Root().Parties() {
			origin := v.chain.Origin(m.Fingerprint())
			n := sent[stage][origin]
			// The others may have gone on without it, and have where a later stage begins.
			if newest[origin] <= stage && (most > 2 && n < 2 || n == 0 && stage < last) {
				gone[origin] = true
			}
		}
	}
	done := map[wire.Hash]bool{}
	for _, m := range v.chain.Root().Parties() {
		origin := v.chain.Origin(m.Fingerprint())
		gone[origin] = gone[origin] || v.chain.Present(origin) == nil
		done[origin] = gone[origin] || sent[last][origin] >= most
	}
	if missing := v.without(v.chain.Root(), done); len(missing) > 0 || last == stages {
		return missing
	}
	return v.without(v.chain.Root(), gone) // the next stage is everybody's who is left
}

// of finds the bundle of a list that a party sent, under whatever keys.
func (v *view) of(party wire.Hash, sent []store.Bundle) *store.Bundle {
	i := slices.IndexFunc(sent, func(b store.Bundle) bool { return v.chain.Same(b.Sender, party) })
	if i < 0 {
		return nil
	}
	return &sent[i]
}

// names are all fingerprints that a party has had, the present one first.
func (v *view) names(party wire.Hash) []wire.Hash {
	out := []wire.Hash{party}
	if v.chain == nil {
		return out
	}
	rosters := []*member.Roster{v.chain.Root()}
	for _, s := range v.chain.Steps() {
		rosters = append(rosters, s.Roster)
	}
	for _, r := range rosters {
		if m := v.chain.In(r, party); m != nil {
			if f := m.Fingerprint(); !slices.Contains(out, f) {
				out = append(out, f)
			}
		}
	}
	return out
}

// viewOf loads a study for one of its parties.
func (s *Server) viewOf(ctx context.Context, hash, party wire.Hash) (*view, *identity.Statement, error) {
	v, err := s.view(ctx, hash)
	if err != nil {
		return nil, nil, err
	}
	if m := v.people[party]; m != nil {
		return v, m, nil
	}
	return nil, nil, s.stranger(ctx, hash, func(m *identity.Statement) bool { return m.Fingerprint() == party }, party.Short()+" is")
}

// stranger says why who asks is no party of a study.
func (s *Server) stranger(ctx context.Context, hash wire.Hash, is func(*identity.Statement) bool, who string) error {
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
	left, err := s.store.Left(ctx, hash)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(left, is) {
		return &problem{http.StatusForbidden, api.CodeLeft, "this site has left the study", "concord withdraw says what was deleted and what remains", nil}
	}
	return forbidden("%s no party of this study", who)
}

// Status says how far a study is and who is awaited.
func (s *Server) Status(ctx context.Context, hash wire.Hash) (api.Status, error) {
	v, err := s.view(ctx, hash)
	if err != nil {
		return api.Status{}, err
	}
	return v.now, nil
}
