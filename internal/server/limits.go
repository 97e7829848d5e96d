package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"concord/internal/api"
	"concord/internal/durable"
	"concord/internal/limit"
	"concord/internal/store"
	"concord/wire"
)

// Limits bound what one party, one address and all together may take of the server.
// A zero means the default. They are "limits" in config.json.
type Limits struct {
	// PartyBundles and PartyBytes are what a party may have stored in one study.
	// Default 64 bundles, and four times the largest bundle that the contract allows.
	PartyBundles int   `json:"party_bundles,omitempty"`
	PartyBytes   int64 `json:"party_bytes,omitempty"`
	// StoreBytes are what all bundles of all studies may take. Default no bound but
	// the disk.
	StoreBytes int64 `json:"store_bytes,omitempty"`
	// ReserveBytes of the disk stay free: no bundle is taken that would touch them,
	// so that what is small can still be written. Default 512 MiB.
	ReserveBytes int64 `json:"reserve_bytes,omitempty"`
	// KeyRequests are those of one party a second, in the long run, and KeyBurst at
	// once. Default 100 and 2,000: with 500 parties each fetches 499 bundles.
	KeyRequests float64 `json:"key_requests,omitempty"`
	KeyBurst    int     `json:"key_burst,omitempty"`
	// AddressRequests are those of one address a second to paths that need no
	// membership, and AddressBurst at once. Default 20 and 2,000: all parties may come
	// by one proxy.
	AddressRequests float64 `json:"address_requests,omitempty"`
	AddressBurst    int     `json:"address_burst,omitempty"`
	// WrongRequests are those of one address a second that are refused because of who
	// asks (a wrong secret, an unknown key, a wrong signature), and WrongBurst at once.
	// Default 0.2 and 50.
	WrongRequests float64 `json:"wrong_requests,omitempty"`
	WrongBurst    int     `json:"wrong_burst,omitempty"`
	// Connections are open at a time, and AddressConnections of one address. Default
	// 2,000 and 1,000.
	Connections        int `json:"connections,omitempty"`
	AddressConnections int `json:"address_connections,omitempty"`
}

const (
	// maxHeaders a request may have; MaxHeaderBytes bounds their bytes.
	maxHeaders     = 64
	maxHeaderBytes = 16 << 10
	// maxStreams is how many requests a connection may have under way.
	maxStreams = 32
)

// withDefaults fills in what is zero.
func (l Limits) withDefaults() Limits {
	setInt := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	setRate := func(v *float64, d float64) {
		if *v == 0 {
			*v = d
		}
	}
	setInt(&l.PartyBundles, 64)
	if l.ReserveBytes == 0 {
		l.ReserveBytes = 512 << 20
	}
	setRate(&l.KeyRequests, 100)
	setInt(&l.KeyBurst, 2000)
	setRate(&l.AddressRequests, 20)
	setInt(&l.AddressBurst, 2000)
	setRate(&l.WrongRequests, 0.2)
	setInt(&l.WrongBurst, 50)
	setInt(&l.Connections, 2000)
	setInt(&l.AddressConnections, 1000)
	return l
}

// Check refuses limits that are none.
func (l Limits) Check() error {
	for _, v := range []struct {
		name string
		n    float64
	}{
		{"party_bundles", float64(l.PartyBundles)}, {"party_bytes", float64(l.PartyBytes)}, {"store_bytes", float64(l.StoreBytes)},
		{"reserve_bytes", float64(l.ReserveBytes)}, {"key_requests", l.KeyRequests}, {"key_burst", float64(l.KeyBurst)},
		{"address_requests", l.AddressRequests}, {"address_burst", float64(l.AddressBurst)}, {"wrong_requests", l.WrongRequests},
		{"wrong_burst", float64(l.WrongBurst)}, {"connections", float64(l.Connections)}, {"address_connections", float64(l.AddressConnections)},
	} {
		if !(v.n >= 0 && v.n <= 1<<60) {
			return fmt.Errorf("server: limits.%s is %v, must be 0 for the default, or positive", v.name, v.n)
		}
	}
	return nil
}

// Option changes how a server works.
type Option func(*Server)

// WithLimits sets limits that are not the defaults.
func WithLimits(l Limits) Option { return func(s *Server) { s.guard = newGuard(l) } }

// guard keeps the limits.
type guard struct {
	Limits
	keys, addresses, wrong *limit.Keyed
	// taking are the bytes of the bundles that are coming in as one stream, coming those
	// of them that have still to come.
	taking, coming atomic.Int64
	room           func(dir string) (int64, error)
}

func newGuard(l Limits) *guard {
	l = l.withDefaults()
	return &guard{
		Limits:    l,
		keys:      limit.NewKeyed(l.KeyRequests, l.KeyBurst),
		addresses: limit.NewKeyed(l.AddressRequests, l.AddressBurst),
		wrong:     limit.NewKeyed(l.WrongRequests, l.WrongBurst),
		room:      durable.Room,
	}
}

// openRoutes are those that need no membership.
var openRoutes = map[string]bool{
	"GET " + api.PathHealth: true, "GET " + api.PathDescription: true, "GET " + api.PathIdentity: true, "POST " + api.PathJoin: true, "/": true,
}

