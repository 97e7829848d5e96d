package chaos_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"concord/internal/chaos"
	"concord/internal/cli"
	"concord/internal/cli/concord"
	"concord/internal/cli/concordd"
)

// TestMain lets the test be the two programs, in processes of their own.
func TestMain(m *testing.M) {
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
func programs(t *testing.T) chaos.Programs {
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
	p, err := chaos.In(dir)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// all makes sure that every result is, bit for bit, what the contributions give.
func all(t *testing.T, r *chaos.Report, n int) {
	t.Helper()
	if r.Hits < n {
		t.Errorf("there were %d hits, must be %d", r.Hits, n)
	}
	if r.Results != r.Of || r.Models != r.Of {
		t.Errorf("%d results and %d models of %d are what the contributions give", r.Results, r.Models, r.Of)
	}
	t.Logf("%+v", *r)
}

// TestKills: kill -9 of server and parties at random moments loses nothing.
func TestKills(t *testing.T) {
	t.Parallel()
	r, err := chaos.Kills(t.Context(), chaos.Options{Programs: programs(t), N: 12, Protocols: []string{"dc", "nri"}, Seed: 1, Dir: t.TempDir(), Say: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	all(t, r, 12)
}

// TestCuts: a power cut in any operation on any disk, with whatever is left of what was
// not flushed, loses nothing that was acknowledged.
func TestCuts(t *testing.T) {
	t.Parallel()
	r, err := chaos.Cuts(t.Context(), chaos.Options{Programs: programs(t), N: 12, Protocols: []string{"dc", "nri"}, Seed: 1, Dir: t.TempDir(), Say: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	all(t, r, 12)
}

// TestPooled: the same where the parties pool figures by masked sums: nobody's second message
// differs from the first, and all have the same sums.
func TestPooled(t *testing.T) {
	t.Parallel()
	opt := chaos.Options{Programs: programs(t), N: 10, Protocols: []string{"pool"}, Seed: 1, Say: t.Logf}
	for name, play := range map[string]func(context.Context, chaos.Options) (*chaos.Report, error){"kills": chaos.Kills, "cuts": chaos.Cuts} {
		t.Run(name, func(t *testing.T) {
			opt := opt
			opt.Dir = t.TempDir()
			r, err := play(t.Context(), opt)
			if err != nil {
				t.Fatal(err)
			}
			all(t, r, 10)
		})
	}
}

// TestFiles: power cuts where parties change between the network and files as it comes.
func TestFiles(t *testing.T) {
	r, err := chaos.Cuts(t.Context(), chaos.Options{Programs: programs(t), N: 8, Protocols: []string{"nri"}, Seed: 3, Dir: t.TempDir(), Files: true, Say: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	all(t, r, 8)
}

// TestLyingDisk: on disks that acknowledge flushes and keep nothing of them the same run
// must fail: what it looks for, it finds.
func TestLyingDisk(t *testing.T) {
	t.Parallel()
	_, err := chaos.Cuts(t.Context(), chaos.Options{Programs: programs(t), N: 40, Protocols: []string{"dc"}, Seed: 1, Dir: t.TempDir(), Lies: true, Say: t.Logf})
	if err == nil {
		t.Fatal("a study was played to its end on disks that keep nothing, and no check noticed")
	}
	t.Log(err)
}

// TestTrainings: aligning and training that a kill interrupts is done again, with the
// same result.
func TestTrainings(t *testing.T) {
	t.Parallel()
	r, err := chaos.Trainings(t.Context(), chaos.Options{Programs: programs(t), N: 3, Protocols: []string{"dc"}, Seed: 1, Dir: t.TempDir(), Say: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	all(t, r, 1)
}

// TestLink: a study completes over a line that delays, slows down, stalls, breaks and
// goes down.
func TestLink(t *testing.T) {
	t.Parallel()
	r, err := chaos.Links(t.Context(), chaos.Options{Programs: programs(t), N: 1, Protocols: []string{"dc"}, Seed: 1, Dir: t.TempDir(), Say: t.Logf}, false)
	if err != nil {
		t.Fatal(err)
	}
	all(t, r, 1)
}

// TestNamespaces: the same with the server in one network namespace, the parties in
// another, and a cable between them that is pulled.
func TestNamespaces(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Log("network namespaces are on Linux only; TestLink has the same line without them")
		return
	}
	r, err := chaos.Links(t.Context(), chaos.Options{Programs: programs(t), N: 1, Protocols: []string{"nri"}, Seed: 2, Dir: t.TempDir(), Say: t.Logf}, true)
	if err != nil {
		t.Fatal(err)
	}
	all(t, r, 1)
}

// TestRequests: malformed requests of every kind leave the server serving, its memory
// where it was, and a line in its log for each kind; the study around them goes on.
func TestRequests(t *testing.T) {
	t.Parallel()
	a, err := chaos.Requests(t.Context(), chaos.Options{Programs: programs(t), N: 600, Seed: 1, Dir: t.TempDir(), Say: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	if a.Requests < 600 || len(a.Of) < 20 {
		t.Errorf("%d requests of %d kinds were sent", a.Requests, len(a.Of))
	}
	t.Logf("%+v", *a)
}
