package server_test

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"concord/bundle"
	"concord/identity"
	"concord/internal/api"
	"concord/internal/pinned"
	"concord/linalg"
	"concord/member"
	"concord/wire"
)

// large is a contribution of n rows.
func (w *world) large(from *identity.Identity, n int, change func(*bundle.Draft)) string {
	rnd := rand.NewChaCha8([32]byte{7})
	labels := make([]int64, n)
	for i := range labels {
		labels[i] = int64(i % 2)
	}
	return w.sealed(from, bundle.KindContribution, []*identity.Statement{w.analyst.Statement},
		members(linalg.Normal(n, 2, rnd), linalg.Normal(w.contract.Anchor.Rows, 2, rnd), labels), change)
}

// tusClient sends requests as a party, in whatever form.
type tusClient struct {
	t  *testing.T
	w  *world
	hc *http.Client
}

func (w *world) tus(t *testing.T, id *identity.Identity) *tusClient {
	t.Helper()
	config, err := pinned.Client(id.TLSKey(), func(wire.Hash) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	r := &tusClient{t, w, &http.Client{Transport: &http.Transport{TLSClientConfig: config}}}
	t.Cleanup(r.hc.CloseIdleConnections)
	return r
}

// do makes a request of the upload protocol. header holds pairs; a value "-" removes.
func (r *tusClient) do(method, path string, body io.Reader, header ...string) (*http.Response, string) {
	r.t.Helper()
	req, err := http.NewRequest(method, "https://"+r.w.address+path, body)
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set(api.HeaderResumable, api.TusVersion)
	req.Header.Set("Content-Type", api.PartMediaType)
	for i := 0; i+1 < len(header); i += 2 {
		if req.Header.Del(header[i]); header[i+1] != "-" {
			req.Header.Set(header[i], header[i+1])
		}
	}
	resp, err := r.hc.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return resp, string(b)
}

// want fails unless an answer has a status and, if it is an error, a code.
func (r *tusClient) want(name string, status int, code string, resp *http.Response, body string) {
	r.t.Helper()
	var answer api.Error
	json.Unmarshal([]byte(body), &answer)
	if resp.StatusCode != status || answer.Code != code {
		r.t.Errorf("%s: %s %s, want %d %s", name, resp.Status, body, status, code)
	}
}

// begin creates an upload of a whole file and returns its path.
func (r *tusClient) begin(whole []byte) string {
	r.t.Helper()
	resp, body := r.do("POST", api.Path(api.PathUploads, r.w.study), bytes.NewReader(line(whole)), api.HeaderLength, strconv.Itoa(len(whole)))
	if resp.StatusCode != http.StatusCreated {
		r.t.Fatalf("begin: %s %s", resp.Status, body)
	}
	return resp.Header.Get("Location")
}

// offset asks how much has arrived.
func (r *tusClient) offset(path string) int {
	r.t.Helper()
	resp, body := r.do("HEAD", path, nil)
	n, err := strconv.Atoi(resp.Header.Get(api.HeaderOffset))
	if resp.StatusCode != http.StatusOK || err != nil {
		r.t.Fatalf("HEAD: %s %s %v", resp.Status, body, err)
	}
	return n
}

// patch sends a part that must be taken.
func (r *tusClient) patch(path string, whole []byte, from, to int) {
	r.t.Helper()
	resp, body := r.do("PATCH", path, bytes.NewReader(whole[from:to]), api.HeaderOffset, strconv.Itoa(from))
	if resp.StatusCode != http.StatusNoContent || resp.Header.Get(api.HeaderOffset) != strconv.Itoa(to) {
		r.t.Fatalf("PATCH %d to %d: %s %s, offset %s", from, to, resp.Status, body, resp.Header.Get(api.HeaderOffset))
	}
}

func (r *tusClient) receipt(path string) *member.Receipt {
	r.t.Helper()
	resp, body := r.do("GET", path, nil)
	if resp.StatusCode != http.StatusOK {
		r.t.Fatalf("receipt: %s %s", resp.Status, body)
	}
	receipt, err := member.DecodeReceipt([]byte(body), r.w.analyst.Statement)
	if err != nil {
		r.t.Fatal(err)
	}
	return receipt
}

func line(whole []byte) []byte { return whole[:bytes.IndexByte(whole, '\n')+1] }

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// kept counts the files that uploads have left.
func (w *world) kept() int {
	w.t.Helper()
	entries, err := os.ReadDir(filepath.Join(w.dir, "uploads"))
	if err != nil {
		w.t.Fatal(err)
	}
	return len(entries)
}
