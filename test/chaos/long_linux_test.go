//go:build long

package chaos

import "testing"

// TestNamespaces: what TestLink plays, with the server in one network namespace, the
// parties in another, and a cable between them that is pulled.
func TestNamespaces(t *testing.T) {
	t.Parallel()
	r, err := Links(t.Context(), options(t, 1, "nri"), true)
	if err != nil {
		t.Fatal(err)
	}
	all(t, r, 1)
}
