package lab

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"concord/bundle"
	"concord/identity"
	"concord/internal/chaos"
	"concord/internal/site"
	"concord/npy"
	"concord/wire"
)

// uploadStudy is a study of two parties, of whom the first sends a contribution of
// any size.
type uploadStudy struct {
	programs chaos.Programs
	dir      string
	say      func(format string, args ...any)
	server   *exec.Cmd
	log      *serverLog
	peak     *peak // of the server
}

const (
	uploadDim      = 32
	uploadFeatures = 40
)

// uploadYAML has room for as many rows as a contribution of that size has.
func uploadYAML(size int64) string {
	var names []string
	for i := range uploadFeatures {
		names = append(names, fmt.Sprintf("f%d", i))
	}
	return fmt.Sprintf("name: Upload\nparties: 2\nfeatures: [%s]\nlabel: {name: y, levels: [a, b], positive: b}\nbasis: {kind: pca, dim: %d}\nmax_rows: %d\n",
		strings.Join(names, ", "), uploadDim, max(1000, uploadRows(size)))
}

func uploadRows(size int64) int { return int(size / 8 / uploadDim) }

func (s *uploadStudy) party(i int) string { return filepath.Join(s.dir, fmt.Sprintf("party-%d", i+1)) }

func (s *uploadStudy) analyst() string { return filepath.Join(s.dir, "analyst") }

// setUp brings the study to where the first party has prepared a small contribution.
func (s *uploadStudy) setUp(ctx context.Context, size int64) error {
	if err := os.WriteFile(filepath.Join(s.dir, "study.yaml"), []byte(uploadYAML(size)), 0o600); err != nil {
		return err
	}
	data := filepath.Join(s.dir, "rows.csv")
	if err := os.WriteFile(data, []byte(uploadCSV()), 0o600); err != nil {
		return err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	address := ln.Addr().String()
	if err := ln.Close(); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"init", "--name", "Analyst", "--address", address, "--listen", address},
		{"study", "create", filepath.Join(s.dir, "study.yaml")},
	} {
		if _, err := s.run(ctx, s.programs.Concordd, append([]string{"--dir", s.analyst()}, args...)...); err != nil {
			return err
		}
	}
	if err := s.startServer(); err != nil {
		return err
	}
	for i := range 2 {
		invite, err := s.run(ctx, s.programs.Concordd, "--dir", s.analyst(), "invite", "--admit", "--for", fmt.Sprintf("Party %d", i+1))
		if err != nil {
			return err
		}
		line := ""
		for word := range strings.FieldsSeq(invite.text) {
			if strings.HasPrefix(word, "concord-invite/") {
				line = word
			}
		}
		if _, err := s.concord(ctx, i, "join", line, "--name", fmt.Sprintf("Party %d", i+1)); err != nil {
			return err
		}
	}
	for i := range 2 {
		roster, err := s.concord(ctx, i, "roster")
		if err != nil && !errors.Is(err, errWaiting) {
			return err
		}
		_, phrase, _ := strings.Cut(roster.text, "phrase: ")
		phrase, _, _ = strings.Cut(phrase, "\n")
		if _, err := s.concord(ctx, i, "roster", "confirm", "--phrase", strings.TrimSpace(phrase)); err != nil && !errors.Is(err, errWaiting) {
			return err
		}
	}
	for _, i := range []int{0, 1, 0} { // the first time the other's share is not there
		if _, err := s.concord(ctx, i, "sync"); err != nil && !errors.Is(err, errWaiting) {
			return err
		}
	}
	if _, err := s.concord(ctx, 0, "prepare", data); err != nil {
		return err
	}
	return nil
}

// uploadCSV is a small table of the study.
func uploadCSV() string {
	rnd := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for i := range uploadFeatures {
		fmt.Fprintf(&b, "f%d,", i)
	}
	b.WriteString("y\n")
	for i := range 400 {
		for range uploadFeatures {
			fmt.Fprintf(&b, "%.4f,", rnd.NormFloat64())
		}
		b.WriteString([]string{"a\n", "b\n"}[i%2])
	}
	return b.String()
}

