// Package native calls OpenBLAS, MKL or Accelerate, loaded at run time without
// cgo. Nothing is loaded but by [Open].
package native

// Libraries lists the BLAS and LAPACK libraries that are tried, by operating system; the
// first that loads and passes its checks is taken. OpenBLAS stands before MKL since it
// is at its best on every processor. The reference BLAS (libblas, liblapack) is not in
// the list: our own kernels are faster. A processor or system without an entry computes
// in pure Go.
var Libraries = map[string][]string{
	"linux": {
		"libopenblas.so.0",
		"libopenblas.so",
		"libopenblasp.so.0", // Fedora's name for the build with threads
		"libmkl_rt.so.2",
		"libmkl_rt.so",
	},
	"darwin": {
		"/System/Library/Frameworks/Accelerate.framework/Accelerate",
		"/opt/homebrew/opt/openblas/lib/libopenblas.dylib",
		"/usr/local/opt/openblas/lib/libopenblas.dylib",
	},
}
