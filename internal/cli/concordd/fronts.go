package concordd

import (
	"crypto/tls"
	"net"

	"concord/internal/server"
	"concord/member"
)

// fronts opens the listeners for every way in that the folder offers. listen
// replaces the address of the first, as an open listener does.
func (p *program) fronts(cfg config, listen string) ([]server.Front, error) {
	var fronts []server.Front
	open := func(f server.Front, address string, check func(string) error) error {
		if len(fronts) == 0 && p.listener != nil {
			f.Listener = p.listener
		} else {
			if len(fronts) == 0 && listen != "" {
				address = listen
			}
			err := check(address)
			if err == nil {
				f.Listener, err = net.Listen("tcp", address)
			}
			if err != nil {
				return err
			}
		}
		fronts = append(fronts, f)
		return nil
	}
	var err error
	if cfg.Address != "" {
		err = open(server.Front{}, cfg.Listen, func(string) error { return nil })
	}
	if cfg.Web != nil && err == nil {
		var prefix string
		if _, prefix, err = member.ParseServerURL(cfg.Web.URL); err != nil {
			return nil, err
		}
		f := server.Front{Web: true, Prefix: prefix}
		if cfg.Web.Cert != "" {
			c := &certificate{cert: cfg.Web.Cert, key: cfg.Web.Key}
			if _, err = c.get(nil); err != nil {
				return nil, err
			}
			f.TLS = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.get}
		}
		err = open(f, cfg.Web.Listen, cfg.Web.check)
	}
	if err != nil {
		for _, f := range fronts {
			f.Listener.Close()
		}
	}
	return fronts, err
}