// plant puts rows at random in the place of those that were prepared, as prepare would
// have left them, and returns their manifest's hash.
func (s *uploadStudy) plant(size int64) (string, error) {
	at := &site.Site{Dir: s.party(0)}
	id, err := at.Identity()
	if err != nil {
		return "", err
	}
	leaves := func(name string) string { return at.Leaves(bundle.KindContribution, name) }
	b, err := os.ReadFile(leaves("manifest.json"))
	if err != nil {
		return "", err
	}
	m, err := bundle.DecodeManifest(b)
	if err != nil {
		return "", err
	}
	if err := os.Remove(leaves("X.npy")); err != nil {
		return "", err
	}
	rows, block := uploadRows(size), (1<<30)/8/uploadDim
	var members []bundle.Source
	add := func(name string, fill func(io.Writer) error) error {
		members = append(members, bundle.FromFile(name, leaves(name)))
		return writeBuffered(leaves(name), fill)
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	for first := 0; first < rows; first += block {
		name := fmt.Sprintf("X.%04d.npy", first/block)
		if rows <= block {
			name = "X.npy"
		}
		if err := add(name, func(w io.Writer) error { return drawn(w, min(block, rows-first), rnd) }); err != nil {
			return "", err
		}
	}
	members = append(members, bundle.FromFile("A.npy", leaves("A.npy")))
	labels := make([]int64, rows)
	for i := range labels {
		labels[i] = int64(i % 2)
	}
	if err := add("Y.npy", func(w io.Writer) error { return npy.WriteInts(w, labels) }); err != nil {
		return "", err
	}
	if m, err = bundle.Describe(bundle.Draft{Header: m.Header, Anchor: m.Anchor, Members: members}); err != nil {
		return "", err
	}
	if err := os.WriteFile(leaves("manifest.json"), m.Encode(), 0o600); err != nil {
		return "", err
	}
	return m.Hash().String(), vouch(at, id, m)
}

// vouch signs that report and source belong to the manifest (docs/formats.md).
func vouch(at *site.Site, id *identity.Identity, m *bundle.Manifest) error {
	path := at.Stays(bundle.KindContribution, "prepared.json")
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var word struct {
		Manifest  wire.Hash `json:"manifest"`
		Report    wire.Hash `json:"report"`
		Source    wire.Hash `json:"source"`
		Signature []byte    `json:"signature,omitempty"`
	}
	if err := json.Unmarshal(b, &word); err != nil {
		return err
	}
	word.Manifest, word.Signature = m.Hash(), nil
	if b, err = json.Marshal(word); err != nil {
		return err
	}
	word.Signature = wire.Sign(id.SigningKey(), "prepared", b)
	if b, err = json.Marshal(word); err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o600)
}

func writeBuffered(path string, fill func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	return errors.Join(fill(w), w.Flush(), f.Sync(), f.Close())
}

// drawn writes a matrix of that many rows at random.
func drawn(w io.Writer, rows int, rnd *rand.Rand) error {
	if err := npy.WriteHeader(w, rows, uploadDim); err != nil {
		return err
	}
	row := make([]byte, 0, 8*uploadDim)
	for range rows {
		row = row[:0]
		for range uploadDim {
			row = binary.LittleEndian.AppendUint64(row, math.Float64bits(rnd.Float64()-0.5))
		}
		if _, err := w.Write(row); err != nil {
			return err
		}
	}
	return nil
}

// ran is how a command ended.
type ran struct {
	text string // what it printed
	took time.Duration
	rss  int64
}

// errWaiting says that a command waits for others.
var errWaiting = errors.New("others are awaited")

