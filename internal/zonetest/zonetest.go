// Package zonetest runs tests in other time zones. What a file says of a day, and what is
// signed of a time, must not depend on where a computer stands.
package zonetest

import (
	"os"
	"os/exec"
	"testing"
	"time"
	_ "time/tzdata" // whatever the computer knows of zones
)

// variable tells a process that it is one of Run's, and with which zone.
const variable = "CONCORD_TEST_ZONE"

// zones are the first and nearly the last to see a day, and one in which it is half an
// hour off.
var zones = []string{"Pacific/Kiritimati", "America/Los_Angeles", "Asia/Kolkata"}

// Run is the whole of a test named name: it runs the package's tests that match a pattern
// in a process for each zone.
func Run(t *testing.T, name, pattern string) {
	t.Helper()
	if zone := os.Getenv(variable); zone != "" {
		if got := time.Local.String(); got != "Local" && got != zone {
			t.Fatalf("the local zone is %s, want %s", got, zone)
		}
		if _, offset := time.Now().Zone(); offset == 0 {
			t.Fatalf("the process does not run in %s", zone)
		}
		return
	}
	for _, zone := range zones {
		t.Run(zone, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run=^("+name+"|"+pattern+")$")
			cmd.Env = append(os.Environ(), "TZ="+zone, variable+"="+zone)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
