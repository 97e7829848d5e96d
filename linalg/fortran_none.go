//go:build noblas || !(linux || darwin) || !(amd64 || arm64)

package linalg

import (
	"errors"

	"gonum.org/v1/gonum/mat"
)

// canLoad says whether this build can load a library.
const canLoad = false

var errAbsent = errors.New("absent")

// fortran is a loaded LAPACK: never, in this build.
type fortran struct{}

func openFortran(string) (*fortran, error) { return nil, errAbsent }

func nativeEngine(*fortran) *engine { return nil }

func (f *fortran) setThreads(int) {}

func (f *fortran) svd(*mat.Dense, bool, bool) (u *mat.Dense, s []float64, v *mat.Dense, ok bool) {
	return nil, nil, nil, false
}

func (f *fortran) eigSym([]float64, int, int, int, bool) (w, rows []float64, ok bool) {
	return nil, nil, false
}
