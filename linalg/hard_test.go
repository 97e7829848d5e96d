package linalg_test

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// hardSymmetric are matrices of order n that make a symmetric eigenvalue
// routine stumble.
var hardSymmetric = []struct {
	name string
	make func(n int, rnd *rand.Rand) *mat.SymDense
}{
	{"random", func(n int, rnd *rand.Rand) *mat.SymDense {
		return filled(n, func(int, int) float64 { return rnd.NormFloat64() })
	}},
	{"zero", func(n int, _ *rand.Rand) *mat.SymDense { return mat.NewSymDense(n, nil) }},
	{"ones", func(n int, _ *rand.Rand) *mat.SymDense {
		return filled(n, func(int, int) float64 { return 1 })
	}},
	{"identity", func(n int, _ *rand.Rand) *mat.SymDense { return banded(n, func(int) float64 { return 1 }, 0) }},
	{"diagonal, many equal", func(n int, rnd *rand.Rand) *mat.SymDense {
		return banded(n, func(int) float64 { return float64(rnd.IntN(4)) - 1 }, 0)
	}},
	{"diagonal, graded", func(n int, _ *rand.Rand) *mat.SymDense {
		return banded(n, func(i int) float64 { return math.Pow(10, 150-300*float64(i)/float64(n)) }, 0)
	}},
	{"second differences", func(n int, _ *rand.Rand) *mat.SymDense {
		return banded(n, func(int) float64 { return 2 },
			-1)
	}},
	{"Wilkinson", func(n int, _ *rand.Rand) *mat.SymDense {
		return banded(n, func(i int) float64 { return math.Abs(float64(n-1)/2 - float64(i)) }, 1)
	}},
	{"glued Wilkinson", func(n int, _ *rand.Rand) *mat.SymDense {
		a := banded(n, func(i int) float64 { return math.Abs(float64(i%21 - 10)) }, 1)
		for i := 21; i < n; i += 21 {
			a.SetSym(i-1, i, 1e-8)
		}
		return a
	}},
	{"nearly diagonal", func(n int, _ *rand.Rand) *mat.SymDense {
		return banded(n, func(i int) float64 { return float64(i) / 7 }, 1e-17)
	}},
	{"tiny beside one", func(n int, rnd *rand.Rand) *mat.SymDense {
		a := filled(n, func(int, int) float64 { return 1e-200 * rnd.NormFloat64() })
		a.SetSym(0, 0, 1)
		return a
	}},
	{"graded", func(n int, rnd *rand.Rand) *mat.SymDense {
		size := func(i int) float64 { return math.Pow(10, -150+300*float64(i)/float64(n)) }
		return filled(n, func(i, j int) float64 { return rnd.NormFloat64() * size(i) * size(j) })
	}},
	{"graded downwards", func(n int, rnd *rand.Rand) *mat.SymDense {
		size := func(i int) float64 { return math.Pow(10, 150-300*float64(i)/float64(n)) }
		return filled(n, func(i, j int) float64 { return rnd.NormFloat64() * size(i) * size(j) })
	}},
	{"huge", func(n int, rnd *rand.Rand) *mat.SymDense {
		return filled(n, func(int, int) float64 { return 1e300 * rnd.Float64() })
	}},
	{"subnormal", func(n int, rnd *rand.Rand) *mat.SymDense {
		return filled(n, func(int, int) float64 { return 1e-310 * rnd.NormFloat64() })
	}},
	{"rank 3", func(n int, rnd *rand.Rand) *mat.SymDense { return gramOf(n, 3, rnd) }},
	{"half rank", func(n int, rnd *rand.Rand) *mat.SymDense { return gramOf(n, (n+1)/2, rnd) }},
	{"clusters", func(n int, rnd *rand.Rand) *mat.SymDense {
		w := make([]float64, n)
		for i := range w {
			w[i] = float64(i%3) + 1e-13*rnd.Float64()
		}
		return symmetric(w, rnd)
	}},
	{"geometric", func(n int, rnd *rand.Rand) *mat.SymDense {
		w := make([]float64, n)
		for i := range w {
			w[i] = math.Pow(10, -20*float64(i)/float64(n))
		}
		return symmetric(w, rnd)
	}},
	{"Hilbert", func(n int, _ *rand.Rand) *mat.SymDense {
		return filled(n, func(i, j int) float64 { return 1 / float64(i+j+1) })
	}},
	{"arrow", func(n int, _ *rand.Rand) *mat.SymDense {
		return filled(n, func(i, j int) float64 {
			switch {
			case i == j:
				return float64(i%5) / 3
			case i == 0:
				return 1
			}
			return 0
		})
	}},
}

func filled(n int, f func(i, j int) float64) *mat.SymDense {
	a := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			a.SetSym(i, j, f(i, j))
		}
	}
	return a
}

func banded(n int, diagonal func(i int) float64, off float64) *mat.SymDense {
	return filled(n, func(i, j int) float64 {
		switch j - i {
		case 0:
			return diagonal(i)
		case 1:
			return off
		}
		return 0
	})
}

func gramOf(n, rank int, rnd *rand.Rand) *mat.SymDense {
	x := linalg.Normal(n, rank, rnd)
	a := mat.NewSymDense(n, nil)
	a.SymOuterK(1, x)
	return a
}
