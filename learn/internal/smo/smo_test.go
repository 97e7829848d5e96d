package smo

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// task is a problem with its points, from which everything is computed anew.
type task struct {
	x          *mat.Dense
	gamma, c   float64
	regression bool
	labels     []int8
	values     []float64
}

const epsilon = 0.1 // of the regressions

func (k task) problem(cache int, parallel bool) Problem {
	n, _ := k.x.Dims()
	p := Problem{C: k.c, Kernel: NewRBF(k.x, k.gamma, cache, parallel), Tol: 1e-8, MaxIter: 100_000}
	if !k.regression {
		p.Y, p.P = k.labels, make([]float64, n)
		for i := range p.P {
			p.P[i] = -1
		}
		return p
	}
	p.Kernel = NewDoubled(p.Kernel, n)
	p.Y, p.P = make([]int8, 2*n), make([]float64, 2*n)
	for i, v := range k.values {
		p.Y[i], p.P[i] = 1, epsilon-v
		p.Y[n+i], p.P[n+i] = -1, epsilon+v
	}
	return p
}

// plain is Σ y α K at every point, in 64 bits, and ‖w‖².
func (k task) plain(y []int8, alpha []float64) (f []float64, norm float64) {
	n, _ := k.x.Dims()
	f = make([]float64, n)
	for i := range n {
		for t, a := range alpha {
			f[i] += a * float64(y[t]) * math.Exp(-k.gamma*apart(k.x.RawRowView(i), k.x.RawRowView(t%n)))
		}
	}
	for t, a := range alpha {
		norm += a * float64(y[t]) * f[t%n]
	}
	return f, norm
}

func apart(x, y []float64) (sum float64) {
	for i, v := range x {
		sum += (v - y[i]) * (v - y[i])
	}
	return sum
}

// someTask has points in clouds of different sizes, some of them several times,
// with labels that no surface parts without error.
func someTask(t *rapid.T) task {
	src := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	n, d := rapid.IntRange(2, 60).Draw(t, "n"), rapid.IntRange(1, 4).Draw(t, "d")
	k := task{
		x: mat.NewDense(n, d, nil), gamma: rapid.SampledFrom([]float64{0.05, 0.5, 5}).Draw(t, "gamma"), c: rapid.SampledFrom([]float64{0.1, 1, 20}).Draw(t, "c"),
		regression: rapid.Bool().Draw(t, "regression"), labels: make([]int8, n), values: make([]float64, n),
	}
	for i := range n {
		row := k.x.RawRowView(i)
		for j := range row {
			row[j] = src.NormFloat64()
		}
		if src.IntN(5) == 0 {
			copy(row, k.x.RawRowView(src.IntN(i+1)))
		}
		k.values[i] = math.Sin(2*row[0]) + 0.3*src.NormFloat64()
		k.labels[i] = 1
		if i == 0 || i > 1 && k.values[i] > 0 {
			k.labels[i] = -1
		}
	}
	return k
}

