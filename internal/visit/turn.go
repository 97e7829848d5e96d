package visit

import (
	"strings"

	"concord/bundle"
	"concord/internal/api"
	"concord/internal/site"
)

// Step is what a person at this site does next, as it is typed.
type Step string

const (
	StepSync         Step = "concord sync"
	StepSyncLater    Step = "concord sync, when the members have confirmed this site"
	StepRoster       Step = "concord roster, compare the phrase, then concord roster confirm"
	StepPiecePrepare Step = "concord piece prepare data.csv"
	StepPieceReview  Step = "concord piece review, then concord piece approve"
	StepPoolPrepare  Step = "concord pool prepare data.csv"
	StepPoolReview   Step = "concord pool review, then concord pool approve"
	StepPrepare      Step = "concord prepare data.csv"
	StepReview       Step = "concord review, then concord approve"
	StepSend         Step = "concord send"
	StepGive         Step = "concord give FILE, bring it to the analyst, then concord take what comes back"
	StepReceive      Step = "concord receive"
	StepPredict      Step = "concord predict new.csv"
)

// facts are what decides whose turn it is: what the analyst says, and what lies in this
// site's folder.
type facts struct {
	// state and waitingFor are the analyst's word, zero if nobody asked.
	state      api.State
	waitingFor []string
	// newer says that the analyst has a newer model than the one here.
	newer bool

	model, withdrawn bool
	// proposed says that people here have confirmed this site's own coming after setup,
	// confirmed that they have confirmed the roster.
	proposed, confirmed bool
	// setupSent says that nothing is to be sent for the anchor any more, setupParcel that
	// it goes with a parcel.
	setupSent, setupParcel bool
	// piece is what a person does before this site's piece of the anchor can leave.
	piece Step
	seed  bool
	// sharesTaken says that parcels have brought every other party's share.
	sharesTaken bool
	// pool is how far the masked sums are, nil where this site has nothing to do with them.
	pool *Standing
	// synced says that every step that needs no decision has just been done.
	synced bool
	// what is prepared, approved, goes with a parcel, or was acknowledged.
	prepared, approved, parcel, sent bool
}

// Turn says whose turn it is.
type Turn struct {
	// Do is what a person here does next, "" if others have their turn.
	Do Step
	// Pool is how far the masked sums are, nil where this site has nothing to do with them.
	Pool *Standing
	// WaitingFor says who is awaited where Do is "", "" if nobody is.
	WaitingFor string
}

// next is the rule for whose turn it is. There is no other.
func next(f facts) Turn {
	t := Turn{Do: f.alone(), Pool: f.pool}
	if f.pool != nil && (f.seed || f.synced || t.Do == "") {
		t.Do = f.pool.Next
	}
	switch {
	case t.Do != "":
	case f.pool != nil && f.pool.WaitingFor != "" && f.seed:
		t.WaitingFor = f.pool.WaitingFor
	default:
		t.WaitingFor = strings.Join(f.waitingFor, ", ")
	}
	return t
}

// alone is the rule without masked sums.
func (f facts) alone() Step {
	switch {
	case f.newer:
		return StepReceive
	case f.model:
		return StepPredict
	case f.withdrawn:
		return ""
	case !f.confirmed && f.proposed:
		return StepSyncLater
	case !f.confirmed && f.state != api.StateJoining:
		return StepRoster
	case !f.confirmed:
		return ""
	case !f.setupSent && !f.setupParcel && f.piece != "":
		return f.piece
	case !f.setupSent && !f.setupParcel:
		return StepSync
	case !f.seed && (f.state != api.StateConfirming && f.state != api.StateSetup || f.sharesTaken):
		return StepSync
	case !f.seed && f.setupParcel:
		return StepGive
	case !f.seed:
		return ""
	case f.sent && f.state == api.StateReleased:
		return StepReceive
	case f.sent:
		return ""
	case f.parcel:
		return StepGive
	case f.approved:
		return StepSend
	case f.prepared:
		return StepReview
	}
	return StepPrepare
}

// turn says whose turn it is, by what the analyst says and the list of what waits there.
func (v *Visit) turn(st api.Status, waiting []api.BundleInfo) Turn {
	return next(v.facts(st, waiting))
}

// facts gathers what decides whose turn it is.
func (v *Visit) facts(st api.Status, waiting []api.BundleInfo) facts {
	f := facts{
		state: st.State, waitingFor: st.WaitingFor, newer: v.newerModel(st),
		model: v.site.Has(site.ModelFile), withdrawn: v.site.Has(site.WithdrawnFile),
		proposed: v.site.Has("candidate.json"), confirmed: v.roster != nil,
		seed: v.site.HasSeed(), sharesTaken: v.sharesTaken(),
		setupSent: v.setupSent(), setupParcel: v.waitsForParcel(bundle.KindSetup),
		prepared: v.site.Has(bundle.KindContribution),
		approved: v.site.Has(bundle.KindContribution, "leaves", approvalFile),
		parcel:   v.waitsForParcel(bundle.KindContribution), sent: v.site.Sent(bundle.KindContribution),
	}
	if f.confirmed && v.Contract.Anchor.Pieces() {
		f.piece, _ = v.pieceWaits() // what does not hold is what sync says
	}
	if v.poolIsDue() {
		f.pool = v.poolStanding(waiting)
	}
	return f
}

// turnNow says whose turn it is after every step that needs no decision.
func (v *Visit) turnNow() Turn {
	f := v.facts(api.Status{}, nil)
	f.synced = true
	return next(f)
}

// poolIsDue reports whether this site has still to do with masked sums.
func (v *Visit) poolIsDue() bool {
	return v.Chain != nil && v.pools() && !v.late() && !v.contributed() && !v.site.HasModel()
}
