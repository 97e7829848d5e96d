//go:build !amd64

package kernel

// Kernels is empty where there is no micro-kernel: gonum's products run.
func Kernels() []*Kernel { return nil }

// prefetch is not called where there are no kernels.
func prefetch(*float64, int) {}
