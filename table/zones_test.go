package table_test

import (
	"testing"

	"concord/internal/zonetest"
)

// TestTimeZones runs what reads and writes days and times in other time zones.
func TestTimeZones(t *testing.T) {
	tests := "TestTypedCells|TestTypedDefects|TestPrepared|TestParquet|TestSQLite"
	if !testing.Short() {
		tests += "|TestAges|TestNumPy"
	}
	zonetest.Run(t, "TestTimeZones", tests)
}
