package load

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"concord/bundle"
	"concord/identity"
	"concord/internal/api"
	"concord/internal/client"
	"concord/member"
)

// play runs the phases one after another. In each, all parties begin at once.
func (r *run) play(ctx context.Context) (*Result, error) {
	result := &Result{Parties: len(r.parties), Cores: runtime.GOMAXPROCS(0)}
	var all []time.Duration
	phase := func(name string, do func(ctx context.Context, i int, p *party) error) error {
		done, spent := r.phase(ctx, name, do)
		result.Phases = append(result.Phases, done)
		result.Failed += done.Failed
		all = append(all, spent...)
		if r.opt.Progress != nil {
			r.opt.Progress(done)
		}
		if done.Failed > 0 {
			return fmt.Errorf("load: %d of %d requests of phase %s failed: %s", done.Failed, done.Requests, name, done.Problem)
		}
		return ctx.Err()
	}
	err := phase("join", r.join)
	if err == nil {
		began := time.Now()
		err = r.agree(ctx)
		sealed := Phase{Name: "seal", Seconds: time.Since(began).Seconds()}
		result.Phases = append(result.Phases, sealed)
		if r.opt.Progress != nil {
			r.opt.Progress(sealed)
		}
	}
	for _, step := range []struct {
		name string
		do   func(context.Context, int, *party) error
	}{
		{"roster", r.roster}, {"confirm", r.confirm}, {"setup", r.sendSetup}, {"fetch", r.fetchSetup}, {"contribute", r.contribute}, {"status", r.status},
	} {
		if err == nil {
			err = phase(step.name, step.do)
		}
	}
	result.ContributionBytes, result.SetupBytes = r.size(bundle.KindContribution), r.size(bundle.KindSetup)
	result.P99 = quantile(all, 0.99)
	return result, err
}

// phase lets every party do something at the same time.
func (r *run) phase(ctx context.Context, name string, do func(context.Context, int, *party) error) (Phase, []time.Duration) {
	r.spent, r.bytes, r.fails = nil, 0, nil
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i, p := range r.parties {
		wg.Go(func() {
			<-start
			if err := do(ctx, i, p); err != nil {
				r.mu.Lock()
				r.fails = append(r.fails, err)
				r.mu.Unlock()
			}
		})
	}
	began := time.Now()
	close(start)
	wg.Wait()
	took := time.Since(began)
	done := Phase{
		Name: name, Requests: len(r.spent), Failed: len(r.fails), Bytes: r.bytes, Seconds: took.Seconds(),
		P50: quantile(r.spent, 0.5), P99: quantile(r.spent, 0.99), Max: quantile(r.spent, 1),
	}
	if len(r.fails) > 0 {
		done.Problem = r.fails[0].Error()
	}
	return done, r.spent
}

// timed measures one request.
func (r *run) timed(request func() (bytes int64, err error)) error {
	began := time.Now()
	n, err := request()
	took := time.Since(began)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.spent = append(r.spent, took)
	r.bytes += n
	return err
}

// quantile is the smallest value that is at least as large as the fraction q of all,
// in seconds.
func quantile(spent []time.Duration, q float64) float64 {
	if len(spent) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(spent))
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)].Seconds()
}

func (r *run) join(ctx context.Context, _ int, p *party) error {
	err := r.timed(func() (int64, error) {
		var err error
		p.client, _, err = client.Meet(ctx, r.target, r.hash, p.id, r.analyst.Statement.Fingerprint())
		return 0, err
	})
	if err != nil {
		return err
	}
	return r.timed(func() (int64, error) {
		_, _, err := p.client.Join(ctx, p.secret, p.id.Statement.Encode())
		return 0, err
	})
}

// agree is what people and parties do between joining and confirming, without the
// server: the roster is compared, and what will be sent is sealed.
func (r *run) agree(ctx context.Context) error {
	members := []*identity.Statement{r.analyst.Statement}
	for _, p := range r.parties {
		members = append(members, p.id.Statement)
	}
	roster, err := member.NewRoster(r.contract, 1, members)
	if err != nil {
		return err
	}
	r.epoch = roster.Epoch(r.hash)
	if err := r.sealAll(); err != nil {
		return err
	}
	return ctx.Err()
}

func (r *run) roster(ctx context.Context, _ int, p *party) error {
	return r.timed(func() (int64, error) {
		answer, err := p.client.Roster(ctx)
		if err == nil && (!answer.Closed || len(answer.Statements) != len(r.parties)+1) {
			err = fmt.Errorf("the roster has %d members, closed is %v", len(answer.Statements), answer.Closed)
		}
		return 0, err
	})
}

func (r *run) confirm(ctx context.Context, _ int, p *party) error {
	yes := member.Confirm(p.id, r.hash, r.epoch)
	return r.timed(func() (int64, error) { return 0, p.client.Confirm(ctx, yes) })
}

func (r *run) send(ctx context.Context, i int, p *party, kind string) error {
	return r.timed(func() (int64, error) {
		receipt, err := p.client.Send(ctx, r.file(i, kind))
		if err != nil {
			return 0, err
		}
		_, err = member.DecodeReceipt(receipt, r.analyst.Statement)
		return r.size(kind), err
	})
}

func (r *run) sendSetup(ctx context.Context, i int, p *party) error {
	return r.send(ctx, i, p, bundle.KindSetup)
}

func (r *run) contribute(ctx context.Context, i int, p *party) error {
	return r.send(ctx, i, p, bundle.KindContribution)
}

// fetchSetup fetches the other parties' setup bundles one after another, as a party
// does. It does not open them: that is the party's own time.
func (r *run) fetchSetup(ctx context.Context, i int, p *party) error {
	var waiting []api.BundleInfo
	err := r.timed(func() (n int64, err error) {
		waiting, err = p.client.Bundles(ctx)
		return 0, err
	})
	if err != nil {
		return err
	}
	if len(waiting) != len(r.parties)-1 {
		return fmt.Errorf("%d setup bundles wait, want %d", len(waiting), len(r.parties)-1)
	}
	if r.opt.Fetch > 0 && r.opt.Fetch < len(waiting) {
		// Not the same for all: each bundle is read by some.
		waiting = append(waiting[i%len(waiting):], waiting[:i%len(waiting)]...)[:r.opt.Fetch]
	}
	for _, b := range waiting {
		err := r.timed(func() (int64, error) {
			got := new(counter)
			_, err := p.client.Fetch(ctx, b.Manifest, got, b.Size)
			if err == nil && got.n != b.Size {
				err = errors.New("a bundle came with another size than the list says")
			}
			return got.n, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *run) status(ctx context.Context, _ int, p *party) error {
	return r.timed(func() (int64, error) {
		_, err := p.client.Status(ctx)
		return 0, err
	})
}
