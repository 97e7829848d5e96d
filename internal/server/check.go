package server

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"

	"concord/analyst"
	"concord/bundle"
	"concord/contract"
	"concord/identity"
	"concord/internal/analysis"
	"concord/internal/api"
	"concord/internal/store"
	"concord/npy"
	"concord/release"
	"concord/wire"
)

// envelopeRoom is what a bundle may take besides its members: the line, the age
// header with its recipients, the manifest and the signatures.
const envelopeRoom = 4 << 20

// maxUpload is the most bytes that a bundle under this contract can have.
func maxUpload(c *contract.Contract) int64 {
	contribution := c.Expect.UpBytes + int64(c.MaxRows)*c.Expect.UpBytesPerRow
	return max(contribution+contribution/64, api.AdmissionBytes(c, 2*c.Parties), api.PoolBytes(c)) + envelopeRoom
}

// checkEnvelope judges a bundle by its line: signed by this party, for this
// study and roster, of a kind that parties send.
func checkEnvelope(v *view, party *identity.Statement, env *bundle.Envelope) (store.Bundle, error) {
	var none store.Bundle
	// Nothing of it counts before its signature does, of whatever keys the party has
	// or had.
	sender := party
	if r := v.chain.At(env.Epoch); r != nil {
		if m := v.chain.In(r, party.Fingerprint()); m != nil {
			sender = m
		}
	}
	if err := env.Verify(sender.SigningKey); err != nil {
		return none, refused(err)
	}
	switch {
	case env.Sender != sender.Fingerprint():
		return none, forbidden("the bundle is another party's")
	case env.Study != v.hash:
		return none, refused(fmt.Errorf("the bundle is for contract %s, this study has %s", env.Study.Short(), v.hash.Short()))
	case (env.Round != 0 || env.Number != 1) && env.Kind != bundle.KindPool:
		return none, refused(fmt.Errorf("the bundle is of round %d, number %d; this study has round 0, number 1", env.Round, env.Number))
	}
	if err := v.chain.CheckEpoch(env.Epoch); err != nil {
		return none, refused(fmt.Errorf("the bundle: %w", err))
	}
	var slot wire.Hash
	switch env.Kind {
	case bundle.KindSetup:
		if err := checkSetup(v, env); err != nil {
			return none, err
		}
	case bundle.KindPool:
		if err := checkPool(v, env); err != nil {
			return none, err
		}
		slot = store.NumberSlot(env.Number)
	case bundle.KindContribution:
	case bundle.KindAdmission:
		if err := checkAdmission(v, env); err != nil {
			return none, err
		}
		slot = v.chain.Origin(env.Recipients[0])
	default:
		return none, refused(fmt.Errorf("parties send bundles of kind setup, pool, contribution and admission, not %q", env.Kind))
	}
	return store.Bundle{
		Slot: slot, Study: v.hash, Epoch: env.Epoch, Sender: env.Sender, Kind: env.Kind, Round: env.Round,
		Recipients: env.Recipients, Manifest: env.Manifest, File: wire.HashOf(env.Line()),
	}, nil
}

// checkBundle verifies what can be verified of a bundle that lies in a file: for a
// contribution, which is sealed to the analyst, all of it. ciphertext is the
// payload's SHA-256 as it came in. Memory does not grow with the bundle.
func (s *Server) checkBundle(v *view, party *identity.Statement, env *bundle.Envelope, file *os.File, size int64, ciphertext wire.Hash) error {
	if env.Kind != bundle.KindContribution { // the server cannot read it
		if payload := size - int64(len(env.Line())); payload != env.Size || ciphertext != env.Ciphertext {
			return refused(fmt.Errorf("the payload has %d bytes with SHA-256 %s, the envelope says %d with %s",
				payload, ciphertext.Short(), env.Size, env.Ciphertext.Short()))
		}
		return nil
	}
	s.checking <- struct{}{} // few at a time: each keeps a core busy
	defer func() { <-s.checking }()
	err := s.checkContribution(v, env.Epoch, party, file, size, ciphertext)
	var own *fs.PathError
	if err != nil && !errors.As(err, &own) {
		return refused(contentError{err})
	}
	return err
}

// checkSetup makes sure that a bundle the server cannot read is for all other
// parties and no one else.
func checkSetup(v *view, env *bundle.Envelope) error {
	if most := api.SetupBytes(v.contract); env.Size > most {
		return &problem{http.StatusRequestEntityTooLarge, api.CodeTooLarge, fmt.Sprintf("a setup bundle of this study has at most %d bytes", most), "", nil}
	}
	roster := v.chain.At(env.Epoch)
	if v.chain.Late(env.Sender) {
		return refused(fmt.Errorf("this party came after setup; it has no share in the anchor"))
	}
	if others := len(roster.Members) - 2; len(env.Recipients) != others {
		return refused(fmt.Errorf("the setup bundle is for %d recipients, must be for the other %d parties", len(env.Recipients), others))
	}
	for _, r := range env.Recipients {
		m, err := roster.Member(r)
		if err != nil {
			return refused(err)
		}
		if m.Role != identity.RoleParty || r == env.Sender {
			return refused(fmt.Errorf("the setup bundle is for %q, must be for the other parties only", m.Name))
		}
	}
	return nil
}

