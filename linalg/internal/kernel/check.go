package kernel

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
)

// The checks panic on what would read or write beyond a slice.

// CheckProduct checks the operands of C = op(A) op(B), where C is m × n.
func CheckProduct(tA, tB blas.Transpose, m, n, k int, a []float64, lda int, b []float64, ldb int, c []float64,
	ldc int) {
	CheckTrans(tA)
	CheckTrans(tB)
	if tA == blas.NoTrans {
		CheckMatrix("A", m, k, a, lda)
	} else {
		CheckMatrix("A", k, m, a, lda)
	}
	if tB == blas.NoTrans {
		CheckMatrix("B", k, n, b, ldb)
	} else {
		CheckMatrix("B", n, k, b, ldb)
	}
	CheckMatrix("C", m, n, c, ldc)
}

// CheckTriangular checks those of a triangular product or solution, where A is of the order and B m × n.
func CheckTriangular(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n, order int, a []float64, lda int,
	b []float64, ldb int) {
	if s != blas.Left && s != blas.Right {
		panic("linalg: side is neither left nor right")
	}
	if d != blas.Unit && d != blas.NonUnit {
		panic("linalg: diagonal is neither unit nor general")
	}
	CheckUplo(ul)
	CheckTrans(tA)
	CheckMatrix("A", order, order, a, lda)
	CheckMatrix("B", m, n, b, ldb)
}

// CheckUplo checks that a triangle is named.
func CheckUplo(ul blas.Uplo) {
	if ul != blas.Upper && ul != blas.Lower {
		panic("linalg: triangle is neither upper nor lower")
	}
}

// CheckTrans checks that it is said whether an operand is transposed.
func CheckTrans(t blas.Transpose) {
	if t != blas.NoTrans && t != blas.Trans && t != blas.ConjTrans {
		panic("linalg: Operand is neither transposed nor not")
	}
}

// CheckMatrix checks that a matrix lies within its slice.
func CheckMatrix(name string, rows, cols int, data []float64, ld int) {
	if rows < 0 || cols < 0 || ld < max(1, cols) {
		panic(fmt.Sprintf("linalg: %s is %d × %d with a stride of %d", name, rows, cols, ld))
	}
	if rows > 0 && cols > 0 && len(data) < (rows-1)*ld+cols {
		panic(fmt.Sprintf("linalg: %s is %d × %d with a stride of %d in %d elements", name, rows, cols, ld, len(data)))
	}
}
