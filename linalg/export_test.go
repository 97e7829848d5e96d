package linalg

import "runtime"

// Engine is a backend that the tests can put in place.
type Engine struct {
	Name string
	e    *engine
}

// Engines lists every backend that this build can run on this machine: gonum,
// each micro-kernel, the library found by the usual order, and that library
// with its products by the fastest kernel. The note says why there is no
// library.
func Engines() (list []Engine, note string) {
	list = append(list, Engine{"gonum", gonumEngine()})
	for _, mk := range kernels() {
		list = append(list, Engine{"kernel " + mk.name, kernelEngine(mk)})
	}
	e, note := firstLibrary(libraries[runtime.GOOS])
	if e == nil {
		return list, note
	}
	for name, e := range variants(e.native) {
		list = append(list, Engine{name, e})
	}
	return list, ""
}

// Use puts the backend in place and returns a function that restores the
// former one.
func (e Engine) Use() (restore func()) {
	before := current.Load()
	e.e.use()
	return before.use
}

// Native says whether a loaded library computes.
func (e Engine) Native() bool { return e.e.native != nil }

// CanLoad says whether this build can load a library.
const CanLoad = canLoad

// Load is what the program's start does with the value of EnvBLAS.
func Load(choice string) (name, note string) {
	e, note := load(choice)
	if e == nil {
		e = goEngine()
	}
	return e.info.Name, note
}
