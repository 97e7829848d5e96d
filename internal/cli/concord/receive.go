package concord

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"concord/audit"
	"concord/bundle"
	"concord/contract"
	"concord/internal/api"
	"concord/internal/post"
	"concord/internal/site"
	"concord/member"
	"concord/npy"
	"concord/onnx"
	"concord/party"
	"concord/release"
	"concord/wire"
)

func (p *program) receiveCommand() *cobra.Command {
	return p.byFile(&cobra.Command{
		Use:   "receive",
		Short: "Fetch the result and make this site's model.onnx",
		Long: `Fetches the sealed result, checks every signature and hash, and joins this site's
standardisation, its secret basis and what came back into one graph of
allow-listed operators, model.onnx. No foreign code runs here.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v, unlock, err := p.changeConfirmed()
			if err != nil {
				return err
			}
			defer unlock()
			if !v.site.Sent(bundle.KindContribution) {
				return wire.WithHint(errors.New("this site has not contributed yet"), "run concord status to see whose turn it is")
			}
			if err := v.forgetSent(); err != nil {
				return err
			}
			c, err := v.dial()
			if err != nil {
				return err
			}
			defer c.Close()
			if _, err := p.follow(cmd.Context(), v, c); err != nil {
				return err
			}
			return p.fetchResult(cmd.Context(), v, c)
		},
	}, false)
}

func (p *program) fetchResult(ctx context.Context, v *visit, c post.Post) error {
	have := -1 // the round of the model here
	if raw, err := v.site.Model(); err == nil && sound(raw) {
		if have, err = v.site.Round(); err != nil {
			return err
		}
	}
	bundles, err := c.Bundles(ctx)
	if err != nil && have < 0 {
		return err
	}
	// The newest one: an older is of a model that another has replaced.
	i := -1
	for k, b := range bundles {
		if b.Kind == bundle.KindResult && b.Sender == v.analyst.Fingerprint() && (i < 0 || b.Round > bundles[i].Round) {
			i = k
		}
	}
	if have >= 0 && (i < 0 || bundles[i].Round <= have) {
		if v.site.Closed() { // it may have been interrupted
			if err := v.site.CloseSetup(); err != nil {
				return err
			}
		}
		p.printf("the model is here: %s\n", v.site.Path(site.ModelFile))
		if st, err := c.Status(ctx); err == nil && st.State == api.StateTraining {
			return &wire.Waiting{For: "the analyst, who makes a new model: a party has left, or one has come"}
		}
		p.printf("next: concord predict new.csv\n")
		return nil
	}
	if i < 0 {
		return p.notReleased(ctx, v, c)
	}
	r, closeFile, err := v.fetch(ctx, c, v.analyst, bundles[i], maxResultBytes(v.contract))
	if err != nil {
		return fmt.Errorf("the result: %w", err)
	}
	defer closeFile()
	if err := p.checkRound(v, r, bundles[i].Round); err != nil {
		return err
	}
	if err := p.accept(ctx, v, r); err != nil {
		return err
	}
	p.tellHeads(ctx, v, c)
	return nil
}

// basisWasSent makes sure that the basis at hand is that of the contribution
// which the analyst acknowledged: with another the model would be nonsense.
func (v *visit) basisWasSent() error {
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

// sound reports whether a stored model is whole; one that is not is made anew.
func sound(raw []byte) bool {
	_, err := onnx.Decode(raw)
	return err == nil
}

// notReleased says why there is no result yet.
func (p *program) notReleased(ctx context.Context, v *visit, c post.Post) error {
	st, err := c.Status(ctx)
	if err != nil {
		return err
	}
	if st.State == api.StateFailed {
		return wire.WithHint(fmt.Errorf("the analyst could not train: %s", st.Problem), "ask the analyst")
	}
	return &wire.Waiting{For: strings.Join(st.WaitingFor, ", ")}
}

// maxResultBytes bounds what a result of this contract may take: Gᵢ, a model of
// allow-listed operators, and room for envelopes.
func maxResultBytes(c *contract.Contract) int64 {
	if c.Protocol == "nri" {
		return c.Expect.DownBytes + release.MaxOutcomeBytes + 1<<20
	}
	return 8*int64(c.Basis.Dim)*int64(c.D()) + onnx.MaxBytes + release.MaxOutcomeBytes + 1<<20
}

// accept makes the site's model from an opened result.
func (p *program) accept(ctx context.Context, v *visit, r *bundle.Reader) error {
	c := v.contract
	if err := onlyAgreed(c, r.Manifest); err != nil {
		return err
	}
	if v.nri() {
		return p.learn(ctx, v, r)
	}
	g, err := r.Matrix(release.MemberG, npy.Limits{Rows: c.Basis.Dim, Cols: c.D()})
	if err != nil {
		return err
	}
	raw, err := r.Bytes(release.MemberModel, onnx.MaxBytes)
	if err != nil {
		return err
	}
	h, err := onnx.Decode(raw)
	if err != nil {
		return err
	}
	metrics, outcome, err := readOutcome(r)
	if err != nil {
		return err
	}
	if err := v.basisWasSent(); err != nil {
		return err
	}
	f, err := v.site.Basis(c.Width(), c.Basis.Dim)
	if err != nil {
		return err
	}
	defer f.Erase()
	figures, err := v.modelFigures()
	if err != nil {
		return err
	}
	shared := party.Agreed{Figures: figures}
	if c.Lift != nil { // which follows from the seed
		if !v.site.HasSeed() {
			return wire.WithHint(errors.New("the anchor's seed is not here any more, and the lift follows from it"), "restore the site's folder from a copy of before")
		}
		if shared, err = v.agreed(); err != nil {
			return err
		}
	}
	model, err := party.Accept(c, v.study, shared, f, g, h)
	if err != nil {
		return err
	}
	if err := v.keep(r.Manifest.Round, model, metrics); err != nil {
		return err
	}
	p.printf("received a model that %d rows%s trained\n", outcome.Rows, v.trainers(r))
	p.printOutcome(outcome)
	p.printf("this site's model is %s; keep it here: it holds the secret basis\nnext: concord predict new.csv\n", v.site.Path(site.ModelFile))
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
			return wire.WithHint(fmt.Errorf("the result holds %q; under protocol %s a site gets %s only; no model was made of it", member.Name, c.Protocol, strings.Join(agreed, ", ")),
				"tell the analyst and the other parties")
		}
	}
	return nil
}

// block ends the name of a block of rows of a matrix.
var block = regexp.MustCompile(`\.[0-9]{4}\.npy$`)

// learn makes the site's own model from answers.
func (p *program) learn(ctx context.Context, v *visit, r *bundle.Reader) error {
	c := v.contract
	var answers party.Answers
	var err error
	if c.Answers == "hard" {
		answers.Labels, err = r.Ints(release.MemberAnswers, npy.Limits{Rows: c.Anchor.Rows})
	} else {
		answers.Scores, err = r.Matrix(release.MemberAnswers, npy.Limits{Rows: c.Anchor.Rows, Cols: max(1, len(c.Label.Levels))})
	}
	if err != nil {
		return err
	}
	metrics, outcome, err := readOutcome(r)
	if err != nil {
		return err
	}
	if !v.site.HasSeed() {
		return wire.WithHint(errors.New("the anchor's seed is not here any more, and answers mean nothing without it"), "restore the site's folder from a copy of before")
	}
	agreed, err := v.agreed()
	if err != nil {
		return err
	}
	model, fit, err := party.Learn(ctx, c, v.study, agreed, answers)
	if err != nil {
		return err
	}
	if err := v.keep(r.Manifest.Round, model, metrics); err != nil {
		return err
	}
	p.printf("received %s answers for the anchor's %d rows, of a model that %d rows%s trained\n", c.Answers, c.Anchor.Rows, outcome.Rows, v.trainers(r))
	p.printOutcome(outcome)
	if !fit.Good() {
		p.printf("  note: the fit of this site's own model ended with status %s after %d iterations\n", fit.Status, fit.Iterations)
	}
	p.printf("this site's own model is %s; it holds no basis, only what answers taught it\nnext: concord predict new.csv\n", v.site.Path(site.ModelFile))
	return nil
}

// keep stores the model. The anchor stays until the study is closed: it admits a party
// that comes later, and under nri makes sense of new answers.
func (v *visit) keep(round int, model *onnx.Graph, metrics []byte) error {
	raw := model.Encode()
	_, err := v.note(audit.Event{
		Kind: audit.Modelled, File: wire.HashOf(raw), Note: fmt.Sprintf("the model of round %d, %d bytes", round, len(raw)),
	})
	if err != nil {
		return err
	}
	return v.site.PutModel(round, raw, metrics)
}

// checkRound makes sure that a result is of the round that was asked for, and after the
// first that the record of what its model was made of goes with it and names nobody who
// has left. It tells people.
func (p *program) checkRound(v *visit, r *bundle.Reader, round int) error {
	if r.Manifest.Round != round {
		return fmt.Errorf("the result is of round %d, the server said %d", r.Manifest.Round, round)
	}
	if round == 0 {
		return nil
	}
	raw, err := r.Bytes(release.MemberRound, release.MaxRoundBytes)
	if err != nil {
		return err
	}
	record, err := release.DecodeRound(raw)
	if err != nil {
		return err
	}
	if record.Round != round || record.Study != v.study {
		return errors.New("the record of what the model was made of is for another one")
	}
	for _, party := range record.Parties {
		if v.chain.Present(party.Party) == nil {
			return wire.WithHint(fmt.Errorf("the model of round %d was made with the rows of %s, which takes no part any more; it was not taken", round, party.Party.Short()), "tell the analyst and the other parties")
		}
	}
	if err := v.site.PutRecord(round, raw); err != nil {
		return err
	}
	old, err := v.site.Round()
	if err == nil && v.site.HasModel() {
		p.printf("a new model, round %d, takes the place of the one here, which stays as %s: rows went into it of a party that has left, or it lacks those of one that came\n",
			round, site.OldModel(old))
		p.printf("delete that file when nothing needs it any more\n")
	}
	return err
}

// trainers says of how many parties the rows are that trained a result's model. The record
// of a later round counts them; the first result has none, and where the roster has grown or
// shrunk since setup this site cannot tell, and says nothing.
func (v *visit) trainers(r *bundle.Reader) string {
	n := len(v.roster.Parties())
	if r.Manifest.Round > 0 {
		raw, err := r.Bytes(release.MemberRound, release.MaxRoundBytes)
		if err != nil {
			return ""
		}
		record, err := release.DecodeRound(raw)
		if err != nil {
			return ""
		}
		n = len(record.Parties)
	} else {
		for _, step := range v.chain.Steps() {
			if step.Amendment.Kind != member.AmendRekey {
				return ""
			}
		}
	}
	return fmt.Sprintf(" of %d parties", n)
}

func readOutcome(r *bundle.Reader) ([]byte, *release.Outcome, error) {
	metrics, err := r.Bytes(release.MemberMetrics, release.MaxOutcomeBytes)
	if err != nil {
		return nil, nil, err
	}
	outcome, err := release.DecodeOutcome(metrics)
	return metrics, outcome, err
}

func (p *program) printOutcome(outcome *release.Outcome) {
	for _, m := range outcome.Metrics {
		p.printf("  %s %.4f, cross-validated by the analyst\n", wire.Printable(m.Name), m.Value)
	}
	for _, note := range outcome.Notes {
		p.printf("  note: %s\n", wire.Printable(note))
	}
}
