package upload

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"concord/test/chaos"
)

// play is a study of two parties, of whom the first sends a contribution of
// any size.
type play struct {
	programs chaos.Programs
	dir      string
	say      func(format string, args ...any)
	server   *exec.Cmd
	log      *serverLog
	peak     *peak // of the server
}

const (
	dim      = 32
	features = 40
)

// contract has room for as many rows as a contribution of that size has.
func contract(size int64) string {
	var names []string
	for i := range features {
		names = append(names, fmt.Sprintf("f%d", i))
	}
	return fmt.Sprintf("name: Upload\nparties: 2\nfeatures: [%s]\nlabel: {name: y, levels: [a, b], positive: b}\nbasis: {kind: pca, dim: %d}\nmax_rows: %d\n",
		strings.Join(names, ", "), dim, max(1000, rowsOf(size)))
}

func rowsOf(size int64) int { return int(size / 8 / dim) }

func (s *play) party(i int) string { return filepath.Join(s.dir, fmt.Sprintf("party-%d", i+1)) }

func (s *play) analyst() string { return filepath.Join(s.dir, "analyst") }

// setUp brings the study to where the first party has prepared a small contribution.
func (s *play) setUp(ctx context.Context, size int64) error {
	if err := os.WriteFile(filepath.Join(s.dir, "study.yaml"), []byte(contract(size)), 0o600); err != nil {
		return err
	}
	data := filepath.Join(s.dir, "rows.csv")
	if err := os.WriteFile(data, []byte(table()), 0o600); err != nil {
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

// table is a small table of the study.
func table() string {
	rnd := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for i := range features {
		fmt.Fprintf(&b, "f%d,", i)
	}
	b.WriteString("y\n")
	for i := range 400 {
		for range features {
			fmt.Fprintf(&b, "%.4f,", rnd.NormFloat64())
		}
		b.WriteString([]string{"a\n", "b\n"}[i%2])
	}
	return b.String()
}

// ran is how a command ended.
type ran struct {
	text string // what it printed
	took time.Duration
	rss  int64
}

// errWaiting says that a command waits for others.
var errWaiting = errors.New("others are awaited")

func (s *play) concord(ctx context.Context, party int, args ...string) (ran, error) {
	return s.run(ctx, s.programs.Concord, append([]string{"--dir", s.party(party)}, args...)...)
}

func (s *play) run(ctx context.Context, program string, args ...string) (ran, error) {
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
