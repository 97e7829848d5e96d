package dossier

import (
	"crypto/ed25519"
	"fmt"
	"strings"
	"time"

	"concord/bundle"
	"concord/release"
	"concord/wire"
)

// Names of the members that a dossier has. {…} are filled in by [Name].
const (
	IndexName = "export.json" // the last one
	Contract  = "contract.json"
	Roster    = "roster.json" // a [Standing]
	AuditLog  = "audit.jsonl"
	Deleted   = "deleted.json" // a list of [Gone]

	Person       = "people/%s.json"        // an identity statement, by fingerprint
	Confirmation = "confirmations/%s.json" // by the hash of its bytes
	Setup        = "setup/%s.line"         // the line of a bundle between parties, by manifest
	Contribution = "contributions/%s.bundle"
	Result       = "results/%s.bundle"
	KeysOf       = "keys/%s.json"        // of the bundle with a manifest
	ReceiptOf    = "receipts/%s.json"    // for the bundle with a manifest
	Envelope     = "testimonies/%s.line" // an envelope line with heads, by the hash of its bytes
	Witness      = "testimonies/%s.json" // a witness, by the hash of its bytes
)

// Name fills in the hash of a member's name.
func Name(pattern string, hash wire.Hash) string { return fmt.Sprintf(pattern, hash) }

const (
	maxFiles      = 1 << 17
	maxIndexBytes = 64 << 20
)

// Index says what is in a dossier, and what the analyst did with it.
type Index struct {
	Format int       `json:"format"`
	Study  wire.Hash `json:"study"`
	// Analyst exports, for Auditor; fingerprints.
	Analyst wire.Hash `json:"analyst"`
	Auditor wire.Hash `json:"auditor"`
	Time    time.Time `json:"time"`
	// Rounds are the trainings of which anything is left.
	Rounds []Round `json:"rounds"`
	Files  []File  `json:"files"`
	// Signature is the analyst's.
	Signature []byte `json:"signature,omitempty"`
}

// Round is one model: the analyst's record of what it was made of, and the results that
// parties got of it.
type Round struct {
	Record  release.Round `json:"record"`
	Outputs []Output      `json:"outputs"`
}

// Output is one party's result, by its manifest.
type Output struct {
	Party    wire.Hash `json:"party"`
	Manifest wire.Hash `json:"manifest"`
}

// Standing is how the roster came to be: the one that people confirmed, and the
// amendments since.
type Standing struct {
	Number     int         `json:"number"`
	Parties    []wire.Hash `json:"parties"`
	Amendments [][]byte    `json:"amendments,omitempty"`
}

// Gone is a bundle that was deleted because a party left.
type Gone struct {
	Epoch    wire.Hash `json:"epoch"`
	Kind     string    `json:"kind"`
	Round    int       `json:"round"`
	Sender   wire.Hash `json:"sender"`
	Slot     wire.Hash `json:"slot,omitzero"`
	Manifest wire.Hash `json:"manifest"`
	Deleted  string    `json:"deleted"` // when, RFC 3339
}

// File is one member.
type File struct {
	Name   string    `json:"name"`
	Bytes  int64     `json:"bytes"`
	SHA256 wire.Hash `json:"sha256"`
}

func (x Index) signedPart() ([]byte, error) {
	x.Signature = nil
	return wire.Canonical(x)
}

// Verify checks the analyst's signature.
func (x *Index) Verify(key ed25519.PublicKey) error {
	b, err := x.signedPart()
	if err != nil {
		return err
	}
	return wire.Verify(key, wire.SignExport, b, x.Signature)
}

func decodeIndex(b []byte) (*Index, error) {
	x := new(Index)
	if r := bundle.Decode(b, "the export's "+IndexName, x); r != nil {
		return nil, refuse(r.Kind, "%s", r.Text)
	}
	if x.Format != 1 || x.Study.IsZero() || x.Analyst.IsZero() || len(x.Files) > maxFiles {
		return nil, damaged("export.json is incomplete")
	}
	for i, f := range x.Files {
		if f.Bytes < 0 || f.Name == "" || f.Name == IndexName || strings.ContainsAny(f.Name, `\:`) || strings.HasPrefix(f.Name, "/") || strings.Contains(f.Name, "..") {
			return nil, damaged("export.json: file %d has no proper name", i+1)
		}
	}
	return x, nil
}
