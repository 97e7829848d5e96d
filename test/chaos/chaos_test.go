package chaos

import "testing"

// How long a test plays, and what, stands in short_test.go and, for make test-long, in
// long_test.go.

// TestKills: kill -9 of server and parties at random moments loses nothing.
func TestKills(t *testing.T) {
	t.Parallel()
	r, err := Kills(t.Context(), options(t, hits, killed...))
	if err != nil {
		t.Fatal(err)
	}
	all(t, r, hits)
}

// TestCuts: a power cut in any operation on any disk, with whatever is left of what was
// not flushed, loses nothing that was acknowledged.
func TestCuts(t *testing.T) {
	t.Parallel()
	r, err := Cuts(t.Context(), options(t, hits, cut...))
	if err != nil {
		t.Fatal(err)
	}
	all(t, r, hits)
}

// TestLink: a study completes over a line that delays, slows down, stalls, breaks and
// goes down.
func TestLink(t *testing.T) {
	t.Parallel()
	r, err := Links(t.Context(), options(t, 1, "dc"), false)
	if err != nil {
		t.Fatal(err)
	}
	all(t, r, 1)
}

// TestRequests: malformed requests of every kind leave the server serving, its memory
// where it was, and a line in its log for each kind; the study around them goes on.
func TestRequests(t *testing.T) {
	t.Parallel()
	a, err := Requests(t.Context(), options(t, requests, "dc"))
	if err != nil {
		t.Fatal(err)
	}
	if a.Requests < requests || len(a.Of) != len(attacks) {
		t.Errorf("%d requests of %d kinds were sent, want %d of %d", a.Requests, len(a.Of), requests, len(attacks))
	}
	t.Logf("%+v", *a)
}
