package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"filippo.io/age"

	"concord/analyst"
	"concord/audit"
	"concord/bundle"
	"concord/internal/analysis"
	"concord/internal/dossier"
	"concord/study"
)

// round computes one training again and compares its results.
func (r *replay) round(ctx context.Context, round dossier.Round) error {
	r.add(OK, "round %d, epoch %s, of %d contributions", round.Round, round.Epoch.Short(), len(round.Inputs))
	if missing := r.missing(round); missing != "" {
		for _, out := range round.Outputs {
			r.add(Gone, "the result of %q (manifest %s): not replayable %s", r.name(out.Party), out.Manifest.Short(), missing)
		}
		return nil
	}
	r.opt.Progress(fmt.Sprintf("opening %d contributions", len(round.Inputs)))
	parts := make([]analyst.Contribution, len(round.Inputs))
	for i, in := range round.Inputs {
		var err error
		if parts[i], err = r.contribution(in); err != nil {
			r.add(Differ, "the contribution of %q: %v", r.name(in.Party), err)
			return nil
		}
	}
	r.add(OK, "%d contributions: signed, approved, sealed to the analyst, within the contract", len(parts))
	r.opt.Progress(fmt.Sprintf("aligning and training round %d", round.Round))
	results, err := analysis.Results(ctx, r.contract, round.Epoch, parts)
	var untrainable *analysis.Untrainable
	switch {
	case errors.As(err, &untrainable):
		r.add(Differ, "round %d cannot be computed from these contributions: %v", round.Round, err)
		return nil
	case err != nil:
		return err
	}
	for _, out := range round.Outputs {
		i := slices.IndexFunc(round.Inputs, func(in dossier.Input) bool { return r.chain.Same(in.Party, out.Party) })
		if i < 0 {
			r.add(Differ, "the result of %q: it contributed nothing to round %d", r.name(out.Party), round.Round)
			continue
		}
		r.compare(round, out, parts[i], results[i])
	}
	return nil
}

// missing says since when a round cannot be computed, empty if it can.
func (r *replay) missing(round dossier.Round) string {
	for _, in := range round.Inputs {
		if !in.Manifest.IsZero() && r.envelopes[in.Manifest] != nil {
			continue
		}
		since := "any more: the contribution of %q is not here"
		if when, ok := r.withdrawn(in.Party); ok {
			since = "since " + when + ": the contribution of %q was deleted"
		}
		return fmt.Sprintf(since, r.name(in.Party))
	}
	return ""
}

// withdrawn says when the contribution of a party was deleted.
func (r *replay) withdrawn(party study.Hash) (string, bool) {
	for _, e := range r.entries {
		if e.Kind == audit.Removed && r.chain.Same(e.Party, party) && !e.Manifest.IsZero() && r.wasContribution(e) {
			return r.deleted(e.Manifest)
		}
	}
	for _, g := range r.gone {
		if g.Kind == bundle.KindContribution && r.chain.Same(g.Sender, party) {
			return g.Deleted, true
		}
	}
	return "", false
}

// wasContribution says whether a deleted bundle was a contribution.
func (r *replay) wasContribution(e audit.Entry) bool {
	return slices.ContainsFunc(r.gone, func(g dossier.Gone) bool { return g.Manifest == e.Manifest && g.Kind == bundle.KindContribution })
}

// contribution opens what a party sent, with the keys that it had then.
func (r *replay) contribution(in dossier.Input) (analyst.Contribution, error) {
	var none analyst.Contribution
	party := r.chain.In(r.chain.At(in.Epoch), in.Party)
	if party == nil {
		return none, errors.New("its sender was in no roster of that epoch")
	}
	keys, err := r.d.Keys(in.Manifest)
	if err != nil {
		return none, err
	}
	if keys == nil {
		return none, errors.New("the analyst gave no keys for it")
	}
	f, err := r.d.Open(dossier.Name(dossier.Contribution, in.Manifest))
	if err != nil {
		return none, err
	}
	return analysis.Read(r.contract, party.Name, f, f.Size(), bundle.Expect{
		Study: r.Study, Epoch: in.Epoch, Kind: bundle.KindContribution, Sender: party.Fingerprint(), SenderKey: party.SigningKey,
		Approver: party.Approver(), Recipient: r.Fingerprint,
	}, keys)
}

