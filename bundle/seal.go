package bundle

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"io"
	"slices"

	"filippo.io/age"

	"concord/internal/lastline"
	"concord/member"
	"concord/wire"
)

// Sealing is all that goes into a bundle.
type Sealing struct {
	// Manifest is what Describe returned for Sources, in the same order.
	Manifest *Manifest
	Sources  []Source
	// Approval is Approver's yes to the manifest.
	Approval *Approval
	// Approver is the key that must have approved; nil means the sender's own.
	Approver ed25519.PublicKey
	// Heads stand on the envelope line; nil for none.
	Heads *member.Heads
}

// Seal writes the bundle to w from its present position on, signed with the
// sender's key and sealed to the recipients' hybrid keys, one for each
// fingerprint in the manifest. It reads every source twice: first all of them
// against the manifest, before it writes anything, then while it seals. The
// line is written last; after an error what w holds is worthless and must be
// removed (internal/durable.Write does).
//
// Errors: ErrApproval, ErrChanged (naming the member), those of the sources and
// of w.
//
// Cost: two passes over the sources, one over the bundle, in constant memory.
func Seal(w io.WriteSeeker, s Sealing, key ed25519.PrivateKey, recipients ...age.Recipient) (*Envelope, error) {
	m := s.Manifest
	if err := m.check(); err != nil {
		return nil, err
	}
	manifest := m.Encode()
	id := wire.HashOf(manifest)
	approver := s.Approver
	if approver == nil {
		approver = key.Public().(ed25519.PublicKey)
	}
	if s.Approval == nil {
		return nil, refuse(ErrApproval, "manifest %s has no approval", id.Short())
	}
	if err := s.Approval.Verify(id, approver); err != nil {
		return nil, err
	}
	if err := checkKeys(m, recipients); err != nil {
		return nil, err
	}
	z, err := compose(m, manifest, s.Sources)
	if err != nil {
		return nil, err
	}
	signature := wire.Sign(key, wire.SignManifest, manifest)
	z.insert(1,
		FromBytes(signatureName, []byte(base64.StdEncoding.EncodeToString(signature))),
		FromBytes(approvalName, s.Approval.Encode()))
	_, plain := layOut(z.entries)

	e := &Envelope{Header: m.Header, Manifest: id, Heads: s.Heads, Signature: make([]byte, ed25519.SignatureSize)}
	f, err := lastline.Begin(w, plain, recipients...)
	if err != nil {
		return nil, fmt.Errorf("bundle: %w", err)
	}
	e.Size = f.Size
	if e.Ciphertext, err = f.Payload(len(e.Line()), z.write); err != nil {
		return nil, err
	}
	e.Signature = wire.Sign(key, wire.SignEnvelope, e.signedPart())
	if err := f.Line(e.Line()); err != nil {
		return nil, err
	}
	return e, nil
}

// WriteUnsealed writes the zip in the clear, without signature and approval,
// for people who want to see what would leave: numpy.load and any zip program
// open it. It reads every source twice and refuses with ErrChanged one that is
// not what the manifest says.
func WriteUnsealed(w io.Writer, m *Manifest, sources []Source) error {
	if err := m.check(); err != nil {
		return err
	}
	z, err := compose(m, m.Encode(), sources)
	if err != nil {
		return err
	}
	layOut(z.entries)
	return z.write(w)
}

// checkKeys makes sure that every fingerprint has a key of its own, and that no
// key is weaker than the others.
func checkKeys(m *Manifest, recipients []age.Recipient) error {
	if len(recipients) != len(m.Recipients) {
		return fmt.Errorf("bundle: %d age recipients for the manifest's %d recipients", len(recipients), len(m.Recipients))
	}
	return checkHybrid(recipients)
}

// checkHybrid makes sure that no key is weaker than the others, nor there twice.
func checkHybrid(recipients []age.Recipient) error {
	if len(recipients) == 0 {
		return fmt.Errorf("bundle: no age recipients")
	}
	seen := make(map[string]bool, len(recipients))
	for i, r := range recipients {
		hybrid, ok := r.(*age.HybridRecipient)
		if !ok {
			return fmt.Errorf("bundle: age recipient %d is a %T, must be hybrid (post-quantum)", i+1, r)
		}
		if seen[hybrid.String()] {
			return fmt.Errorf("bundle: age recipient %d is repeated", i+1)
		}
		seen[hybrid.String()] = true
	}
	return nil
}

// composition is a zip that is ready to be written.
type composition struct {
	entries []entry
	sources []Source
	members []Member
}

// compose compares all sources with the manifest and measures them for the zip.
func compose(m *Manifest, manifest []byte, sources []Source) (*composition, error) {
	if len(sources) != len(m.Members) {
		return nil, refuse(ErrChanged, "%d sources, the manifest has %d members", len(sources), len(m.Members))
	}
	z := new(composition)
	z.insert(0, FromBytes(manifestName, manifest))
	for i, s := range sources {
		want := m.Members[i]
		if s.Name != want.Name {
			return nil, refuse(ErrChanged, "source %d is %q, the manifest has %q there", i+1, s.Name, want.Name)
		}
		g := newGauge(want.Bytes)
		if err := want.copyFrom(s, g, g); err != nil {
			return nil, err
		}
		z.entries = append(z.entries, entry{name: s.Name, size: g.n, crc: g.crc})
		z.sources = append(z.sources, s)
		z.members = append(z.members, want)
	}
	return z, nil
}

// copyFrom writes the source's content through the gauge g, which is part of w,
// and compares it with the member.
func (m Member) copyFrom(s Source, w io.Writer, g *gauge) error {
	err := s.Write(w)
	if g.over {
		return refuse(ErrChanged, "member %q has changed: more than %d bytes", m.Name, m.Bytes)
	}
	if err != nil {
		return fmt.Errorf("bundle: member %q: %w", m.Name, err)
	}
	got, err := g.member(m.Name)
	if err != nil || !got.equal(m) {
		return refuse(ErrChanged, "member %q has changed: %d bytes with SHA-256 %s, the manifest has %d bytes with %s",
			m.Name, got.Bytes, got.SHA256.Short(), m.Bytes, m.SHA256.Short())
	}
	return nil
}

// insert puts members of few bytes before the i-th.
func (z *composition) insert(i int, sources ...Source) {
	for k, s := range sources {
		g := newGauge(maxManifestBytes)
		if err := s.Write(g); err != nil {
			panic("bundle: " + err.Error()) // bytes in memory, below the bound
		}
		member := Member{Name: s.Name, Bytes: g.n, SHA256: wire.Hash(g.sum.Sum(nil))}
		z.entries = slices.Insert(z.entries, i+k, entry{name: s.Name, size: g.n, crc: g.crc})
		z.sources = slices.Insert(z.sources, i+k, s)
		z.members = slices.Insert(z.members, i+k, member)
	}
}

// write writes the zip and measures every source again.
func (z *composition) write(w io.Writer) error {
	return writeZip(w, z.entries, func(w io.Writer, i int) error {
		g := newGauge(z.members[i].Bytes)
		return z.members[i].copyFrom(z.sources[i], io.MultiWriter(g, w), g)
	})
}
