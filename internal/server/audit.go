package server

import (
	"context"
	"errors"
	"time"

	"concord/audit"
	"concord/member"
	"concord/wire"
)

// witness is the analyst's signed word to a party on both audit logs.
func (s *Server) witness(ctx context.Context, hash, party wire.Hash) ([]byte, error) {
	own, err := s.store.AuditHead(ctx, hash)
	if err != nil {
		return nil, err
	}
	seen, err := s.store.Heard(ctx, hash, party)
	if err != nil {
		return nil, err
	}
	heads := member.NewHeads(own, seen)
	if heads == nil {
		return nil, nil
	}
	w := &member.Witness{
		Format: 1, Study: hash, By: s.id.Statement.Fingerprint(), To: party, Heads: *heads, Time: time.Now().UTC().Truncate(time.Second),
	}
	w.Sign(s.id)
	return w.Encode(), nil
}

// ExchangeHeads keeps a party's signed word on both audit logs, and returns the
// analyst's. A head of ours that our log does not have is refused and noted: one of
// the two logs is not what it was.
func (s *Server) ExchangeHeads(ctx context.Context, hash, party wire.Hash, raw []byte) ([]byte, error) {
	_, sender, err := s.viewOf(ctx, hash, party)
	if err != nil {
		return nil, err
	}
	w, err := member.DecodeWitness(raw, sender)
	if err != nil {
		return nil, refused(err)
	}
	if w.Study != hash || w.To != s.id.Statement.Fingerprint() {
		return nil, refused(errors.New("the witness is for another study or analyst"))
	}
	if seen := w.Heads.Seen; seen != nil {
		known, err := s.store.InAudit(ctx, hash, *seen)
		if err != nil {
			return nil, err
		}
		if !known {
			err := s.store.Note(ctx, hash, audit.Event{Kind: audit.Refused, Party: party, Note: "a witness with a head of this log that the log does not have: concordd audit verify"})
			return nil, errors.Join(refused(errors.New("the analyst's audit log has no such entry as the witness says: one of the two logs was changed")), err)
		}
	}
	if err := s.store.PutWitness(ctx, hash, w); err != nil {
		return nil, err
	}
	return s.witness(ctx, hash, party)
}
