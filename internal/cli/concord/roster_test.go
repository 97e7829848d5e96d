package concord_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"concord/contract"
	"concord/identity"
	"concord/internal/api"
	"concord/internal/cli/concord"
	"concord/internal/pinned"
	"concord/member"
	"concord/wire"
)

// TestRosterNumber: people may confirm a later roster than the first, and a server that
// goes back to an earlier one is refused from then on.
func TestRosterNumber(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	analyst, err := identity.New(identity.RoleAnalyst, "Analyst", nil)
	if err != nil {
		t.Fatal(err)
	}
	other, err := identity.New(identity.RoleParty, "East", nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := contract.ParseYAML([]byte("name: T\nparties: 2\nfeatures: [a, b]\nlabel: {name: y}\n"))
	if err != nil {
		t.Fatal(err)
	}
	agreed, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	hash := wire.HashOf(agreed)
	statements := [][]byte{analyst.Statement.Encode(), other.Statement.Encode()}
	number := 2
	answer := func(w http.ResponseWriter, v any) {
		if err := json.NewEncoder(w).Encode(v); err != nil {
			t.Error(err)
		}
	}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == api.PathIdentity:
			answer(w, api.Identity{Statement: analyst.Statement.Encode()})
		case strings.HasSuffix(r.URL.Path, "/join"):
			var req api.JoinRequest
			if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
				t.Error(err)
			}
			statements = append(statements, req.Statement)
			answer(w, api.JoinResponse{Contract: agreed})
		default:
			var members []*identity.Statement
			for _, b := range statements {
				m, err := identity.DecodeStatement(b)
				if err != nil {
					t.Error(err)
				}
				members = append(members, m)
			}
			roster, err := member.NewRoster(c, number, members)
			if err != nil {
				t.Error(err)
			}
			answer(w, api.Roster{Number: number, Closed: true, Statements: statements, Analyst: member.Confirm(analyst, hash, roster.Epoch(hash)).Encode()})
		}
	}))
	if srv.TLS, err = pinned.Server(analyst.TLSKey()); err != nil {
		t.Fatal(err)
	}
	srv.StartTLS()
	defer srv.Close()

	dir := filepath.Join(t.TempDir(), "north")
	concord := func(args ...string) (status int, out string) {
		var b strings.Builder
		status = concord.Run(t.Context(), append([]string{"--dir", dir}, args...), strings.NewReader(""), &b, &b)
		return status, b.String()
	}
	invite := member.NewInvite(srv.Listener.Addr().String(), hash, analyst.Statement.Fingerprint())
	if status, out := concord("join", invite.Line(), "--name", "North"); status != 0 {
		t.Fatalf("join: status %d\n%s", status, out)
	}
	if status, out := concord("roster", "confirm", "--phrase", "any"); status != 1 || !strings.Contains(out, "nothing was confirmed") {
		t.Errorf("confirm with another phrase: status %d\n%s", status, out)
	}
	_, out := concord("roster")
	_, phrase, _ := strings.Cut(out, "phrase: ")
	phrase, _, _ = strings.Cut(phrase, "\n")
	if status, out := concord("roster", "confirm", "--phrase", phrase); status != 0 {
		t.Fatalf("confirm of roster 2: status %d\n%s", status, out)
	}
	if status, out := concord("roster"); status != 0 || !strings.Contains(out, "confirmed here") {
		t.Errorf("afterwards: status %d\n%s", status, out)
	}
	number = 1
	for _, command := range [][]string{{"roster"}, {"sync"}, {"roster", "confirm", "--phrase", phrase}} {
		if status, out := concord(command...); status != 1 || !strings.Contains(out, "the server serves roster 1, people here confirmed roster 2") {
			t.Errorf("%v at a server that was set back: status %d\n%s", command, status, out)
		}
	}
}
