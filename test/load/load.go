// Package load runs a server with many parties at once and measures what each of
// them waits. [Run] plays the network's part of a whole study on loopback: real
// TLS, real signatures, real setup bundles that are sealed to all other parties,
// real contributions. It computes no bases and trains nothing.
package load

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"filippo.io/age"
	"gonum.org/v1/gonum/mat"

	"concord/bundle"
	"concord/contract"
	"concord/identity"
	"concord/internal/client"
	"concord/internal/server"
	"concord/internal/store"
	"concord/linalg"
	"concord/release"
	"concord/wire"
)

// Options say how large a run is.
type Options struct {
	// Parties take part; at least two. Default 200.
	Parties int
	// Bytes are a contribution's, about. Default 1 MB.
	Bytes int64
	// Fetch is how many of the others' setup bundles a party fetches; 0 for all of
	// them, as a party does.
	Fetch int
	// Dir is where the server keeps things; default a temporary folder, removed at the
	// end.
	Dir string
	// Progress is told when a phase is over; it may be nil.
	Progress func(Phase)
}

// Phase is what all parties do at once, each waiting for nobody else. In one, seal,
// they compute what they will send, without the server.
type Phase struct {
	Name     string `json:"name"`
	Requests int    `json:"requests"`
	Failed   int    `json:"failed"`
	// Bytes are those of the bundles, both ways.
	Bytes int64 `json:"bytes"`
	// Seconds is from the first request to the last answer; the others are of single
	// requests, TLS handshakes included.
	Seconds float64 `json:"seconds"`
	P50     float64 `json:"p50"`
	P99     float64 `json:"p99"`
	Max     float64 `json:"max"`
	// Problem is the first failure.
	Problem string `json:"problem,omitempty"`
}

// Result is a whole run.
type Result struct {
	Parties           int     `json:"parties"`
	ContributionBytes int64   `json:"contribution_bytes"`
	SetupBytes        int64   `json:"setup_bytes"`
	Cores             int     `json:"cores"`
	Phases            []Phase `json:"phases"`
	// Failed and P99 are over all requests of all phases.
	Failed int     `json:"failed"`
	P99    float64 `json:"p99"`
}

const (
	features = 20
	dim      = 10
)

// run is one run under way.
type run struct {
	opt      Options
	dir      string
	store    *store.Store
	analyst  *identity.Identity
	contract *contract.Contract
	hash     wire.Hash
	epoch    wire.Hash
	target   client.Target
	parties  []*party
	rows     int

	mu    sync.Mutex
	spent []time.Duration // of the phase under way
	bytes int64
	fails []error
}

// party is one of the parties, and its connection.
type party struct {
	id     *identity.Identity
	secret []byte
	client *client.Client
}

// Run measures. A request that fails counts as failed and is in its phase; an error
// means that the run could not go on.
func Run(ctx context.Context, opt Options) (*Result, error) {
	if opt.Parties == 0 {
		opt.Parties = 200
	}
	if opt.Bytes == 0 {
		opt.Bytes = 1_000_000
	}
	if opt.Parties < 2 || opt.Parties > contract.MaxParties || opt.Bytes < 0 || opt.Bytes > 1<<30 || opt.Fetch < 0 {
		return nil, fmt.Errorf("load: %d parties with %d bytes each, must be 2 to %d with at most %d", opt.Parties, opt.Bytes, contract.MaxParties, 1<<30)
	}
	r := &run{opt: opt, dir: opt.Dir}
	if r.dir == "" {
		var err error
		if r.dir, err = os.MkdirTemp("", "concord-load-"); err != nil {
			return nil, err
		}
		defer os.RemoveAll(r.dir)
	}
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	defer r.store.Close()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r.target = client.Target{Address: ln.Addr().String()}
	serving, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		done <- server.New(r.analyst, r.store, slog.New(slog.DiscardHandler)).Serve(serving, ln)
	}()
	result, err := r.play(ctx)
	for _, p := range r.parties {
		if p.client != nil {
			p.client.Close()
		}
	}
	stop()
	if end := <-done; err == nil {
		err = end
	}
	return result, err
}

