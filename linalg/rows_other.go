//go:build !amd64

package linalg

// rowKernels is empty where there is no assembly: loops in Go run.
func rowKernels() []*rowKernel { return nil }
