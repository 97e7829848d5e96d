//go:build !amd64

package linalg

func laneKernels() []*laneKernel { return nil }
