package contract

import (
	"errors"
	"strings"
	"testing"
)

func TestBlanks(t *testing.T) {
	_, err := ParseYAML([]byte("name: FILL IN  # a name\nparties: 3\nfeatures:\n  - {name: age, range: FILL IN}\n  - b\nlabel:\n  name: y\n  levels: FILL IN\n"))
	if err == nil {
		t.Fatal("a file with blanks was taken")
	}
	want := "contract: study.yaml: FILL IN still stands in name (line 1), features[1].range (line 4), label.levels (line 8)"
	if err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
	var hinted interface{ Hint() string }
	if !errors.As(err, &hinted) || !strings.Contains(hinted.Hint(), "range: [0, 120]") {
		t.Errorf("no cure with it: %v", err)
	}
	// In quotation marks it is a name like any other.
	if _, err := ParseYAML([]byte("name: \"FILL IN\"\nparties: 3\nfeatures: [a, b]\nlabel: {name: y}\n")); err != nil {
		t.Errorf("a quoted name: %v", err)
	}
	many := "name: x\nparties: 3\nfeatures:\n" + strings.Repeat("  - FILL IN\n", 25)
	if _, err := ParseYAML([]byte(many)); err == nil || !strings.Contains(err.Error(), "features[20] (line 23), and 5 more") {
		t.Errorf("25 blanks: %v", err)
	}
}
