//go:build noblas || !(linux || darwin) || !(amd64 || arm64)

package linalg

import "errors"

// canLoad says whether this build can load a library.
const canLoad = false

var errAbsent = errors.New("absent")

// fortran is a loaded LAPACK: never, in this build.
type fortran struct{}

func openFortran(string) (*fortran, error) { return nil, errAbsent }

func nativeEngine(*fortran) *engine { return nil }

func (f *fortran) setThreads(int) {}
