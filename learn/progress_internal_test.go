package learn

import (
	"sync"
	"testing"
)

func TestProgress(t *testing.T) {
	if progress(t.Context()) != nil || progress(OnProgress(t.Context(), nil)) != nil {
		t.Error("somebody listens to a context without a listener")
	}
	// The sum is only right, and the race detector only silent, if the calls
	// come one at a time.
	sum, inside := 0, false
	ctx := OnProgress(t.Context(), func(p Progress) {
		if inside {
			t.Error("called while another call runs")
		}
		inside = true
		sum += p.Done
		inside = false
	})
	var wg sync.WaitGroup
	for range 8 {
		report := progress(ctx)
		wg.Go(func() {
			for i := range 100 {
				report(Progress{Stage: "steps", Done: i, Total: 100})
			}
		})
	}
	wg.Wait()
	if sum != 8*4950 {
		t.Errorf("reports add up to %d, want %d", sum, 8*4950)
	}
}
