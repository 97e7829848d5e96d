// Package engine chooses what computes in a process: a loaded library, own kernels
// or gonum. Nothing happens before [UseBest], and nothing is loaded before the first
// operation after it.
package engine

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	gonumblas "gonum.org/v1/gonum/blas/gonum"
	gonumlapack "gonum.org/v1/gonum/lapack/gonum"

	"concord/linalg/internal/kernel"
	"concord/linalg/internal/lanes"
	"concord/linalg/internal/native"
	"concord/linalg/internal/symeig"
)

// Engine is what computes: the routines behind gonum's packages, and what has no
// place there.
type Engine struct {
	// Name, Version, Path, Product and Note are those of linalg.BackendInfo.
	Name, Version, Path, Product, Note string

	products kernel.Products
	factors  kernel.Factors

	// Kernel multiplies, nil where gonum or a library does.
	Kernel *kernel.Kernel
	// Native is the loaded library, nil without one.
	Native *native.Library
	// Lanes are the kernels for many small matrices, the fastest first.
	Lanes []*lanes.Kernel
	// Rows is the kernel of the symmetric eigenproblem.
	Rows *symeig.Kernel
}

// Gonum is gonum alone, in Go.
func Gonum() *Engine {
	return &Engine{
		Name: "Go", Product: "gonum",
		products: gonumblas.Implementation{},
		factors:  gonumlapack.Implementation{},
		Rows:     symeig.Plain,
	}
}

// Own is gonum with products by a kernel of ours.
func Own(k *kernel.Kernel) *Engine {
	b := kernel.BLAS{Kernel: k}
	e := &Engine{Name: "Go", Product: k.Name, products: b, factors: kernel.LAPACK{BLAS: b}, Kernel: k}
	return e.vectors(k.Lanes)
}

// Fastest is the engine without a library: the fastest kernel of this processor.
func Fastest() *Engine {
	if ks := kernel.Kernels(); len(ks) > 0 {
		return Own(ks[0])
	}
	return Gonum()
}

// Alone is a loaded library, with our kernels for products too small to be worth a
// call.
func Alone(l *native.Library) *Engine {
	return library(l, l.Name, l.Products(Fastest().products), nil)
}

// WithKernel is a loaded library with all products by a kernel of ours.
func WithKernel(l *native.Library, k *kernel.Kernel) *Engine {
	return library(l, k.Name, kernel.BLAS{Kernel: k}, k)
}

func library(l *native.Library, product string, p kernel.Products, k *kernel.Kernel) *Engine {
	e := &Engine{
		Name: l.Name, Version: l.Version, Path: l.Path, Product: product,
		products: p, factors: l.Factors(), Kernel: k, Native: l,
	}
	return e.vectors(lanes.Max)
}

// vectors sets the kernels of vectors of up to so many lanes.
func (e *Engine) vectors(most int) *Engine {
	e.Lanes, e.Rows = lanes.Of(most), symeig.Plain
	if len(e.Lanes) > 0 {
		e.Rows = symeig.Of(e.Lanes[0].Width)
	}
	return e
}

// wideCores are the builds of OpenBLAS with kernels of 512 bits.
var wideCores = []string{"SkylakeX", "Cooperlake", "SapphireRapids", "Zen5"}

// of is the engine of a loaded library. Where the processor has vectors of 512 bits
// and the library does not use them (OpenBLAS 0.3.21 takes Zen 5 for Haswell),
// products go through our kernel, which is then twice as fast, and decompositions
// through the library.
func of(l *native.Library) *Engine {
	ks := kernel.Kernels()
	if l.Name == "OpenBLAS" && len(ks) > 0 && ks[0].Name == "AVX-512" && !slices.Contains(wideCores, l.Core) {
		return WithKernel(l, ks[0])
	}
	return Alone(l)
}

// Choose returns the engine that choice, a value of linalg.EnvBLAS, asks for. Its
// Note says why it has no library, unless that was asked for.
func Choose(choice string) *Engine {
	switch strings.ToLower(choice) {
	case "go", "none":
		return Fastest()
	case "":
		return First(native.Libraries[runtime.GOOS])
	default:
		return First([]string{choice})
	}
}

// First is the engine of the first of the named libraries that can be used.
func First(names []string) *Engine {
	e := Fastest()
	if !native.CanLoad {
		e.Note = "built without loading of libraries"
		return e
	}
	var refused []string
	for _, name := range names {
		l, err := native.Open(name)
		if err == nil {
			e = of(l)
			break
		}
		if err != native.ErrAbsent {
			refused = append(refused, fmt.Sprintf("%s: %v", name, err))
		}
	}
	if len(refused) == 0 && e.Native == nil {
		refused = []string{"no BLAS library found: " + strings.Join(names, ", ")}
	}
	e.Note = strings.Join(refused, "; ")
	return e
}
