package wire_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"concord/wire"
)

// remedy is an error of another package that knows a cure.
type remedy struct{}

func (remedy) Error() string { return "no key" }
func (remedy) Hint() string  { return "make a key" }

// TestHint finds the cure through every layer, and keeps the cause.
func TestHint(t *testing.T) {
	for _, tc := range []struct {
		name string
		err  error
		want string
	}{
		{"none", io.EOF, ""},
		{"nil", nil, ""},
		{"own", wire.WithHint(io.EOF, "read again"), "read again"},
		{"wrapped", fmt.Errorf("contract: %w", wire.WithHint(io.EOF, "read again")), "read again"},
		{"another type", fmt.Errorf("contract: %w", remedy{}), "make a key"},
		{"joined", errors.Join(io.EOF, wire.WithHint(io.ErrNoProgress, "read again")), "read again"},
		{"outermost first", wire.WithHint(wire.WithHint(io.EOF, "inner"), "outer"), "outer"},
	} {
		if got := wire.Hint(tc.err); got != tc.want {
			t.Errorf("%s: hint %q, want %q", tc.name, got, tc.want)
		}
	}
	err := wire.WithHint(io.EOF, "read again")
	if !errors.Is(err, io.EOF) || err.Error() != io.EOF.Error() {
		t.Errorf("with a hint the error is %v", err)
	}
}

// TestWaiting is found through what wraps it.
func TestWaiting(t *testing.T) {
	var waiting *wire.Waiting
	err := fmt.Errorf("north: %w", &wire.Waiting{For: "South hospital"})
	if !errors.As(err, &waiting) || waiting.Error() != "waiting for South hospital" {
		t.Errorf("%v is read as %v", err, waiting)
	}
}
