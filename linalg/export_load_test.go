//go:build !noblas && (linux || darwin) && (amd64 || arm64)

package linalg

import "iter"

// variants yields the ways to use a loaded library.
func variants(f *fortran) iter.Seq2[string, *engine] {
	return func(yield func(string, *engine) bool) {
		if !yield(f.name, nativeAlone(f)) {
			return
		}
		if ks := kernels(); len(ks) > 0 {
			yield(f.name+" and kernel "+ks[0].name, nativeWithKernel(f, ks[0]))
		}
	}
}
