package linalg

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"concord/linalg/internal/engine"
	"concord/linalg/internal/kernel"
)

// crossRows is the number of rows of A that are read again for ‖A‖_F² while they
// are in the second-level cache.
const crossRows = 1024

// Cross puts AᵀZ (l × d) in m and returns ‖A‖_F², which is not finite if anything
// in a is not. a is n × l and z is n × d, with n at least 1; a is read from memory
// once. It panics if the shapes disagree. The cost is O(n l d).
func Cross(m, a, z *mat.Dense) (square float64) {
	n, l := dims(a)
	rows, d := dims(z)
	if r, c := dims(m); n == 0 || rows != n || r != l || c != d {
		panic(fmt.Sprintf("linalg: %d × %d for the product of the transpose of %d × %d and %d × %d", r, c, n, l, rows, d))
	}
	x, y, sum := a.RawMatrix(), z.RawMatrix(), m.RawMatrix()
	left := kernel.Operand{Data: x.Data, LD: x.Stride, Trans: true}
	right := kernel.Operand{Data: y.Data, LD: y.Stride}
	k := engine.Active().Kernel
	if k != nil && x.Stride == l && k.IsTall(l, d, n, left, right) {
		k.Tall(l, d, n, 1, left, right, false, sum.Data, sum.Stride, func(block []float64) { square += sumSquares(block) })
		return square
	}
	beta := 0.0
	for from := 0; from < n; from += crossRows {
		to := min(from+crossRows, n)
		part := a.Slice(from, to, 0, l).(*mat.Dense)
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, part.RawMatrix(), z.Slice(from, to, 0, d).(*mat.Dense).RawMatrix(), beta,
			sum)
		square += SumSquares(part)
		beta = 1
	}
	return square
}
