package wire

import "errors"

// WithHint adds a cure to an error.
func WithHint(err error, hint string) error { return &withHint{err, hint} }

// Hint is the cure that err or what it wraps knows, "" if none does.
func Hint(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return h.Hint()
	}
	return ""
}

type withHint struct {
	error
	hint string
}

// Hint is the cure.
func (e *withHint) Hint() string { return e.hint }

// Unwrap is the error without its cure.
func (e *withHint) Unwrap() error { return e.error }
