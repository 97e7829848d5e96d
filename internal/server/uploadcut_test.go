package server_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"concord/bundle"
	"concord/identity"
	"concord/internal/client"
	"concord/internal/pinned"
	"concord/member"
	"concord/wire"
)

// dialTLS opens a connection with a party's key, for requests that no HTTP client makes.
func (w *world) dialTLS(t *testing.T, id *identity.Identity) net.Conn {
	t.Helper()
	config, err := pinned.Client(id.TLSKey(), func(wire.Hash) error { return nil })
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
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
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
			if _, err := member.DecodeReceipt(raw, w.analyst.Statement); err != nil {
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
	setup := w.sealed(a, bundle.KindSetup, []*identity.Statement{b.Statement}, []bundle.Source{bundle.FromBytes("x", make([]byte, 1_500_000))}, nil)
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