// prepare makes what a study needs before anybody joins.
func (r *run) prepare(ctx context.Context) error {
	// X̃ and A have dim columns, Y one; the anchor has a tenth of the rows.
	r.rows = int(max(40, r.opt.Bytes/(8*(dim+1)+8*dim/10)))
	names := make([]string, features)
	for i := range names {
		names[i] = fmt.Sprintf("f%d", i+1)
	}
	text := fmt.Sprintf("name: Load\nparties: %d\nfeatures: [%s]\nlabel: {name: y, levels: [no, yes], positive: yes}\nbasis: {kind: svd, dim: %d}\nanchor: {rows: %d}\nmax_rows: %d\n",
		r.opt.Parties, strings.Join(names, ", "), dim, max(20, r.rows/10), r.rows)
	var err error
	if r.contract, err = contract.ParseYAML([]byte(text)); err != nil {
		return fmt.Errorf("load: %w", err)
	}
	encoded, err := r.contract.Encode()
	if err != nil {
		return err
	}
	if r.analyst, err = identity.New(identity.RoleAnalyst, "Analyst", nil); err != nil {
		return err
	}
	if r.store, err = store.Open(filepath.Join(r.dir, "server"), r.analyst); err != nil {
		return err
	}
	if r.hash, err = r.store.AddStudy(ctx, encoded); err != nil {
		return err
	}
	for i := range r.opt.Parties {
		id, err := identity.New(identity.RoleParty, fmt.Sprintf("Party %03d", i+1), nil)
		if err != nil {
			return err
		}
		p := &party{id: id, secret: fmt.Appendf(nil, "secret %d", i)}
		if err := r.store.AddInvite(ctx, r.hash, wire.HashOf(p.secret), ""); err != nil {
			return err
		}
		r.parties = append(r.parties, p)
	}
	return nil
}

// file is where a party's sealed bundle of one kind lies.
func (r *run) file(i int, kind string) string {
	return filepath.Join(r.dir, fmt.Sprintf("%s-%03d.bundle", kind, i))
}

// seal writes a party's bundle.
func (r *run) seal(i int, kind string, to []*identity.Statement, members []bundle.Source) error {
	from := r.parties[i].id
	d := bundle.Draft{
		Header:  bundle.Header{Study: r.hash, Epoch: r.epoch, Sender: from.Statement.Fingerprint(), Kind: kind, Number: 1},
		Members: members,
	}
	if kind == bundle.KindContribution {
		d.Anchor = &wire.Hash{1}
	}
	keys := make([]age.Recipient, len(to))
	for k, s := range to {
		d.Recipients = append(d.Recipients, s.Fingerprint())
		var err error
		if keys[k], err = s.AgeRecipient(); err != nil {
			return err
		}
	}
	m, err := bundle.Describe(d)
	if err != nil {
		return err
	}
	approval, err := bundle.Approve(m.Encode(), from.SigningKey(), bundle.PolicyPerson, time.Now())
	if err != nil {
		return err
	}
	f, err := os.Create(r.file(i, kind))
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = bundle.Seal(f, bundle.Sealing{Manifest: m, Sources: members, Approval: approval}, from.SigningKey(), keys...)
	return err
}

// sealAll seals what every party sends, as the parties do before they connect.
func (r *run) sealAll() error {
	statements := make([]*identity.Statement, len(r.parties))
	for i, p := range r.parties {
		statements[i] = p.id.Statement
	}
	work := make(chan int)
	var wg sync.WaitGroup
	errs := make([]error, len(r.parties))
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range work {
				others := slices.Delete(slices.Clone(statements), i, i+1)
				if errs[i] = r.seal(i, bundle.KindSetup, others, []bundle.Source{bundle.FromBytes("entropy.bin", make([]byte, 32))}); errs[i] != nil {
					continue
				}
				errs[i] = r.seal(i, bundle.KindContribution, []*identity.Statement{r.analyst.Statement}, r.contribution(i))
			}
		})
	}
	for i := range r.parties {
		work <- i
	}
	close(work)
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// contribution is one that keeps the contract, of random numbers.
func (r *run) contribution(i int) []bundle.Source {
	var seed [32]byte
	seed[0], seed[1] = byte(i), byte(i>>8)
	rnd := rand.NewChaCha8(seed)
	x, a := linalg.Normal(r.rows, dim, rnd), linalg.Normal(r.contract.Anchor.Rows, dim, rnd)
	y := make([]int64, r.rows)
	for k := range y {
		y[k] = int64(k % 2)
	}
	return members(x, a, y)
}

func members(x, a *mat.Dense, y []int64) []bundle.Source {
	out := append(bundle.FromMatrix(release.MemberX, x), bundle.FromMatrix(release.MemberA, a)...)
	return append(out, bundle.FromInts(release.MemberY, y))
}

// size is that of a party's sealed bundle.
func (r *run) size(kind string) int64 {
	info, err := os.Stat(r.file(0, kind))
	if err != nil {
		return 0
	}
	return info.Size()
}

// counter counts what is written to it.
type counter struct{ n int64 }

// Write counts.
func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

var _ io.Writer = (*counter)(nil)
