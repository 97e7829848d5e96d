package concord

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/rogpeppe/go-internal/testscript"

	"concord/identity"
	"concord/internal/cli"
	"concord/internal/cli/concord"
	"concord/internal/cli/concordd"
	"concord/internal/cli/lab"
	"concord/internal/dossier"
	"concord/internal/freeport"
	"concord/linalg"
	"concord/secret"
)

// TestMain lets the scripts in testdata/sessions run the three programs as
// processes of their own.
func TestMain(m *testing.M) {
	linalg.UseBest()
	program := func(run func(context.Context, []string, io.Reader, io.Writer, io.Writer) int) func() {
		return func() { cli.Main(run) }
	}
	testscript.Main(m, map[string]func(){
		"concord":     program(concord.Run),
		"concord-lab": program(lab.Run),
		"concordd": program(func(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
			return concordd.Run(ctx, args, stdin, stdout, stderr)
		}),
	})
}

// TestSessions runs whole studies as people type them. A script is a session:
// read it as documentation.
func TestSessions(t *testing.T) {
	if testing.Short() {
		t.Skip("whole studies: a minute and a half")
	}
	examples, err := filepath.Abs("examples")
	if err != nil {
		t.Fatal(err)
	}
	older, err := filepath.Abs("testdata/older")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/sessions",
		Setup: func(env *testscript.Env) error {
			env.Setenv("EXAMPLES", examples)
			env.Setenv("OLDER", older)
			env.Setenv("PYTHON", python())
			// Under the race detector every process would rest for a second at its end.
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			// How the machine wants its BLAS used holds for sessions too.
			for _, v := range os.Environ() {
				if name, value, _ := strings.Cut(v, "="); strings.HasPrefix(name, "OPENBLAS_") || strings.HasPrefix(name, "CONCORD_BLAS") {
					env.Setenv(name, value)
				}
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"freeport": freePort,
			"until":    until,
			"reach":    reach,
			"status":   status,
			"invite":   invite,
			"output":   output,
			"phrase":   phrase,
			"typed":    typed,
			"forge":    forge,
			"proxy":    proxy,
		},
	})
}

func python() string {
	if p := os.Getenv("PYTHON"); p != "" {
		return p
	}
	return "/usr/bin/python3"
}

// freePort NAME puts a free address on loopback into $NAME, which stays this session's.
func freePort(ts *testscript.TestScript, _ bool, args []string) {
	address, release, err := freeport.Reserve()
	ts.Check(err)
	ts.Defer(release)
	ts.Setenv(args[0], address)
}

// run runs a command of the script and returns its output and exit status.
func run(ts *testscript.TestScript, args []string) (stdout, stderr string, code int) {
	err := ts.Exec(args[0], args[1:]...)
	stdout, stderr = ts.ReadFile("stdout"), ts.ReadFile("stderr")
	if err == nil {
		return stdout, stderr, 0
	}
	var exit *exec.ExitError
	if !asExit(err, &exit) {
		ts.Fatalf("%v: %v", args, err)
	}
	return stdout, stderr, exit.ExitCode()
}

func asExit(err error, exit **exec.ExitError) bool {
	e, ok := err.(*exec.ExitError)
	*exit = e
	return ok
}

// until COMMAND... repeats a command while it waits for others (exit status 3)
// or cannot reach the server yet, and fails unless it succeeds in a minute. What all
// tries printed is in tries.txt, what the last did in stdout.
func until(ts *testscript.TestScript, _ bool, args []string) {
	var tries strings.Builder
	for begun := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		stdout, stderr, code := run(ts, args)
		tries.WriteString(stdout)
		ts.Check(os.WriteFile(ts.MkAbs("tries.txt"), []byte(tries.String()), 0o600))
		if code == 0 {
			return
		}
		if code != cli.StatusWaiting && !strings.Contains(stderr, "does not answer") {
			ts.Fatalf("%v: exit status %d", args, code)
		}
		if time.Since(begun) > time.Minute {
			ts.Fatalf("%v: still waiting after a minute", args)
		}
	}
}

// reach N COMMAND... repeats a command while it cannot reach the server, for a
// minute, and checks its exit status then.
func reach(ts *testscript.TestScript, _ bool, args []string) {
	for begun := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		_, stderr, code := run(ts, args[1:])
		switch {
		case fmt.Sprint(code) == args[0]:
			return
		case !strings.Contains(stderr, "does not answer"):
			ts.Fatalf("%v: exit status %d, want %s", args[1:], code, args[0])
		case time.Since(begun) > time.Minute:
			ts.Fatalf("%v: no answer after a minute", args)
		}
	}
}

