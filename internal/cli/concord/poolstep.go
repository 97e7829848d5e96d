package concord

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"concord/bundle"
	"concord/internal/api"
	"concord/internal/post"
	"concord/internal/site"
	"concord/masked"
	"concord/party"
	"concord/wire"
)

// poolWaits says of what step whose messages are awaited.
func (p *program) poolWaits(v *visit, step masked.Step) error {
	if step.Due != masked.DueOthers && step.Due != masked.DueLeft {
		p.printf("next: concord sync\n")
		return nil
	}
	return &wire.Waiting{For: v.awaited(step)}
}

// awaited says whose messages a step waits for, for people.
func (v *visit) awaited(step masked.Step) string {
	who := v.partyNames(step.Awaited)
	if step.Unopened != nil && len(step.Awaited) > 0 {
		who += ", whose shares may open the sum,"
	}
	switch {
	case step.Due == masked.DueLeft && len(step.Awaited) == 0:
		return "the sums of the others, who went on without this site's figures"
	case step.Kind == masked.KindReady:
		return who + " to send masked figures (concord pool without NAME goes on without a party that never does)"
	case step.Kind == masked.KindAbsent:
		return who + " to say whether to go on without " + v.partyNames(step.Without) + " (concord pool without)"
	case step.Missing < len(step.Awaited):
		return fmt.Sprintf("%d of %s to take their masks off the sum", step.Missing, who)
	}
	return who + " to take the masks off the sum"
}

// pool does every due step of the masked sums that needs no decision. next is what a
// person has to do, "" when all figures are pooled. agreed says that setup is complete:
// before, this site does not reveal.
func (p *program) pool(ctx context.Context, v *visit, c post.Post, agreed bool) (next string, err error) {
	if v.late() {
		return "", nil // they came with the anchor
	}
	for {
		stage, err := v.poolStage()
		if err != nil {
			return "", err
		}
		if stage == 0 {
			if err := v.sweepPool(); err != nil { // a crash may have left something
				return "", err
			}
			return "", p.directions(ctx, v, c)
		}
		if stage > 1 && !agreed {
			return "", nil
		}
		next, done, err := p.poolStep(ctx, v, c, stage, agreed)
		if err != nil || !done {
			return next, err
		}
	}
}

// poolStep goes as far in a stage as it can.
func (p *program) poolStep(ctx context.Context, v *visit, c post.Post, stage int, agreed bool) (next string, done bool, err error) {
	r, err := v.loadRound(stage)
	if err != nil {
		return "", false, err
	}
	if err := p.fetchPool(ctx, c, r); err != nil {
		return "", false, err
	}
	for {
		step := r.Next()
		for _, problem := range step.Problems {
			p.printf("! %s\n", wire.Printable(problem.Error()))
		}
		if step.Due == masked.DueReady || len(r.own()) > 0 && v.ownReady(stage) == "" {
			if next, err := p.readyDue(v, r); next != "" || err != nil {
				return next, false, err
			}
		}
		if name := v.ownReady(stage); name != "" && !v.site.Has("outbox", name+".bundle") {
			approved, err := v.readyApproved(name)
			if err != nil {
				return "", false, err
			}
			if !approved {
				return "concord pool review, then concord pool approve", false, nil
			}
		}
		if err := p.sendPool(ctx, c, r); err != nil {
			return "", false, err
		}
		switch step = r.Next(); step.Due {
		case masked.DueReady:
			continue
		case masked.DueReveal:
			if !agreed {
				return "", false, nil // setup says who is awaited
			}
			if err := p.revealPool(v, r); err != nil {
				return "", false, err
			}
			continue
		case masked.DueNothing:
			if !agreed {
				return "", false, nil // the seed is not here, and setup says who is awaited
			}
			sums, err := r.Sums(r.openWords)
			if err != nil {
				return "", false, err
			}
			if err := v.keepSums(stage, sums); err != nil {
				return "", false, err
			}
			p.printf("stage %d of %d, %s, is summed over %d parties: %s\n", stage, len(v.whole.Stages()), v.whole.Stages()[stage-1], len(sums.Set), v.partyNames(sums.Set))
			return "", true, nil
		}
		if len(step.Proposed) > 0 {
			p.printf("others want to go on without %s; concord pool without NAME says the same; concord pool reveal stays with all, if all is here\n", v.partyNames(step.Proposed))
			if err := p.forwardPool(ctx, c, r, step.Proposed); err != nil {
				return "", false, err
			}
		}
		if err := neverOpens(step); err != nil {
			return "", false, err
		}
		return "", false, &wire.Waiting{For: v.awaited(step)}
	}
}

// neverOpens is an error where everybody has revealed and the sum stays closed.
func neverOpens(step masked.Step) error {
	if step.Unopened == nil || step.Due != masked.DueOthers || len(step.Awaited) > 0 {
		return nil
	}
	return wire.WithHint(fmt.Errorf("this sum never opens: %w", step.Unopened),
		"tell the other parties, who find the same; its messages are signed. Nobody goes on without it in this study, since it may know the sum: pool again in a new study without it (docs/pooling.md, To pool again)")
}

