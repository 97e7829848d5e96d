package wire

import (
	"encoding/json"
	"fmt"
)

// FormatError is returned for a file or message of a format that this program does
// not read.
type FormatError struct {
	// What is the kind of file, with its article if it has one.
	What string
	// Theirs is the format that was found; this program reads 1 to Newest.
	Theirs, Newest int
}

// Error names both formats.
func (e *FormatError) Error() string {
	reads := "format 1"
	if e.Newest > 1 {
		reads = fmt.Sprintf("formats 1 to %d", e.Newest)
	}
	return fmt.Sprintf("%s has format %d, this program reads %s", e.What, e.Theirs, reads)
}

// Hint says who is to upgrade.
func (e *FormatError) Hint() string {
	if e.Theirs > e.Newest {
		return "a newer program wrote it: upgrade this one, or ask whoever sent it for one of the same version"
	}
	return ""
}

// CheckFormat looks at nothing of a JSON text but its field format, and returns a
// FormatError if it is not from 1 to newest. A newer format has fields that a strict
// decoder does not know, so it is asked before decoding; text that is no JSON object
// with such a field is left to the decoder.
func CheckFormat(b []byte, what string, newest int) error {
	var probe struct {
		Format *int `json:"format"`
	}
	if json.Unmarshal(b, &probe) != nil || probe.Format == nil || *probe.Format >= 1 && *probe.Format <= newest {
		return nil
	}
	return &FormatError{What: what, Theirs: *probe.Format, Newest: newest}
}

// decodeFormat is DecodeCanonical for a value with a format, of which this program
// reads format 1. got is where its Format is decoded to.
func DecodeFormat(b []byte, what string, v any, got *int) error {
	if err := CheckFormat(b, what, 1); err != nil {
		return err
	}
	if err := DecodeCanonical(b, v); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if *got != 1 { // there is none
		return &FormatError{What: what, Theirs: *got, Newest: 1}
	}
	return nil
}
