package concordd

import (
	"crypto/tls"
	"fmt"
	"os"
	"sync"
	"time"

	"concord/wire"
)

// certificate reads a public certificate, again when its file has changed: it is
// renewed every few weeks.
type certificate struct {
	cert, key string

	mu      sync.Mutex
	loaded  *tls.Certificate
	written time.Time // of the file that was loaded
	looked  time.Time
}

// recheck is how often a certificate's file is looked at.
const recheck = time.Minute

func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loaded != nil && time.Since(c.looked) < recheck {
		return c.loaded, nil
	}
	c.looked = time.Now()
	info, err := os.Stat(c.cert)
	if err == nil && (c.loaded == nil || !info.ModTime().Equal(c.written)) {
		var pair tls.Certificate
		if pair, err = tls.LoadX509KeyPair(c.cert, c.key); err == nil {
			c.loaded, c.written = &pair, info.ModTime()
		}
	}
	if c.loaded == nil {
		return nil, wire.WithHint(fmt.Errorf("the certificate %s: %w", c.cert, err), "it is a file in PEM, the server's certificate first, then its chain; --key names the private key")
	}
	return c.loaded, nil // the old one, if the new one is only half written
}
