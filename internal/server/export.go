package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"concord/audit"
	"concord/bundle"
	"concord/contract"
	"concord/internal/dossier"
	"concord/internal/store"
	"concord/member"
	"concord/release"
	"concord/wire"
)

// Export seals to an auditor of the contract everything that this analyst has of a
// study: see package dossier. That it does so is in the audit log before.
func (s *Server) Export(ctx context.Context, w io.Writer, hash wire.Hash, auditor contract.Auditor) (*dossier.Index, error) {
	v, err := s.view(ctx, hash)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(v.contract.Auditors, auditor) {
		return nil, fmt.Errorf("the contract of study %s names no auditor %q", hash.Short(), auditor.Name)
	}
	if v.chain == nil {
		return nil, errors.New("the roster is not closed yet; there is nothing to export")
	}
	to, err := auditor.AgeRecipient()
	if err != nil {
		return nil, err
	}
	err = s.store.Note(ctx, hash, audit.Event{
		Kind: audit.Exported, Party: auditor.Fingerprint, Note: fmt.Sprintf("everything, contributions opened, is being sealed to the auditor %q", auditor.Name),
	})
	if err != nil {
		return nil, err
	}
	out, err := dossier.NewWriter(w, to)
	if err != nil {
		return nil, err
	}
	x := dossier.Index{Study: hash, Analyst: s.id.Statement.Fingerprint(), Auditor: auditor.Fingerprint, Time: time.Now().UTC().Truncate(time.Second)}
	if x.Rounds, err = s.exportRounds(ctx, v); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context, *view, *dossier.Writer) error{s.exportPeople, s.exportBundles, s.exportAudit} {
		if err := step(ctx, v, out); err != nil {
			return nil, err
		}
	}
	return &x, out.Close(&x, s.id)
}

// exportRounds says of which contributions each model was made, and what was released of
// it, deleted results included.
func (s *Server) exportRounds(ctx context.Context, v *view) ([]dossier.Round, error) {
	gone, err := s.store.Tombstones(ctx, v.hash)
	if err != nil {
		return nil, err
	}
	results := slices.Clone(v.results)
	for _, t := range gone {
		if t.Kind == bundle.KindResult {
			results = append(results, t.Bundle)
		}
	}
	records, err := s.store.Rounds(ctx, v.hash)
	if err != nil {
		return nil, err
	}
	rounds := []dossier.Round{}
	for _, r := range records {
		rounds = append(rounds, dossier.Round{Record: *r, Outputs: []dossier.Output{}})
	}
	for _, b := range results {
		i := slices.IndexFunc(rounds, func(r dossier.Round) bool { return r.Record.Round == b.Round })
		if i < 0 {
			if v.chain.At(b.Epoch) == nil { // of a roster that was given up
				continue
			}
			i = len(rounds)
			rounds = append(rounds, dossier.Round{Record: v.unrecorded(b), Outputs: []dossier.Output{}})
		}
		rounds[i].Outputs = append(rounds[i].Outputs, dossier.Output{Party: b.Slot, Manifest: b.Manifest})
	}
	slices.SortStableFunc(rounds, func(a, b dossier.Round) int { return a.Record.Round - b.Record.Round })
	return rounds, nil
}

// unrecorded is what the record of a model would be that a program released which kept
// none: of everybody in the roster.
func (v *view) unrecorded(b store.Bundle) release.Round {
	r := release.Round{Format: 1, Study: v.hash, Round: b.Round, Epoch: b.Epoch, Parties: []release.RoundParty{}}
	for _, party := range v.chain.At(b.Epoch).Parties() {
		p := release.RoundParty{Party: v.chain.Origin(party.Fingerprint())}
		if c := v.contributed(p.Party); c != nil {
			p.Contribution = c.Manifest
		}
		r.Parties = append(r.Parties, p)
	}
	return r
}

// exportPeople adds the contract, who took part, and what they confirmed.
func (s *Server) exportPeople(ctx context.Context, v *view, out *dossier.Writer) error {
	st, err := s.store.Study(ctx, v.hash)
	if err != nil {
		return err
	}
	if err := out.AddBytes(dossier.Contract, st.Contract); err != nil {
		return err
	}
	people, err := s.store.People(ctx, v.hash)
	if err != nil {
		return err
	}
	for _, p := range append(people, s.id.Statement) {
		if err := out.AddBytes(dossier.Name(dossier.Person, p.Fingerprint()), p.Encode()); err != nil {
			return err
		}
	}
	root := v.chain.Root()
	standing := dossier.Standing{Number: root.Number, Parties: []wire.Hash{}}
	for _, p := range root.Parties() {
		standing.Parties = append(standing.Parties, p.Fingerprint())
	}
	confirmations := append(slices.Clone(v.confirmations), member.Confirm(s.id, v.hash, v.chain.Setup()))
	for _, step := range v.chain.Steps() {
		standing.Amendments = append(standing.Amendments, step.Amendment.Encode())
		confirmations = append(confirmations, step.Confirmations...)
	}
	if err := out.AddJSON(dossier.Roster, standing); err != nil {
		return err
	}
	for _, c := range confirmations {
		b := c.Encode()
		if err := out.AddBytes(dossier.Name(dossier.Confirmation, wire.HashOf(b)), b); err != nil {
			return err
		}
	}
	return nil
}

