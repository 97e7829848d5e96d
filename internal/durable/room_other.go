//go:build !linux && !darwin

package durable

import "errors"

// Room is not asked for on this operating system.
func Room(string) (int64, error) { return 0, errors.New("not looked at on this operating system") }