// checkAdmission makes sure that a bundle the server cannot read is for one party that
// came after setup, and no one else.
func checkAdmission(v *view, env *bundle.Envelope) error {
	if most := api.AdmissionBytes(v.contract, len(v.chain.Root().Parties())); env.Size > most {
		return &problem{http.StatusRequestEntityTooLarge, api.CodeTooLarge, fmt.Sprintf("an admission of this study has at most %d bytes", most), "", nil}
	}
	roster := v.chain.At(env.Epoch)
	if len(env.Recipients) != 1 || v.chain.In(roster, env.Recipients[0]) == nil || !v.chain.Late(env.Recipients[0]) || v.chain.Same(env.Recipients[0], env.Sender) {
		return refused(fmt.Errorf("an admission is for one other party that came after setup"))
	}
	return nil
}

// expectContribution is the bundle that a party's contribution of an epoch must be.
func (s *Server) expectContribution(v *view, epoch wire.Hash, party *identity.Statement) bundle.Expect {
	if m := v.chain.In(v.chain.At(epoch), party.Fingerprint()); m != nil {
		party = m // with the keys that it had
	}
	return bundle.Expect{
		Study: v.hash, Epoch: epoch, Kind: bundle.KindContribution,
		Sender: party.Fingerprint(), SenderKey: party.SigningKey, Approver: party.Approver(),
		Recipient: s.id.Statement.Fingerprint(),
		MaxBytes:  maxUpload(v.contract),
	}
}

// checkContribution opens a contribution and compares it with the contract, in the
// same pass and without keeping any of it.
func (s *Server) checkContribution(v *view, epoch wire.Hash, party *identity.Statement, file io.ReaderAt, size int64, ciphertext wire.Hash) error {
	found := analyst.Inspect(v.contract, party.Name)
	expect := s.expectContribution(v, epoch, party)
	expect.Ciphertext = ciphertext
	expect.Inspect = inspectMembers(v.contract, found)
	r, err := bundle.Open(file, size, expect, s.id.AgeIdentity())
	if err != nil {
		return err
	}
	var shapes [3]analyst.Shape
	for i, name := range []string{release.MemberX, release.MemberA, release.MemberY} {
		if shapes[i].Rows, shapes[i].Cols, err = r.Shape(name); err != nil {
			return err
		}
	}
	if party.View != "" && r.Manifest.View != party.View {
		return fmt.Errorf("the contribution of %q has the view %q, and its sender joined with %q", party.Name, r.Manifest.View, party.View)
	}
	return found.Verdict(r.Manifest.View, shapes[0], shapes[1], shapes[2])
}

// inspectMembers hands the numbers of X, A and Y over as they are read.
func inspectMembers(c *contract.Contract, found *analyst.Inspection) func(bundle.Member, io.Reader) error {
	rows := map[string]int64{} // above the member, where it is a block of rows
	return func(m bundle.Member, content io.Reader) error {
		name, _, _ := strings.Cut(m.Name, ".")
		lim := npy.Limits{Bytes: bundle.DefaultBytes, Input: m.Bytes}
		switch {
		case !strings.HasSuffix(m.Name, ".npy"):
			return nil
		case name == release.MemberY && c.Label.Type == "class":
			return npy.ScanInts(content, lim, func(_ npy.Header, first int64, part []int64) error {
				found.Labels(first, part)
				return nil
			})
		case name == release.MemberX, name == release.MemberA, name == release.MemberY:
			above := rows[name]
			rows[name] += int64(m.Shape[0])
			return npy.ScanMatrix(content, lim, func(h npy.Header, first int64, part []float64) error {
				found.Numbers(name, part, func(i int) (row, col int64) {
					row, col = h.Position(first + int64(i))
					return above + row, col
				})
				return nil
			})
		}
		return nil
	}
}

// readContribution opens a stored contribution, checks it against the contract
// again and returns it.
func (s *Server) readContribution(v *view, epoch wire.Hash, party *identity.Statement, file io.ReaderAt, size int64) (analyst.Contribution, error) {
	return analysis.Read(v.contract, party.Name, file, size, s.expectContribution(v, epoch, party), s.id.AgeIdentity())
}

// checkPool makes sure that a message of masked sums, which the server cannot read, is
// for other parties only, of a stage that the contract has, and none too many.
func checkPool(v *view, env *bundle.Envelope) error {
	stages := api.PoolStages(v.contract)
	if stages == 0 {
		return refused(errors.New("this study adds up no masked sums"))
	}
	most, numbers := api.PoolBytes(v.contract), api.PoolMessages(len(v.chain.Root().Members))
	note := env.Round == api.PoolFlagRound
	if note {
		most, numbers = api.MaxSetupBytes, api.PoolFlags
	}
	if env.Size > most {
		return &problem{http.StatusRequestEntityTooLarge, api.CodeTooLarge, fmt.Sprintf("a message of masked sums of this study has at most %d bytes", most), "", nil}
	}
	if !note && (env.Round < 1 || env.Round > stages) || env.Number > numbers {
		return refused(fmt.Errorf("the message is number %d of stage %d; this study has stages 1 to %d with messages 1 to %d, and %d notes of a party",
			env.Number, env.Round, stages, api.PoolMessages(len(v.chain.Root().Members)), api.PoolFlags))
	}
	roster := v.chain.At(env.Epoch)
	for _, r := range env.Recipients {
		m, err := roster.Member(r)
		if err != nil {
			return refused(err)
		}
		if m.Role != identity.RoleParty || r == env.Sender {
			return refused(fmt.Errorf("the message is for %q, must be for other parties only", m.Name))
		}
	}
	return nil
}
