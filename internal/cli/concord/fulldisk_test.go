//go:build unix

package concord_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"concord/internal/cli/concord"
	"concord/member"
	"concord/wire"
)

// crampedBytes names the variable with the room that a command of TestCrampedProcess has.
const crampedBytes = "CONCORD_TEST_CRAMPED_BYTES"

// TestCrampedProcess is not a test: [office.cramped] runs it as a process of its own, in
// which no file grows beyond some bytes. The command's arguments follow --.
func TestCrampedProcess(t *testing.T) {
	room, err := strconv.ParseUint(os.Getenv(crampedBytes), 10, 63)
	if err != nil {
		return
	}
	signal.Ignore(syscall.SIGXFSZ) // the write fails instead
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: room, Max: room}); err != nil {
		fmt.Println(err)
		os.Exit(99)
	}
	args := os.Args
	for len(args) > 0 && args[0] != "--" {
		args = args[1:]
	}
	os.Exit(concord.Run(t.Context(), args[1:], strings.NewReader(""), os.Stdout, os.Stdout))
}

// cramped runs a command of a clinic's program on a disk that has room for files of some
// bytes.
func (o *office) cramped(room int, name string, args ...string) (status int, out string) {
	o.t.Helper()
	cmd := exec.CommandContext(o.t.Context(), os.Args[0], append([]string{"-test.run=^TestCrampedProcess$", "--", "--dir", o.site(name)}, args...)...)
	cmd.Env = append(os.Environ(), crampedBytes+"="+strconv.Itoa(room))
	b, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		o.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(b)
}

// TestFullDisk plays a study in which one site's disk is full at every step. Each command
// fails and says so, damages nothing that was there, and does its work when there is room.
func TestFullDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("plays a study with a process for every command")
	}
	o := newOffice(t)
	data := filepath.Join(t.TempDir(), "data.csv")
	var rows bytes.Buffer
	rows.WriteString("a,b,y\n")
	for i := range 24 {
		fmt.Fprintf(&rows, "%d.5,%d,%d\n", i%7, (i*i)%11, (5*i)%13)
	}
	if err := os.WriteFile(data, rows.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	failed := 0
	step := func(name string, want int, args ...string) {
		t.Helper()
		for _, room := range []int{0, 60, 500, 3000} {
			if name != "North" {
				break
			}
			status, out := o.cramped(room, name, args...)
			if status == want {
				return // so much is enough
			}
			if status != 1 || !strings.Contains(out, "concord: error: ") || !strings.Contains(out, "file too large") {
				t.Errorf("files of %d bytes: concord %s: status %d, want an error that says why:\n%s", room, strings.Join(args, " "), status, out)
			}
			failed++
		}
		if status, out := o.concord(name, args...); status != want {
			t.Fatalf("with room again: concord %s: status %d, want %d:\n%s", strings.Join(args, " "), status, want, out)
		}
	}
	for _, name := range clinics {
		invite := member.NewInvite(o.front.Listener.Addr().String(), o.study, o.id.Statement.Fingerprint())
		if err := o.store.AddInvite(t.Context(), o.study, wire.HashOf(invite.Secret.Reveal()), name); err != nil {
			t.Fatal(err)
		}
		step(name, 0, "join", invite.Line(), "--name", name)
	}
	phrase := o.phrase("North")
	for _, name := range clinics {
		step(name, 0, "roster", "confirm", "--phrase", phrase)
	}
	for _, name := range []string{"East", "West"} {
		o.concord(name, "sync")
	}
	step("North", 0, "sync")
	for _, name := range []string{"East", "West"} {
		step(name, 0, "sync")
	}
	for _, name := range clinics {
		step(name, 0, "prepare", data)
		manifest, err := os.ReadFile(filepath.Join(o.site(name), "contribution", "leaves", "manifest.json"))
		if err != nil {
			t.Fatal(err)
		}
		step(name, 0, "approve", wire.HashOf(manifest).String())
		step(name, 0, "send")
	}
	if err := o.server.RunDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	step("North", 0, "receive")
	step("North", 0, "audit", "verify")
	if failed < 10 {
		t.Errorf("%d commands had too little room: the test sees too little", failed)
	}
	left, err := filepath.Glob(filepath.Join(o.site("North"), "*.partial-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("unfinished files are left: %v (%v)", left, err)
	}
}
