package bundle

import (
	"errors"
	"fmt"

	"concord/wire"
)

// What a caller can do about a bundle that is refused. Test with errors.Is;
// the error's own text gives the reason.
var (
	// ErrVersion: a format that this program does not know. Update it.
	ErrVersion = errors.New("bundle: unknown format version")
	// ErrDamaged: cut short, altered, or not formed as a bundle is. Fetch it again.
	ErrDamaged = errors.New("bundle: damaged or malformed")
	// ErrMismatch: a bundle of another study, epoch, kind or sender, or for
	// another recipient.
	ErrMismatch = errors.New("bundle: not the expected bundle")
	// ErrSignature: a signature that is not the sender's.
	ErrSignature = errors.New("bundle: wrong signature")
	// ErrApproval: not approved by whom it must be. Approve it, then seal.
	ErrApproval = errors.New("bundle: not approved")
	// ErrChanged: a source is no longer what the manifest says. Describe and
	// approve anew.
	ErrChanged = errors.New("bundle: a source has changed")
)

// Refusal says why a file is refused: a bundle, or another that is signed and sealed as they
// are.
type Refusal struct {
	// Kind is an Err of this package, for callers who ask with errors.Is.
	Kind error
	// Text is for people.
	Text string
	// Cure is what they can do, or "".
	Cure string
}

// Error says what is wrong.
func (r *Refusal) Error() string { return r.Text }

// Unwrap is the kind.
func (r *Refusal) Unwrap() error { return r.Kind }

// Hint is the cure.
func (r *Refusal) Hint() string { return r.Cure }

func refuse(kind error, format string, args ...any) error {
	r := &Refusal{Kind: kind, Text: "bundle: " + fmt.Sprintf(format, args...)}
	if kind == ErrVersion {
		r.Cure = "a program of another version wrote it: upgrade the older of the two"
	}
	return r
}

// Decode reads the one encoding of a value that has a format, and refuses it without a cure.
// Another format than the first is told from damage first, since nothing else about it is
// known; what names it.
func Decode(b []byte, what string, v any) *Refusal {
	if err := wire.CheckFormat(b, what, Format); err != nil {
		return &Refusal{Kind: ErrVersion, Text: err.Error()}
	}
	if err := wire.DecodeCanonical(b, v); err != nil {
		return &Refusal{Kind: ErrDamaged, Text: fmt.Sprintf("%s: %v", what, err)}
	}
	return nil
}
