package upload

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

func (s *play) startServer() error {
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

func (s *play) stopServer() {
	if s.server == nil {
		return
	}
	s.server.Process.Signal(syscall.SIGTERM)
	s.server.Wait() // how it ended does not matter
	s.peak.end()
	s.server = nil
}

func (s *play) serverRSS() int64 { return s.peak.so() }

// curl sends a file with curl -T to a plain file server and returns how long it took.
func (s *play) curl(ctx context.Context, path string) (time.Duration, error) {
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
