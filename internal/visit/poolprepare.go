package visit

import (
	"errors"
	"fmt"
	"os"

	"concord/bundle"
	"concord/internal/durable"
	"concord/internal/site"
	"concord/masked"
	"concord/table"
	"concord/wire"
)

// OtherFile is asked whether to go on with rows of another file than that of which this
// site's figures were pooled. Nil says no.
type OtherFile func(now, before Source) bool

// PoolDraft is a stage's message as it lies here, for review.
type PoolDraft struct {
	Stage, Of int // stage is 0 where all figures are pooled
	Report    PoolReport
	Manifest  *bundle.Manifest
	Folder    string
}

// PreparePool makes this site's masked figures of the stage that is due.
func (v *Visit) PreparePool(path string, opt table.Options, other OtherFile) (PoolDraft, error) {
	stage, err := v.poolStage()
	if stage == 0 || err != nil {
		return PoolDraft{}, err
	}
	name, report, err := v.draftPool(stage, path, opt, other)
	if err != nil {
		return PoolDraft{}, err
	}
	m, err := v.loadManifest(name)
	return PoolDraft{Stage: stage, Of: len(v.Whole.Stages()), Report: report, Manifest: m,
		Folder: v.site.Leaves(name)}, err
}

// draftPool makes this site's masked figures of a stage of a file, and the draft of the
// message with them.
func (v *Visit) draftPool(stage int, path string, opt table.Options,
	other OtherFile) (name string, report PoolReport, err error) {
	r, err := v.loadRound(stage)
	if err != nil {
		return "", report, err
	}
	// Whatever the stage's own file says: it may be gone, or a copy from before.
	sealed, err := v.site.PoolMessages()
	if err != nil {
		return "", report, err
	}
	for _, name := range sealed {
		if at, _, _ := site.ParsePoolName(name); at != stage {
			continue
		}
		if len(r.own()) == 0 {
			return "", report, wire.WithHint(fmt.Errorf("this site's figures of stage %d have left, and %s does not know of "+
				"them; a second message under the same masks would show the difference", stage, v.site.Pool(stageFile(stage))),
				"restore the site's folder from a copy, or let the others go on without this site")
		}
		return "", report, wire.WithHint(fmt.Errorf("this site's figures of stage %d are sealed and may have left; they "+
			"cannot be prepared again", stage), "run concord sync")
	}
	if r, err = v.resetRound(r); err != nil {
		return "", report, err
	}
	if due := r.Next().Due; due != masked.DueReady {
		return "", report, errors.New("the others go on without this site in this stage; it gets the sums by concord sync")
	}
	from, err := describeSource(path, v.Contract, opt)
	if err != nil {
		return "", report, err
	}
	if err := v.sameFile(from, other); err != nil {
		return "", report, err
	}
	floors, err := v.floors()
	if err != nil {
		return "", report, err
	}
	pool, err := v.pooledSoFar()
	if err != nil {
		return "", report, err
	}
	vector, report, err := v.scanned(path, pool, v.Whole.Stages()[stage-1], opt, from)
	if err != nil {
		return "", report, err
	}
	defer vector.Erase()
	if err := from.unchanged(v.prepareAgain(site.PoolName(stage, 1))); err != nil {
		return "", report, err
	}
	if err := report.keeps(floors); err != nil {
		return "", report, err
	}
	if err := v.putVector(stage, vector); err != nil {
		return "", report, err
	}
	name, err = r.draftReady(vector, report, from)
	return name, report, err
}

// sameFile wants a person's yes to a file that is not the one of which this site's
// figures were pooled.
func (v *Visit) sameFile(from Source, other OtherFile) error {
	before, ok, err := v.pooledSource()
	if err != nil || !ok || before.SHA256 == from.SHA256 {
		return err
	}
	if other == nil {
		return wire.WithHint(fmt.Errorf("%s is not the file of which this site's figures were pooled", from.Path),
			"run concord pool prepare with that file, or with this one, which then needs a yes")
	}
	if !other(from, before) {
		return wire.WithHint(errors.New("not the file of which this site's figures were pooled; nothing was prepared"),
			"give the same file as before, or say yes to the other")
	}
	return nil
}

// resetRound forgets a stage of which nothing of this site was sealed, to prepare it
// anew.
func (v *Visit) resetRound(r *poolRound) (*poolRound, error) {
	if len(r.own()) == 0 {
		return r, nil
	}
	for i := range r.own() {
		if err := os.RemoveAll(v.site.Draft(site.PoolName(r.stage, i+1))); err != nil {
			return nil, err
		}
	}
	if err := durable.Remove(v.site.Pool(stageFile(r.stage)), v.site.Pool(vectorFile(r.stage))); err != nil {
		return nil, err
	}
	return v.loadRound(r.stage)
}

// draftReady makes the ready message for the present set, and its draft.
func (r *poolRound) draftReady(vector masked.Vector, report PoolReport, from Source) (string, error) {
	if err := r.ready(vector); err != nil {
		return "", err
	}
	own := r.own()
	number := len(own)
	name := site.PoolName(r.stage, number)
	return name, r.draftMessage(number, readyMember, own[number-1], func(dir string, m *bundle.Manifest) error {
		return r.v.putReport(dir, report, from, m)
	})
}
