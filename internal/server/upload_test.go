package server_test

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"concord/bundle"
	"concord/internal/api"
	"concord/wire"
)

// TestUploadProtocol: what the protocol says, and what each mistake gets.
func TestUploadProtocol(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	w := newWorld(t)
	w.join()
	a, b := w.tus(t, w.parties[0]), w.tus(t, w.parties[1])
	uploads := api.Path(api.PathUploads, w.study)
	whole := readFile(t, w.contribution(w.parties[0], nil))
	n := len(whole)
	length := func(n int) []string { return []string{api.HeaderLength, strconv.Itoa(n)} }
	post := func(name string, status int, code string, body []byte, header ...string) {
		t.Helper()
		resp, text := a.do("POST", uploads, bytes.NewReader(body), header...)
		a.want(name, status, code, resp, text)
		if k := w.kept(); k != 0 {
			t.Errorf("%s: %d files are kept", name, k)
		}
	}
	resp, text := a.do("OPTIONS", uploads, nil, api.HeaderResumable, "-")
	a.want("options", http.StatusNoContent, "", resp, text)
	if resp.Header.Get(api.HeaderVersions) != api.TusVersion || !strings.Contains(resp.Header.Get(api.HeaderExtensions), "creation") {
		t.Errorf("options: %v", resp.Header)
	}
	post("no protocol", http.StatusPreconditionFailed, api.CodeVersion, line(whole), append(length(n), api.HeaderResumable, "-")...)
	post("another protocol", http.StatusPreconditionFailed, api.CodeVersion, line(whole), append(length(n), api.HeaderResumable, "0.2.2")...)
	post("no length", http.StatusBadRequest, api.CodeBadRequest, line(whole))
	post("no number", http.StatusBadRequest, api.CodeBadRequest, line(whole), api.HeaderLength, "ten")
	post("a negative length", http.StatusBadRequest, api.CodeBadRequest, line(whole), length(-1)...)
	post("another length", http.StatusBadRequest, api.CodeBadRequest, line(whole), length(n+1)...)
	post("no line", http.StatusUnprocessableEntity, api.CodeRefused, nil, length(n)...)
	post("half a line", http.StatusUnprocessableEntity, api.CodeRefused, whole[:100], length(n)...)
	post("no bundle", http.StatusUnprocessableEntity, api.CodeRefused, bytes.Repeat([]byte("x"), 1<<20), length(n)...)
	other := readFile(t, w.contribution(w.parties[1], nil))
	post("another's bundle", http.StatusUnprocessableEntity, api.CodeRefused, line(other), length(len(other))...)
	huge := w.forged(t, whole, func(e *bundle.Envelope) { e.Size = 1 << 40 })
	post("too large", http.StatusRequestEntityTooLarge, api.CodeTooLarge, huge, length(len(huge)+1<<40)...)

	path := a.begin(whole)
	at := a.offset(path)
	if at != len(line(whole)) {
		t.Fatalf("after the line %d bytes have arrived, want %d", at, len(line(whole)))
	}
	if again := a.begin(whole); again != path {
		t.Errorf("the same line again begins another upload")
	}
	for _, r := range []struct{ method, path string }{{"HEAD", path}, {"PATCH", path}, {"DELETE", path}, {"GET", path}, {"POST", path}} {
		resp, text := b.do(r.method, r.path, nil, api.HeaderOffset, strconv.Itoa(at), api.HeaderOverride, "PATCH")
		if resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s of another party's upload: %s %s", r.method, resp.Status, text)
		}
		resp, _ = a.do(r.method, path[:len(path)-32]+strings.Repeat("0", 32), nil, api.HeaderOffset, "0", api.HeaderOverride, "PATCH")
		if resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s of no upload: %s", r.method, resp.Status)
		}
		resp, _ = a.do(r.method, path+"%2f..", nil, api.HeaderOffset, "0", api.HeaderOverride, "PATCH")
		if resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s of a path that names none: %s", r.method, resp.Status)
		}
	}
	patch := func(name string, status int, code string, body []byte, header ...string) {
		t.Helper()
		resp, text := a.do("PATCH", path, bytes.NewReader(body), header...)
		a.want(name, status, code, resp, text)
		if got := a.offset(path); got != at {
			t.Errorf("%s: %d bytes have arrived, want %d", name, got, at)
		}
	}
	from := func(n int) []string { return []string{api.HeaderOffset, strconv.Itoa(n)} }
	patch("no offset", http.StatusBadRequest, api.CodeBadRequest, whole[at:])
	patch("an earlier offset", http.StatusConflict, api.CodeOffset, whole, from(0)...)
	patch("a later offset", http.StatusConflict, api.CodeOffset, whole[at+1:], from(at+1)...)
	patch("another type", http.StatusUnsupportedMediaType, api.CodeBadRequest, whole[at:], append(from(at), "Content-Type", "application/json")...)
	patch("a byte too many", http.StatusRequestEntityTooLarge, api.CodeTooLarge, append(bytes.Clone(whole[at:]), 0), from(at)...)
	resp, text = a.do("GET", path, nil)
	a.want("a receipt too early", http.StatusConflict, api.CodeNotYet, resp, text)
	patch("an empty part", http.StatusNoContent, "", nil, from(at)...)
	resp, text = a.do("POST", path, nil, api.HeaderOverride, "PUT")
	a.want("another method", http.StatusMethodNotAllowed, api.CodeBadRequest, resp, text)

	resp, text = a.do("DELETE", path, nil)
	a.want("given up", http.StatusNoContent, "", resp, text)
	if resp, _ := a.do("HEAD", path, nil); resp.StatusCode != http.StatusNotFound || w.kept() != 0 {
		t.Errorf("after it was given up: %s, %d files", resp.Status, w.kept())
	}
	// In three parts, one of them as proxies want it that know no PATCH.
	path = a.begin(whole)
	a.patch(path, whole, at, at+1000)
	resp, text = a.do("POST", path, bytes.NewReader(whole[at+1000:at+1500]), append(from(at+1000), api.HeaderOverride, "PATCH")...)
	a.want("a patch in disguise", http.StatusNoContent, "", resp, text)
	a.patch(path, whole, at+1500, n)
	receipt := a.receipt(path)
	env, _, err := bundle.ReadEnvelope(bytes.NewReader(whole))
	if err != nil || receipt.Ciphertext != env.Ciphertext || receipt.Manifest != env.Manifest {
		t.Errorf("the receipt is %+v", receipt)
	}
	if again := a.receipt(path); again.Received != receipt.Received || w.kept() != 0 {
		t.Errorf("asked again, the receipt is another one, or %d files are kept", w.kept())
	}
	resp, text = a.do("POST", uploads, bytes.NewReader(line(whole)), length(n)...)
	if resp.StatusCode != http.StatusOK || text != string(receipt.Encode()) {
		t.Errorf("begun again when it is stored: %s %s", resp.Status, text)
	}
	second := readFile(t, w.contribution(w.parties[0], func(d *bundle.Draft) { d.Anchor = &wire.Hash{8} }))
	resp, text = a.do("POST", uploads, bytes.NewReader(line(second)), length(len(second))...)
	a.want("another contribution", http.StatusConflict, api.CodeConflict, resp, text)
}

