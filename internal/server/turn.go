package server

import (
	"fmt"

	"concord/internal/api"
)

// facts are what decides how far a study is and who is awaited: of each step, who is
// missing.
type facts struct {
	// joining says that the roster is not closed: toJoin more are to join, asking have
	// asked and are not admitted.
	joining bool
	toJoin  int
	asking  []string
	// ended says that the study cannot go on.
	ended bool
	// confirm, share, sum and contribute name the parties whose confirmation of the
	// roster, share of the anchor, message of masked sums and contribution have not come.
	confirm, share, sum, contribute []string
	// setup says that no share is awaited any more, though some may be gone.
	setup bool
	// contributed says that a contribution has come, and with it that all sums are known.
	contributed bool
	// made says that a model has been made, results that somebody's result is here.
	made, results bool
	// failed says that training went wrong, due that it is the analyst's turn to train.
	failed, due bool
}

// whoseTurn is the rule for how far a study is and who is awaited: the first step that somebody
// has not taken. What each party does next its own site tells by the same states.
func whoseTurn(f facts) (state api.State, waitingFor []string) {
	first := !f.made && !f.results // no model has been made
	switch {
	case f.joining:
		waitingFor = []string{fmt.Sprintf("%d more to join", f.toJoin)}
		for _, name := range f.asking {
			waitingFor = append(waitingFor, fmt.Sprintf("the analyst to admit %q", name))
		}
		return api.StateJoining, waitingFor
	case f.ended:
		return api.StateEnded, nil
	case len(f.confirm) > 0:
		return api.StateConfirming, f.confirm
	case !f.setup && len(f.share) > 0:
		return api.StateSetup, f.share
	case first && !f.contributed && len(f.sum) > 0:
		return api.StatePooling, f.sum
	case first && len(f.contribute) > 0:
		return api.StateContributing, f.contribute
	case f.failed:
		return api.StateFailed, nil
	case f.due:
		return api.StateTraining, []string{"the analyst"}
	case !f.results: // somebody left, and too few of the rest have contributed
		return api.StateContributing, f.contribute
	}
	return api.StateReleased, nil
}

// facts gathers what decides how far the study is.
func (v *view) facts() facts {
	f := facts{joining: v.chain == nil, toJoin: v.size - len(v.members), ended: v.ended != ""}
	for _, a := range v.asking {
		f.asking = append(f.asking, a.Name)
	}
	if f.joining || f.ended {
		return f
	}
	f.confirm, f.setup = v.unconfirmed(), v.setupDone()
	f.share, f.sum = v.missing(v.chain.Root(), v.setup), v.unpooled()
	f.contribute, f.contributed = v.missing(v.roster, v.contributions), len(v.contributions) > 0
	f.made, f.results = v.last() != nil, len(v.results) > 0
	f.failed, f.due = v.problem != "", v.due() != nil
	return f
}

// status says how far the study is and whose turn it is.
func (v *view) status() api.Status {
	f := v.facts()
	st := api.Status{Expected: v.size, Present: len(v.members), Problem: v.problem, Asking: f.asking}
	st.State, st.WaitingFor = whoseTurn(f)
	if v.chain == nil {
		return st
	}
	st.Expected, st.Roster = len(v.members), v.roster.Number
	if v.pending != nil {
		st.Pending = v.pending.missing
	}
	switch st.State {
	case api.StateEnded:
		st.Problem = v.ended
	case api.StateConfirming, api.StateSetup:
	default:
		if last := v.last(); last != nil {
			st.Round = last.Round
		}
	}
	return st
}
