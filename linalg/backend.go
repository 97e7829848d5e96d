package linalg

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"concord/linalg/internal/engine"
)

// EnvBLAS is the environment variable that chooses the backend of a program that
// calls [UseBest]: the path or name of a library, or "go" or "none" for pure Go.
// Empty or unset means OpenBLAS, MKL or Accelerate, whichever is found first. A
// library that cannot be used is never an error: pure Go runs and [Backend] says
// why.
const EnvBLAS = "CONCORD_BLAS"

// UseBest has this process compute with the fastest backend of the machine: this
// package, and all of gonum that calls its BLAS and LAPACK. A program calls it once,
// first thing in main, before other goroutines run; further calls do nothing.
//
// It loads nothing. The first operation whose result depends on the backend, of
// whatever size, loads the library or chooses our own kernels, once, and nothing has
// run on another backend before: results do not depend on what a process computed
// earlier. The operations of BLAS and LAPACK that are the same with every backend
// (those on vectors, and of a matrix with a vector) are gonum's and load nothing.
//
// A program that does not call it computes with gonum in pure Go: this package then
// loads nothing and leaves gonum as it is.
func UseBest() { engine.UseBest(os.Getenv(EnvBLAS)) }

// BackendInfo says what computes products and decompositions in a process.
type BackendInfo struct {
	// Name is "OpenBLAS", "MKL" or "Accelerate" for a library that was loaded,
	// "BLAS" for one that does not say what it is, and "Go" without one.
	Name string
	// Version is what the library says of itself; empty for Go.
	Version string
	// Path is the file or name by which the library was loaded; empty for Go.
	Path string
	// Product says what multiplies matrices: the name of the library, a
	// micro-kernel of this package ("AVX-512", "AVX2") or "gonum".
	Product string
	// Threads is how many threads one large product may use.
	Threads int
	// Note says why no library was loaded, or why one that was found or asked
	// for was not taken; empty when nothing is to be said.
	Note string
}

// String gives the information on one line, for a version command.
func (b BackendInfo) String() string {
	var s strings.Builder
	s.WriteString(b.Name)
	if b.Version != "" {
		s.WriteString(" " + b.Version)
	}
	if b.Path != "" {
		s.WriteString(" (" + b.Path + ")")
	}
	if b.Product != b.Name {
		s.WriteString(", products by " + b.Product)
	}
	fmt.Fprintf(&s, ", threads: %d", b.Threads)
	if b.Note != "" {
		s.WriteString("; " + b.Note)
	}
	return s.String()
}

// Backend returns what computes in this process, and loads it if nothing was computed
// yet; see [UseBest].
func Backend() BackendInfo {
	e := engine.Active()
	return BackendInfo{
		Name: e.Name, Version: e.Version, Path: e.Path, Product: e.Product, Note: e.Note,
		Threads: runtime.GOMAXPROCS(0),
	}
}
