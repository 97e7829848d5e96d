package linalg_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"

	"concord/linalg"
	"concord/linalg/linalgtest"
)

// block is a matrix inside a larger slice: stride − columns elements after each
// row are NaN and must be neither used nor changed.
type block struct {
	rows, cols, stride int
	data               []float64
}

func newBlock(rows, cols, gap int, src *rand.Rand) block {
	b := block{rows, cols, max(1, cols+gap), nil}
	if rows > 0 {
		b.data = make([]float64, (rows-1)*b.stride+cols)
	}
	for i := range b.data {
		b.data[i] = math.NaN()
		if i%b.stride < cols {
			b.data[i] = src.Float64() - 0.5
		}
	}
	return b
}

func (b block) clone() block {
	b.data = append([]float64(nil), b.data...)
	return b
}

// differs returns the largest difference to want, infinite if one is NaN where
// the other is not.
func (b block) differs(want block) float64 {
	worst := 0.0
	for i, v := range b.data {
		w := want.data[i]
		switch d := math.Abs(v - w); {
		case math.IsNaN(v) && math.IsNaN(w):
		case math.IsNaN(d):
			return math.Inf(1)
		default:
			worst = max(worst, d)
		}
	}
	return worst
}

// sizes are all shapes of a few blocks up to 20 and some beyond the edges of
// kernels (6, 8, 12, 16), of leaves and of cache blocks (144, 256, 512).
func sizes(short bool) [][3]int {
	var s [][3]int
	for m := range 21 {
		for n := range 21 {
			for _, k := range []int{0, 1, 2, 3, 7, 20} {
				s = append(s, [3]int{m, n, k})
			}
		}
	}
	if !short {
		s = append(s, [][3]int{{50, 50, 300}, {8, 9, 192}, {127, 13, 209}, {51, 128, 500}, {20, 20, 1000}, {145, 30, 257},
			{31, 513, 64}, {150, 150, 150}, {1, 600, 300}, {600, 1, 300}, {200, 260, 100}}...)
	}
	return s
}

var transposes = []blas.Transpose{blas.NoTrans, blas.Trans}

// TestGemm compares with gonum's loops over all small shapes, transposes,
// strides, α and β.
func TestGemm(t *testing.T) {
	linalgtest.Each(t, func(t *testing.T) {
		src := rand.New(rand.NewPCG(1, 2))
		for _, s := range sizes(false) {
			m, n, k := s[0], s[1], s[2]
			for _, tA := range transposes {
				for _, tB := range transposes {
					a, b := newBlock(m, k, src.IntN(3), src), newBlock(k, n, src.IntN(3), src)
					if tA == blas.Trans {
						a = newBlock(k, m, src.IntN(3), src)
					}
					if tB == blas.Trans {
						b = newBlock(n, k, src.IntN(3), src)
					}
					alpha, beta := []float64{1, -0.5, 0}[src.IntN(3)], []float64{0, 1, 2}[src.IntN(3)]
					got := newBlock(m, n, src.IntN(3), src)
					if beta == 0 && len(got.data) > 0 && n > 0 {
						got.data[0] = math.NaN() // must be overwritten
					}
					want := got.clone()
					blas64.Implementation().Dgemm(tA, tB, m, n, k, alpha, a.data, a.stride, b.data, b.stride, beta, got.data,
						got.stride)
					gonum.Implementation{}.Dgemm(tA, tB, m, n, k, alpha, a.data, a.stride, b.data, b.stride, beta, want.data,
						want.stride)
					// A sum of k products of at most 1/4, in any order.
					if e := got.differs(want); e > float64(k+2)*linalg.Eps*(float64(k)/4+2) {
						t.Fatalf("%d × %d × %d, %c%c, α %g, β %g: off by %g", m, n, k, tA, tB, alpha, beta, e)
					}
				}
			}
		}
	})
}