// before judges a request by where it comes from, before anything of it is looked at.
func (s *Server) before(r *http.Request) error {
	if n := len(r.Header); n > maxHeaders {
		return &problem{http.StatusRequestHeaderFieldsTooLarge, api.CodeBadRequest, fmt.Sprintf("the request has %d header fields, at most %d are read", n, maxHeaders), "", nil}
	}
	if !openRoutes[r.Pattern] {
		return nil
	}
	address := limit.Address(r.RemoteAddr)
	if r.Pattern == "POST "+api.PathJoin {
		if wait := s.guard.wrong.Wait(address); wait > 0 {
			return s.wrongTooOften(wait)
		}
	}
	if wait := s.guard.addresses.Take(address); wait > 0 {
		s.metrics.limited.WithLabelValues("address").Inc()
		return tooMany(wait, "too many requests come from this address", "wait, then repeat the command")
	}
	return nil
}

// after counts a request that was refused because of who asks. Too many of them are
// told to wait instead of why.
func (s *Server) after(r *http.Request, err error) error {
	p := toProblem(err)
	if p.code != api.CodeForbidden && p.code != api.CodeSignature {
		return err
	}
	if wait := s.guard.wrong.Take(limit.Address(r.RemoteAddr)); wait > 0 {
		return s.wrongTooOften(wait)
	}
	return err
}

func (s *Server) wrongTooOften(wait time.Duration) error {
	s.metrics.limited.WithLabelValues("wrong").Inc()
	return tooMany(wait, "too many requests from this address were refused", "check the invite, wait some minutes, then try again")
}

// limited counts a request of a party that is known by now.
func (s *Server) limited(hash, party wire.Hash, err error) (wire.Hash, wire.Hash, error) {
	if err != nil {
		return hash, party, err
	}
	if wait := s.guard.keys.Take(string(party[:])); wait > 0 {
		s.metrics.limited.WithLabelValues("key").Inc()
		return hash, party, tooMany(wait, "too many requests of this party", "wait, then repeat the command")
	}
	return hash, party, nil
}

// room makes sure that there is place for a bundle: within the party's quota, the
// server's, and what its disk has free.
func (s *Server) room(ctx context.Context, v *view, b store.Bundle, size int64) error {
	if largest := maxUpload(v.contract); size > largest {
		return tooLarge(largest)
	}
	most := s.guard.PartyBytes
	if most == 0 {
		most = 4*maxUpload(v.contract) + int64(api.PoolStages(v.contract))*4*api.PoolBytes(v.contract)
	}
	used, err := s.store.Usage(ctx, b, v.names(b.Sender))
	if err != nil {
		return err
	}
	switch {
	case used.Bundles >= s.guard.PartyBundles:
		return &problem{http.StatusForbidden, api.CodeQuota,
			fmt.Sprintf("this party has %d bundles in this study, as many as it may have", used.Bundles), "ask the analyst", nil}
	case used.Bytes+size > most:
		return &problem{http.StatusForbidden, api.CodeQuota,
			fmt.Sprintf("with these %d bytes the party would have %d in this study, it may have %d", size, used.Bytes+size, most), "ask the analyst", nil}
	case s.guard.StoreBytes > 0 && used.All+s.guard.taking.Load()+size > s.guard.StoreBytes:
		return full(fmt.Errorf("%d bytes are stored, limits.store_bytes is %d", used.All, s.guard.StoreBytes))
	}
	free, err := s.guard.room(s.store.Dir())
	if err != nil {
		return nil // not known on this system
	}
	if left := free - used.Coming - s.guard.coming.Load() - size; left < s.guard.ReserveBytes {
		return full(fmt.Errorf("%d bytes are free, %d of them stay so", free, s.guard.ReserveBytes))
	}
	return nil
}

// full is the answer when there is no place; why is for the log.
func full(why error) error {
	return &problem{http.StatusInsufficientStorage, api.CodeFull, "the server's disk is nearly full; nothing was taken", "tell the analyst, then try again", why}
}

// errNotServing is why a server is not ready that no Serve runs.
var errNotServing = errors.New("the worker that aligns and trains is not running")

// Ready says why the server could not take a bundle now: nil if it can.
func (s *Server) Ready(ctx context.Context) error {
	if !s.working.Load() {
		return errNotServing
	}
	if err := s.store.Writable(ctx); err != nil {
		return fmt.Errorf("the store cannot be written: %w", err)
	}
	if free, err := s.guard.room(s.store.Dir()); err == nil && free < s.guard.ReserveBytes {
		return fmt.Errorf("%d bytes are free on the disk, %d are the reserve", free, s.guard.ReserveBytes)
	}
	return nil
}

// listen bounds a listener's connections.
func (s *Server) listen(ln net.Listener) net.Listener {
	bounded := limit.NewListener(ln, s.guard.Connections, s.guard.AddressConnections, func(address string) {
		s.metrics.limited.WithLabelValues("connection").Inc()
		s.log.Debug("hung up: too many connections", "address", address)
	})
	s.metrics.listeners.add(bounded)
	return bounded
}

// forwarded is for a listener behind a reverse proxy: the address that limits count
// by is the one that the proxy says it was asked from.
func forwarded(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		all := r.Header.Values("X-Forwarded-For")
		if len(all) > 0 {
			list := strings.Split(all[len(all)-1], ",")
			last := strings.TrimSpace(list[len(list)-1]) // those before it, anybody may have written
			if net.ParseIP(last) != nil {
				r = r.WithContext(r.Context())
				r.RemoteAddr = net.JoinHostPort(last, "0")
			}
		}
		h.ServeHTTP(w, r)
	})
}
