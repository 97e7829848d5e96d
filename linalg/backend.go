package linalg

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	gonumblas "gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/lapack"
	gonumlapack "gonum.org/v1/gonum/lapack/gonum"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// BackendInfo says what computes products and decompositions in this process.
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

// EnvBLAS is the environment variable that chooses the backend when the program
// starts: the path or name of a library, or "go" or "none" for pure Go. Empty
// or unset means the order of libraries.go. A library that cannot be used is
// never an error: pure Go runs and [Backend] says why.
const EnvBLAS = "CONCORD_BLAS"

// Backend returns what computes in this process. It was chosen when the program
// started; see [EnvBLAS].
func Backend() BackendInfo { return current.Load().describe() }

// engine is a backend: what gonum's packages call, and what LAPACK offers
// beyond gonum's interface.
type engine struct {
	info   BackendInfo
	blas   blas.Float64
	lapack lapack.Float64
	// native is the loaded LAPACK, nil without one.
	native *fortran
	// lanes are the kernels for many small matrices, the fastest first.
	lanes []*laneKernel
}

var current atomic.Pointer[engine]

func init() {
	e, note := load(os.Getenv(EnvBLAS))
	if e == nil {
		e = goEngine()
	}
	e.info.Note = note
	e.use()
}

// load returns the engine that choice, a value of [EnvBLAS], asks for; nil for
// pure Go, with a note that says why unless that was asked for.
func load(choice string) (e *engine, note string) {
	switch strings.ToLower(choice) {
	case "go", "none":
		return nil, ""
	case "":
		return firstLibrary(libraries[runtime.GOOS])
	default:
		return firstLibrary([]string{choice})
	}
}

// firstLibrary loads the first of the named libraries that can be used.
func firstLibrary(names []string) (*engine, string) {
	if !canLoad {
		return nil, "built without loading of libraries"
	}
	var refused []string
	for _, name := range names {
		f, err := openFortran(name)
		switch {
		case err == nil:
			return nativeEngine(f), strings.Join(refused, "; ")
		case err != errAbsent:
			refused = append(refused, fmt.Sprintf("%s: %v", name, err))
		}
	}
	if len(refused) == 0 {
		refused = []string{"no BLAS library found: " + strings.Join(names, ", ")}
	}
	return nil, strings.Join(refused, "; ")
}

// goEngine is pure Go with the fastest micro-kernel of this processor.
func goEngine() *engine {
	if ks := kernels(); len(ks) > 0 {
		return kernelEngine(ks[0])
	}
	return gonumEngine()
}

func gonumEngine() *engine {
	return &engine{
		info:   BackendInfo{Name: "Go", Product: "gonum"},
		blas:   gonumblas.Implementation{},
		lapack: gonumlapack.Implementation{},
	}
}

func kernelEngine(mk *microKernel) *engine {
	kb := kernelBLAS{mk: mk}
	return &engine{
		info:   BackendInfo{Name: "Go", Product: mk.name},
		blas:   kb,
		lapack: kernelLAPACK{kb: kb},
		lanes:  lanesOf(mk),
	}
}

// use makes e the backend of this package and of gonum's.
func (e *engine) use() {
	serialMutex.Lock()
	defer serialMutex.Unlock()
	blas64.Use(e.blas)
	lapack64.Use(e.lapack)
	current.Store(e)
	e.setThreads(threads())
}

// setThreads says how many threads the loaded library may use. The micro-kernels
// look at the count of serial sections themselves.
func (e *engine) setThreads(n int) {
	if e.native != nil {
		e.native.setThreads(n)
	}
}

func (e *engine) describe() BackendInfo {
	info := e.info
	info.Threads = runtime.GOMAXPROCS(0)
	return info
}
