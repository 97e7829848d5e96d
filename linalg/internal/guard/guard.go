// Package guard has slices with memory around them that cannot be touched, for tests
// of kernels. It is empty where the system has no such memory.
package guard
