package visit

import (
	"errors"
	"fmt"

	"concord/bundle"
	"concord/internal/site"
	"concord/masked"
	"concord/wire"
)

// sumsLedger loads what this site has answered.
func (v *Visit) sumsLedger() (*masked.Ledger, error) {
	b, err := v.site.ReadPool(ledgerOfSums)
	if err != nil {
		return nil, err
	}
	if b == nil {
		return new(masked.Ledger), nil
	}
	l, err := masked.DecodeLedger(b)
	if err != nil {
		return nil, wire.WithHint(fmt.Errorf("%s: %w", v.site.Pool(ledgerOfSums), err),
			"restore the file from a copy: without it nobody knows what was answered")
	}
	return l, nil
}

// topicOfSums is that of all stages: second moments and sketches of the same rows have sums
// in common with the figures, so that over two sets they show who makes the difference.
const topicOfSums = "figures"

// question is what this site is asked in a stage, for the ledger.
func (v *Visit) question(stage int, set []wire.Hash, source wire.Hash, statistics wire.Hash) masked.Answered {
	return masked.Answered{
		Topic: topicOfSums, Epoch: v.Chain.Setup(), Stage: stage, Statistics: statistics, Set: set,
		Views: v.viewsOf(set), Source: source,
	}
}

// judge says what answering would reveal beside what was answered.
func (v *Visit) judge(q masked.Answered) (masked.Verdict, error) {
	l, err := v.sumsLedger()
	if err != nil {
		return masked.Verdict{}, err
	}
	return l.Judge(q, v.Chain.Origin(v.Own()), v.Whole.Pooling.Colluders,
		func(h wire.Hash) string { return fmt.Sprintf("%q", v.PartyNames([]wire.Hash{h})) }), nil
}

// answer enters a question in the ledger, durably, before the answer leaves.
func (v *Visit) answer(q masked.Answered) error {
	l, err := v.sumsLedger()
	if err != nil {
		return err
	}
	l.Add(q)
	return v.site.PutPool(ledgerOfSums, l.Encode())
}

// verdictOf says what the ledger says of answering with a ready message.
func (v *Visit) verdictOf(name string) (masked.Verdict, error) {
	stage, _, _ := site.ParsePoolName(name)
	r, err := v.loadRound(stage)
	if err != nil {
		return masked.Verdict{}, err
	}
	from, err := v.loadSource(name)
	if err != nil {
		return masked.Verdict{}, err
	}
	return v.judge(v.question(stage, r.Members(), from.SHA256, r.Config.Statistics.Hash()))
}

// answers enters in the ledger, durably, that a ready message for a set leaves: others may
// open its sums without this site. What they would show beside earlier answers only a
// person approves.
func (r *poolRound) answers(name string, set []wire.Hash) error {
	v := r.v
	m, err := v.loadManifest(name)
	if err != nil {
		return err
	}
	from, err := v.loadSource(name)
	if err != nil {
		return err
	}
	q := v.question(r.stage, set, from.SHA256, r.Config.Statistics.Hash())
	verdict, err := v.judge(q)
	if err != nil {
		return err
	}
	if verdict.Never != nil {
		return verdict.Never
	}
	if !verdict.OK() {
		// Whoever approved has seen the same verdict and typed a yes.
		approval, err := v.loadApproval(name, m)
		if err != nil {
			return err
		}
		if approval.Policy != bundle.PolicyPerson {
			return wire.WithHint(errors.New("this would show more than the sums; only a person approves that"),
				"run concord pool review")
		}
		q.Approved = true
	}
	return v.answer(q)
}
