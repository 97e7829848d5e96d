//go:build noblas || !(linux || darwin) || !(amd64 || arm64)

package linalg

import "iter"

func variants(*fortran) iter.Seq2[string, *engine] {
	return func(func(string, *engine) bool) {}
}
