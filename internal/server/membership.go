package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"concord/contract"
	"concord/identity"
	"concord/internal/api"
	"concord/internal/store"
	"concord/member"
	"concord/release"
	"concord/wire"
)

// Admit lets a party in that asks. While the roster is open it takes its place in it;
// before setup is complete it makes a new roster, which everybody confirms anew;
// afterwards it proposes an amendment, which counts when the members that the contract
// names have confirmed it.
func (s *Server) Admit(ctx context.Context, hash, party wire.Hash) error {
	v, err := s.view(ctx, hash)
	if err != nil {
		return err
	}
	if v.ended != "" {
		return notYet("the study has ended: %s", v.ended)
	}
	if v.chain == nil {
		if err := s.store.Admit(ctx, hash, party, v.size); err != nil {
			return err
		}
		_, err := s.view(ctx, hash) // closes the roster if this was the last
		return err
	}
	if v.chain.Present(party) != nil || v.pending != nil && v.pending.amendment.Party == party {
		return nil
	}
	var statement *identity.Statement
	for _, a := range v.asking {
		if a.Fingerprint() == party {
			statement = a
		}
	}
	if statement == nil {
		return store.ErrNotFound
	}
	if !v.setupDone() {
		if len(v.members) >= contract.MaxParties {
			return store.ErrClosed
		}
		return s.store.Renew(ctx, hash, store.Renewal{
			Number: v.standing.Number, Come: []wire.Hash{party}, Size: len(v.members) + 1,
			Epochs: v.chain.Epochs(), Note: "admitted before setup was complete; all confirm anew",
		})
	}
	if v.pending != nil {
		return notYet("%q has still to be confirmed by %v; one party comes at a time", v.pending.name(), v.pending.missing)
	}
	a, err := v.chain.Propose(member.AmendAdd, wire.Hash{}, statement, "")
	if err != nil {
		return refused(err)
	}
	a.Sign(s.id)
	return s.store.Amend(ctx, hash, store.Amending{Amendment: a, Pending: true})
}

func (p *proposal) name() string {
	if m, err := p.roster.Member(p.amendment.Party); err == nil {
		return m.Name
	}
	return p.amendment.Party.Short()
}

// Remove removes a party that takes part, for the reason given. Before setup is complete
// the others confirm a new roster, of as many parties if another is to take its place;
// afterwards an amendment says it, and what the party sent is deleted as if it had
// withdrawn.
func (s *Server) Remove(ctx context.Context, hash, party wire.Hash, reason string, replace bool) error {
	v, err := s.view(ctx, hash)
	if err != nil {
		return err
	}
	if m := v.left[party]; m != nil {
		return refused(fmt.Errorf("%q has left already; what it sent is deleted", m.Name))
	}
	if v.people[party] == nil {
		return store.ErrNotFound
	}
	if v.setupDone() {
		_, err := s.depart(ctx, v, member.AmendRemove, party, reason)
		return err
	}
	r := store.Renewal{Number: v.standing.Number, Leave: []wire.Hash{party}, Size: v.size, Note: "removed before setup was complete: " + reason}
	if v.chain != nil {
		r.Epochs = v.chain.Epochs()
	}
	if v.chain != nil && !replace {
		if r.Size = len(v.members) - 1; r.Size < 2 {
			return refused(fmt.Errorf("with %q gone one party would be left; let another take its place", v.people[party].Name))
		}
	}
	return s.store.Renew(ctx, hash, r)
}

// WithdrawOnPaper withdraws a party by the analyst's word that it has asked for it.
func (s *Server) WithdrawOnPaper(ctx context.Context, hash, party wire.Hash, reason string) (*member.Withdrawal, error) {
	v, err := s.view(ctx, hash)
	if err != nil {
		return nil, err
	}
	if v.people[party] == nil && v.left[party] == nil {
		return nil, store.ErrNotFound
	}
	if v.left[party] == nil && !v.setupDone() {
		return nil, notYet("nothing of %q is here before setup is complete; concordd remove takes it out of the roster", v.people[party].Name)
	}
	a, err := s.depart(ctx, v, member.AmendWithdraw, party, reason)
	if err != nil {
		return nil, err
	}
	raw, err := s.store.WithdrawalReceipt(ctx, hash, a.Party)
	if err != nil {
		return nil, err
	}
	return member.DecodeWithdrawal(raw, s.id.Statement)
}

// depart makes the amendment of a party that leaves by the analyst's word, if it has not
// left.
func (s *Server) depart(ctx context.Context, v *view, kind string, party wire.Hash, reason string) (*member.Amendment, error) {
	for _, step := range v.chain.Steps() {
		// (A party that left may be named by keys that it had replaced before.)
		if a := step.Amendment; v.left[party] != nil && v.chain.Same(a.Party, party) && (a.Kind == member.AmendWithdraw || a.Kind == member.AmendRemove) {
			return a, nil
		}
	}
	a, err := v.chain.Propose(kind, party, nil, reason)
	if err != nil {
		return nil, refused(err)
	}
	a.Sign(s.id)
	return a, s.leave(ctx, v, a)
}

