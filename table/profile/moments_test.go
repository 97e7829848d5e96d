package profile

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// exact computes mean and variance of numbers without rounding before the end.
func exact(x []float64) (mean, variance float64) {
	sum, squares := new(big.Rat), new(big.Rat)
	for _, v := range x {
		r := new(big.Rat).SetFloat64(v)
		sum.Add(sum, r)
		squares.Add(squares, r.Mul(r, r))
	}
	n := big.NewRat(int64(len(x)), 1)
	m := new(big.Rat).Quo(sum, n)
	mean, _ = m.Float64()
	if len(x) > 1 {
		squares.Sub(squares, m.Mul(m, sum))
		variance, _ = squares.Quo(squares, n.Sub(n, big.NewRat(1, 1))).Float64()
	}
	return mean, variance
}

func moments(x []float64) Moments {
	var m Moments
	for _, v := range x {
		m.Add(v)
	}
	return m
}

// near reports whether got is want up to the given relative error.
func near(got, want, tol float64) bool { return math.Abs(got-want) <= tol*math.Abs(want) }

// alternating is first once and then low and high in turns, the form of NIST's NumAcc
// data sets 2 to 4.
func alternating(first, low, high float64) []float64 {
	x := []float64{first}
	for range 500 {
		x = append(x, low, high)
	}
	return x
}

// michelson is NIST's data set of that name: the speed of light in millions of metres
// a second, less 299, in hundredths [dorsey1944].
const michelson = "85 74 90 107 93 85 95 98 98 88 100 98 93 65 76 81 100 100 96 96 96 94 96 94 88 80 85 88 90 84 " +
	"83 79 81 88 88 83 80 79 76 80 88 88 88 86 72 72 62 86 97 95 88 91 85 87 84 84 85 84 84 84 " +
	"89 81 81 82 80 77 76 74 75 76 91 92 89 86 88 72 84 85 85 78 89 84 78 81 76 81 79 81 82 85 " +
	"87 87 81 74 81 94 95 80 81 87"

// The certified values are those of NIST's Statistical Reference Datasets, univariate.
// Numbers such as 10000000.2 are no float64: their rounding alone moves the deviation,
// so that digits counts what the data admit. Against the exact result for the rounded
// numbers, everything is right to the last bits.
func TestMomentsNIST(t *testing.T) {
	var light []float64
	var hundredths int
	for rest := michelson; rest != ""; {
		var n int
		if n, _ = fmt.Sscan(rest, &hundredths); n != 1 {
			t.Fatal("cannot read the numbers")
		}
		light = append(light, 299+float64(hundredths)/100)
		rest = rest[min(len(rest), len(fmt.Sprint(hundredths))+1):]
	}
	for _, c := range []struct {
		name            string
		x               []float64
		mean, deviation float64
		digits          int
	}{
		{"NumAcc1", []float64{10000001, 10000003, 10000002}, 10000002, 1, 15},
		{"NumAcc2", alternating(1.2, 1.1, 1.3), 1.2, 0.1, 14},
		{"NumAcc3", alternating(1000000.2, 1000000.1, 1000000.3), 1000000.2, 0.1, 9},
		{"NumAcc4", alternating(10000000.2, 10000000.1, 10000000.3), 10000000.2, 0.1, 8},
		{"Michelso", light, 299.852400000000, 0.0790105478190518, 12},
	} {
		m := moments(c.x)
		tol := math.Pow(10, -float64(c.digits))
		if !near(m.Mean(), c.mean, 1e-15) || !near(math.Sqrt(m.Variance()), c.deviation, tol) {
			t.Errorf("%s: mean %v, deviation %v; certified %v, %v", c.name, m.Mean(), math.Sqrt(m.Variance()), c.mean, c.deviation)
		}
		mean, variance := exact(c.x)
		if m.Mean() != mean || !near(m.Variance(), variance, 4e-16) {
			t.Errorf("%s: mean %v, variance %v; exactly %v, %v", c.name, m.Mean(), m.Variance(), mean, variance)
		}
	}
}

