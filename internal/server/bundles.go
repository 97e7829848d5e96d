package server

import (
	"context"
	"errors"
	"fmt"
	"io"
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

// maxSetupBytes bounds a setup bundle, whose members the server cannot see.
const maxSetupBytes = 16 << 20

// putBundle takes a bundle from a party: it is written to a file, checked, and
// acknowledged by a signed receipt once it is durable.
func (s *Server) putBundle(w http.ResponseWriter, r *http.Request) error {
	v, party, err := s.request(r)
	if err != nil {
		return err
	}
	if v.roster == nil || !v.confirmed(party.Fingerprint()) {
		return notYet("this party has not confirmed the roster")
	}
	file, err := s.store.Incoming()
	if err != nil {
		return err
	}
	defer func() {
		file.Close()
		os.Remove(file.Name()) // gone already if the store took it
	}()
	size, err := io.Copy(file, http.MaxBytesReader(w, alive(w, r.Body), maxUpload(v.contract)))
	if err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			return err
		}
		return badRequest("the upload broke off after %d bytes", size)
	}
	b, err := s.checkBundle(v, party, file, size)
	if err != nil {
		return err
	}
	receipt := study.Receipt{
		Format: 1, Study: v.hash, Epoch: v.epoch, Sender: b.Sender, Manifest: b.Manifest, Ciphertext: b.Payload,
		Received: time.Now().UTC().Truncate(time.Second),
	}
	receipt.Sign(s.id)
	b.Receipt = receipt.Encode()
	stored, err := s.store.PutBundle(r.Context(), b, file)
	if errors.Is(err, store.ErrConflict) {
		return &problem{http.StatusConflict, api.CodeConflict,
			fmt.Sprintf("another %s of this party is already stored", b.Kind), "what was sent first counts; ask the analyst", nil}
	}
	if err != nil {
		return err
	}
	s.log.Info("stored", "study", v.hash.Short(), "party", party.Name, "kind", b.Kind, "bytes", b.Size, "manifest", b.Manifest.Short())
	s.wakeJobs()
	w.Header().Set("Content-Type", "application/json")
	_, err = w.Write(stored)
	return err
}

// maxUpload is the most bytes that a bundle under this contract can have.
func maxUpload(c *study.Contract) int64 {
	contribution := c.Expect.UpBytes + int64(c.MaxRows)*c.Expect.UpBytesPerRow
	return max(contribution, maxSetupBytes) + contribution/64 + envelopeRoom
}

// checkBundle verifies what can be verified of a bundle that lies in a file:
// for a contribution, which is sealed to the analyst, all of it.
func (s *Server) checkBundle(v *view, party *study.Statement, file *os.File, size int64) (store.Bundle, error) {
	var b store.Bundle
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return b, err
	}
	env, line, err := bundle.ReadEnvelope(file)
	if err != nil {
		return b, refused(err)
	}
	if err := env.Verify(party.SigningKey); err != nil {
		return b, refused(err)
	}
	switch {
	case env.Sender != party.Fingerprint():
		return b, forbidden("the bundle is another party's")
	case env.Study != v.hash:
		return b, refused(fmt.Errorf("the bundle is for contract %s, this study has %s", env.Study.Short(), v.hash.Short()))
	case env.Epoch != v.epoch:
		return b, refused(fmt.Errorf("the bundle is for epoch %s, this roster has %s", env.Epoch.Short(), v.epoch.Short()))
	case env.Round != 0 || env.Number != 1:
		return b, refused(fmt.Errorf("the bundle is of round %d, number %d; this study has round 0, number 1", env.Round, env.Number))
	}
	b = store.Bundle{
		Study: v.hash, Epoch: v.epoch, Sender: env.Sender, Kind: env.Kind, Round: env.Round,
		Recipients: env.Recipients, Manifest: env.Manifest, Payload: env.Ciphertext, Size: size,
	}
	switch env.Kind {
	case bundle.KindSetup:
		return b, s.checkSetup(v, env, io.NewSectionReader(file, int64(len(line)), size-int64(len(line))))
	case bundle.KindContribution:
		_, err := s.readContribution(v, party, file, size)
		if err != nil {
			return b, refused(err)
		}
		return b, nil
	}
	return b, refused(fmt.Errorf("parties send bundles of kind setup and contribution, not %q", env.Kind))
}

// checkSetup makes sure that a bundle the server cannot read is whole, and for
// all other parties.
func (s *Server) checkSetup(v *view, env *bundle.Envelope, payload io.Reader) error {
	if env.Size > maxSetupBytes {
		return &problem{http.StatusRequestEntityTooLarge, api.CodeTooLarge, fmt.Sprintf("a setup bundle has at most %d bytes", maxSetupBytes), "", nil}
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
	if err := env.CheckCiphertext(payload); err != nil {
		return refused(err)
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
