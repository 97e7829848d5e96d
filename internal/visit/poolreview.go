package visit

import (
	"errors"

	"concord/bundle"
	"concord/contract"
	"concord/masked"
	"concord/party"
	"concord/pooled"
	"concord/wire"
)

// reviewed is this site's newest ready message of the stage under way, with its report.
func (v *Visit) reviewedPool() (name string, m *bundle.Manifest, report PoolReport, err error) {
	stage, err := v.poolStage()
	if err != nil {
		return "", nil, report, err
	}
	if stage > 0 {
		name = v.ownReady(stage)
	}
	if name == "" {
		return "", nil, report, wire.WithHint(errors.New("no figures are prepared to be summed"),
			"run concord pool prepare data.csv")
	}
	if m, _, err = v.loadDraft(name); err != nil {
		return "", nil, report, err
	}
	if err := v.checkPrepared(name, m); err != nil {
		return "", nil, report, err
	}
	report, err = readReport[PoolReport](v, name)
	return name, m, report, err
}

// PoolReview is what a person looks at before figures leave to be summed; pooled where all
// are.
type PoolReview struct {
	Manifest *bundle.Manifest
	Report   PoolReport
	Stage    contract.Stage
	Of       int
	Floors   party.Floors
	Verdict  masked.Verdict
	// Left, sealed and approved say how far it is.
	Left, Sealed, Approved bool
	// Pool is set instead where all figures are pooled.
	Pool *pooled.Pool
}

// ReviewPool gathers what a person looks at before figures leave to be summed.
func (v *Visit) ReviewPool() (PoolReview, error) {
	var w PoolReview
	if err := v.needRoster(); err != nil {
		return w, err
	}
	if err := v.needsPooling(); err != nil && !(v.pools() && v.late() && v.site.HasSeed()) {
		return w, err
	}
	stage, err := v.poolStage()
	if err != nil {
		return w, err
	}
	if stage == 0 {
		w.Pool, err = v.pooledSoFar()
		return w, err
	}
	name, m, report, err := v.reviewedPool()
	if err != nil {
		return w, err
	}
	stages := v.Whole.Stages()
	w.Manifest, w.Report, w.Stage, w.Of = m, report, stages[m.Round-1], len(stages)
	if w.Floors, err = v.floors(); err != nil {
		return w, err
	}
	if w.Verdict, err = v.verdictOf(name); err != nil {
		return w, err
	}
	w.Left, w.Sealed = v.site.Sent(name), v.site.Has("outbox", name+".bundle")
	w.Approved, err = v.readyApproved(name)
	if w.Left {
		err = nil
	}
	return w, err
}

// ApprovePool says yes to what reviewPool shows. yes gets it, with what the ledger says. The
// manifest is nil where it has left.
func (v *Visit) ApprovePool(keyFile string,
	yes func(m *bundle.Manifest, verdict masked.Verdict) error) (*bundle.Manifest, error) {
	name, m, _, err := v.reviewedPool()
	if err != nil {
		return nil, err
	}
	if v.site.Sent(name) {
		return nil, nil
	}
	return m, v.sayYes(name, m, keyFile, func() error {
		verdict, err := v.verdictOf(name)
		if err == nil {
			err = verdict.Never
		}
		if err != nil {
			return err
		}
		return yes(m, verdict)
	})
}
