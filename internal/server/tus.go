package server

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"concord/bundle"
	"concord/internal/api"
	"concord/internal/store"
	"concord/wire"
)

// The resumable upload protocol tus 1.0.0 over the operations in upload.go; package
// api says what each request does. No state hangs on a connection.

// receiptWait is how long a request waits for the check of an upload. It is below the
// time after which proxies give up on an answer.
const receiptWait = 15 * time.Second

// tus states the protocol's version on every answer and refuses requests of others.
func tus(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Set(api.HeaderResumable, api.TusVersion)
		w.Header().Set("Cache-Control", "no-store")
		if r.Method != http.MethodOptions && r.Method != http.MethodGet && r.Header.Get(api.HeaderResumable) != api.TusVersion {
			w.Header().Set(api.HeaderVersions, api.TusVersion)
			return &problem{http.StatusPreconditionFailed, api.CodeVersion,
				"the upload protocol is tus " + api.TusVersion + "; the request names another version or none", "", nil}
		}
		return h(w, r)
	}
}

func (s *Server) uploadOptions(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set(api.HeaderVersions, api.TusVersion)
	w.Header().Set(api.HeaderExtensions, api.TusExtensions)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (s *Server) postUpload(w http.ResponseWriter, r *http.Request) error {
	hash, party, err := s.caller(r)
	if err != nil {
		return err
	}
	size, err := number(r, api.HeaderLength)
	if err != nil {
		return err
	}
	body := io.Reader(bufio.NewReader(alive(w, r.Body)))
	if askerOf(r) != nil { // only the end of a signed body proves it
		b, err := io.ReadAll(http.MaxBytesReader(nil, io.NopCloser(body), bundle.MaxLineBytes))
		if err != nil {
			return err
		}
		body = bytes.NewReader(b)
	}
	u, receipt, err := s.BeginUpload(r.Context(), hash, party, size, body)
	if err != nil {
		return err
	}
	if receipt != nil {
		return sendReceipt(w, receipt)
	}
	w.Header().Set("Location", api.UploadPath(hash, u.ID.String()))
	state(w, u)
	w.WriteHeader(http.StatusCreated)
	return nil
}

func (s *Server) headUpload(w http.ResponseWriter, r *http.Request) error {
	hash, party, id, err := s.uploader(r)
	if err != nil {
		return err
	}
	u, err := s.UploadState(r.Context(), hash, party, id)
	if err != nil {
		return err
	}
	state(w, u)
	w.Header().Set(api.HeaderLength, strconv.FormatInt(u.Size, 10))
	w.WriteHeader(http.StatusOK)
	return nil
}

func (s *Server) patchUpload(w http.ResponseWriter, r *http.Request) error {
	hash, party, id, err := s.uploader(r)
	if err != nil {
		return err
	}
	if t := r.Header.Get("Content-Type"); t != api.PartMediaType {
		return &problem{http.StatusUnsupportedMediaType, api.CodeBadRequest, "a part's content type must be " + api.PartMediaType, "", nil}
	}
	offset, err := number(r, api.HeaderOffset)
	if err != nil {
		return err
	}
	in := newPart(w, r)
	u, err := s.AppendUpload(r.Context(), hash, party, id, offset, in)
	if in.stopped() {
		w.Header().Set("Connection", "close") // nothing more is read from it
	}
	if u.Size > 0 {
		state(w, u)
	}
	if err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// postToUpload is a PATCH or DELETE that something between does not let through.
func (s *Server) postToUpload(w http.ResponseWriter, r *http.Request) error {
	switch r.Header.Get(api.HeaderOverride) {
	case http.MethodPatch:
		return s.patchUpload(w, r)
	case http.MethodDelete:
		return s.deleteUpload(w, r)
	}
	return &problem{http.StatusMethodNotAllowed, api.CodeBadRequest, "POST to an upload needs " + api.HeaderOverride + ": PATCH or DELETE", "", nil}
}

func (s *Server) deleteUpload(w http.ResponseWriter, r *http.Request) error {
	hash, party, id, err := s.uploader(r)
	if err != nil {
		return err
	}
	if err := s.DropUpload(r.Context(), hash, party, id); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (s *Server) uploadReceipt(w http.ResponseWriter, r *http.Request) error {
	hash, party, id, err := s.uploader(r)
	if err != nil {
		return err
	}
	receipt, err := s.UploadReceipt(r.Context(), hash, party, id, receiptWait)
	switch {
	case err != nil:
		return err
	case receipt == nil:
		writeJSON(w, http.StatusAccepted, api.Checking{State: api.InCheck}, s.log)
		return nil
	}
	return sendReceipt(w, receipt)
}

// uploader is the caller and the upload that the path names.
func (s *Server) uploader(r *http.Request) (hash, party wire.Hash, id store.UploadID, err error) {
	if hash, party, err = s.caller(r); err != nil {
		return hash, party, id, err
	}
	if id, err = store.ParseUploadID(r.PathValue("upload")); err != nil {
		err = &problem{http.StatusNotFound, api.CodeNotFound, "the path names no upload", "", nil}
	}
	return hash, party, id, err
}

func state(w http.ResponseWriter, u Upload) {
	w.Header().Set(api.HeaderOffset, strconv.FormatInt(u.Arrived, 10))
	w.Header().Set(api.HeaderExpires, u.Expires.UTC().Format(http.TimeFormat))
}

// number reads a header that must be there: a count of bytes.
func number(r *http.Request, name string) (int64, error) {
	values := r.Header.Values(name)
	if len(values) == 1 {
		if n, err := strconv.ParseInt(values[0], 10, 64); err == nil && n >= 0 && !strings.HasPrefix(values[0], "+") {
			return n, nil
		}
	}
	return 0, badRequest("the header %s must be there once and be a number of bytes", name)
}

// part is the body of a request. The transfer has time as long as bytes come.
type part struct {
	r    *http.Request
	c    *http.ResponseController
	mu   sync.Mutex
	stop bool
}

func newPart(w http.ResponseWriter, r *http.Request) *part {
	return &part{r: r, c: http.NewResponseController(w)}
}

// Whole: the signature of a request covers its body as a whole.
func (p *part) Whole() bool { return askerOf(p.r) != nil }

var errGaveWay = errors.New("another request goes on with this upload")

// Read gives way where another request goes on.
func (p *part) Read(b []byte) (int, error) {
	if err := p.extend(); err != nil {
		return 0, err
	}
	return p.r.Body.Read(b)
}

func (p *part) extend() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stop {
		return errGaveWay
	}
	// A connection that cannot take a deadline is a test's, in memory.
	_ = p.c.SetReadDeadline(time.Now().Add(transferTimeout))
	return nil
}

func (p *part) stopped() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stop
}

// Stop ends the read that is under way.
func (p *part) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.stop {
		p.stop = true
		_ = p.c.SetReadDeadline(time.Now())
	}
}
