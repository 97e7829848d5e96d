package chaos

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// attacks are all kinds of malformed requests.
var attacks = []kind{
	{"a stranger's key", 10, func(t *target, rnd *rand.Rand) (int, error) {
		return t.get(t.foreign, t.path([]string{"/status", "/roster", "/bundles"}[rnd.IntN(3)]))
	}, []int{403}, regexp.MustCompile(`code=forbidden reason="the connection's key`)},

	{"no key", 6, func(t *target, _ *rand.Rand) (int, error) {
		return t.overTLS(nil, nil, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
	}, []int{0}, regexp.MustCompile(`TLS handshake error.*didn't provide a certificate`)},

	{"an old TLS", 4, func(t *target, _ *rand.Rand) (int, error) {
		return t.overTLS(nil, func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
	}, []int{0}, regexp.MustCompile(`TLS handshake error.*(unsupported versions|protocol version)`)},

	{"no TLS", 6, func(t *target, rnd *rand.Rand) (int, error) {
		b := []byte("GET / HTTP/1.0\r\n\r\n")
		if rnd.IntN(2) == 0 {
			b = noise(rnd, 1+rnd.IntN(2000))
		}
		return t.raw(b)
	}, []int{0, 400}, regexp.MustCompile(`TLS handshake error.*(does not look like a TLS handshake|HTTP request|oversized record|unexpected)`)},

	{"not HTTP", 6, func(t *target, rnd *rand.Rand) (int, error) {
		return t.overTLS(t, nil, string(noise(rnd, 1+rnd.IntN(500)))+"\r\n\r\n")
	}, []int{0, 400}, regexp.MustCompile(`ended without a request`)},

	{"headers too large", 4, func(t *target, _ *rand.Rand) (int, error) {
		return t.overTLS(t, nil, "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Large: "+strings.Repeat("x", 64<<10)+"\r\n\r\n")
	}, []int{0, 431}, regexp.MustCompile(`ended without a request`)},

	{"not the JSON of the path", 12, func(t *target, rnd *rand.Rand) (int, error) {
		bodies := []string{"", "{", "null", "[]", `"x"`, `{"secret":1}`, `{"unknown":""}`, `{"secret":""}{}`, strings.Repeat("[", 10000), string(noise(rnd, 300))}
		return t.do(t.member, http.MethodPost, t.path([]string{"/join", "/confirmations", "/audit"}[rnd.IntN(3)]), []byte(bodies[rnd.IntN(len(bodies))]))
	}, []int{400, 403, 422}, regexp.MustCompile(`code=bad_request`)},

	{"a message too large", 2, func(t *target, _ *rand.Rand) (int, error) {
		return t.do(t.member, http.MethodPost, t.path("/confirmations"), bytes.Repeat([]byte(`"x`), 1<<20))
	}, []int{0, 400, 413}, regexp.MustCompile(`code=(too_large|bad_request)`)},

	{"a path that is not there", 8, func(t *target, rnd *rand.Rand) (int, error) {
		paths := []string{"/", "/v2/identity", "/v1/studies/x/join", "/v1/studies/" + strings.Repeat("0", 64) + "/roster", t.path("/bundles/../../concord.db"), t.path("/nothing"), "/" + string(noise(rnd, 20))}
		return t.get(t.member, paths[rnd.IntN(len(paths))])
	}, []int{301, 307, 308, 400, 404}, regexp.MustCompile(`code=not_found`)},

	{"a method that is not there", 4, func(t *target, rnd *rand.Rand) (int, error) {
		return t.do(t.member, []string{"DELETE", "TRACE", "BREW", "PUT"}[rnd.IntN(4)], t.path("/status"), nil)
	}, []int{404, 405}, regexp.MustCompile(`code=not_found`)},

	{"a version that is not there", 4, func(t *target, rnd *rand.Rand) (int, error) {
		return t.do(t.member, http.MethodGet, t.path("/status"), nil, "Concord-Version", []string{"x", "0", "-1", "99", "1,2"}[rnd.IntN(5)])
	}, []int{400, 426}, nil},

	{"a bundle with flipped bits", 8, func(t *target, rnd *rand.Rand) (int, error) {
		b := bytes.Clone(t.sealed)
		for range 1 + rnd.IntN(8) {
			b[rnd.IntN(len(b))] ^= 1 << rnd.IntN(8)
		}
		return t.put(b)
	}, []int{200, 400, 403, 409, 422, 429}, regexp.MustCompile(`code=refused`)}, // 200: the bits lie behind what is judged of a bundle that is known

	{"another party's bundle", 6, func(t *target, _ *rand.Rand) (int, error) {
		return t.put(t.foreignBundle)
	}, []int{403, 422, 429}, regexp.MustCompile(`code=(refused|forbidden)`)},

	{"a bundle again", 6, func(t *target, _ *rand.Rand) (int, error) {
		return t.put(t.sealed)
	}, []int{200, 429}, nil}, // the receipt that was given before

	{"a bundle cut off", 8, func(t *target, rnd *rand.Rand) (int, error) {
		b := noise(rnd, 20000)
		copy(b, t.sealed[:min(len(t.sealed), 4000)])
		t.uploads.Lock()
		defer t.uploads.Unlock()
		head := fmt.Sprintf("PUT %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", t.path("/bundles"), 1<<20)
		return t.overTLS(t, nil, head+string(b[:1+rnd.IntN(len(b))]))
	}, []int{0, 200, 400, 403, 409, 422, 429}, nil},

	{"a bundle too large", 2, func(t *target, _ *rand.Rand) (int, error) {
		line, _, _ := bytes.Cut(t.sealed, []byte("\n"))
		return t.put(append(append(bytes.Clone(line[:len(line)/2]), line...), make([]byte, 8<<20)...))
	}, []int{0, 400, 413, 422, 429}, nil},

	{"another party's confirmation", 6, func(t *target, _ *rand.Rand) (int, error) {
		b, err := json.Marshal(t.confirmation)
		if err != nil {
			return 0, err
		}
		return t.do(t.member, http.MethodPost, t.path("/confirmations"), b)
	}, []int{403}, regexp.MustCompile(`code=forbidden reason="the confirmation is another party's`)},

	{"an invite that was used", 6, func(t *target, _ *rand.Rand) (int, error) {
		secret, err := t.usedSecret()
		if err != nil {
			return 0, err
		}
		b, err := json.Marshal(map[string][]byte{"secret": secret.Reveal(), "statement": t.stranger.Statement.Encode()})
		if err != nil {
			return 0, err
		}
		return t.do(t.foreign, http.MethodPost, t.path("/join"), b)
	}, []int{403, 409}, regexp.MustCompile(`code=(forbidden|conflict) reason="the invite`)},

	{"another's statement", 4, func(t *target, _ *rand.Rand) (int, error) {
		b, err := json.Marshal(map[string][]byte{"secret": []byte("guess"), "statement": t.other.Statement.Encode()})
		if err != nil {
			return 0, err
		}
		return t.do(t.foreign, http.MethodPost, t.path("/join"), b)
	}, []int{403}, regexp.MustCompile(`code=forbidden reason="the connection does not hold`)},

	{"slow", 1, func(t *target, rnd *rand.Rand) (int, error) {
		c, err := t.connect(t.own, nil)
		if err != nil {
			return 0, err
		}
		defer c.Close()
		for _, b := range []byte("GET " + t.path("/status") + " HTTP/1.1\r\n") {
			if !wait(t.ctx, time.Duration(10+rnd.IntN(30))*time.Millisecond) {
				return 0, t.ctx.Err()
			}
			if _, err := c.Write([]byte{b}); err != nil {
				break
			}
		}
		return 0, nil // it goes away in the middle of its headers
	}, []int{0}, regexp.MustCompile(`ended without a request`)},

	{"nothing at all", 4, func(t *target, rnd *rand.Rand) (int, error) {
		c, err := net.DialTimeout("tcp", t.address, 10*time.Second)
		if err != nil {
			return 0, err
		}
		defer c.Close()
		wait(t.ctx, time.Duration(rnd.IntN(50))*time.Millisecond)
		return 0, nil
	}, []int{0}, regexp.MustCompile(`ended without a request|TLS handshake error.*EOF`)},
}

func noise(rnd *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rnd.Uint32())
	}
	return b
}

