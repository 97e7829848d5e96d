package server

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"

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
