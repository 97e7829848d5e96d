package linalg_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
	"concord/linalg/linalgtest"
)

// TestTall checks QR, SVD and least squares of tall matrices over condition
// numbers, on both sides of where the Gram matrix serves.
func TestTall(t *testing.T) {
	linalgtest.Each(t, func(t *testing.T) {
		src := rand.NewChaCha8([32]byte{20})
		for _, s := range [][2]int{{16, 8}, {17, 8}, {100, 12}, {150, 65}} {
			for _, cond := range []float64{1, 1e3, 1e6, 3e7, 1e9, 1e13} {
				a := withCond(s[0], s[1], cond, src)
				name := fmt.Sprintf("%d × %d, condition %.1g", s[0], s[1], cond)
				q, r, err := linalg.QR(a)
				if err != nil {
					t.Fatal(err)
				}
				if e := orthonormalColumns(q); e > tol(a) {
					t.Errorf("%s: Q is orthonormal to %g only", name, e)
				}
				if e := distance(product(q, r), a); e > tol(a) {
					t.Errorf("%s: Q R differs from A by %g", name, e)
				}
				for i := range s[1] {
					if r.At(i, i) < 0 {
						t.Errorf("%s: R[%d,%d] is negative", name, i, i)
					}
					for j := range i {
						if r.At(i, j) != 0 {
							t.Errorf("%s: R[%d,%d] is not zero", name, i, j)
						}
					}
				}
				u, sv, v, err := linalg.SVD(a)
				if err != nil {
					t.Fatal(err)
				}
				if e := max(orthonormalColumns(u), orthonormalColumns(v)); e > tol(a) {
					t.Errorf("%s: singular vectors are orthonormal to %g only", name, e)
				}
				if e := distance(product(u, mat.NewDiagDense(len(sv), sv), v.T()), a); e > tol(a) {
					t.Errorf("%s: U diag(s) Vᵀ differs from A by %g", name, e)
				}
				want := linalg.Normal(s[1], 3, src)
				x, fit, err := linalg.LeastSquares(a, product(a, want), 0)
				if err != nil {
					t.Fatal(err)
				}
				if fit.Rank != s[1] || len(fit.Singular) != s[1] {
					t.Errorf("%s: rank %d", name, fit.Rank)
				}
				if e := distance(x, want); e > tol(a)*cond { // the right-hand side is in the range of A
					t.Errorf("%s: solution differs by %g", name, e)
				}
				if _, fit, err = linalg.LeastSquares(a, product(a, want), 0.5); err != nil || (fit.Rank == s[1]) != (cond == 1) {
					t.Errorf("%s: rank %d at a cutoff of a half, %v", name, fit.Rank, err)
				}
			}
		}
	})
}

// BenchmarkTall times what the methods do with one A_i (1000 × l).
func BenchmarkTall(b *testing.B) {
	src := rand.NewChaCha8([32]byte{21})
	engines, _ := linalgtest.Engines()
	for _, l := range []int{50, 300} {
		a, z := linalg.Uniform(1000, l, src), linalg.Uniform(1000, l, src)
		for _, e := range engines {
			for name, f := range map[string]func() error{
				"QR":           func() error { _, _, err := linalg.QR(a); return err },
				"SVD":          func() error { _, _, _, err := linalg.SVD(a); return err },
				"LeastSquares": func() error { _, _, err := linalg.LeastSquares(a, z, 0); return err },
			} {
				b.Run(fmt.Sprintf("%s/1000x%d/%s", name, l, e.Name), func(b *testing.B) {
					defer e.Use()()
					linalg.Serial(func() {
						for b.Loop() {
							if err := f(); err != nil {
								b.Fatal(err)
							}
						}
					})
				})
			}
		}
	}
}
