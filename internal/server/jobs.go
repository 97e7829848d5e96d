package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"concord/analyst"
	"concord/audit"
	"concord/bundle"
	"concord/identity"
	"concord/internal/analysis"
	"concord/internal/build"
	"concord/internal/store"
	"concord/linalg"
	"concord/member"
	"concord/release"
	"concord/wire"
)

// wakeJobs tells the worker that something arrived.
func (s *Server) wakeJobs() {
	select {
	case s.wake <- struct{}{}:
	default: // it has been told
	}
}

// runJobs aligns and trains every study that is complete, one at a time, until
// ctx ends. What was interrupted by a crash is found and done again at the
// start: a job is due exactly while contributions are complete and results are
// not.
func (s *Server) runJobs(ctx context.Context) {
	s.working.Store(true)
	defer s.working.Store(false)
	if err := s.store.ClearProblems(ctx); err != nil { // a newer program may know better
		s.log.Error("clear problems", "error", err)
	}
	retry := time.NewTicker(retryAfter)
	defer retry.Stop()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	var seen int64
	s.wakeJobs()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		case <-retry.C:
		case <-look.C: // another program may have taken a parcel
			if version, err := s.store.Version(ctx); err != nil || version == seen {
				continue
			} else {
				seen = version
			}
		}
		studies, err := s.store.Studies(ctx)
		if err != nil {
			s.log.Error("list studies", "error", err)
			continue
		}
		for _, st := range studies {
			if err := s.runJob(ctx, st.Hash); err != nil && ctx.Err() == nil {
				s.log.Error("job", "study", st.Hash.Short(), "error", err)
			}
		}
	}
}

// RunDue does what is due, once: for the time when no server serves.
func (s *Server) RunDue(ctx context.Context) error {
	studies, err := s.store.Studies(ctx)
	if err != nil {
		return err
	}
	for _, st := range studies {
		if err := s.runJob(ctx, st.Hash); err != nil {
			return fmt.Errorf("study %s: %w", st.Hash.Short(), err)
		}
	}
	return nil
}

// runJob releases a study's results if they are due. A study that cannot be
// trained gets its problem recorded, for the parties to see; trouble of the
// server itself is only returned.
func (s *Server) runJob(ctx context.Context, hash wire.Hash) (err error) {
	defer func() {
		if v := recover(); v != nil {
			s.log.Error("training panicked", "study", hash.Short(), "panic", v, "stack", string(debug.Stack()))
			err = s.store.SetProblem(ctx, hash, "the analyst's program has an error; its log says more")
		}
	}()
	v, err := s.view(ctx, hash)
	if err != nil {
		return err
	}
	due := v.due()
	if due == nil || v.problem != "" {
		return nil
	}
	started := time.Now()
	err = s.do(ctx, v, due)
	var untrainable *analysis.Untrainable
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &untrainable):
		s.metrics.jobs.WithLabelValues("failed").Observe(time.Since(started).Seconds())
		s.log.Error("training failed; concordd status says why", "study", hash.Short())
		return s.store.SetProblem(ctx, hash, err.Error())
	case errors.Is(err, store.ErrConflict):
		s.log.Info("a result was made and not released: the roster changed meanwhile", "study", hash.Short())
		s.wakeJobs()
		return nil
	case err != nil:
		s.metrics.jobs.WithLabelValues("trouble").Observe(time.Since(started).Seconds())
		return err
	}
	s.metrics.jobs.WithLabelValues("released").Observe(time.Since(started).Seconds())
	s.log.Info("released", "study", hash.Short(), "round", due.round, "parties", len(due.parties), "seconds", time.Since(started).Seconds())
	s.wakeJobs() // there may be more
	return nil
}

func (s *Server) storedContribution(v *view, party *identity.Statement) (analyst.Contribution, error) {
	if b := v.contributed(party.Fingerprint()); b != nil {
		f, err := s.store.OpenBundle(*b)
		if err != nil {
			return analyst.Contribution{}, err
		}
		defer f.Close()
		return s.readContribution(v, b.Epoch, party, f, b.Size)
	}
	return analyst.Contribution{}, fmt.Errorf("the contribution of %q: %w", party.Name, store.ErrNotFound)
}

// release seals the results of parties and stores all of them with the record of their
// model, or nothing: what a crash interrupts is computed and sealed anew.
func (s *Server) release(ctx context.Context, v *view, record *release.Round, parties []*identity.Statement, results [][]bundle.Source) (err error) {
	bundles := make([]store.Bundle, len(parties))
	files := make([]*os.File, len(parties))
	defer func() {
		for _, f := range files {
			if f != nil {
				f.Close()
				os.Remove(f.Name()) // gone already if the store took it
			}
		}
	}()
	for i, party := range parties {
		if files[i], err = s.store.Incoming(); err != nil {
			return err
		}
		members := results[i]
		if record.Round > 0 {
			members = append(members, bundle.FromBytes(release.MemberRound, record.Encode()))
		}
		if bundles[i], err = s.sealResult(ctx, v, record, party, members, files[i]); err != nil {
			return fmt.Errorf("the result of %q: %w", party.Name, err)
		}
	}
	return s.store.PutRound(ctx, v.hash, v.roster.Number, record, bundles, files)
}

// sealResult seals one party's result into a file, to that party and to the analyst
// too, who has it anyway: so it can be shown to an auditor.
func (s *Server) sealResult(ctx context.Context, v *view, record *release.Round, party *identity.Statement, members []bundle.Source, file *os.File) (store.Bundle, error) {
	var none store.Bundle
	manifest, err := bundle.Describe(bundle.Draft{
		Header: bundle.Header{
			Study: v.hash, Epoch: v.epoch, Sender: s.id.Statement.Fingerprint(),
			Recipients: []wire.Hash{party.Fingerprint(), s.id.Statement.Fingerprint()}, Kind: bundle.KindResult, Round: record.Round, Number: 1,
		},
		Members: members,
	})
	if err != nil {
		return none, err
	}
	// Nobody is asked before a result is released: the contract says what the
	// result is, and its parties agreed to it.
	approval, err := bundle.Approve(manifest.Encode(), s.id.SigningKey(), "contract", time.Now())
	if err != nil {
		return none, err
	}
	theirs, err := party.AgeRecipient()
	if err != nil {
		return none, err
	}
	ours, err := s.id.Statement.AgeRecipient()
	if err != nil {
		return none, err
	}
	own, err := s.store.AuditHead(ctx, v.hash)
	if err != nil {
		return none, err
	}
	seen, err := s.store.Heard(ctx, v.hash, party.Fingerprint())
	if err != nil {
		return none, err
	}
	sealing := bundle.Sealing{Manifest: manifest, Sources: members, Approval: approval, Heads: member.NewHeads(own, seen)}
	env, err := bundle.Seal(file, sealing, s.id.SigningKey(), theirs, ours)
	if err != nil {
		return none, err
	}
	return store.Bundle{
		Study: v.hash, Epoch: v.epoch, Sender: env.Sender, Kind: env.Kind, Round: record.Round, Slot: party.Fingerprint(),
		Recipients: env.Recipients, Manifest: env.Manifest, File: wire.HashOf(env.Line()), Size: int64(len(env.Line())) + env.Size,
		Event: audit.Event{
			Program: build.Program(), Backend: linalg.Backend().String(),
			Note: fmt.Sprintf("the result of %q, round %d, of a model made of %d contributions", party.Name, record.Round, len(record.Parties)),
		},
	}, nil
}