func solve(t rapid.TB, p Problem) *Solution {
	t.Helper()
	s, err := Solve(context.Background(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// rounding bounds what 32 bits of a kernel value make of a sum of n of them with
// weights up to c: half a unit in the last place of numbers up to 1.
func rounding(n int, c float64) float64 { return 0x1p-25 * float64(n) * c }

// TestSolve computes constraints, objectives and optimality conditions anew from
// α, for problems solved in every way the engine has. The solutions agree: with
// gaps g₁ and g₂ their decision functions without the offset are at most
// √(2 g₁) + √(2 g₂) apart, as the objective is strongly convex in w and ‖φ‖ = 1.
func TestSolve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := someTask(t)
		n, _ := k.x.Dims()
		var first []float64
		for name, way := range map[string]struct {
			cache               int
			parallel, noShrinks bool
		}{"plain": {1 << 20, false, false}, "parallel": {1 << 20, true, false}, "small cache": {1, false, false}, "no shrinking": {1 << 20, false, true}} {
			p := k.problem(way.cache, way.parallel)
			p.NoShrinking = way.noShrinks
			s := solve(t, p)
			if !s.Converged || s.Violation >= p.Tol {
				t.Fatalf("%s: not converged after %d iterations, violation %g", name, s.Iterations, s.Violation)
			}
			f, norm := k.plain(p.Y, s.Alpha)
			many := len(s.Alpha)
			off := 2 * rounding(many, k.c)
			balance, dual, losses := 0.0, norm/2, 0.0
			up, down := math.Inf(-1), math.Inf(1)
			for i, a := range s.Alpha {
				if a < 0 || a > k.c {
					t.Fatalf("%s: α %d is %g", name, i, a)
				}
				y := float64(p.Y[i])
				balance += y * a
				dual += p.P[i] * a
				v := -y*p.P[i] - f[i%n] // −y g
				losses += math.Max(0, y*(s.Rho+v))
				if y > 0 && a < k.c || y < 0 && a > 0 {
					up = math.Max(up, v)
				}
				if y > 0 && a > 0 || y < 0 && a < k.c {
					down = math.Min(down, v)
				}
			}
			// Every step keeps the balance but for the last bits of what it adds.
			if limit := 0x1p-52 * k.c * float64(many+s.Iterations); math.Abs(balance) > limit {
				t.Errorf("%s: Σ yα is %g, want at most %g", name, balance, limit)
			}
			if up-down > p.Tol+2*off {
				t.Errorf("%s: violation is %g, want below %g", name, up-down, p.Tol+2*off)
			}
			// A sum of many weights up to C, each times a value that is off so far.
			wrong := float64(many) * k.c * off
			if math.Abs(dual-s.Dual) > wrong || math.Abs(norm/2+k.c*losses-s.Primal) > 2*wrong {
				t.Errorf("%s: dual %g and primal %g, computed anew %g and %g", name, s.Dual, s.Primal, dual, norm/2+k.c*losses)
			}
			gap := float64(many) * k.c * (p.Tol + 2*off)
			if d := s.Primal + s.Dual; d < -2*wrong || d > gap {
				t.Errorf("%s: duality gap is %g, want 0 to %g", name, d, gap)
			}
			if first == nil {
				first = f
			}
			for i := range f {
				if d := math.Abs(f[i] - first[i]); d > 2*math.Sqrt(2*gap) {
					t.Fatalf("%s: decision %d differs by %g, want at most %g", name, i, d, 2*math.Sqrt(2*gap))
				}
			}
		}
	})
}

// TestSolveTwo has the solution in closed form: α = 1/(1 − K(0, 1)) up to C.
func TestSolveTwo(t *testing.T) {
	x := mat.NewDense(2, 1, []float64{0, 1})
	for _, c := range []float64{0.5, 1, 3} {
		p := task{x: x, gamma: 0.7, c: c, labels: []int8{1, -1}}.problem(100, false)
		s := solve(t, p)
		want := math.Min(c, 1/(1-float64(float32(math.Exp(-0.7)))))
		for i, a := range s.Alpha {
			if math.Abs(a-want) > 1e-14 {
				t.Errorf("C %g: α %d is %.16g, want %.16g", c, i, a, want)
			}
		}
		if math.Abs(s.Rho) > 1e-15 {
			t.Errorf("C %g: offset %g, want 0", c, s.Rho)
		}
	}
}

// ringTask parts the inside of a circle from the outside, with some labels wrong.
func ringTask(n int) task {
	src := rand.New(rand.NewPCG(5, 8))
	k := task{x: mat.NewDense(n, 2, nil), gamma: 0.5, c: 1, labels: make([]int8, n), values: make([]float64, n)}
	for i := range n {
		row := k.x.RawRowView(i)
		row[0], row[1] = src.NormFloat64(), src.NormFloat64()
		k.values[i] = row[0]*row[0] + row[1]*row[1] - 1.4
		k.labels[i] = 1
		if (k.values[i] > 0) != (src.IntN(10) == 0) {
			k.labels[i] = -1
		}
	}
	return k
}

// countdown passes on rows, and does something before the left-th.
type countdown struct {
	Kernel
	left, after int
	do          func()
}

func (c *countdown) Row(i int) []float32 {
	if c.left--; c.left == 0 {
		c.do()
	} else if c.left < 0 {
		c.after++
	}
	return c.Kernel.Row(i)
}

// TestSolveStopped: at every number of iterations, also just after variables were
// left out, what is returned belongs to α; and the objective never grows.
func TestSolveStopped(t *testing.T) {
	k := ringTask(60)
	last := 0.0
	for limit := range 400 {
		p := k.problem(1<<20, false)
		p.MaxIter = limit
		s := solve(t, p)
		if s.Iterations > limit || s.Converged != (s.Iterations < limit) {
			t.Fatalf("limit %d: %d iterations, converged %t", limit, s.Iterations, s.Converged)
		}
		f, norm := k.plain(p.Y, s.Alpha)
		dual, losses := norm/2, 0.0
		for i, a := range s.Alpha {
			dual -= a
			losses += math.Max(0, 1-float64(p.Y[i])*(f[i]-s.Rho))
		}
		// 60 weights up to 1, each times a sum of as many values in 32 bits.
		wrong := 60 * rounding(60, 1)
		if math.Abs(dual-s.Dual) > wrong || math.Abs(norm/2+losses-s.Primal) > wrong {
			t.Errorf("limit %d: dual %g and primal %g, computed anew %g and %g", limit, s.Dual, s.Primal, dual, norm/2+losses)
		}
		if s.Dual > last+1e-12 {
			t.Errorf("limit %d: dual %g, before %g", limit, s.Dual, last)
		}
		last = s.Dual
		if s.Converged {
			return
		}
	}
	t.Error("not converged after 400 iterations")
}