func (s *uploadStudy) concord(ctx context.Context, party int, args ...string) (ran, error) {
	return s.run(ctx, s.programs.Concord, append([]string{"--dir", s.party(party)}, args...)...)
}

func (s *uploadStudy) run(ctx context.Context, program string, args ...string) (ran, error) {
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(append(os.Environ(), s.programs.Env...), "CONCORD_LEDGER="+filepath.Join(s.dir, "ledger"))
	cmd.Stdout, cmd.Stderr = &out, &out
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return ran{}, err
	}
	p := watchPeak(cmd.Process.Pid)
	err := cmd.Wait()
	r := ran{out.String(), time.Since(began), p.end()}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() == 3:
		return r, fmt.Errorf("%s %s: %w: %s", filepath.Base(program), strings.Join(args, " "), errWaiting, out.String())
	case err != nil:
		return r, fmt.Errorf("%s %s: %w: %s", filepath.Base(program), strings.Join(args, " "), err, out.String())
	}
	return r, nil
}

func (s *uploadStudy) startServer() error {
	cmd := exec.Command(s.programs.Concordd, "--dir", s.analyst(), "serve")
	cmd.Env = append(os.Environ(), s.programs.Env...)
	log, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	s.server, s.peak = cmd, watchPeak(cmd.Process.Pid)
	s.log = &serverLog{serving: make(chan struct{})}
	go s.log.read(log)
	select {
	case <-s.log.serving:
		return nil
	case <-time.After(time.Minute):
		return errors.New("concordd serve does not serve after a minute")
	}
}

// serverLog remembers when the server said what of the last contribution.
type serverLog struct {
	serving chan struct{}
	mu      sync.Mutex
	at      map[string]time.Time
}

func (l *serverLog) read(r io.Reader) {
	for lines := bufio.NewScanner(r); lines.Scan(); {
		var at time.Time
		var said string
		for word := range strings.FieldsSeq(lines.Text()) {
			if stamp, ok := strings.CutPrefix(word, "time="); ok {
				at, _ = time.Parse(time.RFC3339Nano, stamp)
			} else if msg, ok := strings.CutPrefix(word, "msg="); ok {
				said = msg
			}
		}
		l.mu.Lock()
		if _, again := l.at[said]; said == "serving" && !again {
			l.at = map[string]time.Time{}
			close(l.serving)
		}
		if l.at != nil {
			l.at[said] = at
		}
		l.mu.Unlock()
	}
}

// times are when the contribution was announced, was whole on the disk, and stored.
func (l *serverLog) times() (begun, arrived, stored time.Time, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	begun, arrived, stored = l.at["upload"], l.at["arrived"], l.at["stored"]
	if begun.IsZero() || arrived.IsZero() || stored.IsZero() {
		err = errors.New("the server's log does not tell of an upload: is concordd of another version, or the contribution so small that it goes in one request?")
	}
	return begun, arrived, stored, err
}

func (s *uploadStudy) stopServer() {
	if s.server == nil {
		return
	}
	s.server.Process.Signal(syscall.SIGTERM)
	s.server.Wait() // how it ended does not matter
	s.peak.end()
	s.server = nil
}

func (s *uploadStudy) serverRSS() int64 { return s.peak.so() }

// curl sends a file with curl -T to a plain file server and returns how long it took.
func (s *uploadStudy) curl(ctx context.Context, path string) (time.Duration, error) {
	target := filepath.Join(s.dir, "curl.received")
	defer os.Remove(target)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, err := os.Create(target)
		if err == nil {
			_, err = io.Copy(f, r.Body)
			err = errors.Join(err, f.Sync(), f.Close())
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ln) }()
	defer func() {
		srv.Close()
		<-done
	}()
	cmd := exec.CommandContext(ctx, "curl", "--silent", "--show-error", "--fail", "--noproxy", "*", "-T", path, "http://"+ln.Addr().String()+"/bundle")
	began := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("curl -T: %w: %s", err, out)
	}
	return time.Since(began), nil
}
