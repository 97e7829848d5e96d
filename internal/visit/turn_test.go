package visit

import (
	"strings"
	"testing"

	"concord/internal/api"
)

// TestNext is the rule for whose turn it is, state by state: a row says what there is, and
// what a person does next or who is awaited.
func TestNext(t *testing.T) {
	others := []string{"East", "West"}
	ready := func(change func(*facts)) facts { // setup is complete, nothing is prepared
		f := facts{state: api.StateContributing, waitingFor: others, confirmed: true, setupSent: true, seed: true}
		change(&f)
		return f
	}
	nothing := func(*facts) {}
	prepare := &Standing{Stage: 1, Of: 2, Next: StepPoolPrepare}
	sync := &Standing{Stage: 1, Of: 2, Next: StepSync}
	sums := &Standing{Stage: 1, Of: 2, WaitingFor: "East to send masked figures"}
	for _, tc := range []struct {
		name string
		f    facts
		do   Step
		who  string
	}{
		{"nobody has said anything", facts{}, StepRoster, ""},
		{"others join", facts{state: api.StateJoining, waitingFor: []string{"2 more to join"}}, "", "2 more to join"},
		{"the roster is closed", facts{state: api.StateConfirming, waitingFor: others}, StepRoster, ""},
		{"the members confirm this site", facts{state: api.StateContributing, proposed: true}, StepSyncLater, ""},
		{"they confirm it while others join", facts{state: api.StateJoining, proposed: true}, StepSyncLater, ""},

		{"the share is not sent", facts{state: api.StateConfirming, confirmed: true}, StepSync, ""},
		{"a piece is to be prepared", facts{state: api.StateConfirming, confirmed: true, piece: StepPiecePrepare},
			StepPiecePrepare, ""},
		{"a piece is sealed", facts{state: api.StateSetup, confirmed: true, piece: StepPieceReview, setupParcel: true},
			StepGive, ""},
		{"others confirm", facts{state: api.StateConfirming, waitingFor: others, confirmed: true, setupSent: true}, "",
			"East, West"},
		{"others send shares", facts{state: api.StateSetup, waitingFor: others, confirmed: true, setupSent: true}, "",
			"East, West"},
		{"all shares are there",
			facts{state: api.StateContributing, waitingFor: others, confirmed: true, setupSent: true}, StepSync, ""},
		{"parcels brought all shares", facts{state: api.StateSetup, confirmed: true, setupSent: true, sharesTaken: true},
			StepSync, ""},
		{"the share goes with a parcel", facts{state: api.StateSetup, confirmed: true, setupParcel: true}, StepGive, ""},

		{"the share comes before figures", facts{state: api.StateConfirming, confirmed: true, pool: prepare}, StepSync, ""},
		{"a parcel comes before figures",
			facts{state: api.StateSetup, confirmed: true, setupParcel: true, pool: prepare}, StepGive, ""},
		{"but sync has sealed it", facts{confirmed: true, setupParcel: true, pool: prepare, synced: true},
			StepPoolPrepare, ""},
		{"figures while others send shares",
			facts{state: api.StateSetup, waitingFor: others, confirmed: true, setupSent: true, pool: prepare},
			StepPoolPrepare, ""},
		{"masks while others send shares",
			facts{state: api.StateSetup, waitingFor: others, confirmed: true, setupSent: true, pool: sums}, "", "East, West"},
		{"figures", ready(func(f *facts) { f.pool = prepare }), StepPoolPrepare, ""},
		{"messages have come", ready(func(f *facts) { f.pool = sync }), StepSync, ""},
		{"others' figures", ready(func(f *facts) { f.pool = sums }), "", "East to send masked figures"},
		{"figures before a prepared contribution", ready(func(f *facts) { f.pool, f.prepared = prepare, true }),
			StepPoolPrepare, ""},

		{"nothing is prepared", ready(nothing), StepPrepare, ""},
		{"prepared", ready(func(f *facts) { f.prepared = true }), StepReview, ""},
		{"approved", ready(func(f *facts) { f.prepared, f.approved = true, true }), StepSend, ""},
		{"sealed for a parcel", ready(func(f *facts) { f.prepared, f.approved, f.parcel = true, true, true }), StepGive, ""},
		{"sent", ready(func(f *facts) { f.prepared, f.approved, f.sent = true, true, true }), "", "East, West"},
		{"released", ready(func(f *facts) { f.state, f.waitingFor, f.sent = api.StateReleased, nil, true }), StepReceive, ""},
		{"released without this site", ready(func(f *facts) { f.state, f.waitingFor = api.StateReleased, nil }),
			StepPrepare, ""},
		{"a model is here", ready(func(f *facts) { f.sent, f.model = true, true }), StepPredict, ""},
		{"a newer model is there", ready(func(f *facts) { f.sent, f.model, f.newer = true, true, true }), StepReceive, ""},
		{"withdrawn", ready(func(f *facts) { f.withdrawn = true }), "", "East, West"},
		{"withdrawn with a model", ready(func(f *facts) { f.withdrawn, f.model = true, true }), StepPredict, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := next(tc.f)
			if got.Do != tc.do || got.WaitingFor != tc.who || got.Pool != tc.f.pool {
				t.Errorf("next %q, waiting for %q; want %q, %q", got.Do, got.WaitingFor, tc.do, tc.who)
			}
		})
	}
}

// TestNextSays makes sure that no state leaves a site without a word, whatever lies in its
// folder: it is its turn, or it waits for those that the analyst names.
func TestNextSays(t *testing.T) {
	states := []api.State{api.StateJoining, api.StateConfirming, api.StateSetup, api.StatePooling,
		api.StateContributing, api.StateTraining, api.StateReleased}
	for bits := range 1 << 13 {
		is := func(i int) bool { return bits>>i&1 == 1 }
		f := facts{
			waitingFor: []string{"East"}, newer: is(0), model: is(1), withdrawn: is(2), proposed: is(3), confirmed: is(4),
			setupSent: is(5), setupParcel: is(6), seed: is(7), sharesTaken: is(8), prepared: is(9), approved: is(10),
			parcel: is(11), sent: is(12),
		}
		for _, f.state = range states {
			got := next(f)
			if (got.Do == "") == (got.WaitingFor == "") {
				t.Fatalf("%+v: next %q, waiting for %q", f, got.Do, got.WaitingFor)
			}
			if got.Do != "" && !strings.HasPrefix(string(got.Do), "concord ") {
				t.Fatalf("%+v: %q is no command", f, got.Do)
			}
		}
	}
}
