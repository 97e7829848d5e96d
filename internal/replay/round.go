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
	"gonum.org/v1/gonum/mat"

	"concord/analyst"
	"concord/audit"
	"concord/bundle"
	"concord/internal/analysis"
	"concord/internal/dossier"
	"concord/release"
	"concord/wire"
)

// made is a model that was computed again.
type made struct {
	*analysis.Made
	g map[wire.Hash]*mat.Dense // by the party's first fingerprint
}

// round computes one model again and compares its results.
func (r *replay) round(ctx context.Context, round dossier.Round) error {
	record := round.Record
	what := fmt.Sprintf("round %d, epoch %s, a model of %d contributions", record.Round, record.Epoch.Short(), len(record.Parties))
	if len(record.Late) > 0 {
		what += fmt.Sprintf(", %d aligned to it afterwards", len(record.Late))
	}
	r.add(OK, "%s", what)
	if record.Study != r.Study || r.chain.At(record.Epoch) == nil {
		r.add(Differ, "round %d is of another study or roster", record.Round)
		return nil
	}
	missing := r.missing(record.Parties)
	if base := record.Base; missing == "" && base != nil && r.models[*base] == nil {
		missing = fmt.Sprintf("any more: it goes on from round %d, which is not", *base)
	}
	if missing != "" {
		for _, out := range round.Outputs {
			r.add(Gone, "the result of %q (manifest %s): not replayable %s", r.name(out.Party), out.Manifest.Short(), missing)
		}
		return nil
	}
	parts, err := r.contributions(record.Parties)
	if err != nil {
		r.add(Differ, "%v", err)
		return nil
	}
	r.add(OK, "%d contributions: signed, approved, sealed to the analyst, within the contract", len(parts))
	m, err := r.make(ctx, record, parts)
	var untrainable *analysis.Untrainable
	switch {
	case errors.As(err, &untrainable):
		r.add(Differ, "round %d cannot be computed from these contributions: %v", record.Round, err)
		return nil
	case err != nil:
		return err
	}
	r.models[record.Round] = m
	for _, out := range round.Outputs {
		party := r.chain.Origin(out.Party)
		if i := slices.IndexFunc(record.Parties, func(p release.RoundParty) bool { return p.Party == party }); i >= 0 {
			r.compare(record, out, parts[i], m.Results[i])
			continue
		}
		i := slices.IndexFunc(record.Late, func(p release.RoundParty) bool { return p.Party == party })
		if i < 0 {
			r.add(Differ, "the result of %q: it contributed nothing to round %d", r.name(out.Party), record.Round)
			continue
		}
		r.late(record, out, record.Late[i], m)
	}
	return nil
}

// make computes a model: with the changes of basis of an earlier one where the record
// says that they stayed.
func (r *replay) make(ctx context.Context, record release.Round, parts []analyst.Contribution) (*made, error) {
	var g []*mat.Dense
	if record.Base != nil {
		base := r.models[*record.Base]
		for i, p := range record.Parties {
			change := base.g[p.Party]
			if change == nil {
				var err error
				if change, _, err = analyst.AlignLate(r.contract, base.Target, parts[i]); err != nil {
					return nil, &analysis.Untrainable{Err: err}
				}
			}
			g = append(g, change)
		}
	}
	r.opt.Progress(fmt.Sprintf("aligning and training round %d, of %d contributions", record.Round, len(parts)))
	again, err := analysis.Make(ctx, r.contract, record.Epoch, parts, g)
	if err != nil {
		return nil, err
	}
	m := &made{again, map[wire.Hash]*mat.Dense{}}
	for i, p := range record.Parties {
		m.g[p.Party] = again.G[i]
	}
	return m, nil
}

// late computes the result of a party that came after a model was made.
func (r *replay) late(record release.Round, out dossier.Output, p release.RoundParty, m *made) {
	if missing := r.missing([]release.RoundParty{p}); missing != "" {
		r.add(Gone, "the result of %q (manifest %s): not replayable %s", r.name(out.Party), out.Manifest.Short(), missing)
		return
	}
	part, err := r.contribution(p)
	if err == nil {
		var members []bundle.Source
		var g *mat.Dense
		if members, g, err = analysis.Late(r.contract, m.Target, m.Model, m.Outcome, part); err == nil {
			m.g[p.Party] = g
			r.compare(record, out, part, members)
			return
		}
	}
	r.add(Differ, "the result of %q: %v", r.name(out.Party), err)
}