// exportBundles adds what the parties sent and got. What the analyst can open is opened
// for the auditor by its file keys; what parties seal for each other stays closed.
func (s *Server) exportBundles(ctx context.Context, v *view, out *dossier.Writer) error {
	all, err := s.store.All(ctx, v.hash)
	if err != nil {
		return err
	}
	for _, b := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		if v.chain.At(b.Epoch) == nil {
			continue // of a roster that was given up
		}
		if err := s.exportBundle(ctx, v, b, out); err != nil {
			return fmt.Errorf("the %s bundle of manifest %s: %w", b.Kind, b.Manifest.Short(), err)
		}
	}
	gone, err := s.store.Tombstones(ctx, v.hash)
	if err != nil {
		return err
	}
	list := []dossier.Gone{}
	for _, t := range gone {
		list = append(list, dossier.Gone{Epoch: t.Epoch, Kind: t.Kind, Round: t.Round, Sender: t.Sender, Slot: t.Slot, Manifest: t.Manifest, Deleted: t.Deleted})
	}
	return out.AddJSON(dossier.Deleted, list)
}

func (s *Server) exportBundle(ctx context.Context, v *view, b store.Bundle, out *dossier.Writer) error {
	f, err := s.store.OpenBundle(b)
	if err != nil {
		return err
	}
	defer f.Close()
	name := map[string]string{bundle.KindContribution: dossier.Contribution, bundle.KindResult: dossier.Result}[b.Kind]
	if name == "" {
		env, _, err := bundle.ReadEnvelope(f)
		if err != nil {
			return err
		}
		if err := out.AddBytes(dossier.Name(dossier.Setup, b.Manifest), env.Line()); err != nil {
			return err
		}
	} else {
		keys, err := s.fileKeys(v, b, f)
		if err != nil {
			return err
		}
		if keys != nil {
			if err := out.AddBytes(dossier.Name(dossier.KeysOf, b.Manifest), keys); err != nil {
				return err
			}
		}
		if err := out.Add(dossier.Name(name, b.Manifest), io.NewSectionReader(f, 0, b.Size)); err != nil {
			return err
		}
	}
	if b.Kind == bundle.KindResult {
		return nil
	}
	receipt, err := s.store.Receipt(ctx, b)
	if err != nil {
		return err
	}
	return out.AddBytes(dossier.Name(dossier.ReceiptOf, b.Manifest), receipt)
}

// fileKeys are what opens a bundle that is sealed to the analyst, nil for one that is
// not: results of older programs.
func (s *Server) fileKeys(v *view, b store.Bundle, f io.ReaderAt) ([]byte, error) {
	record := dossier.Record(s.id.AgeIdentity())
	var want bundle.Expect
	if b.Kind == bundle.KindContribution {
		party := v.chain.In(v.chain.At(b.Epoch), b.Sender)
		if party == nil {
			return nil, errors.New("its sender is in no roster")
		}
		want = s.expectContribution(v, b.Epoch, party)
	} else {
		want = bundle.Expect{
			Study: v.hash, Epoch: b.Epoch, Kind: b.Kind, Sender: b.Sender, SenderKey: s.id.Statement.SigningKey, Recipient: s.id.Statement.Fingerprint(),
		}
	}
	_, err := bundle.Open(f, b.Size, want, record)
	if b.Kind == bundle.KindResult && errors.Is(err, bundle.ErrMismatch) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return record.Encode()
}

// exportAudit adds the audit log, and what parties signed that has heads of it.
func (s *Server) exportAudit(ctx context.Context, v *view, out *dossier.Writer) error {
	said, err := s.store.Testimonies(ctx, v.hash)
	if err != nil {
		return err
	}
	for _, t := range said {
		name, b := dossier.Name(dossier.Envelope, wire.HashOf(t.Envelope)), t.Envelope
		if t.Witness != nil {
			name, b = dossier.Name(dossier.Witness, wire.HashOf(t.Witness)), t.Witness
		}
		if err := out.AddBytes(name, b); err != nil {
			return err
		}
	}
	var log bytes.Buffer
	if err := s.store.WriteAudit(ctx, v.hash, &log); err != nil {
		return err
	}
	return out.AddBytes(dossier.AuditLog, log.Bytes())
}