// forged is the line of a bundle with something changed and signed again.
func (w *world) forged(t *testing.T, whole []byte, change func(*bundle.Envelope)) []byte {
	t.Helper()
	e, _, err := bundle.ReadEnvelope(bytes.NewReader(whole))
	if err != nil {
		t.Fatal(err)
	}
	change(e)
	e.Signature = nil
	unsigned, err := wire.Canonical(e)
	if err != nil {
		t.Fatal(err)
	}
	e.Signature = w.parties[0].Sign(wire.SignEnvelope, unsigned)
	return e.Line()
}

// TestUploadRefused: what does not verify when all of it is there is refused and
// removed, and the good one is taken afterwards.
func TestUploadRefused(t *testing.T) {
	w := newWorld(t)
	w.join()
	a := w.tus(t, w.parties[0])
	good := readFile(t, w.contribution(w.parties[0], nil))
	bad := bytes.Clone(good)
	bad[len(bad)-20] ^= 1
	path := a.begin(bad)
	at := a.offset(path)
	a.patch(path, bad, at, len(bad))
	for range 2 { // an answer may be lost
		resp, text := a.do("GET", path, nil)
		a.want("an altered payload", http.StatusUnprocessableEntity, api.CodeRefused, resp, text)
	}
	if w.kept() != 0 {
		t.Errorf("%d files are kept of what was refused", w.kept())
	}
	path = a.begin(good)
	a.patch(path, good, at, len(good))
	a.receipt(path)
}

// TestUploadReplaced: an upload of another bundle takes the place of one that is not
// finished.
func TestUploadReplaced(t *testing.T) {
	w := newWorld(t)
	w.join()
	a := w.tus(t, w.parties[0])
	first := readFile(t, w.contribution(w.parties[0], nil))
	second := readFile(t, w.contribution(w.parties[0], func(d *bundle.Draft) { d.Anchor = &wire.Hash{8} }))
	before := a.begin(first)
	after := a.begin(second)
	if resp, _ := a.do("HEAD", before, nil); resp.StatusCode != http.StatusNotFound || before == after || w.kept() != 1 {
		t.Errorf("the first upload: %s, %d files are kept", resp.Status, w.kept())
	}
	// A bundle that comes in one request ends the upload in its place.
	if _, err := w.as(w.parties[0]).Send(t.Context(), w.contribution(w.parties[0], nil)); err != nil {
		t.Fatal(err)
	}
	if w.kept() != 0 {
		t.Errorf("%d files are kept of an upload whose bundle is stored", w.kept())
	}
}

