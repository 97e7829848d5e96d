package chaos

import (
	"context"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"concord/internal/cli"
	"concord/internal/cli/concord"
	"concord/internal/cli/concordd"
	"concord/linalg"
)

// TestMain lets the test be the two programs, in processes of their own.
func TestMain(m *testing.M) {
	linalg.UseBest()
	switch filepath.Base(os.Args[0]) {
	case "concord":
		cli.Main(concord.Run)
	case "concordd":
		cli.Main(func(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
			return concordd.Run(ctx, args, stdin, stdout, stderr)
		})
	}
	os.Exit(m.Run())
}

// programs are the test itself, under two names.
func programs(t *testing.T) Programs {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"concord", "concordd"} {
		if err := os.Symlink(self, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	p, err := In(dir)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// options are those of a test: a fixed seed, or with CONCORD_RANDOM_TESTS another each time.
func options(t *testing.T, n int, protocols ...string) Options {
	t.Helper()
	opt := Options{Programs: programs(t), N: n, Protocols: protocols, Seed: 1, Dir: t.TempDir(), Say: t.Logf}
	if os.Getenv("CONCORD_RANDOM_TESTS") != "" {
		opt.Seed = rand.Uint64()
		t.Logf("seed %d", opt.Seed)
	}
	return opt
}

// all makes sure that there were n hits and that every result is, bit for bit, what the
// contributions give.
func all(t *testing.T, r *Report, n int) {
	t.Helper()
	if r.Hits < n {
		t.Errorf("there were %d hits, must be %d", r.Hits, n)
	}
	if r.Of < 3 || r.Results != r.Of || r.Models != r.Of {
		t.Errorf("%d results and %d models of %d are what the contributions give, 3 or 4 a study", r.Results, r.Models, r.Of)
	}
	t.Logf("%+v", *r)
}
