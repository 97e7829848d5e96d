package server_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"concord/internal/api"
	"concord/internal/signed"
)

// TestChangedRequestsAreNoted: the audit log counts signed requests too that were changed
// on their way and reach no handler.
func TestChangedRequestsAreNoted(t *testing.T) {
	w := newWorld(t)
	w.join()
	path := api.Path(api.PathStatus, w.study)
	for range 3 {
		status, answer := w.raw(t, w.parties[0], "GET", path, nil, func(r *signed.Request) { r.Target = "/elsewhere" })
		if status != http.StatusForbidden || answer.Code != api.CodeSignature {
			t.Fatalf("a request for another path: %d %+v", status, answer)
		}
	}
	w.restart() // which tells what was counted
	var log bytes.Buffer
	if err := w.store.WriteAudit(t.Context(), w.study, &log); err != nil {
		t.Fatal(err)
	}
	if want := "requests refused since the last such entry: 3 (" + api.CodeSignature + " 3)"; !strings.Contains(log.String(), want) {
		t.Errorf("the audit log does not say %q:\n%s", want, log.String())
	}
}
