package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"time"

	"concord/analyst"
	"concord/bundle"
	"concord/internal/api"
	"concord/internal/npy"
	"concord/internal/store"
	"concord/study"
)

// envelopeRoom is what a bundle may take besides its members: the line, the age
// header with its recipients, the manifest and the signatures.
const envelopeRoom = 4 << 20

// putBundle takes a bundle from a party: the envelope is judged before the rest
// is read; the whole is written to a file, checked, and acknowledged by a signed
// receipt once it is durable.
func (s *Server) putBundle(w http.ResponseWriter, r *http.Request) error {
	v, party, err := s.request(r)
	if err != nil {
		return err
	}
	if v.roster == nil || !v.confirmed(party.Fingerprint()) {
		return notYet("this party has not confirmed the roster")
	}
	done, err := s.oneUpload(v.hash, party.Fingerprint())
	if err != nil {
		return err
	}
	defer done()
	body := http.MaxBytesReader(w, alive(w, r.Body), maxUpload(v.contract))
	env, line, err := bundle.ReadEnvelope(body)
	if err != nil {
		return refused(err)
	}
	b, err := checkEnvelope(v, party, env)
	if err != nil {
		return err
	}
	switch known, err := s.store.Receipt(r.Context(), b); {
	case errors.Is(err, store.ErrConflict):
		return alreadyStored(b.Kind)
	case err != nil:
		return err
	case known != nil: // the receipt was lost, not the bundle
		return sendReceipt(w, known)
	}
	file, err := s.store.Incoming()
	if err != nil {
		return err
	}
	defer func() {
		file.Close()
		os.Remove(file.Name()) // gone already if the store took it
	}()
	hash := sha256.New()
	b.Size, err = receive(io.MultiWriter(file, hash), line, body)
	if err != nil {
		return err
	}
	if err := s.checkBundle(v, party, env, file, b.Size); err != nil {
		return err
	}
	b.File = study.Hash(hash.Sum(nil))
	receipt := study.Receipt{
		Format: 1, Study: v.hash, Epoch: v.epoch, Sender: b.Sender, Manifest: b.Manifest, Ciphertext: env.Ciphertext,
		Received: time.Now().UTC().Truncate(time.Second),
	}
	receipt.Sign(s.id)
	b.Receipt = receipt.Encode()
	stored, err := s.store.PutBundle(r.Context(), b, file)
	if errors.Is(err, store.ErrConflict) {
		return alreadyStored(b.Kind)
	}
	if err != nil {
		return err
	}
	s.log.Info("stored", "study", v.hash.Short(), "party", party.Name, "kind", b.Kind, "bytes", b.Size, "manifest", b.Manifest.Short())
	s.wakeJobs()
	return sendReceipt(w, stored)
}

// oneUpload lets a party have one upload under way at a time.
func (s *Server) oneUpload(hash, party study.Hash) (done func(), err error) {
	key := [2]study.Hash{hash, party}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.uploading[key] {
		return nil, &problem{http.StatusTooManyRequests, api.CodeConflict, "another upload of this party is under way", "wait for it to end", nil}
	}
	s.uploading[key] = true
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.uploading, key)
	}, nil
}

// receive writes the line and the rest of the body.
func receive(w io.Writer, line []byte, body io.Reader) (int64, error) {
	if _, err := w.Write(line); err != nil {
		return 0, err
	}
	counted := &countingReader{r: body}
	_, err := io.Copy(w, counted)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
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

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	c.failed = err != nil && err != io.EOF
	return n, err
}

func alreadyStored(kind string) error {
	return &problem{http.StatusConflict, api.CodeConflict,
		fmt.Sprintf("another %s of this party is already stored", kind), "what was sent first counts; ask the analyst", nil}
}

func sendReceipt(w http.ResponseWriter, receipt []byte) error {
	w.Header().Set("Content-Type", "application/json")
	_, err := aliveWriter(w).Write(receipt)
	return err
}

// maxUpload is the most bytes that a bundle under this contract can have.
func maxUpload(c *study.Contract) int64 {
	contribution := c.Expect.UpBytes + int64(c.MaxRows)*c.Expect.UpBytesPerRow
	return max(contribution+contribution/64, api.SetupBytes(c)) + envelopeRoom
}

// checkEnvelope judges a bundle by its line: signed by this party, for this
// study and roster, of a kind that parties send.
func checkEnvelope(v *view, party *study.Statement, env *bundle.Envelope) (store.Bundle, error) {
	var none store.Bundle
	if err := env.Verify(party.SigningKey); err != nil {
		return none, refused(err)
	}
	switch {
	case env.Sender != party.Fingerprint():
		return none, forbidden("the bundle is another party's")
	case env.Study != v.hash:
		return none, refused(fmt.Errorf("the bundle is for contract %s, this study has %s", env.Study.Short(), v.hash.Short()))
	case env.Epoch != v.epoch:
		return none, refused(fmt.Errorf("the bundle is for epoch %s, this roster has %s", env.Epoch.Short(), v.epoch.Short()))
	case env.Round != 0 || env.Number != 1:
		return none, refused(fmt.Errorf("the bundle is of round %d, number %d; this study has round 0, number 1", env.Round, env.Number))
	}
	switch env.Kind {
	case bundle.KindSetup:
		if err := checkSetup(v, env); err != nil {
			return none, err
		}
	case bundle.KindContribution:
	default:
		return none, refused(fmt.Errorf("parties send bundles of kind setup and contribution, not %q", env.Kind))
	}
	return store.Bundle{
		Study: v.hash, Epoch: v.epoch, Sender: env.Sender, Kind: env.Kind, Round: env.Round,
		Recipients: env.Recipients, Manifest: env.Manifest,
	}, nil
}

