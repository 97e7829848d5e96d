// Package linalgtest is for tests of numerical packages. Importing it has them
// compute as programs do, by [linalg.UseBest]:
//
//	import _ "concord/linalg/linalgtest"
//
// and [Each] runs a test with every engine that this machine has, in one process.
package linalgtest

import (
	"os"
	"testing"

	"concord/linalg"
	"concord/linalg/internal/engine"
)

func init() { linalg.UseBest() }

// Engine is a backend that a test can put in place.
type Engine struct {
	Name string
	e    *engine.Engine
}

// Engines lists every backend that this build can run on this machine: gonum, each
// of our kernels, the library found by the usual order, and that library with its
// products by the fastest kernel. The note says why there is no library.
func Engines() (list []Engine, note string) {
	all, note := engine.All()
	for _, e := range all {
		list = append(list, Engine{e.Title, e.Engine})
	}
	return list, note
}

// Use puts the backend in place, for the whole process, and returns a function that
// restores the former one. Tests that use it must not run in parallel.
func (e Engine) Use() (restore func()) { return e.e.Use() }

// Native says whether a loaded library computes.
func (e Engine) Native() bool { return e.e.Native != nil }

// Each runs f with every backend, and with -short only with the one that programs
// would have here. It fails if the environment variable CONCORD_REQUIRE_BLAS is set
// and no library could be loaded.
func Each(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	if testing.Short() {
		f(t)
		return
	}
	engines, note := Engines()
	native := false
	for _, e := range engines {
		native = native || e.Native()
		t.Run(e.Name, func(t *testing.T) {
			defer e.Use()()
			f(t)
		})
	}
	if !native && os.Getenv("CONCORD_REQUIRE_BLAS") != "" {
		t.Errorf("no library was loaded: %s", note)
	}
}
