package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"path/filepath"
	"time"
)

// Links plays N studies over a bad line: the server in one network namespace and the
// parties in another, with a cable between them, or without namespaces all on loopback.
// Hits counts what happened to the line.
func Links(ctx context.Context, opt Options, namespaces bool) (*Report, error) {
	opt = opt.filled()
	begun := time.Now()
	rnd := rand.New(rand.NewPCG(opt.Seed, 4))
	r := &runner{report: Report{At: map[string]int{}, Left: map[string]int{}}}
	report := &r.report
	for i := range opt.N {
		protocol := opt.Protocols[i%len(opt.Protocols)]
		dir := filepath.Join(opt.Dir, fmt.Sprintf("link-%d-%s", i+1, protocol))
		link := &line{namespaces: namespaces, rnd: rand.New(rand.NewPCG(rnd.Uint64(), 5))}
		p, result, err := one(ctx, opt, protocol, dir, rnd, trouble{line: link})
		if link.link != nil {
			link.link.mu.Lock()
			for what, n := range link.link.Counters {
				report.At[what] += n
			}
			link.link.mu.Unlock()
		}
		if err != nil {
			return report, fmt.Errorf("study %d over a bad line, %s, which is kept in %s: %w", i+1, protocol, dir, err)
		}
		r.add(p, result)
		opt.Say("study %d over a bad line, %s: %.1f s, %d commands typed again", i+1, protocol, p.took.Seconds(), p.repeated)
	}
	for _, n := range report.At {
		report.Hits += n
	}
	report.Seconds = time.Since(begun).Seconds()
	return report, nil
}

// line is what lies between the machines of one play.
type line struct {
	namespaces bool
	rnd        *rand.Rand
	link       *Link
}

// lay puts the line between the parties and the server. Until stop is called the
// parties reach the server at p.address only.
func (l *line) lay(ctx context.Context, p *play) (stop func() error, err error) {
	ctx, cancel := context.WithCancel(ctx)
	listen := func() (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") }
	dial := func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{Timeout: 3 * time.Second}).DialContext(ctx, "tcp", p.listen)
	}
	var ns *namespaces
	if l.namespaces {
		if ns, err = newNamespaces(); err != nil {
			cancel()
			return nil, err
		}
		p.listen = ns.address
		p.analyst.begin = ns.server.start
		for _, q := range p.parties {
			q.begin = ns.parties.start
		}
		listen, dial = ns.parties.listen, ns.parties.dial(ns.address)
	}
	ln, err := listen()
	if err != nil {
		cancel()
		return nil, errors.Join(err, ns.remove())
	}
	p.address = ln.Addr().String()
	l.link = newLink(ctx, ln, dial, l.rnd)
	ended := make(chan error, 1)
	go func() {
		if ns == nil {
			l.link.outages(ctx, 4*time.Second, 500*time.Millisecond)
			ended <- nil
			return
		}
		ended <- ns.outages(ctx, l.link, 4*time.Second, 700*time.Millisecond)
	}()
	return func() error {
		cancel()
		return errors.Join(<-ended, ns.remove())
	}, nil
}
