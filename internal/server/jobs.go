package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"concord/analyst"
	"concord/bundle"
	"concord/internal/store"
	"concord/onnx"
	"concord/study"
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
	if err := s.store.ClearProblems(ctx); err != nil { // a newer program may know better
		s.log.Error("clear problems", "error", err)
	}
	s.wakeJobs()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
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

// runJob releases a study's results if they are due. A study that cannot be
// trained gets its problem recorded, for the parties to see; trouble of the
// server itself is only returned.
func (s *Server) runJob(ctx context.Context, hash study.Hash) error {
	v, err := s.view(ctx, hash)
	if err != nil {
		return err
	}
	if v.roster == nil || v.problem != "" || len(v.contributions) < v.contract.Parties || len(v.results) == v.contract.Parties {
		return nil
	}
	started := time.Now()
	results, err := s.train(ctx, v)
	var untrainable *trainingError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &untrainable):
		s.log.Error("training failed", "study", hash.Short(), "error", err)
		return s.store.SetProblem(ctx, hash, err.Error())
	case err != nil:
		return err
	}
	for i, party := range v.roster.Parties() {
		if err := s.release(ctx, v, party, results[i]); err != nil {
			return err
		}
	}
	s.log.Info("released", "study", hash.Short(), "parties", len(results), "seconds", time.Since(started).Seconds())
	return nil
}

// trainingError is a failure that lies in the contributions, and would come
// again.
type trainingError struct{ error }

// train reads all contributions in the roster's order and computes each party's
// result.
func (s *Server) train(ctx context.Context, v *view) ([][]bundle.Source, error) {
	parties := v.roster.Parties()
	parts := make([]analyst.Contribution, len(parties))
	for i, party := range parties {
		var err error
		if parts[i], err = s.storedContribution(v, party); err != nil {
			return nil, err
		}
	}
	g, err := analyst.Align(v.contract, v.epoch, parts)
	if err != nil {
		return nil, &trainingError{err}
	}
	trained, err := analyst.Train(ctx, v.contract, v.epoch, parts, g)
	if err != nil {
		return nil, &trainingError{err}
	}
	h, err := onnx.FromModel(trained.Model)
	if err != nil {
		return nil, &trainingError{err}
	}
	outcome, err := trained.Outcome.Encode()
	if err != nil {
		return nil, err
	}
	results := make([][]bundle.Source, len(parties))
	for i := range parties {
		results[i] = append(bundle.FromMatrix(study.MemberG, g.G[i]),
			bundle.FromBytes(study.MemberModel, h.Encode()), bundle.FromBytes(study.MemberMetrics, outcome))
	}
	return results, nil
}

func (s *Server) storedContribution(v *view, party *study.Statement) (analyst.Contribution, error) {
	for _, b := range v.contributions {
		if b.Sender != party.Fingerprint() {
			continue
		}
		f, err := s.store.OpenBundle(b)
		if err != nil {
			return analyst.Contribution{}, err
		}
		defer f.Close()
		return s.readContribution(v, party, f, b.Size)
	}
	return analyst.Contribution{}, fmt.Errorf("the contribution of %q: %w", party.Name, store.ErrNotFound)
}

// release seals one party's result and stores it for that party to fetch. A
// result that was stored before a crash counts.
func (s *Server) release(ctx context.Context, v *view, party *study.Statement, members []bundle.Source) error {
	manifest, err := bundle.Describe(bundle.Draft{
		Header: bundle.Header{
			Study: v.hash, Epoch: v.epoch, Sender: s.id.Statement.Fingerprint(),
			Recipients: []study.Hash{party.Fingerprint()}, Kind: bundle.KindResult, Number: 1,
		},
		Members: members,
	})
	if err != nil {
		return err
	}
	// Nobody is asked before a result is released: the contract says what the
	// result is, and its parties agreed to it.
	approval, err := bundle.Approve(manifest.Encode(), s.id.SigningKey(), "contract", time.Now())
	if err != nil {
		return err
	}
	recipient, err := party.AgeRecipient()
	if err != nil {
		return err
	}
	file, err := s.store.Incoming()
	if err != nil {
		return err
	}
	defer func() {
		file.Close()
		os.Remove(file.Name()) // gone already if the store took it
	}()
	env, err := bundle.Seal(file, bundle.Sealing{Manifest: manifest, Sources: members, Approval: approval}, s.id.SigningKey(), recipient)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	_, err = s.store.PutBundle(ctx, store.Bundle{
		Study: v.hash, Epoch: v.epoch, Sender: env.Sender, Kind: env.Kind, Slot: party.Fingerprint(),
		Recipients: env.Recipients, Manifest: env.Manifest, Payload: env.Ciphertext, Size: info.Size(), Receipt: []byte{},
	}, file)
	if errors.Is(err, store.ErrConflict) {
		return fmt.Errorf("the stored result of %q is not the one that the contributions give now", party.Name)
	}
	return err
}
