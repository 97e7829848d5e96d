package profile

import (
	"math"
	"math/big"
)

// Moments counts finite numbers and keeps their sum and the sum of their squares to
// about three times the bits of a float64, so that mean and variance are right to the
// last bit or two however many numbers there are and however far they lie from zero.
//
// With ε = 2⁻⁵³ and n numbers the sums are off by about n ε³ of the sum of absolute
// values ([klein2006], second order; squares are split without loss by a fused
// multiplication). A textbook difference of two float64 loses the variance where the
// mean is 10⁸ times the deviation; this one at 10¹⁹ for a million numbers.
//
// Numbers beyond 10¹⁵⁰ have no sum of squares: the variance is then NaN. The zero value
// has no numbers. Adding costs about thirty operations and no memory.
type Moments struct {
	n        int64
	sum, sq  triple
	min, max float64
}

// Add takes one finite number.
func (m *Moments) Add(x float64) {
	if m.n == 0 || x < m.min {
		m.min = x
	}
	if m.n == 0 || x > m.max {
		m.max = x
	}
	m.n++
	m.sum.add(x)
	p := float64(x * x)
	m.sq.add(p)
	m.sq.addSmall(math.FMA(x, x, -p))
}

// addColumn adds each stride-th of x, from the first, but for NaN: the same as Add one
// by one, with the sums in registers.
func (m *Moments) addColumn(x []float64, stride int) {
	n, low, high := m.n, m.min, m.max
	if n == 0 {
		low, high = math.Inf(1), math.Inf(-1)
	}
	sum, sq := m.sum, m.sq
	for i := 0; i < len(x); i += stride {
		v := x[i]
		if v != v {
			continue
		}
		n++
		if v < low {
			low = v
		}
		if v > high {
			high = v
		}
		s := sum.hi + v
		c := s - sum.hi
		e := (sum.hi - (s - c)) + (v - c)
		sum.hi = s
		s = sum.mid + e
		c = s - sum.mid
		sum.lo += (sum.mid - (s - c)) + (e - c)
		sum.mid = s

		p := float64(v * v)
		s = sq.hi + p
		c = s - sq.hi
		e = (sq.hi - (s - c)) + (p - c)
		sq.hi = s
		s = sq.mid + e
		c = s - sq.mid
		sq.lo += (sq.mid - (s - c)) + (e - c)
		e = math.FMA(v, v, -p)
		sq.mid = s + e
		c = sq.mid - s
		sq.lo += (s - (sq.mid - c)) + (e - c)
	}
	m.n, m.min, m.max, m.sum, m.sq = n, low, high, sum, sq
}

// Merge adds what o has counted. It is associative and commutative up to the error
// above.
func (m *Moments) Merge(o Moments) {
	switch {
	case o.n == 0:
		return
	case m.n == 0:
		*m = o
		return
	}
	m.n += o.n
	m.min, m.max = min(m.min, o.min), max(m.max, o.max)
	m.sum.merge(o.sum)
	m.sq.merge(o.sq)
}

// N is how many numbers there are.
func (m *Moments) N() int64 { return m.n }

// Min is the smallest number, NaN without any.
func (m *Moments) Min() float64 { return m.orNaN(m.min) }

// Max is the largest number, NaN without any.
func (m *Moments) Max() float64 { return m.orNaN(m.max) }

// Sum is the sum of the numbers.
func (m *Moments) Sum() float64 { return m.sum.value() }

// Squares is the sum of their squares.
func (m *Moments) Squares() float64 { return m.sq.value() }

// Mean is Sum/N, NaN without any number.
func (m *Moments) Mean() float64 {
	sum, ok := m.sum.exact()
	if m.n == 0 || !ok {
		return math.NaN()
	}
	mean, _ := sum.Quo(sum, big.NewFloat(float64(m.n))).Float64()
	return mean
}

// Scatter is the sum of squared deviations from the mean,
//
//	Σ x² − (Σ x)² / n
//
// zero for equal numbers, NaN without any or where a square overflows.
func (m *Moments) Scatter() float64 {
	sum, ok := m.sum.exact()
	squares, finite := m.sq.exact()
	switch {
	case m.n == 0 || !ok || !finite:
		return math.NaN()
	case m.min == m.max:
		return 0
	}
	sum.Mul(sum, sum)
	squares.Sub(squares, sum.Quo(sum, big.NewFloat(float64(m.n))))
	v, _ := squares.Float64()
	return max(v, 0)
}

// Variance is Scatter/(N − 1), NaN with fewer than two numbers.
func (m *Moments) Variance() float64 {
	if m.n < 2 {
		return math.NaN()
	}
	return m.Scatter() / float64(m.n-1)
}

// Constant reports whether there are numbers and all are equal.
func (m *Moments) Constant() bool { return m.n > 0 && m.min == m.max }

func (m *Moments) orNaN(x float64) float64 {
	if m.n == 0 {
		return math.NaN()
	}
	return x
}

// triple is an unevaluated sum of three float64, each small beside the one before.
type triple struct{ hi, mid, lo float64 }

// add adds x; what hi cannot hold goes to mid, and what mid cannot to lo.
func (t *triple) add(x float64) {
	var e float64
	t.hi, e = twoSum(t.hi, x)
	t.addSmall(e)
}

// addSmall adds what is small beside hi.
func (t *triple) addSmall(x float64) {
	var e float64
	t.mid, e = twoSum(t.mid, x)
	t.lo += e
}

func (t *triple) merge(o triple) {
	t.add(o.hi)
	t.addSmall(o.mid)
	t.lo += o.lo
}

func (t *triple) value() float64 {
	v, ok := t.exact()
	if !ok {
		return t.hi
	}
	x, _ := v.Float64()
	return x
}

// exactBits hold three float64 of which each begins where the one before ends, their
// square and some to spare.
const exactBits = 512

// exact is the sum as one number; false if it overflowed.
func (t *triple) exact() (*big.Float, bool) {
	sum := new(big.Float).SetPrec(exactBits)
	for _, x := range []float64{t.hi, t.mid, t.lo} {
		if math.IsInf(x, 0) || math.IsNaN(x) {
			return sum, false
		}
		sum.Add(sum, new(big.Float).SetFloat64(x))
	}
	return sum, true
}

// twoSum is a + b as the nearest float64 and what that leaves out ([knuth1997], section 4.2.2).
func twoSum(a, b float64) (sum, rest float64) {
	sum = a + b
	c := sum - a
	return sum, (a - (sum - c)) + (b - c)
}