// TestSyrk does the same for the symmetric product; the other triangle must
// stay as it was.
func TestSyrk(t *testing.T) {
	linalgtest.Each(t, func(t *testing.T) {
		src := rand.New(rand.NewPCG(3, 4))
		for _, n := range []int{0, 1, 2, 5, 16, 20, 47, 49, 60, 130} {
			for _, k := range []int{0, 1, 3, 20, 300} {
				for _, ul := range []blas.Uplo{blas.Upper, blas.Lower} {
					for _, tA := range transposes {
						a := newBlock(n, k, src.IntN(3), src)
						if tA == blas.Trans {
							a = newBlock(k, n, src.IntN(3), src)
						}
						alpha, beta := []float64{1, -0.5, 0}[src.IntN(3)], []float64{0, 1, 2}[src.IntN(3)]
						got := newBlock(n, n, src.IntN(3), src)
						want := got.clone()
						blas64.Implementation().Dsyrk(ul, tA, n, k, alpha, a.data, a.stride, beta, got.data, got.stride)
						gonum.Implementation{}.Dsyrk(ul, tA, n, k, alpha, a.data, a.stride, beta, want.data, want.stride)
						if e := got.differs(want); e > float64(k+2)*linalg.Eps*(float64(k)/4+2) {
							t.Fatalf("%d × %d, %c %c, α %g, β %g: off by %g", n, k, ul, tA, alpha, beta, e)
						}
					}
				}
			}
		}
	})
}

// TestTriangular compares the triangular solution and product. The diagonal is
// 2 or more and the rest of a row sums to less than 1, so that the problems are
// well conditioned.
func TestTriangular(t *testing.T) {
	linalgtest.Each(t, func(t *testing.T) {
		src := rand.New(rand.NewPCG(5, 6))
		for _, order := range []int{0, 1, 2, 7, 24, 25, 40, 65, 130} {
			for _, side := range []blas.Side{blas.Left, blas.Right} {
				for _, ul := range []blas.Uplo{blas.Upper, blas.Lower} {
					for _, tA := range transposes {
						for _, diag := range []blas.Diag{blas.NonUnit, blas.Unit} {
							a := newBlock(order, order, src.IntN(3), src)
							for i := range order {
								for j := range order {
									a.data[i*a.stride+j] /= float64(order)
								}
								a.data[i*a.stride+i] += 2
							}
							rows, cols := order, src.IntN(70)
							if side == blas.Right {
								rows, cols = cols, rows
							}
							alpha := []float64{1, -0.5, 0}[src.IntN(3)]
							b := newBlock(rows, cols, src.IntN(3), src)
							impl, ref := blas64.Implementation(), gonum.Implementation{}
							for name, f := range map[string][2]func(blas.Side, blas.Uplo, blas.Transpose, blas.Diag, int, int, float64,
								[]float64, int, []float64, int){
								"trsm": {impl.Dtrsm, ref.Dtrsm}, "trmm": {impl.Dtrmm, ref.Dtrmm},
							} {
								got, want := b.clone(), b.clone()
								f[0](side, ul, tA, diag, rows, cols, alpha, a.data, a.stride, got.data, got.stride)
								f[1](side, ul, tA, diag, rows, cols, alpha, a.data, a.stride, want.data, want.stride)
								if e := got.differs(want); e > 8*float64(order+1)*linalg.Eps {
									t.Fatalf("%s %d × %d, %c%c%c%c, α %g: off by %g", name, rows, cols, side, ul, tA, diag, alpha, e)
								}
							}
						}
					}
				}
			}
		}
	})
}