// TestSolveLeavesOut: shrinking happens, and saves rows of a small cache.
func TestSolveLeavesOut(t *testing.T) {
	k := ringTask(600)
	s := &solver{}
	for _, limit := range []int{700, 1300} {
		p := k.problem(1<<22, false)
		p.MaxIter, p.Tol = limit, 1e-6
		sol := solve(t, p)
		n := len(sol.Alpha)
		// The state as it would be after these iterations, without shrinking.
		s = &solver{Problem: p, ctx: t.Context(), alpha: sol.Alpha, v: make([]float64, n), bound: make([]float64, n), room: make([]uint8, n), active: make([]int32, n)}
		for i := range n {
			s.active[i] = int32(i)
			s.setRoom(int32(i))
			s.v[i] = float64(p.Y[i])
			for j, a := range sol.Alpha {
				part := a * float64(p.Y[j]) * float64(p.Kernel.Row(j)[i])
				s.v[i] -= part
				if a == p.C {
					s.bound[i] -= part
				}
			}
		}
		whole := slices.Clone(s.v)
		s.scan()
		s.unshrunk = true // the tolerance is not near
		if err := s.shrink(); err != nil {
			t.Fatal(err)
		}
		if len(s.active) == n || len(s.active) < 2 {
			t.Fatalf("after %d iterations %d of %d variables are active", limit, len(s.active), n)
		}
		left := n - len(s.active)
		in := make(map[int32]bool)
		for _, i := range s.active {
			in[i] = true
		}
		for i := range n {
			if !in[int32(i)] {
				s.v[i] = math.NaN() // stale
			}
		}
		if err := s.reconstruct(); err != nil {
			t.Fatal(err)
		}
		for i, v := range s.v {
			// The same sum of 600 terms up to 1 in another order.
			if !(math.Abs(v-whole[i]) < 600*0x1p-52*600) {
				t.Errorf("%d left out: v %d is %g, want %g", left, i, v, whole[i])
			}
		}
	}
}

// TestSolveCancelled: few rows after ctx is done Solve returns, wherever it is.
func TestSolveCancelled(t *testing.T) {
	for _, at := range []int{1, 2, 500, 1200, 1900} {
		p := ringTask(600).problem(1, false)
		p.Tol = 1e-12
		ctx, cancel := context.WithCancel(t.Context())
		kernel := &countdown{Kernel: p.Kernel, left: at, do: cancel}
		p.Kernel = kernel
		_, err := Solve(ctx, p, nil)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled at row %d: error %v", at, err)
		}
		if kernel.after > 2 {
			t.Errorf("cancelled at row %d: %d more rows", at, kernel.after)
		}
	}
}

// TestSolveTells: the function gets growing iterations and finite violations.
func TestSolveTells(t *testing.T) {
	p := ringTask(600).problem(1<<23, false)
	p.C = 100
	last, calls := 0, 0
	s, err := Solve(t.Context(), p, func(iteration int, violation float64) {
		if iteration != last+tellEvery || !(violation > 0) || math.IsInf(violation, 0) {
			t.Errorf("told of iteration %d after %d, violation %g", iteration, last, violation)
		}
		last = iteration
		calls++
	})
	if err != nil || calls != s.Iterations/tellEvery || calls == 0 {
		t.Errorf("%d calls in %d iterations (%v)", calls, s.Iterations, err)
	}
}

// TestSolveBits: neither the number of threads nor the size of the cache changes
// a bit.
func TestSolveBits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, regression := range []bool{false, true} {
		k := ringTask(2700) // more than a stretch of the rows
		k.regression = regression
		k.c = 0.1
		var want []float64
		for _, threads := range []int{1, 2, 3} {
			runtime.GOMAXPROCS(threads)
			p := k.problem(1<<27>>threads, threads > 1)
			p.Tol = 0.1
			s := solve(t, p)
			if want == nil {
				want = s.Alpha
			}
			if !slices.Equal(s.Alpha, want) {
				t.Errorf("regression %t: %d threads give other bits", regression, threads)
			}
		}
	}
}

func BenchmarkSolve(b *testing.B) {
	for _, n := range []int{500, 2000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			k := ringTask(n)
			for b.Loop() {
				p := k.problem(1<<26, false)
				p.Tol = 1e-3
				if _, err := Solve(b.Context(), p, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
