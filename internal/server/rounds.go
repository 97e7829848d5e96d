package server

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/mat"

	"concord/analyst"
	"concord/bundle"
	"concord/identity"
	"concord/internal/analysis"
	"concord/internal/build"
	"concord/internal/durable"
	"concord/internal/store"
	"concord/linalg"
	"concord/npy"
	"concord/release"
	"concord/wire"
)

// Files of a model that the analyst keeps, for parties that come later.
const (
	targetFile  = "target.npy"
	modelFile   = "h.onnx"
	outcomeFile = "metrics.json"
)

// job is a model that is to be made, or given to a party that has come.
type job struct {
	round int
	// parties get a result.
	parties []*identity.Statement
	// base is the round whose changes of basis stay, nil if all are aligned anew. Late
	// is true if its model stays too.
	base *release.Round
	late bool
}

// last is the record of the newest model, nil if there is none.
func (v *view) last() *release.Round {
	if len(v.rounds) == 0 {
		return nil
	}
	return v.rounds[len(v.rounds)-1]
}

// due says what is to be computed: the first model when every contribution is here; a
// new one when a party has left whose rows the last one has; or, for a party that came
// late, its place under the last one. A job is due exactly while its results are not
// stored, so that what a crash interrupts is done again.
func (v *view) due() *job {
	if v.chain == nil || v.ended != "" || !v.setupDone() {
		return nil
	}
	var have []*identity.Statement
	for _, m := range v.members {
		if v.contributed(m.Fingerprint()) != nil {
			have = append(have, m)
		}
	}
	last := v.last()
	if last == nil {
		// (A program that kept no records may have released results.)
		if len(v.results) > 0 || len(have) < len(v.members) {
			return nil
		}
		return &job{round: v.next, parties: have}
	}
	lacks := func(m *identity.Statement) bool { return !last.Has(v.chain.Origin(m.Fingerprint())) }
	switch {
	case slices.ContainsFunc(last.Parties, func(p release.RoundParty) bool { return v.chain.Present(p.Party) == nil }):
		if len(have) < 2 {
			return nil
		}
		return &job{round: v.next, parties: have}
	case v.contract.Retrain() && slices.ContainsFunc(have, lacks):
		return &job{round: v.next, parties: have, base: last}
	}
	var late []*identity.Statement
	for _, m := range have {
		if lacks(m) && v.resultOf(m.Fingerprint(), last.Round) == nil {
			late = append(late, m)
		}
	}
	if len(late) == 0 {
		return nil
	}
	return &job{round: last.Round, parties: late, base: last, late: true}
}

// do computes and releases what is due.
func (s *Server) do(ctx context.Context, v *view, due *job) error {
	if due.late {
		return s.doLate(ctx, v, due)
	}
	parts := make([]analyst.Contribution, len(due.parties))
	var g []*mat.Dense
	record := &release.Round{
		Format: 1, Study: v.hash, Round: due.round, Epoch: v.epoch, Program: build.Program(), Backend: linalg.Backend().String(),
	}
	for i, party := range due.parties {
		var err error
		if parts[i], err = s.storedContribution(v, party); err != nil {
			return err
		}
		if due.base == nil {
			continue
		}
		change, err := s.changeOf(v, due.base, party, parts[i])
		if err != nil {
			return err
		}
		g, record.Base = append(g, change), &due.base.Round
	}
	made, err := analysis.Make(ctx, v.contract, v.epoch, parts, g)
	if err != nil {
		return err
	}
	record.Model = wire.HashOf(made.Model)
	for i, party := range due.parties {
		record.Parties = append(record.Parties, v.roundParty(party, made.G[i]))
	}
	record.Target = wire.HashOf(encoded(made.Target))
	err = s.store.PutModel(v.hash, due.round, func(dir string) error {
		for i, p := range record.Parties {
			if err := writeMatrix(filepath.Join(dir, store.ChangeFile(p.Party)), made.G[i]); err != nil {
				return err
			}
		}
		if err := durable.WriteFile(filepath.Join(dir, modelFile), made.Model, 0o600); err != nil {
			return err
		}
		if err := durable.WriteFile(filepath.Join(dir, outcomeFile), made.Outcome, 0o600); err != nil {
			return err
		}
		return writeMatrix(filepath.Join(dir, targetFile), made.Target)
	})
	if err != nil {
		return err
	}
	return s.release(ctx, v, record, due.parties, made.Results)
}

