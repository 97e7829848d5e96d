package concordd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"concord/internal/cli"
)

func TestOpsAddress(t *testing.T) {
	for in, want := range map[string]string{
		"9464": "127.0.0.1:9464", ":9464": "127.0.0.1:9464", "0.0.0.0:9464": "0.0.0.0:9464", "[::1]:9464": "[::1]:9464", "ops.example:1": "ops.example:1", ":0": "127.0.0.1:0",
		"": "", "x": "", "host:": "", "1:2:3": "", ":70000": "",
	} {
		got, err := opsAddress(in)
		var usage *cli.UsageError
		if want == "" && !errors.As(err, &usage) || want != "" && (err != nil || got != want) {
			t.Errorf("opsAddress(%q) = %q, %v; want %q", in, got, err, want)
		}
	}
}

// lines is a log that another goroutine writes.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestServeWithOps: serve answers the operator on loopback, logs in JSON, and keeps
// the limits of config.json.
func TestServeWithOps(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "analyst")
	run := func(ctx context.Context, stderr io.Writer, args ...string) int {
		return Run(ctx, append([]string{"--dir", dir}, args...), strings.NewReader(""), io.Discard, stderr)
	}
	var out bytes.Buffer
	if status := run(t.Context(), &out, "init", "--name", "Office", "--address", "127.0.0.1:1"); status != 0 {
		t.Fatalf("init: %d %s", status, &out)
	}
	f := &folder{dir}
	cfg, err := f.config()
	if err != nil {
		t.Fatal(err)
	}
	cfg.Limits.ReserveBytes = 1 << 59 // more than any disk has
	if err := f.putConfig(cfg); err != nil {
		t.Fatal(err)
	}
	if status := run(t.Context(), &out, "serve", "--log-format", "xml"); status != cli.StatusUsage {
		t.Errorf("serve --log-format xml: status %d", status)
	}
	log := new(lines)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan int, 1)
	go func() {
		done <- run(ctx, log, "serve", "--listen", "127.0.0.1:0", "--ops", "0", "--log-format", "json")
	}()
	address := ""
	for deadline := time.Now().Add(30 * time.Second); address == "" && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if m := regexp.MustCompile(`"answering the operator","address":"([^"]+)"`).FindStringSubmatch(log.String()); m != nil {
			address = m[1]
		}
	}
	if host, _, err := net.SplitHostPort(address); err != nil || host != "127.0.0.1" {
		t.Fatalf("the operator is answered at %q\n%s", address, log)
	}
	for path, want := range map[string]int{"/livez": 200, "/readyz": 503, "/metrics": 200, "/": 404} {
		resp, err := http.Get("http://" + address + path)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != want {
			t.Errorf("%s: %s %s, want %d", path, resp.Status, b, want)
		}
		if path == "/readyz" && !strings.Contains(string(b), "reserve") {
			t.Errorf("/readyz says %s, want that the disk has less than the reserve", b)
		}
	}
	cancel()
	if status := <-done; status != 0 {
		t.Errorf("serve ends with status %d", status)
	}
	for line := range strings.Lines(log.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("a line of the log is no JSON: %s", line)
		}
	}
	cfg.Limits.ReserveBytes = -1
	if err := f.putConfig(cfg); err != nil {
		t.Fatal(err)
	}
	if status := run(t.Context(), &out, "serve"); status != cli.StatusFailed || !strings.Contains(out.String(), "limits.reserve_bytes is -1") {
		t.Errorf("a negative limit: status %d, %s", status, &out)
	}
}
