// Package repeatable makes property tests draw the same cases in every run. A
// test file imports it for its effect:
//
//	import _ "concord/internal/repeatable"
//
// Tests then depend on no luck. With CONCORD_RANDOM_TESTS=1, as in make
// test-long, every run draws other cases, to find what a fixed choice does not.
package repeatable

import (
	"flag"
	"os"

	_ "pgregory.net/rapid" // registers the flags that are set here
)

// seed has no meaning; any other number would do.
const seed = "20261121"

func init() {
	if os.Getenv("CONCORD_RANDOM_TESTS") != "" {
		return
	}
	if err := flag.Set("rapid.seed", seed); err != nil {
		panic("repeatable: " + err.Error())
	}
}
