package visit

import (
	"context"
	"fmt"

	"concord/bundle"
	"concord/internal/post"
	"concord/internal/visit/event"
	"concord/masked"
	"concord/party"
	"concord/wire"
)

// awaited says whose messages a step waits for, for people.
func (v *Visit) awaited(step masked.Step) string {
	who := v.PartyNames(step.Awaited)
	if step.Unopened != nil && len(step.Awaited) > 0 {
		who += ", whose shares may open the sum,"
	}
	switch {
	case step.Due == masked.DueLeft && len(step.Awaited) == 0:
		return "the sums of the others, who went on without this site's figures"
	case step.Kind == masked.KindReady:
		return who + " to send masked figures (concord pool without NAME continues without a party that never answers)"
	case step.Kind == masked.KindAbsent:
		return who + " to say whether to go on without " + v.PartyNames(step.Without) + " (concord pool without)"
	case step.Missing < len(step.Awaited):
		return fmt.Sprintf("%d of %s to take their masks off the sum", step.Missing, who)
	}
	return who + " to take the masks off the sum"
}

// neverOpens is an error where everybody has revealed and the sum stays closed.
func neverOpens(step masked.Step) error {
	if step.Unopened == nil || step.Due != masked.DueOthers || len(step.Awaited) > 0 {
		return nil
	}
	return wire.WithHint(fmt.Errorf("this sum never opens: %w", step.Unopened),
		"tell the other parties, who find the same; its messages are signed. Nobody goes on without it in this study, "+
			"since it may know the sum: pool again in a new study without it (docs/pooling.md, To pool again)")
}

// poolWaits says after a step of masked sums whose turn it is.
func (v *Visit) poolWaits(step masked.Step) (Turn, error) {
	if step.Due != masked.DueOthers && step.Due != masked.DueLeft {
		return Turn{Do: StepSync}, nil
	}
	return Turn{}, &wire.Waiting{For: v.awaited(step)}
}

// advancePool does every due step of the masked sums that needs no decision, and reports
// whether a person here has one to take. agreed says that setup is complete: before, this
// site does not reveal.
func (v *Visit) advancePool(ctx context.Context, c post.Post, agreed bool) (decides bool, err error) {
	if v.late() {
		return false, nil // they came with the anchor
	}
	for {
		stage, err := v.poolStage()
		if err != nil {
			return false, err
		}
		if stage == 0 {
			if err := v.sweepPool(); err != nil { // a crash may have left something
				return false, err
			}
			return false, v.directions(ctx, c)
		}
		if stage > 1 && !agreed {
			return false, nil
		}
		decides, done, err := v.poolStep(ctx, c, stage, agreed)
		if err != nil || !done {
			return decides, err
		}
	}
}

// poolStep goes as far in a stage as it can.
func (v *Visit) poolStep(ctx context.Context, c post.Post, stage int, agreed bool) (decides, done bool, err error) {
	r, err := v.loadRound(stage)
	if err != nil {
		return false, false, err
	}
	if err := v.fetchPool(ctx, c, r); err != nil {
		return false, false, err
	}
	for {
		step := r.Next()
		for _, problem := range step.Problems {
			v.tell(event.PoolProblem{Why: problem})
		}
		if v.mustPrepare(r) {
			if decides, err := v.readyDue(r); decides || err != nil {
				return decides, false, err
			}
		}
		if name := v.ownReady(stage); name != "" && !v.site.Has("outbox", name+".bundle") {
			approved, err := v.readyApproved(name)
			if err != nil || !approved {
				return err == nil, false, err
			}
		}
		if err := v.sendPool(ctx, c, r); err != nil {
			return false, false, err
		}
		switch step = r.Next(); step.Due {
		case masked.DueReady:
			continue
		case masked.DueReveal:
			if !agreed {
				return false, false, nil // setup says who is awaited
			}
			if err := v.revealPool(r); err != nil {
				return false, false, err
			}
			continue
		case masked.DueNothing:
			if !agreed {
				return false, false, nil // the seed is not here, and setup says who is awaited
			}
			sums, err := r.Sums(r.openWords)
			if err != nil {
				return false, false, err
			}
			if err := v.keepSums(stage, sums); err != nil {
				return false, false, err
			}
			stages := v.Whole.Stages()
			v.tell(event.StageSummed{Stage: stage, Of: len(stages), Name: stages[stage-1].String(), Set: sums.Set,
				Names: v.PartyNames(sums.Set)})
			return false, true, nil
		}
		if len(step.Proposed) > 0 {
			v.tell(event.OthersGoOn{Names: v.PartyNames(step.Proposed)})
			if err := v.forwardPool(ctx, c, r, step.Proposed); err != nil {
				return false, false, err
			}
		}
		if err := neverOpens(step); err != nil {
			return false, false, err
		}
		return false, false, &wire.Waiting{For: v.awaited(step)}
	}
}

