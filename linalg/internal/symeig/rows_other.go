//go:build !amd64

package symeig

// kernels is empty where there is no assembly: loops in Go run.
func kernels() []*Kernel { return nil }