// maxRekeys is how often a party may take new keys in one study. Everybody reads and
// checks every one of them from then on, and nobody but the party has to agree to it.
const maxRekeys = 32

// Amend takes an amendment that a party has signed, a re-key or its withdrawal, signs it
// and makes it count. The same again gives the same answer.
func (s *Server) Amend(ctx context.Context, hash, party wire.Hash, raw []byte) (*api.AmendResponse, error) {
	v, err := s.view(ctx, hash)
	if err != nil {
		return nil, err
	}
	a, err := member.DecodeAmendment(raw)
	if err != nil {
		return nil, refused(err)
	}
	if v.chain == nil {
		return nil, notYet("the roster is not closed")
	}
	if !v.chain.Same(party, a.Party) {
		return nil, forbidden("the amendment is about another party")
	}
	for _, step := range v.chain.Steps() {
		if step.Amendment.Same(a) {
			return s.amended(ctx, hash, step.Amendment)
		}
	}
	if v.chain.Present(party) == nil {
		return nil, forbidden("this party has left the study")
	}
	if a.Kind != member.AmendRekey && a.Kind != member.AmendWithdraw {
		return nil, forbidden("a party amends a roster by new keys or by withdrawing, not by %q", a.Kind)
	}
	if !a.SignedBy(a.Party) {
		return nil, forbidden("the amendment is not signed by the party")
	}
	if _, err := v.chain.Check(a, false); err != nil {
		return nil, &problem{http.StatusConflict, api.CodeConflict, err.Error(), "run concord sync, then repeat the command", nil}
	}
	if !v.confirmed(party) {
		return nil, notYet("this party has not confirmed the roster; the analyst can take it out of it")
	}
	if n := len(v.names(party)) - 1; a.Kind == member.AmendRekey && n >= maxRekeys {
		return nil, &problem{http.StatusForbidden, api.CodeQuota, fmt.Sprintf("this party has had new keys %d times in this study, as often as it may", n), "ask the analyst", nil}
	}
	a.Sign(s.id)
	if a.Kind == member.AmendWithdraw {
		if !v.setupDone() {
			return nil, s.withdrawEarly(ctx, v, party)
		}
		err = s.leave(ctx, v, a)
	} else {
		err = s.store.Amend(ctx, hash, store.Amending{Amendment: a})
	}
	if errors.Is(err, store.ErrConflict) {
		return nil, &problem{http.StatusConflict, api.CodeConflict, err.Error(), "run concord sync, then repeat the command", nil}
	}
	if err != nil {
		return nil, err
	}
	s.log.Info("amended", "study", hash.Short(), "party", party.Short(), "kind", a.Kind, "roster", a.Number)
	return s.amended(ctx, hash, a)
}

// withdrawEarly takes a party out of a roster in which setup is not complete: what it
// sent is deleted, and the others confirm a new one.
func (s *Server) withdrawEarly(ctx context.Context, v *view, party wire.Hash) error {
	size := len(v.members) - 1
	if size < 2 {
		size = 2 // another has to come
	}
	err := s.store.Renew(ctx, v.hash, store.Renewal{
		Number: v.standing.Number, Leave: []wire.Hash{party}, Size: size, Epochs: v.chain.Epochs(), Note: "withdrew before setup was complete",
	})
	if err != nil {
		return err
	}
	return &problem{http.StatusGone, api.CodeLeft, "this site has left the study before setup was complete; nothing of it is kept", "", nil}
}

func (s *Server) amended(ctx context.Context, hash wire.Hash, a *member.Amendment) (*api.AmendResponse, error) {
	receipt, err := s.store.WithdrawalReceipt(ctx, hash, a.Party)
	if err != nil {
		return nil, err
	}
	return &api.AmendResponse{Amendment: a.Encode(), Withdrawal: receipt}, nil
}

// leave makes an amendment count by which a party leaves after setup, and deletes what
// it sent and what was made of it.
func (s *Server) leave(ctx context.Context, v *view, a *member.Amendment) error {
	if _, err := v.chain.Check(a, true); err != nil {
		return refused(err)
	}
	left := v.chain.In(v.roster, a.Party)
	ended := ""
	if n := len(v.members) - 1; n < 2 {
		ended = fmt.Sprintf("%d of the parties is left after %q, fewer than the two that a collaboration needs", n, left.Name)
	}
	err := s.store.Amend(ctx, v.hash, store.Amending{
		Amendment: a, Gone: v.names(a.Party), Setup: v.contract.Anchor.Pieces(), Ended: ended,
		Models: v.inModels(a.Party),
		Receipt: func(deleted []member.Deleted) []byte {
			w := &member.Withdrawal{
				Format: 1, Study: v.hash, Epoch: a.To, Party: a.Party, Kind: a.Kind, Deleted: deleted, Models: v.models(a.Party),
				Relayed: v.of(a.Party, v.setup) != nil, Pooled: v.of(a.Party, v.pool) != nil, Ended: ended, Time: time.Now().UTC().Truncate(time.Second),
			}
			w.Sign(s.id)
			return w.Encode()
		},
	})
	if err == nil {
		s.wakeJobs()
	}
	return err
}

