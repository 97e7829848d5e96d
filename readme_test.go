package concord

import (
	"os"
	"strings"
	"testing"
)

// TestReadmeSession: every command of the README's sessions stands, with the same
// words in the same order, in the script that runs it.
func TestReadmeSession(t *testing.T) {
	t.Run("by hand", func(t *testing.T) { readmeSession(t, "The same by hand", "readme.txt", 15) })
	t.Run("own tables", func(t *testing.T) { readmeSession(t, "Your own tables", "own-tables.txt", 15) })
}

// readmeSession compares a section, of so many commands at least, with its script.
func readmeSession(t *testing.T, title, file string, least int) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("testdata/sessions/" + file)
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(readme), "## "+title)
	if !ok {
		t.Fatalf("README.md has no section %q", title)
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
			t.Errorf("testdata/sessions/%s does not run %q, or not in this order", file, command)
			continue
		}
		rest = after
	}
	if commands < least {
		t.Errorf("found only %d commands in the README's section %q", commands, title)
	}
}
