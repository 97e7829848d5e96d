// Package field has the error that a check of settings returns: which field is wrong, what
// it says, and what would be right. It imports nothing of ours, so that the packages that are
// pure data may use it.
package field

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Error is a field that is wrong.
type Error struct {
	// Path is where the field stands, such as "delta" or, in the contract, "basis.delta".
	Path string
	// Got is what it says, as people would read it, or "" if it is missing.
	Got string
	// Want is what would be right: it follows "must be", or "it is" where it is missing.
	Want string
	// Text is the whole sentence where "is …, must be …" does not say it, or "".
	Text string
}

// Error is one line without a full stop.
func (e *Error) Error() string {
	if e.Text != "" {
		return e.Text
	}
	if e.Got == "" {
		return fmt.Sprintf("%s is missing; it is %s", e.Path, e.Want)
	}
	return fmt.Sprintf("%s is %s, must be %s", e.Path, e.Got, e.Want)
}

// In is err with the name of what its field belongs to in front of the path, if it is an
// [Error]; other errors stay as they are.
func In(parent string, err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	return &Error{Path: parent + "." + e.Path, Got: e.Got, Want: e.Want, Text: e.Text}
}

// OneOf wants one of the allowed words.
func OneOf(path, got string, allowed []string) error {
	if slices.Contains(allowed, got) {
		return nil
	}
	if got != "" {
		got = fmt.Sprintf("%q", got)
	}
	return &Error{Path: path, Got: got, Want: "one of: " + strings.Join(allowed, ", ")}
}

// Between wants a whole number from lo to hi.
func Between(path string, got, lo, hi int) error {
	if got >= lo && got <= hi {
		return nil
	}
	return &Error{Path: path, Got: fmt.Sprint(got), Want: fmt.Sprintf("from %d to %d", lo, hi)}
}

// Above wants a finite number above 0 and at most hi.
func Above(path string, got, hi float64) error {
	if got > 0 && got <= hi && !math.IsInf(got, 0) {
		return nil
	}
	return &Error{Path: path, Got: fmt.Sprintf("%g", got), Want: fmt.Sprintf("above 0 and at most %g", hi)}
}

// Only wants a field left out unless the kind is the one that has it.
func Only(path string, got any, set bool, kind, has string) error {
	if !set || kind == has {
		return nil
	}
	return &Error{Path: path, Got: fmt.Sprint(got), Want: fmt.Sprintf("left out of kind %s: it belongs to %s", kind, has)}
}

// Refuse is an error whose sentence is its own.
func Refuse(path, format string, args ...any) error {
	return &Error{Path: path, Text: fmt.Sprintf(format, args...)}
}