// status N COMMAND... checks a command's exit status.
func status(ts *testscript.TestScript, _ bool, args []string) {
	_, _, code := run(ts, args[1:])
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("%v: exit status %d, want %s", args[1:], code, args[0])
	}
}

// invite NAME ARGS... puts the line that concordd invite prints into $NAME.
func invite(ts *testscript.TestScript, _ bool, args []string) {
	stdout, _, code := run(ts, append([]string{"concordd", "invite"}, args[1:]...))
	if code != 0 {
		ts.Fatalf("concordd invite: exit status %d", code)
	}
	ts.Setenv(args[0], strings.TrimSpace(stdout))
}

// output NAME COMMAND... puts what a command prints into $NAME.
func output(ts *testscript.TestScript, _ bool, args []string) {
	stdout, _, code := run(ts, args[1:])
	if code != 0 {
		ts.Fatalf("%v: exit status %d", args[1:], code)
	}
	ts.Setenv(args[0], strings.TrimSpace(stdout))
}

// phrase NAME ARGS... puts the phrase that concord roster prints into $NAME.
func phrase(ts *testscript.TestScript, _ bool, args []string) {
	stdout, _, code := run(ts, append([]string{"concord", "roster"}, args[1:]...))
	if code != 0 {
		ts.Fatalf("concord roster: exit status %d", code)
	}
	for line := range strings.Lines(stdout) {
		if words, ok := strings.CutPrefix(line, "phrase: "); ok {
			ts.Setenv(args[0], strings.TrimSpace(words))
			return
		}
	}
	ts.Fatalf("concord roster printed no phrase")
}

// typed TEXT writes TEXT and a line feed to typed.txt, for stdin typed.txt.
func typed(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(os.WriteFile(ts.MkAbs("typed.txt"), []byte(strings.Join(args, " ")+"\n"), 0o600))
}

// forge HOW MEMBERS FROM TO writes an export anew as the analyst of this session would
// who cheats: it drops, edits or cuts the first member whose name begins with MEMBERS,
// or exchanges the first two, and signs that.
func forge(ts *testscript.TestScript, _ bool, args []string) {
	readIdentity := func(dir string) *identity.Identity {
		b, err := os.ReadFile(ts.MkAbs(dir + "/identity.secret"))
		ts.Check(err)
		id, err := identity.Decode(secret.NewBytes(b))
		ts.Check(err)
		return id
	}
	analyst, auditor := readIdentity("concord-analyst"), readIdentity("auditor")
	b, err := os.ReadFile(ts.MkAbs(args[2]))
	ts.Check(err)
	d, err := dossier.Open(bytes.NewReader(b), int64(len(b)), auditor.AgeIdentity())
	ts.Check(err)
	names, contents := []string{}, map[string][]byte{}
	var hit []string
	for _, f := range d.Index.Files {
		names = append(names, f.Name)
		contents[f.Name], err = d.Bytes(f.Name, 1<<30)
		ts.Check(err)
		if strings.HasPrefix(f.Name, args[1]) {
			hit = append(hit, f.Name)
		}
	}
	switch first := hit[0]; args[0] {
	case "drop":
		names = slices.DeleteFunc(names, func(name string) bool { return name == first })
	case "edit":
		contents[first][len(contents[first])/2] ^= 1
	case "cut":
		lines := bytes.SplitAfter(contents[first], []byte("\n"))
		contents[first] = bytes.Join(lines[:len(lines)/2], nil)
	case "exchange":
		contents[first], contents[hit[1]] = contents[hit[1]], contents[first]
	default:
		ts.Fatalf("forge %s is not known", args[0])
	}
	to, err := age.ParseHybridRecipient(auditor.Statement.Recipient)
	ts.Check(err)
	var out bytes.Buffer
	w, err := dossier.NewWriter(&out, to)
	ts.Check(err)
	for _, name := range names {
		ts.Check(w.AddBytes(name, contents[name]))
	}
	ts.Check(w.Close(d.Index, analyst))
	ts.Check(os.WriteFile(ts.MkAbs(args[3]), out.Bytes(), 0o600))
}
