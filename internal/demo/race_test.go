//go:build race

package demo

// raceEnabled: the race detector slows everything down several times.
const raceEnabled = true