// missing says since when a model cannot be computed, empty if it can.
func (r *replay) missing(parties []release.RoundParty) string {
	for _, p := range parties {
		if !p.Contribution.IsZero() && r.envelopes[p.Contribution] != nil {
			continue
		}
		if when, ok := r.withdrawn(p); ok {
			return fmt.Sprintf("since %s: the contribution of %q was deleted", when, r.name(p.Party))
		}
		return fmt.Sprintf("any more: the contribution of %q is not here", r.name(p.Party))
	}
	return ""
}

// withdrawn says when the contribution of a party was deleted.
func (r *replay) withdrawn(p release.RoundParty) (string, bool) {
	if !p.Contribution.IsZero() {
		return r.deleted(p.Contribution)
	}
	for _, g := range r.gone {
		if g.Kind == bundle.KindContribution && r.chain.Same(g.Sender, p.Party) {
			return r.deleted(g.Manifest)
		}
	}
	return "", false
}

func (r *replay) contributions(parties []release.RoundParty) ([]analyst.Contribution, error) {
	r.opt.Progress(fmt.Sprintf("opening %d contributions", len(parties)))
	parts := make([]analyst.Contribution, len(parties))
	for i, p := range parties {
		var err error
		if parts[i], err = r.contribution(p); err != nil {
			return nil, fmt.Errorf("the contribution of %q: %w", r.name(p.Party), err)
		}
	}
	return parts, nil
}

// contribution opens what a party sent, with the keys that it had then.
func (r *replay) contribution(p release.RoundParty) (analyst.Contribution, error) {
	var none analyst.Contribution
	env := r.envelopes[p.Contribution]
	party := r.chain.In(r.chain.At(env.Epoch), p.Party)
	if party == nil || env.Sender != party.Fingerprint() {
		return none, errors.New("it is not by the party that the record names")
	}
	keys, err := r.d.Keys(p.Contribution)
	if err != nil {
		return none, err
	}
	if keys == nil {
		return none, errors.New("the analyst gave no keys for it")
	}
	f, err := r.d.Open(dossier.Name(dossier.Contribution, p.Contribution))
	if err != nil {
		return none, err
	}
	return analysis.Read(r.contract, party.Name, f, f.Size(), bundle.Expect{
		Study: r.Study, Epoch: env.Epoch, Kind: bundle.KindContribution, Sender: party.Fingerprint(), SenderKey: party.SigningKey,
		Approver: party.Approver(), Recipient: r.Fingerprint,
	}, keys)
}

// same says whether a manifest is that of members which were computed again. After the
// first round the record is among them, as it stood when the result was released: with
// some of those that came late.
func same(record release.Round, header bundle.Header, members []bundle.Source, manifest wire.Hash) (bool, error) {
	if record.Round == 0 {
		again, err := bundle.Describe(bundle.Draft{Header: header, Members: members})
		return err == nil && again.Hash() == manifest, err
	}
	late := record.Late
	for n := range len(late) + 1 {
		record.Late = late[:n]
		again, err := bundle.Describe(bundle.Draft{Header: header, Members: append(slices.Clone(members), bundle.FromBytes(release.MemberRound, record.Encode()))})
		if err != nil || again.Hash() == manifest {
			return err == nil, err
		}
	}
	return false, nil
}

// compare compares a party's result with what was computed again. The manifest names
// every byte: if it is the same, everything is.
func (r *replay) compare(record release.Round, out dossier.Output, part analyst.Contribution, members []bundle.Source) {
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
	equal, err := same(record, env.Header, members, out.Manifest)
	if err != nil {
		r.add(Differ, "%s: %v", who, err)
		return
	}
	if equal {
		r.add(Same, "%s: every byte", who)
		return
	}
	stored, why := r.result(env, out)
	if stored == nil {
		r.add(Differ, "%s: something else came out, and it cannot be opened to compare numbers: %s", who, why)
		return
	}
	d := r.distance(stored, part, members)
	switch elsewhere := r.elsewhere(out.Manifest); {
	case elsewhere == "":
		r.add(Differ, "%s: something else came out, by the same program and backend; %s", who, d)
	case d.within(r.opt.Tolerance):
		r.add(Near, "%s: %s, within %g; it was computed by %s", who, d, r.opt.Tolerance, elsewhere)
	default:
		r.add(Differ, "%s: %s, beyond %g; it was computed by %s", who, d, r.opt.Tolerance, elsewhere)
	}
}

// elsewhere says what computed a result, as the audit log has it; empty if it was
// the program and the backend of this replay.
func (r *replay) elsewhere(manifest wire.Hash) string {
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
