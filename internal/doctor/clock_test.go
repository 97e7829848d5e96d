package doctor

import (
	"testing"
	"time"

	"concord/internal/client"
)

func TestClock(t *testing.T) {
	for _, test := range []struct {
		ahead   time.Duration
		matters bool
		want    Verdict
	}{
		{0, true, OK},
		{-40 * time.Second, true, OK},
		{2 * time.Minute, true, Warning},
		{-2 * time.Minute, false, Warning},
		{time.Hour, false, Warning},
		{time.Hour, true, Failed},
		{-6 * time.Minute, true, Failed},
	} {
		r := new(Report)
		judge(r, client.Clock{Ahead: test.ahead}, test.matters)
		if f := r.Findings[0]; f.Verdict != test.want || (f.Verdict != OK) != (f.Cure != "") {
			t.Errorf("%v ahead, signed %v: %+v, want %s", test.ahead, test.matters, f, test.want)
		}
	}
}