// inModels reports whether a party's rows went into a model, of which a program that kept
// no records may have made one.
func (v *view) inModels(party wire.Hash) bool {
	origin := v.chain.Origin(party)
	return slices.ContainsFunc(v.rounds, func(r *release.Round) bool { return r.Has(origin) }) || len(v.rounds) == 0 && len(v.results) > 0
}

// models are those that were released and that a party's rows went into.
func (v *view) models(party wire.Hash) []member.ReleasedModel {
	var out []member.ReleasedModel
	origin := v.chain.Origin(party)
	for _, r := range v.rounds {
		if r.Has(origin) {
			out = append(out, member.ReleasedModel{Round: r.Round, Parties: len(r.Parties) + len(r.Late)})
		}
	}
	if len(v.rounds) == 0 && len(v.results) > 0 {
		out = append(out, member.ReleasedModel{Parties: len(v.results)})
	}
	return out
}

// settle makes a pending add count when nobody's confirmation is missing any more.
func (s *Server) settle(ctx context.Context, hash wire.Hash) error {
	v, err := s.view(ctx, hash)
	if err != nil || v.pending == nil || len(v.pending.missing) > 0 {
		return err
	}
	if err := s.store.Settle(ctx, hash, v.pending.amendment); err != nil {
		return err
	}
	s.log.Info("admitted", "study", hash.Short(), "party", v.pending.name())
	return nil
}

// rosterOf is what a party is told of the roster and its amendments.
func (s *Server) rosterOf(v *view) api.Roster {
	answer := api.Roster{Number: v.standing.Number, Closed: v.chain != nil, Statements: [][]byte{s.id.Statement.Encode()}}
	for _, a := range v.asking {
		answer.Asking = append(answer.Asking, api.Asking{Name: a.Name, Fingerprint: a.Fingerprint()})
	}
	members := v.members
	if v.chain != nil {
		members = v.chain.Root().Parties()
	}
	for _, m := range members {
		answer.Statements = append(answer.Statements, m.Encode())
	}
	answer.Confirmations = encodeAll(v.confirmations)
	if v.chain == nil {
		return answer
	}
	// The analyst's yes to contract and roster: whoever admitted everybody gave it.
	answer.Analyst = member.Confirm(s.id, v.hash, v.chain.Setup()).Encode()
	for _, step := range v.chain.Steps() {
		answer.Amendments = append(answer.Amendments, api.Amended{Amendment: step.Amendment.Encode(), Confirmations: encodeAll(step.Confirmations)})
	}
	if v.pending != nil {
		answer.Pending = &api.Amended{Amendment: v.pending.amendment.Encode(), Confirmations: encodeAll(v.pending.confirmations)}
	}
	return answer
}

func encodeAll(confirmations []*member.Confirmation) [][]byte {
	var out [][]byte
	for _, c := range confirmations {
		out = append(out, c.Encode())
	}
	return out
}

// checkConfirmation says whether a confirmation counts, for the roster that people
// confirm or for a pending add.
func (v *view) checkConfirmation(c *member.Confirmation) error {
	if v.pending != nil && c.Epoch == v.pending.amendment.To {
		if c.Anchor != nil {
			for _, other := range v.pending.confirmations {
				if other.Anchor != nil && *other.Anchor != *c.Anchor {
					return fmt.Errorf("it names the anchor %s, another member %s: tell the analyst, and do not go on", c.Anchor.Short(), other.Anchor.Short())
				}
			}
		}
		return c.Check(v.pending.roster, v.hash)
	}
	if v.chain.CheckEpoch(c.Epoch) == nil && c.Epoch != v.chain.Setup() {
		return c.Check(v.chain.At(c.Epoch), v.hash) // again, after it has counted
	}
	return c.Check(v.chain.Root(), v.hash)
}

// amend is the handler of amendments: who has left may ask again for the answer.
func (s *Server) amend(w http.ResponseWriter, r *http.Request) error {
	hash, party, err := s.callerOrLeft(r)
	if err != nil {
		return err
	}
	var raw []byte
	if err := readJSON(w, r, &raw); err != nil {
		return err
	}
	answer, err := s.Amend(r.Context(), hash, party, raw)
	if err != nil {
		return err
	}
	return s.ok(w, answer)
}

// contributed finds a party's contribution.
func (v *view) contributed(party wire.Hash) *store.Bundle {
	return v.of(party, v.contributions)
}
