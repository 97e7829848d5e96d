//go:build !noblas && (linux || darwin) && (amd64 || arm64)

package native

import (
	"fmt"
	"math"
	"slices"

	gonumblas "gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/mat"

	"concord/linalg/internal/kernel"
)

// selfTest compares what a loaded library computes with what is known. A
// library can be found, bound and wrong: OpenBLAS that takes the processor for
// another one, as inside some virtual machines, multiplies small matrices
// rightly and larger ones not. Its size is chosen so that every kernel of a
// product runs whole and in part: sizes below, at and above the usual block
// sizes, in all transposes. It takes a few milliseconds once.
func (f *Library) selfTest() error {
	for _, size := range [][3]int{{3, 4, 5}, {40, 40, 5}, {21, 21, 40}, {50, 50, 200}, {130, 70, 64}, {33, 129, 17}, {7,
		7, 1000}} {
		for _, trans := range [][2]bool{{false, false}, {true, false}, {false, true}, {true, true}} {
			for _, beta := range []float64{0, 1} {
				if err := f.testProduct(size[0], size[1], size[2], trans[0], trans[1], beta); err != nil {
					return err
				}
			}
		}
	}
	for _, size := range [][2]int{{5, 5}, {40, 21}, {60, 60}, {21, 40}} {
		if err := f.testDecompositions(size[0], size[1]); err != nil {
			return err
		}
	}
	return nil
}

// integers fills a slice with small whole numbers, whose products are exact.
func integers(n, period int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64((i*i+3*i)%period - period/2)
	}
	return x
}

// testProduct multiplies matrices of small integers: every way is exact.
func (f *Library) testProduct(m, n, k int, transA, transB bool, beta float64) error {
	a, b := integers(m*k, 7), integers(k*n, 11)
	opA, opB := kernel.Operand{Data: a, LD: k, Trans: transA}, kernel.Operand{Data: b, LD: n, Trans: transB}
	if transA {
		opA.LD = m
	}
	if transB {
		opB.LD = k
	}
	got := integers(m*n, 5)
	want := make([]float64, m*n)
	for i := range m {
		for j := range n {
			want[i*n+j] = beta * got[i*n+j]
			for p := range k {
				x, y := i*opA.LD+p, p*opB.LD+j
				if transA {
					x = p*opA.LD + i
				}
				if transB {
					y = j*opB.LD + p
				}
				want[i*n+j] += 2 * a[x] * b[y]
			}
		}
	}
	f.product(m, n, k, 2, opA, opB, beta, got, n)
	if !slices.Equal(got, want) {
		return fmt.Errorf("multiplies wrongly (%d × %d by %d × %d, β = %g)", m, k, k, n, beta)
	}
	return nil
}

// testDecompositions puts a matrix together again from its decompositions.
func (f *Library) testDecompositions(m, n int) error {
	a := mat.NewDense(m, n, integers(m*n, 13))
	for i := range min(m, n) {
		a.Set(i, i, a.At(i, i)+10) // full rank
	}
	// A backward stable decomposition misses by a small multiple of
	// √(m n)·2⁻⁵³; what is wrong misses in the leading digits.
	const tol = 1e-10
	u, s, v, ok := f.SVD(mat.DenseCopyOf(a), true, true)
	if !ok {
		return fmt.Errorf("fails to decompose a %d × %d matrix", m, n)
	}
	if again := weighted(u, s, v); again == nil || distance(again, a) > tol {
		return fmt.Errorf("decomposes a %d × %d matrix wrongly", m, n)
	}
	gram := mat.NewDense(n, n, nil)
	raw := gram.RawMatrix()
	x := a.RawMatrix()
	gonumblas.Implementation{}.Dgemm('T', 'N', n, n, m, 1, x.Data, x.Stride, x.Data, x.Stride, 0, raw.Data, raw.Stride)
	// All eigenpairs, and the few largest, take different routines.
	for _, lo := range []int{0, n - max(1, n/8)} {
		w, rows, ok := f.EigSym(slices.Clone(raw.Data), n, lo, n, true)
		if !ok || len(rows) < (n-lo)*n {
			return fmt.Errorf("finds no eigenvectors of a %d × %d matrix", n, n)
		}
		for j := range n - lo {
			if eigenError(gram, w[j], rows[j*n:(j+1)*n]) > tol {
				return fmt.Errorf("finds wrong eigenvectors of a %d × %d matrix", n, n)
			}
		}
	}
	return nil
}

// eigenError is ‖S v − λ v‖ and the miss of ‖v‖ from 1, relative to the largest
// element of S.
func eigenError(s *mat.Dense, lambda float64, v []float64) float64 {
	n := len(v)
	var size, miss, length float64
	for i := range n {
		sum := -lambda * v[i]
		for j := range n {
			sum += s.At(i, j) * v[j]
			size = max(size, math.Abs(s.At(i, j)))
		}
		miss, length = math.Hypot(miss, sum), math.Hypot(length, v[i])
	}
	if err := max(miss/size, math.Abs(length-1)); !math.IsNaN(err) {
		return err
	}
	return math.Inf(1)
}

// weighted is U diag(s) Vᵀ without the library's help; nil if shapes disagree.
func weighted(u *mat.Dense, s []float64, v *mat.Dense) *mat.Dense {
	m, k := u.Dims()
	n, k2 := v.Dims()
	if k != len(s) || k2 != k {
		return nil
	}
	out := mat.NewDense(m, n, nil)
	for i := range m {
		for j := range n {
			var sum float64
			for p, sp := range s {
				sum += u.At(i, p) * sp * v.At(j, p)
			}
			out.Set(i, j, sum)
		}
	}
	return out
}

// distance is the largest difference of two matrices relative to the largest
// element of the second; infinite if anything is not a number.
func distance(a, b *mat.Dense) float64 {
	var diff, size float64
	m, n := b.Dims()
	for i := range m {
		for j := range n {
			d := math.Abs(a.At(i, j) - b.At(i, j))
			if math.IsNaN(d) {
				return math.Inf(1)
			}
			diff, size = max(diff, d), max(size, math.Abs(b.At(i, j)))
		}
	}
	return diff / size
}