// mustPrepare reports whether this site's figures of a stage are to be prepared: they never
// were, those for a larger set were left behind, or their draft is gone.
func (v *Visit) mustPrepare(r *poolRound) bool {
	return r.Next().Due == masked.DueReady || len(r.own()) > 0 && v.ownReady(r.stage) == ""
}

// readyDue makes the ready message that is due, where that needs no decision: for a
// smaller set, which a person here wanted, and for a later stage where the site's policy
// says so. It reports whether a person decides.
func (v *Visit) readyDue(r *poolRound) (decides bool, err error) {
	vector, ok, err := v.vector(r.stage)
	if err != nil {
		return false, err
	}
	before := v.ownReady(r.stage)
	switch {
	case ok && before != "" && r.Next().Due == masked.DueReady && r.Next().Attempt > 1:
		defer vector.Erase()
		return v.readyForFewer(r, vector, before)
	case r.stage > 1 && before == "":
		return v.readyByPolicy(r)
	}
	return true, nil
}

// readyForFewer makes the ready message of the same figures for a set that people here made
// smaller.
func (v *Visit) readyForFewer(r *poolRound, vector masked.Vector, before string) (decides bool, err error) {
	report, err := readReport[PoolReport](v, before)
	if err != nil {
		return false, err
	}
	from, err := v.loadSource(before)
	if err != nil {
		return false, err
	}
	name, err := r.draftReady(vector, report, from)
	if err != nil {
		return false, err
	}
	m, err := v.loadManifest(name)
	if err != nil {
		return false, err
	}
	verdict, err := v.verdictOf(name)
	if err != nil || !verdict.OK() || len(v.ID.Statement.ApproverKey) > 0 {
		return err == nil, err
	}
	// A person here said to go on without a party, with the same figures.
	return false, v.approveDraft(name, m, v.ID.SigningKey(), bundle.PolicyPerson)
}

// readyByPolicy makes the ready message of a later stage of the same file, where the site's
// policy lets a program do so.
func (v *Visit) readyByPolicy(r *poolRound) (decides bool, err error) {
	policy, err := v.site.Policy()
	if err != nil {
		return false, err
	}
	from, known, err := v.pooledSource()
	if err != nil || policy == nil || !policy.Pool || !known || len(v.ID.Statement.ApproverKey) > 0 {
		return err == nil, err
	}
	name, report, err := v.draftPool(r.stage, from.Path, from.options(), nil)
	if err != nil {
		return false, err
	}
	m, err := v.loadManifest(name)
	if err != nil {
		return false, err
	}
	if err := report.keeps(party.EffectiveFloors(v.Whole, policy)); err != nil {
		return false, err
	}
	verdict, err := v.verdictOf(name)
	if err != nil || !verdict.OK() {
		return err == nil, err
	}
	if err := v.approveDraft(name, m, v.ID.SigningKey(), policy.Name); err != nil {
		return false, err
	}
	v.tell(event.StagePrepared{Stage: r.stage, Name: report.Stage, Policy: policy.Name})
	fresh, err := v.loadRound(r.stage)
	if err != nil {
		return false, err
	}
	*r = *fresh
	return false, nil
}

// revealPool takes this site's masks off the sum.
func (v *Visit) revealPool(r *poolRound) error {
	if err := r.answers(v.ownReady(r.stage), r.Members()); err != nil { // again, should the ledger be a copy from before
		return err
	}
	if err := r.Reveal(); err != nil {
		return err
	}
	return r.keep()
}
