package parcel

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"

	"concord/bundle"
	"concord/identity"
	"concord/wire"
)

// Kinds of items. A reader passes over a kind that it does not know, and says so: a
// newer program may have more to say.
const (
	KindStatement    = "statement"    // of who writes: the identity statement
	KindProof        = "proof"        // of a join: that the site holds an invite
	KindContract     = "contract"     // the study's contract
	KindRoster       = "roster"       // who has joined and who has confirmed, as the API has it
	KindStatus       = "status"       // how far the study is, as the API has it
	KindConfirmation = "confirmation" // a party's yes to the roster
	KindReceipt      = "receipt"      // the analyst's, for one of the site's bundles
	KindBundle       = "bundle"       // a bundle, sealed by itself
	KindWitness      = "witness"      // a site's signed word on both audit logs
	KindAmendment    = "amendment"    // of the roster, by the site: new keys, or its withdrawal
	KindLeft         = "left"         // to a site that has left: its amendment, countersigned, and the receipt
	KindHolds        = "holds"        // what the site has, for the analyst to know
)

// Holds is an item: what a site has got so far.
type Holds struct {
	// Parcel is the number of the analyst's parcel that the site took last; 0 for none.
	Parcel int64 `json:"parcel,omitempty"`
	// Model is true when the site has made its model.
	Model bool `json:"model,omitempty"`
}

const (
	maxItems      = 4096    // roster, bundles of all other parties, and the rest
	maxIndexBytes = 1 << 20 // of the index line
	maxKindBytes  = 32
	// maxAgeHeader bounds the age header: one recipient takes about 1,600 bytes.
	maxAgeHeader = 16 << 10
)

// Item is a line of the index.
type Item struct {
	Kind  string `json:"kind"`
	Bytes int64  `json:"bytes"`
}

type index struct {
	Format int       `json:"format"`
	Study  wire.Hash `json:"study"`
	From   wire.Hash `json:"from"`
	To     wire.Hash `json:"to"`
	Number int64     `json:"number"`
	Items  []Item    `json:"items"`
}

// check bounds the items; only bundles may be many or large.
func (x *index) check() error {
	if len(x.Items) > maxItems {
		return refuse(bundle.ErrDamaged, "the parcel has %d items, at most %d are read", len(x.Items), maxItems)
	}
	total := int64(0)
	for i, it := range x.Items {
		if it.Kind == "" || len(it.Kind) > maxKindBytes || strings.Trim(it.Kind, "abcdefghijklmnopqrstuvwxyz-") != "" {
			return refuse(bundle.ErrDamaged, "item %d of the parcel is of no kind: that has 1 to %d small letters", i+1, maxKindBytes)
		}
		if it.Bytes < 0 || it.Bytes > 1<<50-total {
			return refuse(bundle.ErrDamaged, "item %d of the parcel has %d bytes, which cannot be", i+1, it.Bytes)
		}
		total += it.Bytes
	}
	return nil
}

func (x *index) bytes() (total int64) {
	for _, it := range x.Items {
		total += it.Bytes
	}
	return total
}

// Parcel is a parcel whose payload came whole.
type Parcel struct {
	Head
	// Items are known after Unseal.
	Items    []Item
	payload  *io.SectionReader
	plain    io.ReaderAt
	offsets  []int64
	verified bool
}

// Open reads the line of a parcel of size bytes and compares the payload with it. What
// the line says is not authentic before [Parcel.Verify]. f must stay open while the
// parcel is in use.
//
// Errors: bundle.ErrVersion, bundle.ErrDamaged, or those of f.
//
// Cost: one pass over the file in constant memory.
func Open(f io.ReaderAt, size int64) (*Parcel, error) {
	h, at, err := ReadHead(io.NewSectionReader(f, 0, size))
	if err != nil {
		return nil, err
	}
	switch have := size - at; {
	case have < h.Size:
		return nil, refuse(bundle.ErrDamaged, "the parcel was cut off: %d bytes follow its line, %d must", have, h.Size)
	case have > h.Size:
		return nil, refuse(bundle.ErrDamaged, "the parcel has %d bytes too many at its end", have-h.Size)
	}
	p := &Parcel{Head: *h, payload: io.NewSectionReader(f, at, h.Size)}
	sum := sha256.New()
	if _, err := io.CopyBuffer(struct{ io.Writer }{sum}, struct{ io.Reader }{p.payload}, make([]byte, copyBytes)); err != nil {
		return nil, err
	}
	if wire.Hash(sum.Sum(nil)) != h.Payload {
		return nil, refuse(bundle.ErrDamaged, "the parcel's content is not what its line says: it was changed on its way")
	}
	return p, nil
}

