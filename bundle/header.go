package bundle

import (
	"bytes"
	"slices"

	"concord/wire"
)

// Format is the version of everything in this package.
const Format = 1

// What a bundle is for.
const (
	KindSetup        = "setup"        // party to parties: anchor entropy
	KindPool         = "pool"         // party to parties: one message of the masked sums
	KindContribution = "contribution" // party to analyst: X̃ᵢ, Aᵢ, Yᵢ
	KindAdmission    = "admission"    // member to a party that came after setup: the anchor's seed
	KindResult       = "result"       // analyst to a party: Gᵢ and h, or anchor predictions
)

const (
	// MaxRecipients bounds a bundle's recipients; each takes about 1,600 bytes
	// of the age payload and 67 of the line.
	MaxRecipients = 512
	// maxCounter bounds Round and Number.
	maxCounter = 1_000_000
)

// Header is what stands both outside and inside: what the bundle belongs to and
// for whom it is.
type Header struct {
	Format int `json:"format"`
	// Study is the hash of the contract, Epoch that of contract and roster.
	Study wire.Hash `json:"study"`
	Epoch wire.Hash `json:"epoch"`
	// Sender and Recipients are fingerprints; the recipients are sorted.
	Sender     wire.Hash   `json:"sender"`
	Recipients []wire.Hash `json:"recipients"`
	// Kind is KindSetup, KindPool, KindContribution, KindAdmission or KindResult.
	Kind string `json:"kind"`
	// Round is 0 or more, of KindPool the stage from 1; Number is 1, of KindPool that of
	// the sender's message in the stage.
	Round  int `json:"round"`
	Number int `json:"number"`
}

// check says what is wrong with the header of what ("manifest", "envelope").
func (h *Header) check(what string) error {
	if h.Format != Format {
		return badVersion(what, h.Format)
	}
	for _, f := range []struct {
		name string
		hash wire.Hash
	}{{"study", h.Study}, {"epoch", h.Epoch}, {"sender", h.Sender}} {
		if f.hash.IsZero() {
			return refuse(ErrDamaged, "%s: %s is not set", what, f.name)
		}
	}
	if n := len(h.Recipients); n == 0 || n > MaxRecipients {
		return refuse(ErrDamaged, "%s: %d recipients, must be 1 to %d", what, n, MaxRecipients)
	}
	for i, r := range h.Recipients {
		if r.IsZero() {
			return refuse(ErrDamaged, "%s: recipient %d is not set", what, i+1)
		}
		if i > 0 && compare(h.Recipients[i-1], r) >= 0 {
			return refuse(ErrDamaged, "%s: recipient %d is repeated or not in order", what, i+1)
		}
	}
	switch h.Kind {
	case KindSetup, KindPool, KindContribution, KindAdmission, KindResult:
	default:
		return refuse(ErrDamaged, "%s: kind is %q, must be %s, %s, %s, %s or %s", what, h.Kind, KindSetup, KindPool, KindContribution, KindAdmission, KindResult)
	}
	if h.Round < 0 || h.Round > maxCounter {
		return refuse(ErrDamaged, "%s: round is %d, must be 0 to %d", what, h.Round, maxCounter)
	}
	if h.Number < 1 || h.Number > maxCounter {
		return refuse(ErrDamaged, "%s: number is %d, must be 1 to %d", what, h.Number, maxCounter)
	}
	return nil
}

// disagreement names the first field in which two headers differ, "" if none.
func (h *Header) disagreement(o *Header) string {
	switch {
	case h.Study != o.Study:
		return "study"
	case h.Epoch != o.Epoch:
		return "epoch"
	case h.Sender != o.Sender:
		return "sender"
	case !slices.Equal(h.Recipients, o.Recipients):
		return "recipients"
	case h.Kind != o.Kind:
		return "kind"
	case h.Round != o.Round:
		return "round"
	case h.Number != o.Number:
		return "number"
	case h.Format != o.Format:
		return "format"
	}
	return ""
}

func compare(a, b wire.Hash) int { return bytes.Compare(a[:], b[:]) }

func badVersion(what string, got int) error {
	return refuse(ErrVersion, "%s has format %d, this program reads format %d", what, got, Format)
}

// encode returns the one encoding of a checked value.
func encode(v any) []byte {
	b, err := wire.Canonical(v)
	if err != nil { // structs of hashes, numbers, strings and bytes always encode
		panic("bundle: " + err.Error())
	}
	return b
}

// decode is [Decode] of at most most bytes.
func decode(b []byte, what string, most int, v any) error {
	if len(b) > most {
		return refuse(ErrDamaged, "%s has %d bytes, at most %d are read", what, len(b), most)
	}
	if r := Decode(b, what, v); r != nil {
		return refuse(r.Kind, "%s", r.Text)
	}
	return nil
}
