package server

import (
	"slices"
	"testing"

	"concord/internal/api"
)

// TestWhoseTurn is the rule for how far a study is, step by step: each is taken up only when
// everybody has taken those before it.
func TestWhoseTurn(t *testing.T) {
	who := []string{"East"}
	for _, tc := range []struct {
		name string
		f    facts
		want api.State
		who  []string
	}{
		{"empty", facts{joining: true, toJoin: 3}, api.StateJoining, []string{"3 more to join"}},
		{"one asks", facts{joining: true, toJoin: 1, asking: []string{"East"}}, api.StateJoining,
			[]string{"1 more to join", `the analyst to admit "East"`}},
		{"ended", facts{ended: true, confirm: who, failed: true}, api.StateEnded, nil},
		{"closed", facts{confirm: who, share: who, sum: who, contribute: who}, api.StateConfirming, who},
		{"confirmed", facts{share: who, sum: who, contribute: who}, api.StateSetup, who},
		{"a share is gone that all had", facts{setup: true, share: who, sum: who, contribute: who}, api.StatePooling, who},
		{"all shares are here", facts{setup: true, sum: who, contribute: who}, api.StatePooling, who},
		{"a contribution says that sums are known", facts{setup: true, sum: who, contribute: who, contributed: true},
			api.StateContributing, who},
		{"nothing is pooled", facts{setup: true, contribute: who}, api.StateContributing, who},
		{"all have contributed", facts{setup: true, contributed: true, due: true}, api.StateTraining,
			[]string{"the analyst"}},
		{"training failed", facts{setup: true, contributed: true, due: true, failed: true}, api.StateFailed, nil},
		{"released", facts{setup: true, contributed: true, made: true, results: true}, api.StateReleased, nil},
		{"results of a program that kept no records", facts{setup: true, sum: who, contribute: who, results: true},
			api.StateReleased, nil},
		{"a member came late", facts{setup: true, contribute: who, contributed: true, made: true, results: true},
			api.StateReleased, nil},
		{"a party left, and a model is made anew", facts{setup: true, contributed: true, made: true, due: true},
			api.StateTraining, []string{"the analyst"}},
		{"a party left, and too few are there", facts{setup: true, contribute: who, contributed: true, made: true},
			api.StateContributing, who},
	} {
		t.Run(tc.name, func(t *testing.T) {
			state, waiting := whoseTurn(tc.f)
			if state != tc.want || !slices.Equal(waiting, tc.who) {
				t.Errorf("%s, waiting for %v; want %s, %v", state, waiting, tc.want, tc.who)
			}
		})
	}
}
