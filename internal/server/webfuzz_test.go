package server_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"concord/internal/api"
	"concord/internal/signed"
	"concord/member"
	"concord/wire"
)

// FuzzWeb: whatever a request to the web front claims, only what a party signed for
// this very request does anything, and nothing is the server's own trouble.
func FuzzWeb(f *testing.F) {
	w := newWorld(f)
	w.join()
	party := w.parties[0]
	confirm := api.Path(api.PathConfirmations, w.study)
	body := append(append([]byte{'"'}, b64(member.Confirm(party, w.study, w.epoch).Encode())...), '"')
	r := signed.NewRequest(party, w.analyst.Statement.Fingerprint(), w.study)
	r.Method, r.Target, r.Body, r.Run = "POST", confirm, wire.HashOf(body), w.run(f)
	value, _ := r.Header(party)
	f.Add("POST", confirm, value, "", body)
	f.Add("GET", api.Path(api.PathStatus, w.study), value, "", []byte(nil))
	f.Add("HEAD", "/trials"+api.PathIdentity, value, value, []byte(nil))
	f.Add("PATCH", api.Path(api.PathUploads, w.study)+"/00", "AAAA", "", body)
	f.Add("POST", api.Path(api.PathJoin, w.study), value, "", []byte(`{"proof":"AAAA","statement":"e30="}`))
	handler := w.front.WebHandler("/trials")
	taken := false
	f.Fuzz(func(t *testing.T, method, target, header, second string, body []byte) {
		req, err := http.NewRequest(method, "http://"+host, bytes.NewReader(body))
		if err != nil {
			return // no request that a server reads
		}
		u, err := req.URL.Parse(target)
		if err != nil || u.Host != host {
			return // no path that a server reads
		}
		req.URL, req.RequestURI = u, u.RequestURI()
		req.Header.Set(signed.RequestHeader, header)
		if second != "" {
			req.Header.Add(signed.RequestHeader, second)
		}
		rec := httptest.NewRecorder()
		begun := time.Now()
		handler.ServeHTTP(rec, req)
		if took := time.Since(begun); took > 5*time.Second {
			t.Fatalf("%s %q took %v", method, target, took)
		}
		if rec.Code >= 500 {
			t.Fatalf("%s %q: %d %s", method, target, rec.Code, rec.Body)
		}
		if rec.Code == http.StatusOK && method != http.MethodGet && method != http.MethodHead && method != http.MethodOptions {
			if header != value || taken {
				t.Fatalf("%s %q was taken: %s", method, target, rec.Body)
			}
			taken = true
		}
		io.Copy(io.Discard, req.Body)
	})
}
