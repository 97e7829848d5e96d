package visit

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"concord/audit"
	"concord/bundle"
	"concord/contract"
	"concord/internal/site"
	"concord/internal/visit/event"
	"concord/learn"
	"concord/member"
	"concord/npy"
	"concord/onnx"
	"concord/party"
	"concord/release"
	"concord/wire"
)

// accept makes the site's model from an opened result.
func (v *Visit) accept(ctx context.Context, r *bundle.Reader) error {
	c := v.Contract
	if err := onlyAgreed(c, r.Manifest); err != nil {
		return err
	}
	metrics, outcome, err := readOutcome(r)
	if err != nil {
		return err
	}
	got := event.ModelReceived{Outcome: outcome, Parties: v.trainers(r), Path: v.site.Path(site.ModelFile)}
	var model *onnx.Graph
	if v.NRI() {
		var fit learn.Report
		model, fit, err = v.learn(ctx, r)
		got.Fit, got.Answers, got.AnchorRows = &fit, c.Answers, c.Anchor.Rows
	} else {
		model, err = v.compose(r)
	}
	if err != nil {
		return err
	}
	if err := v.keep(r.Manifest.Round, model, metrics); err != nil {
		return err
	}
	v.tell(got)
	return nil
}

// compose joins this site's preparation and basis with the change of basis and the model
// that came back.
func (v *Visit) compose(r *bundle.Reader) (*onnx.Graph, error) {
	c := v.Contract
	g, err := r.Matrix(release.MemberG, npy.Limits{Rows: c.Basis.Dim, Cols: c.D()})
	if err != nil {
		return nil, err
	}
	raw, err := r.Bytes(release.MemberModel, onnx.MaxBytes)
	if err != nil {
		return nil, err
	}
	h, err := onnx.Decode(raw)
	if err != nil {
		return nil, err
	}
	if err := v.basisWasSent(); err != nil {
		return nil, err
	}
	f, err := v.site.Basis(c.Width(), c.Basis.Dim)
	if err != nil {
		return nil, err
	}
	defer f.Erase()
	figures, err := v.modelFigures()
	if err != nil {
		return nil, err
	}
	shared := party.Agreed{Figures: figures}
	if c.Lift != nil { // which follows from the seed
		if !v.site.HasSeed() {
			return nil, wire.WithHint(errors.New("the anchor's seed is not here any more, and the lift follows from it"),
				"restore the site's folder from an earlier backup")
		}
		if shared, err = v.agreed(); err != nil {
			return nil, err
		}
	}
	return party.Accept(c, v.Study, shared, f, g, h)
}

// learn makes the site's own model from answers.
func (v *Visit) learn(ctx context.Context, r *bundle.Reader) (*onnx.Graph, learn.Report, error) {
	c := v.Contract
	var none learn.Report
	var answers party.Answers
	var err error
	if c.Answers == "hard" {
		answers.Labels, err = r.Ints(release.MemberAnswers, npy.Limits{Rows: c.Anchor.Rows})
	} else {
		answers.Scores, err = r.Matrix(release.MemberAnswers,
			npy.Limits{Rows: c.Anchor.Rows, Cols: max(1, len(c.Label.Levels))})
	}
	if err != nil {
		return nil, none, err
	}
	if !v.site.HasSeed() {
		return nil, none, wire.WithHint(errors.New("the anchor's seed is not here any more, and answers mean nothing "+
			"without it"), "restore the site's folder from an earlier backup")
	}
	agreed, err := v.agreed()
	if err != nil {
		return nil, none, err
	}
	return party.Learn(ctx, c, v.Study, agreed, answers)
}

// keep stores the model. The anchor stays until the study is closed: it admits a party
// that comes later, and under nri makes sense of new answers.
func (v *Visit) keep(round int, model *onnx.Graph, metrics []byte) error {
	raw := model.Encode()
	_, err := v.note(audit.Event{
		Kind: audit.Modelled, File: wire.HashOf(raw), Note: fmt.Sprintf("the model of round %d, %d bytes", round, len(raw)),
	})
	if err != nil {
		return err
	}
	return v.site.PutModel(round, raw, metrics)
}

// basisWasSent makes sure that the basis at hand is that of the contribution
// which the analyst acknowledged: with another the model would be nonsense.
func (v *Visit) basisWasSent() error {
	m, _, err := v.loadDraft(bundle.KindContribution)
	if err != nil {
		return err
	}
	receipt, err := v.receipt(bundle.KindContribution)
	if err != nil {
		return err
	}
	if receipt.Manifest != m.Hash() {
		return fmt.Errorf("the contribution in %s is not the one that was sent: its manifest is %s, the receipt is for %s",
			v.site.Path(bundle.KindContribution), m.Hash().Short(), receipt.Manifest.Short())
	}
	return nil
}

// onlyAgreed makes sure that a result holds what the contract says comes back and
// nothing else: under nri neither a change of basis nor the analyst's model, which
// together with other things would tell a site more than the answers do.
func onlyAgreed(c *contract.Contract, m *bundle.Manifest) error {
	agreed := []string{release.MemberG + ".npy", release.MemberModel, release.MemberMetrics}
	if c.Protocol == "nri" {
		agreed = []string{release.MemberAnswers + ".npy", release.MemberMetrics}
	}
	if m.Round > 0 {
		agreed = append(agreed, release.MemberRound)
	}
	for _, member := range m.Members {
		if !slices.Contains(agreed, block.ReplaceAllString(member.Name, ".npy")) {
			return wire.WithHint(fmt.Errorf("the result holds %q; under protocol %s a site gets %s only; no model was made "+
				"of it", member.Name, c.Protocol, strings.Join(agreed, ", ")),
				"tell the analyst and the other parties")
		}
	}
	return nil
}

func readOutcome(r *bundle.Reader) ([]byte, *release.Outcome, error) {
	metrics, err := r.Bytes(release.MemberMetrics, release.MaxOutcomeBytes)
	if err != nil {
		return nil, nil, err
	}
	outcome, err := release.DecodeOutcome(metrics)
	return metrics, outcome, err
}

// maxResultBytes bounds what a result of this contract may take: Gᵢ, a model of
// allow-listed operators, and room for envelopes.
func maxResultBytes(c *contract.Contract) int64 {
	if c.Protocol == "nri" {
		return c.Expect.DownBytes + release.MaxOutcomeBytes + 1<<20
	}
	return 8*int64(c.Basis.Dim)*int64(c.D()) + onnx.MaxBytes + release.MaxOutcomeBytes + 1<<20
}

// trainers says of how many parties the rows are that trained a result's model. The record
// of a later round counts them; the first result has none, and where the roster has grown or
// shrunk since setup this site cannot tell, and says 0.
func (v *Visit) trainers(r *bundle.Reader) int {
	if r.Manifest.Round > 0 {
		raw, err := r.Bytes(release.MemberRound, release.MaxRoundBytes)
		if err != nil {
			return 0
		}
		record, err := release.DecodeRound(raw)
		if err != nil {
			return 0
		}
		return len(record.Parties)
	}
	for _, step := range v.Chain.Steps() {
		if step.Amendment.Kind != member.AmendRekey {
			return 0
		}
	}
	return len(v.roster.Parties())
}

// block ends the name of a block of rows of a matrix.
var block = regexp.MustCompile(`\.[0-9]{4}\.npy$`)

// sound reports whether a stored model is whole; one that is not is made anew.
func sound(raw []byte) bool {
	_, err := onnx.Decode(raw)
	return err == nil
}
