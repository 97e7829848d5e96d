package linalg_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"concord/linalg"
	"concord/linalg/internal/guard"
	"concord/linalg/linalgtest"
)

// guardedMatrix is rows × cols with the stride, the last row no longer than it
// must be.
func guardedMatrix(t *testing.T, rows, cols, stride int, atEnd bool, src rand.Source) *mat.Dense {
	t.Helper()
	data := guard.Slice(t, (rows-1)*stride+cols, atEnd)
	for i := range data {
		data[i] = math.NaN() // between the rows nothing may count
	}
	rnd := rand.New(src)
	for i := range rows {
		for j := range cols {
			data[i*stride+j] = rnd.NormFloat64()
		}
	}
	var m mat.Dense
	m.SetRawMatrix(blas64.General{Rows: rows, Cols: cols, Stride: stride, Data: data})
	return &m
}

// TestNothingBeyondTheSlices holds that products and polar factors, for sizes
// around every edge of the kernels, read and write nothing outside of their
// operands, and that what lies between rows does not count.
func TestNothingBeyondTheSlices(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: all sizes around the edges of the kernels")
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	sizes := []int{1, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16, 17, 20, 24, 25, 64, 65, 97, 128, 129}
	depths := []int{1, 3, 51, 52, 53, 104, 191, 192, 193, 209, 257}
	// Products that several threads share.
	shared := [][3]int{{300, 259, 301}, {301, 301, 259}, {97, 129, 1001}, {129, 97, 1001}}
	linalgtest.Each(t, func(t *testing.T) {
		src := rand.NewChaCha8([32]byte{77})
		for i, m := range sizes {
			for j, n := range sizes {
				k := depths[(3*i+j)%len(depths)]
				if i == j && i < len(shared) {
					m, n, k = shared[i][0], shared[i][1], shared[i][2]
				}
				pad := (i + j) % 3 * 5
				atEnd := (i+2*j)%4 != 0
				a, b := guardedMatrix(t, k, m, m+pad, atEnd, src), guardedMatrix(t, k, n, n+pad, atEnd, src)
				c := guardedMatrix(t, m, n, n+pad, atEnd, src)
				name := fmt.Sprintf("%d × %d over %d, padded by %d", m, n, k, pad)
				var want mat.Dense
				want.Mul(mat.DenseCopyOf(mat.DenseCopyOf(a).T()), mat.DenseCopyOf(b))
				guard.Within(t, name, func() {
					square := linalg.Cross(c, a, b)
					if exact := mat.Norm(a, 2); math.Abs(square-exact*exact) > 1e-12*exact*exact {
						t.Errorf("%s: sum of squares %g, want %g", name, square, exact*exact)
					}
				})
				// Sums of k products of numbers of size 1.
				tol := 64 * float64(k) * linalg.Eps
				if !mat.EqualApprox(c, &want, tol) {
					t.Errorf("%s: Cross is wrong", name)
				}
				for q, ops := range [][2]blas.Transpose{{blas.Trans, blas.NoTrans}, {blas.NoTrans, blas.NoTrans}, {blas.NoTrans,
					blas.Trans}, {blas.Trans, blas.Trans}} {
					x, y := a, b
					if ops[0] == blas.NoTrans {
						x = guardedMatrix(t, m, k, k+pad, atEnd, src)
						x.Copy(a.T())
					}
					if ops[1] == blas.Trans {
						y = guardedMatrix(t, n, k, k+pad, atEnd, src)
						y.Copy(b.T())
					}
					guard.Within(t, fmt.Sprint(name, " product ", q), func() {
						blas64.Gemm(ops[0], ops[1], 1, x.RawMatrix(), y.RawMatrix(), 0, c.RawMatrix())
					})
					if !mat.EqualApprox(c, &want, tol) {
						t.Errorf("%s: product %d is wrong", name, q)
					}
				}
				if i != j {
					continue
				}
				var square mat.Dense
				square.Mul(mat.DenseCopyOf(mat.DenseCopyOf(a).T()), mat.DenseCopyOf(a))
				for _, uplo := range []blas.Uplo{blas.Upper, blas.Lower} {
					s := guardedMatrix(t, m, m, m+pad, atEnd, src)
					before := mat.DenseCopyOf(s)
					guard.Within(t, name+", symmetric", func() {
						blas64.Syrk(blas.Trans, 1, a.RawMatrix(), 0, blas64.Symmetric{N: m, Stride: m + pad, Data: s.RawMatrix().Data,
							Uplo: uplo})
					})
					for r := range m {
						for c := range m {
							want, tol := square.At(r, c), tol
							if r > c && uplo == blas.Upper || r < c && uplo == blas.Lower {
								want, tol = before.At(r, c), 0
							}
							if math.Abs(s.At(r, c)-want) > tol {
								t.Fatalf("%s: element %d, %d of the %c triangle is wrong", name, r, c, uplo)
							}
						}
					}
				}
			}
		}
		for _, n := range sizes[1:19] {
			m := make([]*mat.Dense, 11)
			for i := range m {
				m[i] = guardedMatrix(t, n, n, n+i%3, i%2 == 0, src)
			}
			guard.Within(t, fmt.Sprintf("polar factors of order %d", n), func() {
				for _, estimate := range []bool{false, true} {
					q, _, err := linalg.PolarEach(m, linalg.PolarOptions{Estimate: estimate})
					if err != nil {
						t.Fatal(err)
					}
					for i := range q {
						checkPolar(t, q[i], m[i])
					}
				}
			})
		}
	})
}