// Numbers far from zero, of very different sizes and of both signs.
func TestMomentsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name string
		draw func(i int) float64
	}{
		{"normal", func(int) float64 { return rng.NormFloat64() }},
		{"a billion away", func(int) float64 { return 1e9 + rng.NormFloat64() }},
		{"a thousand billions away", func(int) float64 { return 1e12 + rng.NormFloat64() }},
		{"sizes from 1e-30 to 1e30", func(int) float64 { return math.Exp(140*rng.Float64()-70) * float64(1-2*rng.IntN(2)) }},
		{"cancelling", func(i int) float64 { return float64(1-2*(i%2)) * 1e12 * (1 + 1e-9*rng.Float64()) }},
		{"huge", func(int) float64 { return 1e149 * rng.NormFloat64() }},
		{"tiny", func(int) float64 { return 1e-100 * rng.NormFloat64() }},
	} {
		x := make([]float64, 3001)
		for i := range x {
			x[i] = c.draw(i)
		}
		m := moments(x)
		mean, variance := exact(x)
		if m.Mean() != mean || !near(m.Variance(), variance, 4e-16) {
			t.Errorf("%s: mean %v, variance %v; exactly %v, %v", c.name, m.Mean(), m.Variance(), mean, variance)
		}
	}
}

func TestMomentsEdges(t *testing.T) {
	var none Moments
	if none.N() != 0 || none.Sum() != 0 || !math.IsNaN(none.Mean()) || !math.IsNaN(none.Min()) || !math.IsNaN(none.Max()) || !math.IsNaN(none.Variance()) || none.Constant() {
		t.Errorf("no numbers: %+v", none)
	}
	one := moments([]float64{-3.5})
	if one.Mean() != -3.5 || one.Scatter() != 0 || !math.IsNaN(one.Variance()) || !one.Constant() || one.Min() != -3.5 || one.Max() != -3.5 {
		t.Errorf("one number: %+v", one)
	}
	equal := moments([]float64{0.1, 0.1, 0.1})
	if equal.Variance() != 0 || !equal.Constant() {
		t.Errorf("equal numbers: variance %v", equal.Variance())
	}
	large := moments([]float64{1e300, -1e300, 1e200})
	if !math.IsNaN(large.Variance()) || !near(large.Mean(), 1e200/3, 1e-15) {
		t.Errorf("squares that overflow: mean %v, variance %v", large.Mean(), large.Variance())
	}
}

// Any way to divide the numbers and to put the parts together again gives the same up to
// the last bit.
func TestMomentsMerge(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		x := make([]float64, 1+rng.IntN(300))
		for i := range x {
			x[i] = 1e8*rng.NormFloat64() + math.Exp(20*rng.NormFloat64())
		}
		whole := moments(x)
		cut := func() (a, b, c Moments) {
			i := rng.IntN(len(x) + 1)
			j := i + rng.IntN(len(x)+1-i)
			return moments(x[:i]), moments(x[i:j]), moments(x[j:])
		}
		a, b, c := cut()
		left, right := a, b
		left.Merge(b)
		left.Merge(c)
		right.Merge(c)
		right.Merge(a)
		for _, m := range []Moments{left, right} {
			if m.N() != whole.N() || m.Min() != whole.Min() || m.Max() != whole.Max() ||
				!near(m.Mean(), whole.Mean(), 4e-16) || len(x) > 1 && !near(m.Variance(), whole.Variance(), 4e-16) {
				t.Fatalf("%d numbers: in parts mean %v, variance %v; whole %v, %v", len(x), m.Mean(), m.Variance(), whole.Mean(), whole.Variance())
			}
		}
	}
}

// Columns of a block, with gaps, are what their numbers one by one are.
func TestMomentsColumn(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	const n, p = 200, 7
	x := make([]float64, n*p)
	for i := range x {
		x[i] = 1e5 + math.Exp(9*rng.NormFloat64())
		if rng.IntN(5) == 0 {
			x[i] = math.NaN()
		}
	}
	for j := range p {
		var whole, single Moments
		for range 3 { // into what is there already
			whole.addColumn(x[j:], p)
			for i := range n {
				if v := x[i*p+j]; v == v {
					single.Add(v)
				}
			}
		}
		if whole != single {
			t.Fatalf("column %d: %+v, one by one %+v", j, whole, single)
		}
	}
	var empty Moments
	empty.addColumn([]float64{math.NaN()}, 1)
	if empty.N() != 0 || !math.IsNaN(empty.Min()) {
		t.Errorf("only a gap: %+v", empty)
	}
}

func BenchmarkMoments(b *testing.B) {
	const n, p = 512, 50
	rng := rand.New(rand.NewPCG(5, 6))
	x := make([]float64, n*p)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	m := make([]Moments, p)
	b.SetBytes(n * p * 8)
	for b.Loop() {
		for j := range m {
			m[j].addColumn(x[j:], p)
		}
	}
}
