package visit

import (
	"fmt"
	"slices"

	"concord/bundle"
	"concord/internal/api"
	"concord/internal/site"
	"concord/masked"
)

// Standing is how far the masked sums are at this site.
type Standing struct {
	// Stage is the one under way, of Of; 0 when all sums are known and the common
	// directions are awaited.
	Stage int    `json:"stage"`
	Of    int    `json:"of"`
	Name  string `json:"name,omitempty"`
	// Next is what is this site's turn, WaitingFor who else's it is.
	Next       Step   `json:"-"`
	WaitingFor string `json:"waiting_for,omitempty"`
}

// poolStanding says of the masked sums what a person here has to do next, or who is
// awaited, from what lies here and the list of what waits at the server; nil when all is
// pooled.
func (v *Visit) poolStanding(waiting []api.BundleInfo) *Standing {
	st := &Standing{Of: len(v.Whole.Stages()), Next: StepSync}
	stage, err := v.poolStage()
	if err != nil {
		return st // which says what is wrong
	}
	st.Stage = stage
	if stage == 0 {
		done, err := v.poolDone()
		switch {
		case err != nil || v.isFirst() && !v.site.Sent(site.PoolName(v.afterStages(), 1)) && v.Whole.Basis.Kind == "common":
			return st
		case done:
			return nil
		case slices.ContainsFunc(waiting, v.isDirections):
			return st
		}
		st.Next, st.WaitingFor = "", fmt.Sprintf("%q to send the common directions", v.first().Name)
		return st
	}
	st.Name = v.Whole.Stages()[stage-1].String()
	r, err := v.loadRound(stage)
	if err != nil {
		return st
	}
	name, step := v.ownReady(stage), r.Next()
	if name == "" && v.mustPrepare(r) {
		st.Next = StepPoolPrepare
		return st
	}
	if name != "" && !v.site.Has("outbox", name+".bundle") {
		if approved, err := v.readyApproved(name); err == nil && !approved {
			st.Next = StepPoolReview
		}
		return st
	}
	if slices.ContainsFunc(waiting, func(b api.BundleInfo) bool { return v.newMessage(r, b) }) {
		return st
	}
	for i, m := range r.own() {
		if at := site.PoolName(stage, i+1); !v.site.Sent(at) && !r.stale(at, m) {
			if v.waitsForParcel(at) {
				st.Next = StepGive
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
func (v *Visit) newMessage(r *poolRound, b api.BundleInfo) bool {
	if b.Kind != bundle.KindPool || b.Round != r.stage {
		return false
	}
	name := site.PoolName(b.Round, b.Number) + "-" + v.Chain.Origin(b.Sender).String()
	return !slices.Contains(r.kept.Taken, name) && r.kept.Refused[name] == ""
}