// overTLS sends bytes on a connection of its own, with the party's key if as is not
// nil, and returns the status of the answer.
func (t *target) overTLS(as *target, change func(*tls.Config), send string) (int, error) {
	id := t.own
	if as == nil {
		id = nil
	}
	c, err := t.connect(id, change)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	if _, err := io.WriteString(c, send); err != nil {
		return 0, hungUp(t.ctx, err)
	}
	c.CloseWrite()
	return status(t.ctx, c)
}

// raw sends bytes without TLS.
func (t *target) raw(b []byte) (int, error) {
	c, err := net.DialTimeout("tcp", t.address, 10*time.Second)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Minute))
	if _, err := c.Write(b); err != nil {
		return 0, nil
	}
	c.(*net.TCPConn).CloseWrite()
	return status(t.ctx, c)
}

func status(ctx context.Context, c net.Conn) (int, error) {
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0, hungUp(ctx, err)
	}
	resp.Body.Close()
	return resp.StatusCode, nil
}

// silent opens connections that stop in the middle of their headers or of a body, and
// makes sure that the server ends them by itself.
func (t *target) silent() error {
	const most = 50 * time.Second // the server waits 10 s for headers and 30 s for a byte of a body
	ended := make(chan error, 20)
	for i := range cap(ended) {
		go func() {
			ended <- func() error {
				c, err := t.connect(t.own, nil)
				if err != nil {
					return err
				}
				defer c.Close()
				send := "GET " + t.path("/status") + " HTTP/1.1\r\nHost:"
				if i%2 == 1 {
					send = "POST " + t.path("/confirmations") + " HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nhalf"
				}
				if _, err := io.WriteString(c, send); err != nil {
					return err
				}
				c.SetReadDeadline(time.Now().Add(most))
				if _, err := io.Copy(io.Discard, c); err != nil {
					return hungUp(t.ctx, err)
				}
				return nil
			}()
		}()
	}
	var errs []error
	for range cap(ended) {
		if err := <-ended; err != nil {
			errs = append(errs, fmt.Errorf("a connection that fell silent: %w", err))
		}
	}
	return errors.Join(errs...)
}
