//go:build !amd64

package linalg

// kernels is empty where there is no micro-kernel: gonum's products run.
func kernels() []*microKernel { return nil }

// prefetch is not called where there are no kernels.
func prefetch(*float64, int) {}
