package server

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"concord/identity"
	"concord/internal/api"
	"concord/internal/pinned"
	"concord/internal/store"
	"concord/wire"
)

// The handlers decode a request, find out who asks, and call the operation of
// the same name; they decide nothing themselves.

// caller is the study that a request names, and the party whose key the
// connection, or the request's signature, has proved.
func (s *Server) caller(r *http.Request) (hash, party wire.Hash, err error) {
	return s.limited(s.callerBy(r, s.memberByKey, s.signer))
}

// callerOrLeft is caller for what a party may ask that has left the study.
func (s *Server) callerOrLeft(r *http.Request) (hash, party wire.Hash, err error) {
	return s.limited(s.callerBy(r, s.leftByKey, s.signerOrLeft))
}

func (s *Server) callerBy(r *http.Request, byKey func(context.Context, wire.Hash, wire.Hash) (*identity.Statement, error),
	signer func(context.Context, *asker, wire.Hash) (wire.Hash, error)) (hash, party wire.Hash, err error) {
	if hash, err = pathStudy(r); err != nil {
		return hash, party, err
	}
	if a := askerOf(r); a != nil {
		party, err := signer(r.Context(), a, hash)
		return hash, party, err
	}
	key, err := clientKey(r)
	if err != nil {
		return hash, party, err
	}
	member, err := byKey(r.Context(), hash, key)
	if err != nil {
		return hash, party, err
	}
	return hash, s.fingerprint(member), nil
}

// pathStudy is the study that the request's path names.
func pathStudy(r *http.Request) (wire.Hash, error) {
	h, err := wire.ParseHash(r.PathValue("study"))
	if err != nil {
		return h, &problem{http.StatusNotFound, api.CodeNotFound, "the path names no study", "", nil}
	}
	return h, nil
}

// clientKey is the hash of the key that the client's connection has proved.
func clientKey(r *http.Request) (wire.Hash, error) {
	key, err := pinned.PeerKey(r.TLS)
	if err != nil {
		return key, forbidden("the connection presents no key")
	}
	return key, nil
}

func (s *Server) health(w http.ResponseWriter, _ *http.Request) error {
	return s.ok(w, map[string]string{"status": "ok"})
}

// describe gives the description of the API to anybody.
func (s *Server) describe(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/json")
	_, err := aliveWriter(w).Write(api.OpenAPI)
	return err
}

// identity gives the analyst's statement to anybody: it is public.
func (s *Server) identity(w http.ResponseWriter, _ *http.Request) error {
	return s.ok(w, api.Identity{Statement: s.id.Statement.Encode()})
}

// postJoin is for whom no roster names yet: the connection must prove the TLS key of
// the statement, or the request's signature its signing key. Where a proxy may read
// the request, the invite's secret is not in it.
func (s *Server) postJoin(w http.ResponseWriter, r *http.Request) error {
	hash, err := pathStudy(r)
	if err != nil {
		return err
	}
	var req api.JoinRequest
	if err := readJSON(w, r, &req); err != nil {
		return err
	}
	statement, err := identity.DecodeStatement(req.Statement)
	if err != nil {
		return refused(err)
	}
	invite := wire.HashOf(req.Secret)
	if a := askerOf(r); a != nil {
		if err := s.verified(a, hash, statement); err != nil {
			return err
		}
		if len(req.Secret) > 0 {
			return badRequest("the secret of an invite does not travel where a proxy may read it; ask for a new invite")
		}
		if invite, err = s.inviteOf(r.Context(), hash, req.Proof, req.Statement); err != nil {
			return err
		}
		if err := s.fresh(a); err != nil {
			return err
		}
	} else if key, err := clientKey(r); err != nil {
		return err
	} else if statement.TLSKey != key {
		return forbidden("the connection does not hold the TLS key of the statement")
	}
	contract, asks, err := s.join(r.Context(), hash, invite, statement)
	if err != nil {
		return err
	}
	return s.ok(w, api.JoinResponse{Contract: contract, Asks: asks})
}

