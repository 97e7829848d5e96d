//go:build !noblas && (linux || darwin) && (amd64 || arm64)

package native

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// CanLoad says whether this build can load a library.
const CanLoad = true

// ErrAbsent is returned for a library that is not on this machine.
var ErrAbsent = errors.New("absent")

// Library is a loaded BLAS and LAPACK, called by its Fortran symbols: every
// argument is a pointer, integers have 32 bits (LP64), matrices are stored by
// columns. A matrix stored by rows is the transpose of one stored by columns,
// so each method asks for the transposed problem and copies nothing.
//
// The C interfaces would do as well for products but Debian's OpenBLAS has none
// for LAPACK, and a call with numbers among its arguments goes through
// reflection in purego (0.8 µs for the smallest cblas_dgemm, against 0.3 with pointers alone).
type Library struct {
	// Path is the file or name by which it was loaded, Name "OpenBLAS", "MKL",
	// "Accelerate" or "BLAS", Version and Core what it says of itself.
	Path, Name, Version, Core string

	gemm, syrk, trsm, trmm uintptr
	gesdd, syevd, syevr    uintptr
	potrf, gelqf, orglq    uintptr
	getrf                  uintptr
	threads                func(int32)
}

// symbols are the routines that a library must have.
func (f *Library) symbols() map[string]*uintptr {
	return map[string]*uintptr{
		"dgemm_": &f.gemm, "dsyrk_": &f.syrk, "dtrsm_": &f.trsm, "dtrmm_": &f.trmm,
		"dgesdd_": &f.gesdd, "dsyevd_": &f.syevd, "dsyevr_": &f.syevr,
		"dpotrf_": &f.potrf, "dgelqf_": &f.gelqf, "dorglq_": &f.orglq,
		"dgetrf_": &f.getrf,
	}
}

// Open loads a library and checks that it is what it must be.
func Open(path string) (*Library, error) {
	soonAsleep()
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		if strings.Contains(err.Error(), "o such file") {
			return nil, ErrAbsent
		}
		return nil, err
	}
	f := &Library{Path: path, Name: "BLAS"}
	if err := f.bind(handle); err != nil {
		return nil, errors.Join(err, purego.Dlclose(handle))
	}
	return f, nil
}

// soonAsleep has the threads of OpenBLAS wait for 2¹⁶ cycles, some 20 µs, before
// they sleep. They turn in a loop for 2²⁶ cycles otherwise, 20 ms after each
// decomposition on several threads, on the cores that the goroutines want then:
// a third of the time of an alignment of many parties went there. OpenBLAS reads
// the variable when it is loaded; a value that is set already stays.
func soonAsleep() {
	sym, err := purego.Dlsym(purego.RTLD_DEFAULT, "setenv")
	if err != nil {
		return
	}
	var setenv func(name, value string, overwrite int32) int32
	purego.RegisterFunc(&setenv, sym)
	setenv("OPENBLAS_THREAD_TIMEOUT", "16", 0)
}

func (f *Library) bind(handle uintptr) error {
	for name, at := range f.symbols() {
		sym, err := purego.Dlsym(handle, name)
		if err != nil {
			return fmt.Errorf("has no routine %s", name)
		}
		*at = sym
	}
	f.identify(handle)
	if f.wideIntegers() {
		return errors.New("has integers of 64 bits (ILP64), want 32 (LP64)")
	}
	return f.selfTest()
}

// identify asks the library for its name, version and number of threads.
func (f *Library) identify(handle uintptr) {
	has := func(fn any, name string) bool {
		sym, err := purego.Dlsym(handle, name)
		if err == nil {
			purego.RegisterFunc(fn, sym)
		}
		return err == nil
	}
	var text func() string
	var layer func(int32) int32
	var version func([]byte, int32)
	switch {
	case has(&text, "openblas_get_config"):
		f.Name = "OpenBLAS"
		if words := strings.Fields(text()); len(words) > 1 {
			f.Version = words[1]
		}
		if has(&text, "openblas_get_corename") {
			f.Core = text()
			f.Version += " " + f.Core
		}
		has(&f.threads, "openblas_set_num_threads")
	case has(&layer, "MKL_Set_Interface_Layer"):
		f.Name = "MKL"
		layer(0) // MKL_INTERFACE_LP64
		if has(&version, "MKL_Get_Version_String") {
			buf := make([]byte, 200)
			version(buf, int32(len(buf)))
			f.Version = strings.TrimRight(string(buf), " \x00")
		}
		has(&f.threads, "MKL_Set_Num_Threads")
	case strings.Contains(f.Path, "Accelerate"):
		f.Name = "Accelerate"
	}
}

// args are what a Fortran routine is given pointers to. Integers take eight
// bytes each, so that a library with integers of 64 bits reads the same values
// until wideIntegers has found it out.
type args struct {
	i    [16]int64
	x    [2]float64
	c    [4]byte
	info int64
}

var argPool = sync.Pool{New: func() any { return new(args) }}

func newArgs(chars string, ints ...int) *args {
	p := argPool.Get().(*args)
	copy(p.c[:], chars)
	for i, v := range ints {
		p.i[i] = int64(v)
	}
	p.info = 0
	p.x = [2]float64{} // dsyevr takes a tolerance from here
	return p
}

// status is LAPACK's INFO. Arguments are checked before the call, so a negative
// one is our mistake.
func (p *args) status(routine string) int {
	info := int(int32(p.info))
	argPool.Put(p)
	if info < 0 {
		panic(fmt.Sprintf("linalg: %s refuses its argument %d", routine, -info))
	}
	return info
}

// Addresses are converted within the call of purego.SyscallN, which is marked
// uintptrescapes: what they point to is then on the heap, where it does not
// move, and is kept alive during the call.

// one is the hidden length of a character argument.
const one = 1

// wideIntegers factors a 2 × 2 matrix and looks how far its two pivots reach.
func (f *Library) wideIntegers() bool {
	p := newArgs("", 2)
	a := []float64{1, 2, 3, 4}
	pivots := []int64{-1, -1}
	purego.SyscallN(f.getrf, uintptr(unsafe.Pointer(&p.i[0])), uintptr(unsafe.Pointer(&p.i[0])),
		uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&p.i[0])), uintptr(unsafe.Pointer(&pivots[0])),
		uintptr(unsafe.Pointer(&p.info)))
	runtime.KeepAlive(p)
	runtime.KeepAlive(a)
	argPool.Put(p)
	return pivots[1] != -1
}

// SetThreads tells the library how many threads it may use.
func (f *Library) SetThreads(n int) {
	if f.threads != nil {
		f.threads(int32(n))
	}
}
