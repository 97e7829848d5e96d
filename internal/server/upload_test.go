package server_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"concord/bundle"
	"concord/internal/api"
	"concord/internal/client"
	"concord/internal/pinned"
	"concord/linalg"
	"concord/study"
)

// large is a contribution of n rows.
func (w *world) large(from *study.Identity, n int, change func(*bundle.Draft)) string {
	rnd := rand.NewChaCha8([32]byte{7})
	labels := make([]int64, n)
	for i := range labels {
		labels[i] = int64(i % 2)
	}
	return w.sealed(from, bundle.KindContribution, []*study.Statement{w.analyst.Statement},
		members(linalg.Normal(n, 2, rnd), linalg.Normal(w.contract.Anchor.Rows, 2, rnd), labels), change)
}

// tusClient sends requests as a party, in whatever form.
type tusClient struct {
	t  *testing.T
	w  *world
	hc *http.Client
}

func (w *world) tus(t *testing.T, id *study.Identity) *tusClient {
	t.Helper()
	config, err := pinned.Client(id.TLSKey(), func(study.Hash) error { return nil })
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

func (r *tusClient) receipt(path string) *study.Receipt {
	r.t.Helper()
	resp, body := r.do("GET", path, nil)
	if resp.StatusCode != http.StatusOK {
		r.t.Fatalf("receipt: %s %s", resp.Status, body)
	}
	receipt, err := study.DecodeReceipt([]byte(body), r.w.analyst.Statement)
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

// TestUploadProtocol: what the protocol says, and what each mistake gets.
func TestUploadProtocol(t *testing.T) {
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
	second := readFile(t, w.contribution(w.parties[0], func(d *bundle.Draft) { d.Anchor = &study.Hash{8} }))
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
	unsigned, err := study.Canonical(e)
	if err != nil {
		t.Fatal(err)
	}
	e.Signature = w.parties[0].Sign(study.SignEnvelope, unsigned)
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
	second := readFile(t, w.contribution(w.parties[0], func(d *bundle.Draft) { d.Anchor = &study.Hash{8} }))
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
		w.serve(w.address)
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

// dialTLS opens a connection with a party's key, for requests that no HTTP client makes.
func (w *world) dialTLS(t *testing.T, id *study.Identity) net.Conn {
	t.Helper()
	config, err := pinned.Client(id.TLSKey(), func(study.Hash) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	conn, err := tls.Dial("tcp", w.address, config)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// cutter passes connections on to a server and cuts each after some bytes.
type cutter struct {
	ln     net.Listener
	target atomic.Pointer[string]
	budget func() int64 // of the next connection, in bytes from the client
	cuts   atomic.Int64
	wg     sync.WaitGroup
}

func newCutter(t *testing.T, target string, budget func() int64) *cutter {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{ln: ln, budget: budget}
	c.target.Store(&target)
	c.wg.Go(func() {
		for {
			in, err := ln.Accept()
			if err != nil {
				return
			}
			n := c.budget()
			c.wg.Go(func() { c.pass(in, n) })
		}
	})
	t.Cleanup(func() {
		ln.Close()
		c.wg.Wait()
	})
	return c
}

func (c *cutter) pass(in net.Conn, n int64) {
	defer in.Close()
	out, err := net.Dial("tcp", *c.target.Load())
	if err != nil {
		return
	}
	defer out.Close()
	c.wg.Go(func() {
		io.Copy(in, out)
		in.Close()
	})
	if k, _ := io.CopyN(out, in, n); k == n {
		c.cuts.Add(1)
	}
	if n%2 == 0 { // sometimes the server notices at once
		out.(*net.TCPConn).SetLinger(0)
	}
}

// TestUploadCutAnywhere: wherever connections are cut, and the server restarted, the
// client brings the whole bundle over, by itself, and says what it does.
func TestUploadCutAnywhere(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newWorld(t)
			w.join()
			rnd := rand.New(rand.NewPCG(seed, 1))
			var mu sync.Mutex
			cut := newCutter(t, w.address, func() int64 {
				mu.Lock()
				defer mu.Unlock()
				return 4_000 + rnd.Int64N(120_000)
			})
			path := w.large(w.parties[0], 15_000, nil) // 360 KB
			var notices atomic.Int64
			c, err := client.Connect(client.Target{
				Address: cut.ln.Addr().String(), PartBytes: 8_000 + int64(seed)*9_000, Pause: time.Millisecond,
				Notice: func(string) { notices.Add(1) },
			}, w.study, w.parties[0], w.analyst.Statement)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			var raw []byte
			for range 40 { // whoever gives up is called again, as a person would
				raw, err = c.Send(t.Context(), path)
				var gave *client.GaveUp
				if !errors.As(err, &gave) {
					break
				}
				if seed%2 == 0 {
					w.restart()
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := study.DecodeReceipt(raw, w.analyst.Statement); err != nil {
				t.Error(err)
			}
			w.stored(t, readFile(t, path))
			if cut.cuts.Load() == 0 || notices.Load() == 0 {
				t.Errorf("%d connections were cut and %d notices given", cut.cuts.Load(), notices.Load())
			}
			t.Logf("%d cuts, %d notices", cut.cuts.Load(), notices.Load())
		})
	}
}

// TestFetchCutAnywhere: a download goes on where it was cut.
func TestFetchCutAnywhere(t *testing.T) {
	w := newWorld(t)
	w.join()
	a, b := w.parties[0], w.parties[1]
	setup := w.sealed(a, bundle.KindSetup, []*study.Statement{b.Statement}, []bundle.Source{bundle.FromBytes("x", make([]byte, 1_500_000))}, nil)
	if _, err := w.as(a).Send(t.Context(), setup); err != nil {
		t.Fatal(err)
	}
	list, err := w.as(b).Bundles(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	rnd := rand.New(rand.NewPCG(1, 9))
	cut := newCutter(t, w.address, func() int64 { return 1 << 40 })
	down := newDownCutter(t, w.address, func() int64 { return 20_000 + rnd.Int64N(400_000) })
	for name, address := range map[string]string{"whole": cut.ln.Addr().String(), "cut": down} {
		c, err := client.Connect(client.Target{Address: address, Pause: time.Millisecond}, w.study, b, w.analyst.Statement)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		var got bytes.Buffer
		if _, err := c.Fetch(t.Context(), list[0].Manifest, &got, 2<<20); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !bytes.Equal(got.Bytes(), readFile(t, setup)) {
			t.Errorf("%s: what was fetched is not what was sent", name)
		}
		if _, err := c.Fetch(t.Context(), list[0].Manifest, io.Discard, 1<<20); err == nil || !strings.Contains(err.Error(), "more than") {
			t.Errorf("%s: a bundle over the limit: %v", name, err)
		}
	}
}

// newDownCutter cuts connections after some bytes from the server.
func newDownCutter(t *testing.T, target string, budget func() int64) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			in, err := ln.Accept()
			if err != nil {
				return
			}
			n := budget()
			wg.Go(func() {
				defer in.Close()
				out, err := net.Dial("tcp", target)
				if err != nil {
					return
				}
				defer out.Close()
				wg.Go(func() { io.Copy(out, in) })
				io.CopyN(in, out, n)
			})
		}
	})
	t.Cleanup(func() {
		ln.Close()
		wg.Wait()
	})
	return ln.Addr().String()
}
