package server

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"concord/bundle"
	"concord/identity"
	"concord/internal/api"
	"concord/internal/signed"
	"concord/internal/store"
	"concord/member"
	"concord/wire"
)

// TakeBundle takes a bundle that a party sends as one stream: the envelope is
// judged before the rest is read; the whole is written to a file, checked, and
// acknowledged by a signed receipt once it is durable. The same bundle again
// gives the same receipt.
func (s *Server) TakeBundle(ctx context.Context, hash, party wire.Hash, r io.Reader) (receipt []byte, err error) {
	v, member, err := s.sender(ctx, hash, party)
	if err != nil {
		return nil, err
	}
	done, err := s.oneUpload(hash, party)
	if err != nil {
		return nil, err
	}
	defer done()
	// The envelope is read byte by byte.
	body := bufio.NewReaderSize(http.MaxBytesReader(nil, io.NopCloser(r), maxUpload(v.contract)), 64<<10)
	env, line, err := bundle.ReadEnvelope(body)
	if err != nil {
		return nil, refused(err)
	}
	b, known, err := s.judge(ctx, v, member, env)
	if known != nil || err != nil {
		return known, err
	}
	// What is still to come of it, others have to leave free.
	whole := int64(len(line)) + env.Size
	s.guard.taking.Add(whole)
	defer s.guard.taking.Add(-whole)
	rest := &claim{Reader: io.LimitReader(body, env.Size+1), coming: &s.guard.coming, left: whole} // one byte too many is seen
	s.guard.coming.Add(whole)
	defer rest.end()
	file, err := s.store.Incoming()
	if err != nil {
		return nil, err
	}
	defer func() {
		file.Close()
		os.Remove(file.Name()) // gone already if the store took it
	}()
	sum := sha256.New()
	if b.Size, err = receive(file, sum, line, rest); err != nil {
		return nil, err
	}
	return s.keep(ctx, v, member, env, b, file, wire.Hash(sum.Sum(nil)))
}

// claim counts what is still to come of a bundle down while it comes.
type claim struct {
	io.Reader
	coming *atomic.Int64
	left   int64
}

// Read takes what came off what is still to come.
func (c *claim) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	came := min(int64(n), c.left)
	c.left -= came
	c.coming.Add(-came)
	return n, err
}

func (c *claim) end() { c.coming.Add(-c.left) }

// sender loads a study for a party that sends a bundle, which it may when it has
// confirmed the roster.
func (s *Server) sender(ctx context.Context, hash, party wire.Hash) (*view, *identity.Statement, error) {
	v, member, err := s.viewOf(ctx, hash, party)
	if err != nil {
		return nil, nil, err
	}
	if v.chain == nil || v.chain.Present(party) == nil || !v.confirmed(party) {
		return nil, nil, notYet("this party has not confirmed the roster")
	}
	if v.ended != "" {
		return nil, nil, notYet("the study has ended: %s", v.ended)
	}
	return v, member, nil
}

// judge decides by the envelope whether a bundle is taken. It returns the row that
// it would have, or the receipt if it is here already: the receipt was lost then,
// not the bundle.
func (s *Server) judge(ctx context.Context, v *view, member *identity.Statement, env *bundle.Envelope) (b store.Bundle, known []byte, err error) {
	if b, err = checkEnvelope(v, member, env); err != nil {
		return b, nil, err
	}
	// A party sends one bundle of a kind, and one message of masked sums of a stage and
	// number, whatever keys it has had.
	for _, sent := range [][]store.Bundle{v.setup, v.contributions, v.numbered(b)} {
		if other := v.of(b.Sender, sent); other != nil && other.Kind == b.Kind && (other.Epoch != b.Epoch || other.Sender != b.Sender) {
			if other.Manifest != b.Manifest {
				return b, nil, alreadyStored(b.Kind)
			}
			b.Epoch, b.Sender = other.Epoch, other.Sender
		}
	}
	known, err = s.store.Receipt(ctx, b)
	if errors.Is(err, store.ErrConflict) {
		err = alreadyStored(b.Kind)
	}
	if known == nil && err == nil {
		err = s.room(ctx, v, b, int64(len(env.Line()))+env.Size)
	}
	return b, known, err
}

// keep checks a bundle that lies whole in an incoming file, with the payload's SHA-256
// as it came in, stores it and returns its receipt.
func (s *Server) keep(ctx context.Context, v *view, sender *identity.Statement, env *bundle.Envelope, b store.Bundle, file *os.File, ciphertext wire.Hash) ([]byte, error) {
	if err := s.checkBundle(v, sender, env, file, b.Size, ciphertext); err != nil {
		return nil, err
	}
	b.Line, b.Heads = env.Line(), env.Heads
	b.Event.Note = fmt.Sprintf("a %s of %d bytes from %q; verified", b.Kind, b.Size, sender.Name)
	b.Acknowledge = func(head member.Head) []byte {
		receipt := member.Receipt{
			Format: 1, Study: v.hash, Epoch: b.Epoch, Sender: b.Sender, Manifest: b.Manifest, Ciphertext: env.Ciphertext,
			Received: time.Now().UTC().Truncate(time.Second), Heads: acknowledged(head, env.Heads),
		}
		receipt.Sign(s.id)
		return receipt.Encode()
	}
	stored, err := s.store.PutBundle(ctx, b, file)
	if errors.Is(err, store.ErrConflict) {
		return nil, alreadyStored(b.Kind)
	}
	if err != nil {
		return nil, err
	}
	s.log.Info("stored", "study", v.hash.Short(), "party", sender.Name, "kind", b.Kind, "bytes", b.Size, "manifest", b.Manifest.Short())
	s.wakeJobs()
	return stored, nil
}

// oneUpload lets a party have one upload under way at a time.
func (s *Server) oneUpload(hash, party wire.Hash) (done func(), err error) {
	key := [2]wire.Hash{hash, party}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.uploading[key] {
		return nil, tooMany(5*time.Second, "another upload of this party is under way", "wait for it to end")
	}
	s.uploading[key] = true
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.uploading, key)
	}, nil
}

// receiveBytes is the size of the buffer through which bundles come in.
const receiveBytes = 256 << 10

// receive writes the line and the rest of the body, which goes through sum too.
func receive(file io.Writer, sum hash.Hash, line []byte, body io.Reader) (int64, error) {
	if _, err := file.Write(line); err != nil {
		return 0, err
	}
	counted := &countingReader{r: body}
	_, err := io.CopyBuffer(io.MultiWriter(file, sum), counted, make([]byte, receiveBytes))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large), errors.Is(err, signed.ErrBody):
		return 0, err
	case counted.failed:
		return 0, badRequest("the upload broke off after %d bytes", int64(len(line))+counted.n)
	}
	return int64(len(line)) + counted.n, err
}

// countingReader tells a body that breaks off from a disk that is full.
type countingReader struct {
	r      io.Reader
	n      int64
	failed bool
}

// Read counts bytes, and keeps whether reading failed.
func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	c.failed = err != nil && err != io.EOF
	return n, err
}

// acknowledged are the heads of a receipt: ours, and the sender's that came.
func acknowledged(own member.Head, came *member.Heads) *member.Heads {
	heads := member.NewHeads(own, member.Head{})
	if heads != nil && came != nil {
		heads.Seen = came.Own
	}
	return heads
}

func alreadyStored(kind string) error {
	return &problem{http.StatusConflict, api.CodeConflict,
		fmt.Sprintf("another %s of this party is already stored", kind), "what was sent first counts; ask the analyst", nil}
}