// TestSameBits holds that a product by a kernel of this package gives the same
// bits on one thread as on several.
func TestSameBits(t *testing.T) {
	src := rand.New(rand.NewPCG(7, 8))
	a, b := newBlock(500, 300, 0, src), newBlock(500, 310, 0, src)
	engines, _ := linalgtest.Engines()
	for _, e := range engines {
		if e.Native() || e.Name == "gonum" {
			continue
		}
		restore := e.Use()
		var c [2]block
		for i := range c {
			c[i] = newBlock(300, 310, 0, src)
			mul := func() {
				blas64.Implementation().Dgemm(blas.Trans, blas.NoTrans, 300, 310, 500, 1, a.data, a.stride, b.data, b.stride, 0,
					c[i].data, c[i].stride)
			}
			if i == 0 {
				linalg.Serial(mul)
			} else {
				mul()
			}
		}
		restore()
		if d := c[0].differs(c[1]); d != 0 {
			t.Errorf("%s: threads change the product by %g", e.Name, d)
		}
	}
}

func TestProductMisuse(t *testing.T) {
	ok := make([]float64, 400)
	linalgtest.Each(t, func(t *testing.T) {
		impl := blas64.Implementation()
		for name, f := range map[string]func(){
			"short A":   func() { impl.Dgemm(blas.NoTrans, blas.NoTrans, 20, 20, 20, 1, ok[:399], 20, ok, 20, 0, ok, 20) },
			"short B":   func() { impl.Dgemm(blas.Trans, blas.Trans, 20, 20, 20, 1, ok, 20, ok[:399], 20, 0, ok, 20) },
			"short C":   func() { impl.Dgemm(blas.NoTrans, blas.NoTrans, 20, 20, 20, 1, ok, 20, ok, 20, 0, ok[:399], 20) },
			"stride":    func() { impl.Dgemm(blas.NoTrans, blas.NoTrans, 20, 20, 20, 1, ok, 19, ok, 20, 0, ok, 20) },
			"letter":    func() { impl.Dgemm('X', blas.NoTrans, 20, 20, 20, 1, ok, 20, ok, 20, 0, ok, 20) },
			"triangle":  func() { impl.Dsyrk('X', blas.NoTrans, 20, 20, 1, ok, 20, 0, ok, 20) },
			"negative":  func() { impl.Dgemm(blas.NoTrans, blas.NoTrans, -1, 20, 20, 1, ok, 20, ok, 20, 0, ok, 20) },
			"short tri": func() { impl.Dtrsm(blas.Left, blas.Upper, blas.NoTrans, blas.NonUnit, 40, 40, 1, ok, 40, ok, 40) },
		} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: no panic", name)
					}
				}()
				f()
			}()
		}
	})
}

// BenchmarkProduct times C = AᵀB and A B at the sizes of the alignments.
func BenchmarkProduct(b *testing.B) {
	src := rand.New(rand.NewPCG(9, 10))
	engines, _ := linalgtest.Engines()
	for _, s := range []struct {
		name    string
		tA      blas.Transpose
		m, n, k int
	}{
		{"AtB/50x1000x50", blas.Trans, 50, 50, 1000},
		{"AtB/300x1000x300", blas.Trans, 300, 300, 1000},
		{"AB/1000x50x50", blas.NoTrans, 1000, 50, 50},
		{"AB/50x50x50", blas.NoTrans, 50, 50, 50},
		{"AB/1000x1000x1000", blas.NoTrans, 1000, 1000, 1000},
	} {
		x, y, z := newBlock(s.m, s.k, 0, src), newBlock(s.k, s.n, 0, src), newBlock(s.m, s.n, 0, src)
		if s.tA == blas.Trans {
			x = newBlock(s.k, s.m, 0, src)
		}
		for _, e := range engines {
			b.Run(fmt.Sprintf("%s/%s", s.name, e.Name), func(b *testing.B) {
				defer e.Use()()
				linalg.Serial(func() {
					for b.Loop() {
						blas64.Implementation().Dgemm(s.tA, blas.NoTrans, s.m, s.n, s.k, 1, x.data, x.stride, y.data, y.stride, 0,
							z.data, z.stride)
					}
				})
				b.ReportMetric(2*float64(s.m*s.n*s.k)*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gflop/s")
			})
		}
	}
}
