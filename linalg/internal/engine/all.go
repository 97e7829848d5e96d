package engine

import (
	"runtime"

	"concord/linalg/internal/kernel"
	"concord/linalg/internal/native"
)

// Titled is an engine with a name that tells it from the others.
type Titled struct {
	Title string
	*Engine
}

// All lists every engine that this build can run on this machine. The note says why
// there is no library among them.
func All() (list []Titled, note string) {
	list = append(list, Titled{"gonum", Gonum()})
	ks := kernel.Kernels()
	for _, k := range ks {
		list = append(list, Titled{"kernel " + k.Name, Own(k)})
	}
	e := First(native.Libraries[runtime.GOOS])
	if e.Native == nil {
		return list, e.Note
	}
	list = append(list, Titled{e.Name, Alone(e.Native)})
	if len(ks) > 0 {
		list = append(list, Titled{e.Name + " and kernel " + ks[0].Name, WithKernel(e.Native, ks[0])})
	}
	return list, ""
}
