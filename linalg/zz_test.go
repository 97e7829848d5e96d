package linalg

import ("testing"; "fmt"; "gonum.org/v1/gonum/blas"; "math/rand/v2"; "gonum.org/v1/gonum/mat")

func BenchmarkZZPotrf(b *testing.B) {
	for _, n := range []int{50, 100, 300, 1000} {
		x := Normal(n, n, rand.NewPCG(1, 2))
		var g mat.Dense
		g.Mul(x.T(), x)
		for i := range n { g.Set(i, i, g.At(i, i)+1) }
		d := g.RawMatrix().Data
		w := make([]float64, n*n)
		mk := kernels()[0]
		Serial(func() {
		b.Run(fmt.Sprint("own", n), func(b *testing.B) { for b.Loop() { copy(w, d); kernelLAPACK{kb: kernelBLAS{mk: mk}}.Dpotrf(blas.Upper, n, w, n) } })
		b.Run(fmt.Sprint("lib", n), func(b *testing.B) { for b.Loop() { copy(w, d); potrf(w, n) } })
		b.Run(fmt.Sprint("copy", n), func(b *testing.B) { for b.Loop() { copy(w, d) } })
		b.Run(fmt.Sprint("syrk", n), func(b *testing.B) { for b.Loop() { kernelBLAS{mk: mk}.Dsyrk(blas.Upper, blas.Trans, n, n, 1, d, n, 0, w, n) } })
		b.Run(fmt.Sprint("gemm", n), func(b *testing.B) { for b.Loop() { kernelBLAS{mk: mk}.Dgemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, d, n, d, n, 0, w, n) } })
		})
	}
}