// doLate gives parties that came after a model was made their place under it.
func (s *Server) doLate(ctx context.Context, v *view, due *job) error {
	target, err := s.readTarget(v, due.base)
	if err != nil {
		return err
	}
	model, err := os.ReadFile(s.store.ModelPath(v.hash, due.round, modelFile))
	if err != nil {
		return err
	}
	if wire.HashOf(model) != due.base.Model {
		return fmt.Errorf("the model of round %d was changed on the disk", due.round)
	}
	outcome, err := os.ReadFile(s.store.ModelPath(v.hash, due.round, outcomeFile))
	if err != nil {
		return err
	}
	record := *due.base
	record.Late = slices.Clone(record.Late)
	results := make([][]bundle.Source, len(due.parties))
	for i, party := range due.parties {
		part, err := s.storedContribution(v, party)
		if err != nil {
			return err
		}
		if err := s.sameAnchor(v, due.base, part); err != nil {
			return err
		}
		members, g, err := analysis.Late(v.contract, target, model, outcome, part)
		if err != nil {
			return err
		}
		p := v.roundParty(party, g)
		if err := writeMatrix(s.store.ModelPath(v.hash, due.round, store.ChangeFile(p.Party)), g); err != nil {
			return err
		}
		results[i], record.Late = members, append(record.Late, p)
	}
	return s.release(ctx, v, &record, due.parties, results)
}

// sameAnchor makes sure that a party that came late has the anchor of the others: it
// would be aligned to nonsense.
func (s *Server) sameAnchor(v *view, base *release.Round, part analyst.Contribution) error {
	for _, p := range base.Parties {
		member := v.chain.Present(p.Party)
		if member == nil {
			continue
		}
		other, err := s.storedContribution(v, member)
		if err != nil {
			return err
		}
		if other.Anchor != part.Anchor {
			return &analysis.Untrainable{Err: fmt.Errorf("%q used the anchor %s, the others used %s; a member has to give it theirs", part.Party, part.Anchor.Short(), other.Anchor.Short())}
		}
		return nil
	}
	return nil
}

// changeOf is the change of basis that a party has under a round, or gets by being
// aligned to its target.
func (s *Server) changeOf(v *view, base *release.Round, party *identity.Statement, part analyst.Contribution) (*mat.Dense, error) {
	origin := v.chain.Origin(party.Fingerprint())
	if base.Has(origin) || slices.ContainsFunc(base.Late, func(p release.RoundParty) bool { return p.Party == origin }) {
		_, l := part.A.Dims()
		path := s.store.ModelPath(v.hash, base.Round, store.ChangeFile(origin))
		g, err := readMatrix(path, l, v.contract.D())
		if err != nil {
			return nil, err
		}
		is := wire.HashOf(encoded(g))
		if !slices.ContainsFunc(slices.Concat(base.Parties, base.Late), func(p release.RoundParty) bool { return p.Party == origin && p.G == is }) {
			return nil, fmt.Errorf("%s was changed on the disk: the record of round %d has another hash", path, base.Round)
		}
		return g, nil
	}
	if err := s.sameAnchor(v, base, part); err != nil {
		return nil, err
	}
	target, err := s.readTarget(v, base)
	if err != nil {
		return nil, err
	}
	g, _, err := analyst.AlignLate(v.contract, target, part)
	if err != nil {
		return nil, &analysis.Untrainable{Err: err}
	}
	return g, nil
}

// readTarget reads what parties that come later are aligned to, and compares it with the
// record.
func (s *Server) readTarget(v *view, base *release.Round) (*mat.Dense, error) {
	path := s.store.ModelPath(v.hash, base.Round, targetFile)
	z, err := readMatrix(path, v.contract.Anchor.Rows, v.contract.D())
	if err != nil {
		return nil, err
	}
	if wire.HashOf(encoded(z)) != base.Target {
		return nil, fmt.Errorf("%s was changed on the disk: the record of round %d has another hash", path, base.Round)
	}
	return z, nil
}

func (v *view) roundParty(party *identity.Statement, g *mat.Dense) release.RoundParty {
	f := party.Fingerprint()
	return release.RoundParty{Party: v.chain.Origin(f), Contribution: v.contributed(f).Manifest, G: wire.HashOf(encoded(g))}
}

// resultOf finds the result of a party in a round.
func (v *view) resultOf(party wire.Hash, round int) *wire.Hash {
	for _, b := range v.results {
		if b.Round == round && v.chain.Same(b.Slot, party) {
			return &b.Manifest
		}
	}
	return nil
}

func encoded(m *mat.Dense) []byte {
	var b bytes.Buffer
	if err := npy.WriteMatrix(&b, m); err != nil {
		panic("server: " + err.Error()) // a buffer takes everything
	}
	return b.Bytes()
}

func writeMatrix(path string, m *mat.Dense) error {
	return durable.Write(path, 0o600, func(f *os.File) error { return npy.WriteMatrix(f, m) })
}

func readMatrix(path string, rows, cols int) (*mat.Dense, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return npy.ReadMatrix(f, npy.Limits{Rows: rows, Cols: cols})
}
