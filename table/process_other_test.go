//go:build !linux

package table_test

import "os/exec"

// asUser does nothing: here nobody runs tests as root.
func asUser(*exec.Cmd, int, int) {}

// diesWithUs does nothing: here a server outlives a test that is killed.
func diesWithUs(*exec.Cmd) {}
