// Package linalg holds the dense linear algebra that Data Collaboration
// analysis needs, on gonum's *mat.Dense: the singular value decomposition and
// what follows from it (pseudo-inverse, rank, polar factor), QR with a fixed
// sign, symmetric eigenproblems, a randomized decomposition, and random matrices.
//
// Start with [SVD] or [EigSym] to decompose, [RandomSVD] where a few singular
// values are enough, [LeastSquares] or [Pinv] to solve, [Polar] for Procrustes
// problems, [Haar] for a random orthogonal matrix.
//
// The package is the one door to BLAS and LAPACK: numerical work of the
// packages above goes through it or through mat.Dense.Mul. Importing it changes
// nothing: gonum computes, in pure Go. A program that calls [UseBest] gets, at its
// first operation, OpenBLAS, MKL or Accelerate if the machine has it, and gonum with
// this package's AVX2 and AVX-512 products if not; [Backend] says which, and the
// environment variable of [EnvBLAS] chooses. A build with the tag noblas loads
// nothing and is static. Work on one large problem uses all cores by itself;
// [Parallel] is for many small ones.
//
// The package holds no method of Data Collaboration analysis and no sparse
// matrices.
//
// # Common rules
//
// Arguments are never changed, and results share no storage with them.
//
// A matrix with no rows or no columns is the empty *mat.Dense (0 × 0), since
// gonum can represent no other. Its decompositions are empty and its rank is 0.
//
// NaN and infinities are found before a decomposition starts and returned as
// an error that names the row and column, from 1, never the other values. The
// other possible error is a decomposition that does not converge or whose
// result overflows.
//
// The sign of a pair of singular vectors is free. It is fixed here, see [SVD],
// so that the same input gives the same result whatever the backend, as long
// as the singular values are distinct.
package linalg

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"concord/linalg/internal/engine"
	"concord/linalg/internal/lanes"
)

// Eps is the distance from 1 to the next float64, 2⁻⁵²: the unit of every
// default tolerance.
const Eps = 0x1p-52

// CheckFinite returns an error that names the first element of a, in row
// order and from 1, that is NaN or infinite; nil if there is none.
func CheckFinite(a *mat.Dense) error {
	rows, _ := dims(a)
	for i := range rows {
		row := a.RawRowView(i)
		if finite(row) {
			continue
		}
		for j, v := range row {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("linalg: element at row %d, column %d is not a finite number", i+1, j+1)
			}
		}
	}
	return nil
}

// finite says whether all elements are finite: x − x is 0 for those and NaN for
// the others, and a sum with a NaN is NaN.
func finite(row []float64) bool {
	var a, b, c, d float64
	for len(row) >= 4 {
		a += row[0] - row[0]
		b += row[1] - row[1]
		c += row[2] - row[2]
		d += row[3] - row[3]
		row = row[4:]
	}
	for _, v := range row {
		a += v - v
	}
	return a+b+c+d == 0
}

// SumSquares returns ‖A‖_F², which is not finite if anything in a is not. The
// cost is that of reading a.
func SumSquares(a *mat.Dense) float64 {
	rows, cols := dims(a)
	if rows == 0 {
		return 0
	}
	raw := a.RawMatrix()
	if raw.Stride == cols || rows == 1 {
		return sumSquares(raw.Data[:rows*cols])
	}
	sum := 0.0
	for i := range rows {
		sum += sumSquares(a.RawRowView(i))
	}
	return sum
}

// sumSquares adds up in as many lanes as the processor has.
func sumSquares(x []float64) (sum float64) {
	if ks := engine.Active().Lanes; len(ks) > 0 && len(x) >= ks[0].Width {
		k, part := ks[0], [lanes.Max]float64{}
		n := len(x) / k.Width
		k.Dot(n, &x[0], &x[0], &part[0])
		for _, v := range part[:k.Width] {
			sum += v
		}
		x = x[n*k.Width:]
	}
	for _, v := range x {
		sum += v * v
	}
	return sum
}

// dims is a.Dims, with nil counted as the empty matrix.
func dims(a *mat.Dense) (rows, cols int) {
	if a == nil || a.IsEmpty() {
		return 0, 0
	}
	return a.Dims()
}
