package visit

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"concord/bundle"
	"concord/internal/api"
	"concord/internal/post"
	"concord/internal/site"
	"concord/internal/visit/event"
	"concord/release"
	"concord/wire"
)

// Receive fetches the result of a study to which this site has contributed and makes its
// model.
func (v *Visit) Receive(ctx context.Context) (Turn, error) {
	if !v.site.Sent(bundle.KindContribution) {
		return Turn{}, wire.WithHint(errors.New("this site has not contributed yet"),
			"run concord status to see whose turn it is")
	}
	if err := v.forgetSent(); err != nil {
		return Turn{}, err
	}
	c, err := v.connect()
	if err != nil {
		return Turn{}, err
	}
	if _, err := v.follow(ctx, c); err != nil {
		return Turn{}, err
	}
	return v.fetchResult(ctx, c)
}

// fetchResult fetches the newest result, if it is newer than the model here.
func (v *Visit) fetchResult(ctx context.Context, c post.Post) (Turn, error) {
	var none Turn
	have := -1 // the round of the model here
	if raw, err := v.site.Model(); err == nil && sound(raw) {
		if have, err = v.site.Round(); err != nil {
			return none, err
		}
	}
	training := false
	if have >= 0 { // asked before the bundles: what is made in between is among them
		st, err := c.Status(ctx)
		training = err == nil && st.State == api.StateTraining
	}
	bundles, err := c.Bundles(ctx)
	if err != nil && have < 0 {
		return none, err
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
				return none, err
			}
		}
		v.tell(event.ModelHere{Path: v.site.Path(site.ModelFile)})
		if training {
			return none, &wire.Waiting{For: "the analyst, who makes a new model: a party has left, or one has come"}
		}
		return Turn{Do: StepPredict}, nil
	}
	if i < 0 {
		return none, notReleased(ctx, c)
	}
	r, closeFile, err := v.fetch(ctx, c, v.analyst, bundles[i], maxResultBytes(v.Contract))
	if err != nil {
		return none, fmt.Errorf("the result: %w", err)
	}
	defer closeFile()
	if err := v.checkRound(r, bundles[i].Round); err != nil {
		return none, err
	}
	if err := v.accept(ctx, r); err != nil {
		return none, err
	}
	if err := v.exchangeHeads(ctx, c); err != nil {
		v.tell(event.HeadsKept{Why: err})
	}
	return Turn{Do: StepPredict}, nil
}

// notReleased says why there is no result yet.
func notReleased(ctx context.Context, c post.Post) error {
	st, err := c.Status(ctx)
	if err != nil {
		return err
	}
	if st.State == api.StateFailed {
		return wire.WithHint(fmt.Errorf("the analyst could not train: %s", st.Problem), "ask the analyst")
	}
	return &wire.Waiting{For: strings.Join(st.WaitingFor, ", ")}
}

// checkRound makes sure that a result is of the round that was asked for, and after the
// first that the record of what its model was made of goes with it and names nobody who
// has left.
func (v *Visit) checkRound(r *bundle.Reader, round int) error {
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
	if record.Round != round || record.Study != v.Study {
		return errors.New("the record of what the model was made of is for another one")
	}
	for _, party := range record.Parties {
		if v.Chain.Present(party.Party) == nil {
			return wire.WithHint(fmt.Errorf("the model of round %d was made with the rows of %s, which takes no part any "+
				"more; it was not taken", round, party.Party.Short()), "tell the analyst and the other parties")
		}
	}
	if err := v.site.PutRecord(round, raw); err != nil {
		return err
	}
	old, err := v.site.Round()
	if err == nil && v.site.HasModel() {
		v.tell(event.ModelReplaced{Round: round, Old: site.OldModel(old)})
	}
	return err
}
