package signed_test

import (
	"testing"

	"concord/internal/zonetest"
)

// TestTimeZones runs what reads and writes days and times in other time zones.
func TestTimeZones(t *testing.T) {
	zonetest.Run(t, "TestTimeZones", "TestRequest|TestReadRequest|TestAnswer")
}