// Unseal opens the payload with the recipient's keys (a join needs none) and reads the
// index.
//
// Errors: bundle.ErrMismatch for a parcel that is sealed to somebody else, bundle.ErrDamaged.
func (p *Parcel) Unseal(identities ...age.Identity) error {
	size := p.Size
	p.plain = p.payload
	if p.Parcel != Join {
		header := io.NewSectionReader(p.payload, 0, min(p.Size, maxAgeHeader))
		if _, err := age.ExtractHeader(header); err != nil {
			return refuse(bundle.ErrDamaged, "the parcel's payload is not an age file with one recipient: %v", err)
		}
		var err error
		p.plain, size, err = age.DecryptReaderAt(p.payload, p.Size, identities...)
		var noMatch *age.NoIdentityMatchError
		if errors.As(err, &noMatch) {
			return refuse(bundle.ErrMismatch, "the parcel is sealed to somebody else's key")
		} else if err != nil {
			return refuse(bundle.ErrDamaged, "the parcel's payload: %v", err)
		}
	}
	line, err := bufio.NewReaderSize(io.NewSectionReader(p.plain, 0, min(size, maxIndexBytes)), copyBytes).ReadSlice('\n')
	if err != nil {
		return refuse(bundle.ErrDamaged, "the parcel's index does not end in its first %d bytes", len(line))
	}
	var x index
	if err := decode(line[:len(line)-1], "the parcel's index", &x); err != nil {
		return err
	}
	if err := x.check(); err != nil {
		return err
	}
	if x.Study != p.Study || x.From != p.From || x.To != p.To || x.Number != p.Number {
		return refuse(bundle.ErrDamaged, "the parcel's line does not belong to what is inside")
	}
	at := int64(len(line))
	if want := at + x.bytes(); want != size {
		return refuse(bundle.ErrDamaged, "the parcel's index tells of %d bytes, there are %d", want, size)
	}
	p.Items, p.offsets = x.Items, nil
	for _, it := range p.Items {
		p.offsets = append(p.offsets, at)
		at += it.Bytes
	}
	return nil
}

// Statement returns the identity statement that a join or an analyst's parcel brings
// along as its first item, decoded, if it is the one of the sender that the line names.
// It may be called before Verify, which needs its key.
func (p *Parcel) Statement() (*identity.Statement, error) {
	if len(p.Items) == 0 || p.Items[0].Kind != KindStatement {
		return nil, refuse(bundle.ErrDamaged, "the parcel does not begin with its sender's statement")
	}
	b, err := p.read(0, identity.MaxStatementBytes)
	if err != nil {
		return nil, err
	}
	s, err := identity.DecodeStatement(b)
	if err != nil {
		return nil, refuse(bundle.ErrDamaged, "%v", err)
	}
	if s.Fingerprint() != p.From {
		return nil, refuse(bundle.ErrDamaged, "the statement in the parcel is not its sender's")
	}
	return s, nil
}

// Verify checks the sender's signature. Before it succeeds no item can be read.
func (p *Parcel) Verify(sender ed25519.PublicKey) error {
	if err := wire.Verify(sender, wire.SignParcel, p.signedPart(), p.Signature); err != nil {
		return refuse(bundle.ErrSignature, "the parcel is not signed by the sender that it names")
	}
	p.verified = true
	return nil
}

// Bytes returns the i-th item, of at most most bytes.
func (p *Parcel) Bytes(i int, most int64) ([]byte, error) {
	p.mustVerify()
	return p.read(i, most)
}

func (p *Parcel) read(i int, most int64) ([]byte, error) {
	if n := p.Items[i].Bytes; n > most {
		return nil, refuse(bundle.ErrDamaged, "the parcel's %s has %d bytes, at most %d are read", p.Items[i].Kind, n, most)
	}
	b, err := io.ReadAll(p.section(i))
	if err != nil {
		return nil, readError(err)
	}
	return b, nil
}

// One returns the only item of a kind, nil if there is none; two are refused.
func (p *Parcel) One(kind string, most int64) ([]byte, error) {
	var found []byte
	for i, it := range p.Items {
		if it.Kind != kind {
			continue
		}
		if found != nil {
			return nil, refuse(bundle.ErrDamaged, "the parcel has two items of kind %s", kind)
		}
		b, err := p.Bytes(i, most)
		if err != nil {
			return nil, err
		}
		found = append([]byte{}, b...)
	}
	return found, nil
}

// Reader returns the content of the i-th item.
func (p *Parcel) Reader(i int) io.Reader {
	p.mustVerify()
	return &explained{bufio.NewReaderSize(p.section(i), int(max(16, min(p.Items[i].Bytes, copyBytes))))}
}

func (p *Parcel) section(i int) *io.SectionReader {
	return io.NewSectionReader(p.plain, p.offsets[i], p.Items[i].Bytes)
}

func (p *Parcel) mustVerify() {
	if !p.verified {
		panic("parcel: an item is read before Verify")
	}
}

// Unknown lists the kinds of items that this program does not know, each once.
func (p *Parcel) Unknown() (kinds []string) {
	seen := map[string]bool{}
	for _, it := range p.Items {
		switch it.Kind {
		case KindStatement, KindProof, KindContract, KindRoster, KindStatus, KindConfirmation, KindReceipt, KindBundle, KindWitness, KindAmendment, KindLeft, KindHolds:
		default:
			if !seen[it.Kind] {
				kinds = append(kinds, it.Kind)
			}
			seen[it.Kind] = true
		}
	}
	return kinds
}

// explained tells damage that shows while an item is read from trouble of the disk.
type explained struct{ r io.Reader }

// Read explains errors in the words of this package.
func (e *explained) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	if err != nil && err != io.EOF {
		err = readError(err)
	}
	return n, err
}

func readError(err error) error {
	return fmt.Errorf("the parcel cannot be read to its end: %w", err)
}

// IsParcel reports whether the bytes at the beginning of a file look like a parcel's.
func IsParcel(begin []byte) bool { return bytes.HasPrefix(begin, []byte(`{"parcel":"`)) }
