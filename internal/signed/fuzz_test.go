package signed_test

import (
	"net/http"
	"testing"

	"concord/identity"
	"concord/internal/signed"
	"concord/wire"
)

func FuzzReadAnswer(f *testing.F) {
	analyst, err := identity.New(identity.RoleAnalyst, "Analyst", nil)
	if err != nil {
		f.Fatal(err)
	}
	request, run := wire.Hash{1}, make([]byte, signed.RunSize)
	f.Add(signed.NewAnswer(analyst, request, http.StatusOK, http.Header{}, signed.Empty, run), http.StatusOK)
	f.Add("", 200)
	f.Fuzz(func(t *testing.T, value string, status int) {
		h := http.Header{}
		h.Set(signed.AnswerHeader, value)
		a, err := signed.ReadAnswer(h, status, request, analyst.Statement)
		if err == nil && (a.Request != request || a.Status != status) {
			t.Fatal("accepted the answer to another request")
		}
	})
}