// compare compares a party's result with what was computed again. The manifest names
// every byte: if it is the same, everything is.
func (r *replay) compare(round dossier.Round, out dossier.Output, part analyst.Contribution, members []bundle.Source) {
	who := fmt.Sprintf("the result of %q (manifest %s)", r.name(out.Party), out.Manifest.Short())
	env := r.envelopes[out.Manifest]
	if env == nil {
		if when, yes := r.deleted(out.Manifest); yes {
			r.add(Gone, "%s: it was deleted at %s", who, when)
		} else {
			r.add(Differ, "%s: it is not here, and was not deleted", who)
		}
		return
	}
	again, err := bundle.Describe(bundle.Draft{Header: env.Header, Members: members})
	if err != nil {
		r.add(Differ, "%s: %v", who, err)
		return
	}
	if again.Hash() == out.Manifest {
		r.add(Same, "%s: every byte", who)
		return
	}
	stored, why := r.result(env, out)
	if stored == nil {
		r.add(Differ, "%s: another manifest came out, %s, and it cannot be opened to compare numbers: %s", who, again.Hash().Short(), why)
		return
	}
	if elsewhere := r.elsewhere(out.Manifest); elsewhere == "" {
		r.add(Differ, "%s: another manifest came out, %s, by the same program and backend; %s", who, again.Hash().Short(), r.distance(stored, part, members))
		return
	} else if d := r.distance(stored, part, members); d.within(r.opt.Tolerance) {
		r.add(Near, "%s: %s, within %g; it was computed by %s", who, d, r.opt.Tolerance, elsewhere)
	} else {
		r.add(Differ, "%s: %s, beyond %g; it was computed by %s", who, d, r.opt.Tolerance, elsewhere)
	}
}

// elsewhere says what computed a result, as the audit log has it; empty if it was
// the program and the backend of this replay.
func (r *replay) elsewhere(manifest study.Hash) string {
	for _, e := range r.entries {
		if e.Kind != audit.Released || e.Manifest != manifest {
			continue
		}
		if e.Program == r.Program && e.Backend == r.Backend {
			return ""
		}
		return fmt.Sprintf("%s with %s", e.Program, e.Backend)
	}
	return "a program that did not say what it was"
}

// result opens what a party got.
func (r *replay) result(env *bundle.Envelope, out dossier.Output) (*bundle.Reader, string) {
	keys, err := r.d.Keys(out.Manifest)
	if err != nil {
		return nil, err.Error()
	}
	if keys == nil {
		return nil, "it is sealed to the party alone"
	}
	f, err := r.d.Open(dossier.Name(dossier.Result, out.Manifest))
	if err != nil {
		return nil, err.Error()
	}
	opened, err := bundle.Open(f, f.Size(), bundle.Expect{
		Study: r.Study, Epoch: env.Epoch, Kind: bundle.KindResult, Sender: r.Fingerprint, SenderKey: r.analyst.SigningKey, Recipient: env.Recipients[0],
	}, []age.Identity{keys}...)
	if err != nil {
		return nil, err.Error()
	}
	return opened, ""
}

// content is a member that was computed again.
func content(members []bundle.Source, name string) (io.Reader, error) {
	var b bytes.Buffer
	found := false
	for _, m := range members {
		base, _, _ := strings.Cut(m.Name, ".")
		if m.Name == name || base == name {
			if found {
				return nil, fmt.Errorf("%s is in several blocks", name)
			}
			found = true
			if err := m.Write(&b); err != nil {
				return nil, err
			}
		}
	}
	if !found {
		return nil, fmt.Errorf("no %s was computed", name)
	}
	return &b, nil
}
