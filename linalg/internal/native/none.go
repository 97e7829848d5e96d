//go:build noblas || !(linux || darwin) || !(amd64 || arm64)

package native

import (
	"errors"

	"gonum.org/v1/gonum/mat"

	"concord/linalg/internal/kernel"
)

// CanLoad says whether this build can load a library.
const CanLoad = false

// ErrAbsent is returned for a library that is not on this machine.
var ErrAbsent = errors.New("absent")

// Library is a loaded BLAS and LAPACK: never, in this build.
type Library struct {
	Path, Name, Version, Core string
}

// Open returns ErrAbsent.
func Open(string) (*Library, error) { return nil, ErrAbsent }

// There is no Library on which the methods could be called.

// Products are the small products: no library is in this build.
func (f *Library) Products(small kernel.Products) kernel.Products { return small }

// Factors are none: no library is in this build.
func (f *Library) Factors() kernel.Factors { return nil }

// SetThreads does nothing: no library is in this build.
func (f *Library) SetThreads(int) {}

// SVD is never ok: no library is in this build.
func (f *Library) SVD(*mat.Dense, bool, bool) (u *mat.Dense, s []float64, v *mat.Dense, ok bool) {
	return nil, nil, nil, false
}

// EigSym is never ok: no library is in this build.
func (f *Library) EigSym([]float64, int, int, int, bool) (w, rows []float64, ok bool) {
	return nil, nil, false
}
