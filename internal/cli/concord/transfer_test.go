package concord

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestTransfer: a long transfer shows itself twice a minute where there is no
// terminal, as one line that is wiped where there is one, and a short one not at all.
func TestTransfer(t *testing.T) {
	for _, terminal := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var out strings.Builder
			tr := &transfer{w: &out, terminal: terminal}
			for done := range int64(100) {
				tr.show("sent", done<<20, 100<<20)
				time.Sleep(time.Second)
			}
			tr.show("sent", 100<<20, 100<<20)
			if terminal {
				if !strings.HasSuffix(out.String(), " \r") || strings.Contains(out.String(), "\n") || strings.Count(out.String(), "MB") < 90 {
					t.Errorf("on a terminal: %q", out.String())
				}
			} else if n := strings.Count(out.String(), "\n"); n != 3 || !strings.Contains(out.String(), "sent 30 of 100 MB (30 %)\n") {
				t.Errorf("elsewhere %d lines: %q", n, out.String())
			}
			out.Reset()
			tr = &transfer{w: &out, terminal: terminal}
			tr.show("sent", 1<<20, 2<<20)
			tr.show("sent", 2<<20, 2<<20)
			if out.Len() > 0 {
				t.Errorf("a short transfer: %q", out.String())
			}
		})
	}
}
