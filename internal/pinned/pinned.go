// Package pinned makes TLS 1.3 connections between keys instead of names:
// both ends present a self-signed P-256 certificate, and each compares the
// SHA-256 of the other's key with the one in an identity statement. No
// certificate authority and no host name is trusted.
package pinned

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"time"

	"concord/identity"
	"concord/wire"
)

// ErrWrongKey is returned by a connection whose other end holds another key
// than the pinned one: the server was set up anew, or somebody sits between.
var ErrWrongKey = errors.New("the server holds another key than the one that was agreed on")

// WrongKey is an ErrWrongKey that says what the other end presented.
type WrongKey struct {
	// Issuer is who issued the certificate at the other end, "" if it is one of this
	// package's.
	Issuer string
}

// Error says what was seen.
func (e *WrongKey) Error() string {
	if e.Issuer == "" {
		return ErrWrongKey.Error()
	}
	return fmt.Sprintf("it shows a certificate issued by %q, not the key that was agreed on", e.Issuer)
}

// Is makes it an ErrWrongKey.
func (e *WrongKey) Is(target error) bool { return target == ErrWrongKey }

// commonName stands in every certificate of this package.
const commonName = "concord"

// Wrong describes the other end of a connection that holds another key than it
// should.
func Wrong(cs *tls.ConnectionState) error {
	if cs == nil || len(cs.PeerCertificates) == 0 {
		return ErrWrongKey
	}
	issuer := cs.PeerCertificates[0].Issuer
	switch {
	case issuer.CommonName == commonName:
		return &WrongKey{}
	case issuer.CommonName != "":
		return &WrongKey{issuer.CommonName}
	}
	return &WrongKey{issuer.String()}
}

// certificate wraps a key. Names and times in it mean nothing: the key is
// pinned. It is valid for all times so that no clock can break a study.
func certificate(key *ecdsa.PrivateKey) (tls.Certificate, error) {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: commonName},
		NotBefore:    time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC),
		NotAfter:     time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// Server returns the configuration of a server that holds key and asks every
// client for its key. Who the client is, the handlers decide: see [PeerKey].
func Server(key *ecdsa.PrivateKey) (*tls.Config, error) {
	cert, err := certificate(key)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{cert},
		ClientAuth:   tls.RequireAnyClientCert,
	}, nil
}

// Client returns the configuration of a client that holds key and accepts a
// server only if accept returns nil for the hash of the server's key.
func Client(key *ecdsa.PrivateKey, accept func(wire.Hash) error) (*tls.Config, error) {
	return ClientSeeing(key, func(server wire.Hash, _ *tls.ConnectionState) error { return accept(server) })
}

// ClientSeeing is Client for who wants to see the connection, to say what is wrong
// with it.
func ClientSeeing(key *ecdsa.PrivateKey, accept func(wire.Hash, *tls.ConnectionState) error) (*tls.Config, error) {
	cert, err := certificate(key)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{cert},
		// The chain is not checked because there is none; VerifyConnection
		// pins the key instead, on every connection, resumed ones included.
		InsecureSkipVerify: true,
		VerifyConnection: func(cs tls.ConnectionState) error {
			key, err := PeerKey(&cs)
			if err != nil {
				return err
			}
			return accept(key, &cs)
		},
	}, nil
}

// PeerKey is the hash of the other end's key. TLS has proved that the other
// end holds it.
func PeerKey(cs *tls.ConnectionState) (wire.Hash, error) {
	if cs == nil || len(cs.PeerCertificates) == 0 {
		return wire.Hash{}, errors.New("the other end presented no key")
	}
	return identity.TLSKeyHash(cs.PeerCertificates[0].PublicKey)
}
