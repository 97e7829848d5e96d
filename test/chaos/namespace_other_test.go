//go:build !linux

package chaos

import (
	"errors"
	"testing"
)

// TestNamespaces: network namespaces are on Linux only; a play that asks for them says so
// instead of playing on loopback.
func TestNamespaces(t *testing.T) {
	if _, err := Links(t.Context(), options(t, 1, "nri"), true); !errors.Is(err, errNoNamespaces) {
		t.Errorf("a play between network namespaces ended with %v", err)
	}
}