// checkBundle verifies what can be verified of a bundle that lies in a file:
// for a contribution, which is sealed to the analyst, all of it.
func (s *Server) checkBundle(v *view, party *study.Statement, env *bundle.Envelope, file *os.File, size int64) error {
	if env.Kind == bundle.KindSetup {
		line := int64(len(env.Line()))
		if err := env.CheckCiphertext(io.NewSectionReader(file, line, size-line)); err != nil {
			return refused(err)
		}
		return nil
	}
	s.opening <- struct{}{} // few at a time: each is whole in memory
	defer func() { <-s.opening }()
	_, err := s.readContribution(v, party, file, size)
	var own *fs.PathError
	if err != nil && !errors.As(err, &own) {
		return refused(err)
	}
	return err
}

// checkSetup makes sure that a bundle the server cannot read is for all other
// parties and no one else.
func checkSetup(v *view, env *bundle.Envelope) error {
	if most := api.SetupBytes(v.contract); env.Size > most {
		return &problem{http.StatusRequestEntityTooLarge, api.CodeTooLarge, fmt.Sprintf("a setup bundle of this study has at most %d bytes", most), "", nil}
	}
	if len(env.Recipients) != len(v.members)-1 {
		return refused(fmt.Errorf("the setup bundle is for %d recipients, must be for the other %d parties", len(env.Recipients), len(v.members)-1))
	}
	for _, r := range env.Recipients {
		m, err := v.roster.Member(r)
		if err != nil {
			return refused(err)
		}
		if m.Role != study.RoleParty || r == env.Sender {
			return refused(fmt.Errorf("the setup bundle is for %q, must be for the other parties only", m.Name))
		}
	}
	return nil
}

// readContribution opens a contribution, checks it against the contract and
// returns it.
func (s *Server) readContribution(v *view, party *study.Statement, file io.ReaderAt, size int64) (analyst.Contribution, error) {
	out := analyst.Contribution{Party: party.Name}
	r, err := bundle.Open(file, size, bundle.Expect{
		Study: v.hash, Epoch: v.epoch, Kind: bundle.KindContribution,
		Sender: party.Fingerprint(), SenderKey: party.SigningKey, Approver: party.Approver(),
		Recipient: s.id.Statement.Fingerprint(),
		MaxBytes:  maxUpload(v.contract),
	}, s.id.AgeIdentity())
	if err != nil {
		return out, err
	}
	out.Anchor = *r.Manifest.Anchor
	c := v.contract
	rows, l := c.MaxRows, c.Basis.Dim
	if out.X, err = r.Matrix(study.MemberX, npy.Limits{Rows: rows, Cols: l}); err != nil {
		return out, err
	}
	if out.A, err = r.Matrix(study.MemberA, npy.Limits{Rows: c.Anchor.Rows, Cols: l}); err != nil {
		return out, err
	}
	if c.Label.Type == "class" {
		out.Labels, err = r.Ints(study.MemberY, npy.Limits{Rows: rows})
	} else {
		out.Values, err = r.Matrix(study.MemberY, npy.Limits{Rows: rows, Cols: 1})
	}
	if err != nil {
		return out, err
	}
	return out, out.Check(c)
}

func (s *Server) listBundles(w http.ResponseWriter, r *http.Request) error {
	v, party, err := s.request(r)
	if err != nil {
		return err
	}
	answer := api.Bundles{Bundles: []api.BundleInfo{}}
	if v.roster != nil {
		stored, err := s.store.Bundles(r.Context(), v.hash, v.epoch, party.Fingerprint())
		if err != nil {
			return err
		}
		for _, b := range stored {
			answer.Bundles = append(answer.Bundles, api.BundleInfo{Manifest: b.Manifest, Sender: b.Sender, Kind: b.Kind, Size: b.Size})
		}
	}
	return s.ok(w, answer)
}

func (s *Server) getBundle(w http.ResponseWriter, r *http.Request) error {
	v, party, err := s.request(r)
	if err != nil {
		return err
	}
	manifest, err := study.ParseHash(r.PathValue("bundle"))
	if err != nil || v.roster == nil {
		return store.ErrNotFound
	}
	b, err := s.findBundle(r.Context(), v, party, manifest)
	if err != nil {
		return err
	}
	file, err := s.store.OpenBundle(b)
	if err != nil {
		return err
	}
	defer file.Close()
	w.Header().Set("Content-Type", api.BundleMediaType)
	w.Header().Set("Content-Length", strconv.FormatInt(b.Size, 10))
	// The answer has begun: what fails from here on, the client sees as a
	// transfer that breaks off.
	if _, err := io.Copy(aliveWriter(w), file); err != nil {
		s.log.Info("download broke off", "party", party.Name, "error", err)
	}
	return nil
}

// findBundle finds a bundle that is for this party.
func (s *Server) findBundle(ctx context.Context, v *view, party *study.Statement, manifest study.Hash) (store.Bundle, error) {
	stored, err := s.store.Bundles(ctx, v.hash, v.epoch, party.Fingerprint())
	if err != nil {
		return store.Bundle{}, err
	}
	for _, b := range stored {
		if b.Manifest == manifest {
			return b, nil
		}
	}
	return store.Bundle{}, store.ErrNotFound
}
