//go:build !long

package chaos

// A short play of each kind: one study undisturbed, one disturbed.
const (
	hits     = 4
	requests = 130
)

var (
	killed = []string{"nri"}
	cut    = []string{"pool"}
)
