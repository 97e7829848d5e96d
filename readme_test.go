package concord

import (
	"os"
	"strings"
	"testing"
)

// TestReadmeSession: every command of the README's session by hand stands, with
// the same words in the same order, in the script that runs it.
func TestReadmeSession(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("testdata/sessions/readme.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(readme), "## The same by hand")
	if !ok {
		t.Fatal("README.md has no section \"The same by hand\"")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	rest := string(script)
	commands := 0
	for line := range strings.Lines(section) {
		if !strings.HasPrefix(line, "    concord") {
			continue
		}
		commands++
		command := strings.TrimSpace(line)
		_, after, found := strings.Cut(rest, "# $ "+command+"\n")
		if !found {
			t.Errorf("testdata/sessions/readme.txt does not run %q, or not in this order", command)
			continue
		}
		rest = after
	}
	if commands < 15 {
		t.Errorf("found only %d commands in the README's session", commands)
	}
}
