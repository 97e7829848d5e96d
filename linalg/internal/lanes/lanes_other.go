//go:build !amd64

package lanes

// Kernels is empty where there is no assembly.
func Kernels() []*Kernel { return nil }