func (s *Server) roster(w http.ResponseWriter, r *http.Request) error {
	hash, party, err := s.caller(r)
	if err != nil {
		return err
	}
	answer, err := s.Roster(r.Context(), hash, party)
	if err != nil {
		return err
	}
	return s.ok(w, answer)
}

func (s *Server) confirm(w http.ResponseWriter, r *http.Request) error {
	hash, party, err := s.caller(r)
	if err != nil {
		return err
	}
	var raw []byte
	if err := readJSON(w, r, &raw); err != nil {
		return err
	}
	if err := s.Confirm(r.Context(), hash, party, raw); err != nil {
		return err
	}
	return s.ok(w, struct{}{})
}

func (s *Server) audit(w http.ResponseWriter, r *http.Request) error {
	hash, party, err := s.caller(r)
	if err != nil {
		return err
	}
	var req api.Audit
	if err := readJSON(w, r, &req); err != nil {
		return err
	}
	answer, err := s.ExchangeHeads(r.Context(), hash, party, req.Witness)
	if err != nil {
		return err
	}
	return s.ok(w, api.Audit{Witness: answer})
}

func (s *Server) status(w http.ResponseWriter, r *http.Request) error {
	hash, _, err := s.caller(r)
	if err != nil {
		return err
	}
	answer, err := s.Status(r.Context(), hash)
	if err != nil {
		return err
	}
	return s.ok(w, answer)
}

func (s *Server) putBundle(w http.ResponseWriter, r *http.Request) error {
	hash, party, err := s.caller(r)
	if err != nil {
		return err
	}
	receipt, err := s.TakeBundle(r.Context(), hash, party, alive(w, r.Body))
	if err != nil {
		return err
	}
	return sendReceipt(w, receipt)
}

func sendReceipt(w http.ResponseWriter, receipt []byte) error {
	w.Header().Set("Content-Type", "application/json")
	_, err := aliveWriter(w).Write(receipt)
	return err
}

func (s *Server) listBundles(w http.ResponseWriter, r *http.Request) error {
	hash, party, err := s.caller(r)
	if err != nil {
		return err
	}
	list, err := s.Bundles(r.Context(), hash, party)
	if err != nil {
		return err
	}
	return s.ok(w, api.Bundles{Bundles: list})
}

func (s *Server) getBundle(w http.ResponseWriter, r *http.Request) error {
	hash, party, err := s.caller(r)
	if err != nil {
		return err
	}
	manifest, err := wire.ParseHash(r.PathValue("bundle"))
	if err != nil {
		return store.ErrNotFound
	}
	file, size, err := s.OpenBundle(r.Context(), hash, party, manifest)
	if err != nil {
		return err
	}
	defer file.Close()
	first := rangeFrom(r.Header.Get("Range"), size)
	if _, err := file.Seek(first, io.SeekStart); err != nil {
		return err
	}
	w.Header().Set("Content-Type", api.BundleMediaType)
	w.Header().Set("Content-Length", strconv.FormatInt(size-first, 10))
	w.Header().Set("Accept-Ranges", "bytes")
	if first > 0 {
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", first, size-1, size))
		w.WriteHeader(http.StatusPartialContent)
	}
	// The answer has begun: what fails from here on, the client sees as a
	// transfer that breaks off.
	if _, err := io.CopyBuffer(aliveWriter(w), struct{ io.Reader }{file}, make([]byte, receiveBytes)); err != nil {
		s.log.Info("download broke off", "party", party.Short(), "error", err)
	}
	return nil
}

// rangeFrom is the first byte that a client wants which goes on with a transfer,
// "bytes=n-". Whoever asks for anything else gets the whole, as HTTP allows.
func rangeFrom(header string, size int64) int64 {
	digits, ok := strings.CutPrefix(header, "bytes=")
	digits, open := strings.CutSuffix(digits, "-")
	if n, err := strconv.ParseInt(digits, 10, 64); ok && open && err == nil && n > 0 && n < size {
		return n
	}
	return 0
}
