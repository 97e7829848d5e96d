package linalg_test

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// The orthogonal matrix nearest to M solves the Procrustes problem.
func ExamplePolar() {
	m := mat.NewDense(2, 2, []float64{1.2, -2.4, 1.6, 1.8})
	q, info, err := linalg.Polar(m)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.1f\n", mat.Formatted(q))
	fmt.Printf("rank %d, singular values from %.0f to %.0f\n", info.Rank, info.Smallest, info.Largest)
	// Output:
	// ⎡ 0.6  -0.8⎤
	// ⎣ 0.8   0.6⎦
	// rank 2, singular values from 2 to 3
}

// The sign of every pair of singular vectors is fixed.
func ExampleSVD() {
	a := mat.NewDense(3, 2, []float64{0, -4, 3, 0, 0, 0})
	u, s, v, err := linalg.SVD(a)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.0f\n", s)
	fmt.Printf("%.0f\n", mat.Formatted(v))
	rows, k := u.Dims()
	fmt.Println(rows, "×", k)
	// Output:
	// [4 3]
	// ⎡0  1⎤
	// ⎣1  0⎦
	// 3 × 2
}

// A rank-deficient problem has the solution of least norm, and says its rank.
func ExampleLeastSquares() {
	a := mat.NewDense(3, 2, []float64{1, 1, 2, 2, 3, 3})
	b := mat.NewDense(3, 1, []float64{2, 4, 6})
	x, fit, err := linalg.LeastSquares(a, b, 0)
	if err != nil {
		panic(err)
	}
	fmt.Printf("x = %.3f, %.3f; rank %d\n", x.At(0, 0), x.At(1, 0), fit.Rank)
	// Output:
	// x = 1.000, 1.000; rank 1
}

// A seeded source gives the same orthogonal matrix again.
func ExampleHaar() {
	q, again := linalg.Haar(4, rand.NewPCG(1, 2)), linalg.Haar(4, rand.NewPCG(1, 2))
	var i mat.Dense
	i.Mul(q.T(), q)
	unit := mat.NewDiagDense(4, []float64{1, 1, 1, 1})
	fmt.Println(mat.Equal(q, again), mat.EqualApprox(&i, unit, 1e-14))
	// Output:
	// true true
}

// Many small problems are solved side by side, each on one core.
func ExampleParallel() {
	ranks := make([]int, 5)
	linalg.Parallel(len(ranks), func(i int) {
		a := mat.NewDense(5, 5, nil)
		for j := range i {
			a.Set(j, j, 1)
		}
		ranks[i], _ = linalg.Rank(a, 0)
	})
	fmt.Println(ranks)
	// Output:
	// [0 1 2 3 4]
}

// A program chooses the backend first thing; the first operation loads it.
func ExampleUseBest() {
	linalg.UseBest() // in main
	var c mat.Dense
	c.Mul(mat.NewDense(2, 2, []float64{1, 2, 3, 4}), mat.NewDense(2, 1, []float64{1, 1}))
	fmt.Println(c.At(0, 0), c.At(1, 0), linalg.Backend().Name != "")
	// Output:
	// 3 7 true
}
