package symeig

import (
	"math"

	"gonum.org/v1/gonum/blas/gonum"
)

// A kind says where an eigenvector of one of two halves is not zero; rotations
// make vectors that are so in both.
type kind int

const (
	inTop kind = iota
	inBoth
	inBottom
	kinds
)

// poles is what deflation makes of D + ρ z zᵀ: the indices of the d_j that remain,
// increasing, and of the others, which are eigenvalues as they are. column[i]
// is the place of kept[i] when they are sorted by kind.
type poles struct {
	kept, deflated []int
	column         []int
	count          [kinds]int
}

// deflate takes from D + ρ z zᵀ what changes nothing but rounding: with
//
//	tol = 4 ε max(max |d_j|, max |z_j|)
//
// a d_j with ρ |z_j| ≤ tol, and one of two neighbours that a rotation, which makes
// its z_j zero, couples by no more than tol (LAPACK's dlaed2). c.order is by
// size. The vectors are rotated with z and d.
func (c *conquer) deflate(from, mid, to int, rho float64, z []float64) *poles {
	n, largest := c.n, 0.0
	for j, v := range z {
		largest = max(largest, math.Abs(v), math.Abs(c.d[from+j]))
	}
	tol := 4 * eps * largest
	of := make([]kind, to-from)
	for j := range of {
		if from+j >= mid {
			of[j] = inBottom
		}
	}
	p := new(poles)
	last := -1 // the largest that is neither kept nor deflated yet
	for _, j := range c.order[from:to] {
		if rho*math.Abs(z[j-from]) <= tol {
			p.deflated = append(p.deflated, j)
			continue
		}
		if last < 0 {
			last = j
			continue
		}
		zl, zj := z[last-from], z[j-from]
		length := math.Hypot(zl, zj)
		cos, sin := zj/length, -zl/length
		if gap := c.d[j] - c.d[last]; math.Abs(gap*cos*sin) > tol {
			p.kept = append(p.kept, last)
			last = j
			continue
		}
		z[j-from], z[last-from] = length, 0
		if of[j-from] != of[last-from] {
			of[j-from] = inBoth
		}
		gonum.Implementation{}.Drot(to-from, c.q[last*n+from:], 1, c.q[j*n+from:], 1, cos, sin)
		dl, dj := c.d[last], c.d[j]
		c.d[last], c.d[j] = dl*cos*cos+dj*sin*sin, dl*sin*sin+dj*cos*cos
		p.deflated = append(p.deflated, last)
		last = j
	}
	if last >= 0 {
		p.kept = append(p.kept, last)
	}
	for _, j := range p.kept {
		p.count[of[j-from]]++
	}
	next := [kinds]int{0, p.count[inTop], p.count[inTop] + p.count[inBoth]}
	p.column = make([]int, len(p.kept))
	for i, j := range p.kept {
		k := of[j-from]
		p.column[i] = next[k]
		next[k]++
	}
	return p
}

// vectors replaces the rows first ≤ i < last of delta (K × K), which hold
// d_j − λ_i, by the eigenvectors s_i, element j in column[j]. The other rows mean
// nothing afterwards.
func (s *secular) vectors(delta []float64, column []int, first, last int) {
	k := len(s.d)
	z := make([]float64, k)
	for j := range z {
		z[j] = 1
	}
	workers(k, k*k, func(a, b int) {
		part, d := z[a:b], s.d[a:b]
		for i := range k {
			row, di := delta[i*k+a:i*k+b], s.d[i]
			for j := range part {
				if j != i-a {
					part[j] *= row[j] / (d[j] - di)
				}
			}
		}
	})
	for j := range z {
		z[j] = math.Copysign(math.Sqrt(math.Abs(z[j]*delta[j*k+j])), s.z[j])
	}
	workers(last-first, (last-first)*k, func(a, b int) {
		v := make([]float64, k)
		for i := first + a; i < first+b; i++ {
			row, sum := delta[i*k:][:k], 0.0
			for j, x := range row {
				v[j] = z[j] / x
				sum += v[j] * v[j]
			}
			inverse := 1 / math.Sqrt(sum)
			for j, x := range v {
				row[column[j]] = x * inverse
			}
		}
	})
}
