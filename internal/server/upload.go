package server

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"concord/bundle"
	"concord/identity"
	"concord/internal/ahead"
	"concord/internal/api"
	"concord/internal/durable"
	"concord/internal/signed"
	"concord/internal/store"
	"concord/wire"
)

const (
	// recordBytes of an upload come in between two records of how much has arrived.
	recordBytes = 64 << 20
	// beginBytes after each other are handed to the disk while more come in.
	beginBytes = 4 << 20
	// staleAfter is how long a part that is coming in may be silent before another
	// takes its place: the other end of its connection is gone then, mostly.
	staleAfter = 3 * time.Second
	// giveWay bounds the wait for a part whose place another takes.
	giveWay = 10 * time.Second
)

// Upload says how far an upload is.
type Upload struct {
	ID      store.UploadID
	Arrived int64 // bytes on the disk
	Size    int64 // of the whole
	Expires time.Time
}

func outside(u store.Upload) Upload { return Upload{u.ID, u.Arrived, u.Size, u.Expires} }

// BeginUpload judges a bundle of size bytes by its envelope line, which r begins with,
// and makes room for the rest. The same line again gives the same upload; if the
// bundle is stored already, its receipt.
func (s *Server) BeginUpload(ctx context.Context, hash, party wire.Hash, size int64, r io.Reader) (u Upload, receipt []byte, err error) {
	v, member, err := s.sender(ctx, hash, party)
	if err != nil {
		return u, nil, err
	}
	env, line, err := bundle.ReadEnvelope(r)
	if err != nil {
		return u, nil, refused(err)
	}
	b, known, err := s.judge(ctx, v, member, env)
	if known != nil || err != nil {
		return u, known, err
	}
	switch whole := int64(len(line)) + env.Size; {
	case env.Size > maxUpload(v.contract)-int64(len(line)):
		return u, nil, tooLarge(maxUpload(v.contract))
	case size != whole:
		return u, nil, badRequest("the upload has %d bytes, the envelope line says %d", size, whole)
	}
	state, err := sha256.New().(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		return u, nil, err
	}
	begun, err := s.store.BeginUpload(ctx, store.Upload{
		Study: b.Study, Epoch: b.Epoch, Sender: party, Kind: b.Kind, Round: b.Round, Line: line, Size: size, Hash: state,
	})
	if err != nil {
		return u, nil, err
	}
	s.uploads.forget(begun.ID)
	s.log.Info("upload", "study", hash.Short(), "party", member.Name, "kind", b.Kind, "bytes", size, "arrived", begun.Arrived)
	return outside(begun), nil, nil
}

// UploadState says how far a party's upload is.
func (s *Server) UploadState(ctx context.Context, hash, party wire.Hash, id store.UploadID) (Upload, error) {
	u, err := s.upload(ctx, hash, party, id)
	return outside(u), err
}

func (s *Server) upload(ctx context.Context, hash, party wire.Hash, id store.UploadID) (store.Upload, error) {
	u, err := s.store.Upload(ctx, hash, party, id)
	if errors.Is(err, store.ErrNotFound) {
		err = &problem{http.StatusNotFound, api.CodeNotFound, "no such upload; it may have ended or expired", "begin it again: the server says what it has", nil}
	}
	return u, err
}

// DropUpload gives a party's upload up.
func (s *Server) DropUpload(ctx context.Context, hash, party wire.Hash, id store.UploadID) error {
	u, err := s.upload(ctx, hash, party, id)
	if err != nil {
		return err
	}
	done, err := s.uploads.enter(ctx, id, nil)
	if err != nil {
		return err
	}
	defer done()
	return s.store.DropUpload(ctx, u)
}

// Part is a part of an upload that is coming in.
type Part interface {
	io.Reader
	// Stop makes Read fail, the one that is under way too.
	Stop()
	// Whole says that only the end of the part proves its bytes.
	Whole() bool
}

