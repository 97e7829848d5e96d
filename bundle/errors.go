package bundle

import (
	"errors"
	"fmt"
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

// refusal has a kind that callers test for and a text that people read.
type refusal struct {
	kind error
	text string
}

// Error says what is wrong.
func (r *refusal) Error() string { return r.text }

// Unwrap is the kind of refusal, an Err of this package.
func (r *refusal) Unwrap() error { return r.kind }

// Hint says who is to upgrade, for another version.
func (r *refusal) Hint() string {
	if r.kind == ErrVersion {
		return "a program of another version wrote it: upgrade the older of the two"
	}
	return ""
}

func refuse(kind error, format string, args ...any) error {
	return &refusal{kind, "bundle: " + fmt.Sprintf(format, args...)}
}