// TestUploadSurvivesRestarts: a server that ends between any two parts goes on, and
// bytes that lie in the file without having been acknowledged do not count.
func TestUploadSurvivesRestarts(t *testing.T) {
	w := newWorld(t)
	w.join()
	whole := readFile(t, w.large(w.parties[0], 2000, nil))
	rnd := rand.New(rand.NewPCG(3, 4))
	path := w.tus(t, w.parties[0]).begin(whole)
	for at := len(line(whole)); at < len(whole)-1; {
		a := w.tus(t, w.parties[0])
		if got := a.offset(path); got != at {
			t.Fatalf("after a restart %d bytes have arrived, want %d", got, at)
		}
		to := min(len(whole)-1, at+1+rnd.IntN(15_000))
		a.patch(path, whole, at, to)
		at = to
		w.stop()
		file := filepath.Join(w.dir, "uploads", path[strings.LastIndexByte(path, '/')+1:])
		f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(make([]byte, rnd.IntN(5000))); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		w.serve()
	}
	w.tus(t, w.parties[0]).patch(path, whole, len(whole)-1, len(whole))
	w.tus(t, w.parties[0]).receipt(path)
	w.stored(t, whole)
}

// stored fails unless exactly this file is stored.
func (w *world) stored(t *testing.T, whole []byte) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(w.dir, "bundles"))
	if err != nil || len(entries) != 1 {
		t.Fatalf("%d bundles are stored (%v), want one", len(entries), err)
	}
	if !bytes.Equal(readFile(t, filepath.Join(w.dir, "bundles", entries[0].Name())), whole) {
		t.Error("what is stored is not what was sent")
	}
	if w.kept() != 0 {
		t.Errorf("%d files of uploads are kept", w.kept())
	}
}

// TestUploadLies: a part that is shorter than its Content-Length says counts as far as
// it came.
func TestUploadLies(t *testing.T) {
	w := newWorld(t)
	w.join()
	a := w.tus(t, w.parties[0])
	whole := readFile(t, w.contribution(w.parties[0], nil))
	path := a.begin(whole)
	at := a.offset(path)
	conn := w.dialTLS(t, w.parties[0])
	fmt.Fprintf(conn, "PATCH %s HTTP/1.1\r\nHost: x\r\n%s: %s\r\n%s: %d\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n",
		path, api.HeaderResumable, api.TusVersion, api.HeaderOffset, at, api.PartMediaType, len(whole)-at)
	conn.Write(whole[at : at+700])
	conn.Close()
	deadline := time.Now().Add(20 * time.Second)
	for a.offset(path) != at+700 {
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes have arrived, want %d", a.offset(path), at+700)
		}
		time.Sleep(5 * time.Millisecond)
	}
	a.patch(path, whole, at+700, len(whole))
	a.receipt(path)
}

// TestUploadTwoAtOnce: while a part comes in no other is taken; one that has fallen
// silent gives way, and what came of it is kept.
func TestUploadTwoAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	w := newWorld(t)
	w.join()
	a := w.tus(t, w.parties[0])
	whole := readFile(t, w.contribution(w.parties[0], nil))
	path := a.begin(whole)
	at := a.offset(path)
	conn := w.dialTLS(t, w.parties[0])
	defer conn.Close()
	fmt.Fprintf(conn, "PATCH %s HTTP/1.1\r\nHost: x\r\n%s: %s\r\n%s: %d\r\nContent-Type: %s\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n",
		path, api.HeaderResumable, api.TusVersion, api.HeaderOffset, at, api.PartMediaType, len(whole)-at)
	// The server says that it reads; from here on the first part is under way.
	if answer, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(answer, "100") {
		t.Fatalf("the first part: %q, %v", answer, err)
	}
	conn.Write(whole[at : at+500])
	deadline := time.Now().Add(30 * time.Second)
	locked := 0
	for {
		resp, text := a.do("PATCH", path, bytes.NewReader(whole[at:]), api.HeaderOffset, strconv.Itoa(at))
		if resp.StatusCode == http.StatusConflict {
			break // the silent part is gone and has left its bytes
		}
		if locked++; resp.StatusCode != http.StatusLocked && resp.StatusCode != http.StatusNoContent || time.Now().After(deadline) {
			t.Fatalf("a second part: %s %s", resp.Status, text)
		}
		if resp.StatusCode == http.StatusNoContent {
			t.Fatal("a second part was taken although the first one's bytes came before")
		}
		time.Sleep(50 * time.Millisecond)
	}
	if locked == 0 {
		t.Error("a second part was not kept out while the first came in")
	}
	if got := a.offset(path); got != at+500 {
		t.Fatalf("%d bytes have arrived, want %d", got, at+500)
	}
	a.patch(path, whole, at+500, len(whole))
	a.receipt(path)
}