// AppendUpload takes the bytes of an upload from offset on, as many as come; those
// that it says have arrived are on the disk. What came before a part broke off is
// kept, unless only its end would have proved it. The last part begins the check of the whole: see [Server.UploadReceipt].
func (s *Server) AppendUpload(ctx context.Context, hash, party wire.Hash, id store.UploadID, offset int64, part Part) (Upload, error) {
	if _, err := s.upload(ctx, hash, party, id); err != nil {
		return Upload{}, err
	}
	in := &incoming{Part: part}
	done, err := s.uploads.enter(ctx, id, in)
	if err != nil {
		return Upload{}, err
	}
	defer done()
	u, err := s.upload(ctx, hash, party, id) // as whoever was there before left it
	if err != nil {
		return Upload{}, err
	}
	if offset != u.Arrived {
		return outside(u), &problem{http.StatusConflict, api.CodeOffset,
			fmt.Sprintf("the part begins at %d, %d bytes have arrived", offset, u.Arrived), "ask how much has arrived, and go on from there", nil}
	}
	err = s.append(ctx, &u, in)
	if u.Arrived == u.Size {
		s.log.Info("arrived", "study", hash.Short(), "party", party.Short(), "kind", u.Kind, "bytes", u.Size)
		s.uploads.check(s, u)
	}
	return outside(u), err
}

// append writes what comes to the upload's file and records it.
func (s *Server) append(ctx context.Context, u *store.Upload, in Part) error {
	file, err := s.store.OpenUpload(*u)
	if err != nil {
		return err
	}
	defer file.Close()
	sum := sha256.New()
	if err := sum.(encoding.BinaryUnmarshaler).UnmarshalBinary(u.Hash); err != nil {
		return err
	}
	// The client may be gone; what has come is kept all the same.
	ctx = context.WithoutCancel(ctx)
	next := ahead.Read(in, receiveBytes)
	var beginning sync.WaitGroup
	defer beginning.Wait()
	ended := false
	defer func() {
		if !ended {
			in.Stop() // else Stop would wait for bytes that nobody wants
		}
		next.Stop()
	}()
	arrived := u.Arrived
	for begun := arrived; ; {
		b, err := next.Next(receiveBytes)
		if int64(len(b)) > u.Size-arrived {
			return tooLarge(u.Size)
		}
		if _, err := file.Write(b); err != nil {
			return err
		}
		sum.Write(b)
		if arrived += int64(len(b)); arrived-begun >= beginBytes {
			from, n := begun, arrived-begun
			beginning.Go(func() { durable.Begin(file, from, n) }) // it may have to wait for the disk
			begun = arrived
		}
		ended = err != nil
		due := ended || arrived-u.Arrived >= recordBytes
		if in.Whole() {
			due = errors.Is(err, io.EOF)
		}
		if due && arrived > u.Arrived {
			state, err := sum.(encoding.BinaryMarshaler).MarshalBinary()
			if err != nil {
				return err
			}
			if err := s.store.RecordUpload(ctx, u, file, arrived, state); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, signed.ErrBody):
			return err
		case ended:
			return badRequest("the upload broke off; %d of %d bytes have arrived", u.Arrived, u.Size)
		}
	}
}

// incoming is a part that knows when its last byte came.
type incoming struct {
	Part
	mu   sync.Mutex
	last time.Time
}

// Read keeps when bytes came last.
func (in *incoming) Read(p []byte) (int, error) {
	n, err := in.Part.Read(p)
	in.mu.Lock()
	defer in.mu.Unlock()
	in.last = time.Now()
	return n, err
}

func (in *incoming) silent() time.Duration {
	in.mu.Lock()
	defer in.mu.Unlock()
	return time.Since(in.last)
}

// uploads keeps order among the requests for one upload: one part at a time comes
// in, and the whole is checked once.
type uploads struct {
	mu sync.Mutex
	// parts are those that are coming in.
	parts map[store.UploadID]*turn
	// checks are those of whole uploads, under way or ended.
	checks map[store.UploadID]*check
	// running counts the checks that are under way.
	running sync.WaitGroup
}

type turn struct {
	part *incoming // nil while an upload is dropped
	done chan struct{}
}

