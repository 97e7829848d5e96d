//go:build !amd64

package linalg

// kernels is empty where there is no micro-kernel: gonum's products run.
func kernels() []*microKernel { return nil }