// readyDue makes the ready message that is due, where that needs no decision: for a
// smaller set, which a person here wanted, and for a later stage where the site's policy
// says so. Otherwise it says what a person has to do.
func (p *program) readyDue(v *visit, r *poolRound) (next string, err error) {
	prepare := fmt.Sprintf("concord pool prepare data.csv (stage %d of %d, %s)", r.stage, len(v.whole.Stages()), v.whole.Stages()[r.stage-1])
	vector, ok, err := v.vector(r.stage)
	if err != nil {
		return "", err
	}
	before := v.ownReady(r.stage)
	switch {
	case ok && before != "" && r.Next().Due == masked.DueReady && r.Next().Attempt > 1:
		defer vector.Erase()
		report, err := v.poolReportOf(before)
		if err != nil {
			return "", err
		}
		from, err := v.loadSource(before)
		if err != nil {
			return "", err
		}
		name, _, err := r.draftReady(vector, func(dir string, m *bundle.Manifest) error {
			if err := errors.Join(report.write(dir), from.write(dir)); err != nil {
				return err
			}
			return v.writePrepared(dir, m)
		}, report)
		if err != nil {
			return "", err
		}
		m, err := v.loadManifest(name)
		if err != nil {
			return "", err
		}
		verdict, err := v.verdictOf(name)
		if err != nil || !verdict.OK() || len(v.id.Statement.ApproverKey) > 0 {
			return "concord pool review, then concord pool approve", err
		}
		// A person here said to go on without a party, with the same figures.
		return "", v.approveDraft(name, m, v.id.SigningKey(), bundle.PolicyPerson)
	case r.stage > 1 && before == "":
		policy, err := v.site.Policy()
		if err != nil {
			return "", err
		}
		from, known, err := v.pooledSource()
		if err != nil || policy == nil || !policy.Pool || !known || len(v.id.Statement.ApproverKey) > 0 {
			return prepare, err
		}
		name, report, err := p.draftPool(v, r.stage, from.Path, from.options(), false)
		if err != nil {
			return "", err
		}
		m, err := v.loadManifest(name)
		if err != nil {
			return "", err
		}
		if err := report.keeps(party.EffectiveFloors(v.whole, policy)); err != nil {
			return "", err
		}
		verdict, err := v.verdictOf(name)
		if err != nil || !verdict.OK() {
			return "concord pool review, then concord pool approve", err
		}
		if err := v.approveDraft(name, m, v.id.SigningKey(), policy.Name); err != nil {
			return "", err
		}
		p.printf("prepared stage %d, %s, of the same file, and approved by policy %q, without a person\n", r.stage, report.Stage, policy.Name)
		fresh, err := v.loadRound(r.stage)
		if err != nil {
			return "", err
		}
		*r = *fresh
		return "", nil
	}
	return prepare, nil
}

// revealPool takes this site's masks off the sum.
func (p *program) revealPool(v *visit, r *poolRound) error {
	if err := r.answers(v.ownReady(r.stage), r.Members()); err != nil { // again, should the ledger be a copy from before
		return err
	}
	if err := r.Reveal(); err != nil {
		return err
	}
	return r.keep()
}

// standing is how far the masked sums are at this site.
type standing struct {
	// Stage is the one under way, of Of; 0 when all sums are known and the common
	// directions are awaited.
	Stage int    `json:"stage"`
	Of    int    `json:"of"`
	Name  string `json:"name,omitempty"`
	// Next is what is this site's turn, WaitingFor who else's it is.
	Next       string `json:"-"`
	WaitingFor string `json:"waiting_for,omitempty"`
}

// poolStanding says of the masked sums what a person here has to do next, or who is
// awaited, from what lies here and the list of what waits at the server; nil when all is
// pooled.
func (v *visit) poolStanding(waiting []api.BundleInfo) *standing {
	st := &standing{Of: len(v.whole.Stages()), Next: "concord sync"}
	stage, err := v.poolStage()
	if err != nil {
		return st // which says what is wrong
	}
	st.Stage = stage
	if stage == 0 {
		done, err := v.poolDone()
		switch {
		case err != nil || v.isFirst() && !v.site.Sent(site.PoolName(v.afterStages(), 1)) && v.whole.Basis.Kind == "common":
			return st
		case done:
			return nil
		case slices.ContainsFunc(waiting, v.isDirections):
			return st
		}
		st.Next, st.WaitingFor = "", fmt.Sprintf("%q to send the common directions", v.first().Name)
		return st
	}
	st.Name = v.whole.Stages()[stage-1].String()
	r, err := v.loadRound(stage)
	if err != nil {
		return st
	}
	name, step := v.ownReady(stage), r.Next()
	if name == "" && step.Due == masked.DueReady {
		st.Next = "concord pool prepare data.csv"
		return st
	}
	if name != "" && !v.site.Has("outbox", name+".bundle") {
		if approved, err := v.readyApproved(name); err == nil && !approved {
			st.Next = "concord pool review, then concord pool approve"
		}
		return st
	}
	if slices.ContainsFunc(waiting, func(b api.BundleInfo) bool { return v.newMessage(r, b) }) {
		return st
	}
	for i, m := range r.own() {
		if at := site.PoolName(stage, i+1); !v.site.Sent(at) && !r.stale(at, m) {
			if v.waitsForParcel(at) {
				st.Next = giveNext
			}
			return st
		}
	}
	if step.Due == masked.DueOthers || step.Due == masked.DueLeft {
		st.Next, st.WaitingFor = "", v.awaited(step)
	}
	return st
}

// newMessage reports whether a bundle at the server is a message of a stage that this
// site has not looked at.
func (v *visit) newMessage(r *poolRound, b api.BundleInfo) bool {
	if b.Kind != bundle.KindPool || b.Round != r.stage {
		return false
	}
	name := site.PoolName(b.Round, b.Number) + "-" + v.chain.Origin(b.Sender).String()
	return !slices.Contains(r.kept.Taken, name) && r.kept.Refused[name] == ""
}