// enter waits for its turn with an upload. A part that has been silent gives way; one
// that comes in well does not.
func (us *uploads) enter(ctx context.Context, id store.UploadID, part *incoming) (done func(), err error) {
	mine := &turn{part, make(chan struct{})}
	if part != nil {
		part.last = time.Now()
	}
	give := time.NewTimer(giveWay)
	defer give.Stop()
	for {
		us.mu.Lock()
		before := us.parts[id]
		if before == nil {
			us.parts[id] = mine
			us.mu.Unlock()
			return func() {
				us.mu.Lock()
				defer us.mu.Unlock()
				delete(us.parts, id)
				close(mine.done)
			}, nil
		}
		us.mu.Unlock()
		if before.part == nil || before.part.silent() < staleAfter {
			return nil, locked()
		}
		before.part.Stop()
		select {
		case <-before.done:
		case <-give.C:
			return nil, locked()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func locked() error {
	return &problem{http.StatusLocked, api.CodeLocked, "another part of this upload is coming in", "wait a few seconds", nil}
}

func tooLarge(most int64) error {
	return &problem{http.StatusRequestEntityTooLarge, api.CodeTooLarge, fmt.Sprintf("the upload has more than %d bytes", most), "", nil}
}

// check is the check of a whole upload.
type check struct {
	party   wire.Hash
	study   wire.Hash
	began   time.Time
	done    chan struct{}
	receipt []byte
	err     error
}

// keepChecks is how long the outcome of a check can be asked for.
const keepChecks = time.Hour

// check begins to check an upload of which everything has arrived, unless that is
// under way or has ended.
func (us *uploads) check(s *Server, u store.Upload) *check {
	us.mu.Lock()
	defer us.mu.Unlock()
	for id, c := range us.checks {
		if time.Since(c.began) > keepChecks && c.ended() {
			delete(us.checks, id)
		}
	}
	if c := us.checks[u.ID]; c != nil {
		return c
	}
	c := &check{party: u.Sender, study: u.Study, began: time.Now(), done: make(chan struct{})}
	us.checks[u.ID] = c
	us.running.Go(func() {
		defer close(c.done)
		defer func() {
			if v := recover(); v != nil {
				c.err = fmt.Errorf("panic while an upload was checked: %v", v)
			}
		}()
		c.receipt, c.err = s.takeUpload(context.Background(), u)
	})
	return c
}

func (c *check) ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// forget lets an upload be checked again.
func (us *uploads) forget(id store.UploadID) {
	us.mu.Lock()
	defer us.mu.Unlock()
	if c := us.checks[id]; c != nil && c.ended() {
		delete(us.checks, id)
	}
}

// UploadReceipt returns the receipt of an upload of which everything has arrived. The
// check of a large one takes its time: after wait it returns no receipt and no
// error, and can be asked again.
func (s *Server) UploadReceipt(ctx context.Context, hash, party wire.Hash, id store.UploadID, wait time.Duration) ([]byte, error) {
	s.uploads.mu.Lock()
	c := s.uploads.checks[id]
	s.uploads.mu.Unlock()
	if c == nil || c.party != party || c.study != hash {
		u, err := s.upload(ctx, hash, party, id)
		if err != nil {
			return nil, err
		}
		if u.Arrived < u.Size {
			return nil, notYet("%d of %d bytes have arrived", u.Arrived, u.Size)
		}
		c = s.uploads.check(s, u)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-c.done:
	case <-timer.C:
		return nil, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if c.err != nil && toProblem(c.err).cause != nil { // the server's own trouble, which may pass
		s.uploads.forget(id)
	}
	return c.receipt, c.err
}

// takeUpload checks and stores a bundle that has arrived in parts. One that is
// refused is removed; trouble of the server's own leaves it as it is.
func (s *Server) takeUpload(ctx context.Context, u store.Upload) ([]byte, error) {
	v, member, err := s.sender(ctx, u.Study, u.Sender)
	if err != nil {
		return nil, err
	}
	env, _, err := bundle.ReadEnvelope(bytes.NewReader(u.Line))
	if err != nil {
		return nil, err
	}
	b, receipt, err := s.judge(ctx, v, member, env)
	if err == nil && receipt == nil {
		receipt, err = s.keepUpload(ctx, v, member, env, b, u)
	}
	if err != nil && toProblem(err).cause != nil {
		return nil, err
	}
	if dropped := s.store.DropUpload(ctx, u); dropped != nil {
		s.log.Error("remove an upload", "error", dropped)
	}
	return receipt, err
}

func (s *Server) keepUpload(ctx context.Context, v *view, member *identity.Statement, env *bundle.Envelope, b store.Bundle, u store.Upload) ([]byte, error) {
	file, err := s.store.OpenUpload(u)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	sum := sha256.New()
	if err := sum.(encoding.BinaryUnmarshaler).UnmarshalBinary(u.Hash); err != nil {
		return nil, err
	}
	b.Size = u.Size
	return s.keep(ctx, v, member, env, b, file, wire.Hash(sum.Sum(nil)))
}

// sweepEvery is how often uploads are looked at that nobody goes on with.
const sweepEvery = time.Hour

// sweepUploads ends the uploads that nobody goes on with, until ctx ends.
func (s *Server) sweepUploads(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		n, err := s.store.ExpireUploads(ctx, time.Now())
		if err != nil && ctx.Err() == nil {
			s.log.Error("expire uploads", "error", err)
		} else if n > 0 {
			s.log.Info("uploads expired", "count", n)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
