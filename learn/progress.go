package learn

import (
	"context"
	"sync"
)

// Progress is how far a fit has come.
type Progress struct {
	// Stage is what is being done, in one or a few words that do not depend on
	// the data: "epochs", "trees", "pairs of classes".
	Stage string
	// Done of Total steps of the stage are done. Total is a bound where the
	// stopping rule may end the stage earlier, and 0 where none is known.
	Done, Total int
	// Objective is what the learner minimises after Done steps, as far as it
	// has it at hand (a sum over the steps of an epoch, for example); 0 where
	// it has nothing.
	Objective float64
}

// progressKey is the key of the context's *progressSink.
type progressKey struct{}

type progressSink struct {
	mutex sync.Mutex
	f     func(Progress)
}

// OnProgress returns a context with which Fit of every learner that takes steps
// tells f of them. f is called by one goroutine at a time, also by fits that
// run side by side with this context, though not always by the same one; the
// fit waits for it, so it should return soon. It does not change the model. It
// takes the place of an f that ctx has already; nil asks for no reports.
func OnProgress(ctx context.Context, f func(Progress)) context.Context {
	return context.WithValue(ctx, progressKey{}, &progressSink{f: f})
}

// progress returns the function by which a learner reports steps, which may be
// called from any goroutine; nil if nobody listens.
func progress(ctx context.Context) func(Progress) {
	sink, _ := ctx.Value(progressKey{}).(*progressSink)
	if sink == nil || sink.f == nil {
		return nil
	}
	return func(p Progress) {
		sink.mutex.Lock()
		defer sink.mutex.Unlock()
		sink.f(p)
	}
}
