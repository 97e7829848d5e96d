package api

import (
	"fmt"
	"net/http"
	"strconv"
)

// Version is the version of the API that this program speaks; it also reads what a
// program of version Oldest says. Every request and every answer names its
// speaker's version in HeaderVersion. Version 1 did not name it: a message without
// the header is of version 1.
const (
	Version       = 2
	Oldest        = 1
	HeaderVersion = "Concord-Version"
)

// HeaderRetryAfter says after how many seconds the same request may be taken.
const HeaderRetryAfter = "Retry-After"

// maxVersion bounds what a header may claim.
const maxVersion = 1_000_000

// VersionError says that two programs cannot understand each other, with both
// versions and who is to upgrade.
type VersionError struct {
	// Theirs is the other program's version and Ours this program's.
	Theirs, Ours int
	// Server is true if this program is the server.
	Server bool
}

// Error names both versions.
func (e *VersionError) Error() string {
	us, them := "this program", "the server"
	if e.Server {
		us, them = "this server", "the party's program"
	}
	return fmt.Sprintf("%s speaks version %d of the API, %s speaks version %d and reads version %d", them, e.Theirs, us, e.Ours, max(e.Ours-1, Oldest))
}

// Hint says who is to upgrade.
func (e *VersionError) Hint() string {
	// The older one: the newer reads what is one version older than itself.
	if (e.Theirs < e.Ours) == e.Server {
		return "upgrade concord at the party: concord version says what it is"
	}
	return "the analyst upgrades concordd: concordd version says what it is"
}

// ReadVersion returns the version that the header of a message names.
func ReadVersion(h http.Header) (int, error) {
	values := h.Values(HeaderVersion)
	if len(values) == 0 {
		return 1, nil
	}
	v, err := strconv.Atoi(values[0])
	if err != nil || len(values) > 1 || v < 1 || v > maxVersion || strconv.Itoa(v) != values[0] {
		return 0, fmt.Errorf("the header %s is not one number from 1 to %d", HeaderVersion, maxVersion)
	}
	return v, nil
}

// CheckRequest refuses a request of a program that is more than one version away:
// an older one is not read any more. A newer one is read too if it says it in the
// words of this version, which it does once it has seen an answer.
func CheckRequest(h http.Header) error {
	v, err := ReadVersion(h)
	if err != nil {
		return err // a bad request
	}
	if v < Oldest || v > Version {
		return &VersionError{Theirs: v, Ours: Version, Server: true}
	}
	return nil
}

// CheckAnswer returns the version of the server that gave an answer, and an error if
// it is too old for this program. One that is one version newer reads what this
// program says, and of a still newer one the refusal says it.
func CheckAnswer(h http.Header) (int, error) {
	v, err := ReadVersion(h)
	if err != nil {
		return 0, err
	}
	if v < Oldest || v > Version+1 {
		return v, &VersionError{Theirs: v, Ours: Version}
	}
	return v, nil
}
