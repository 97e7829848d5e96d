package linalg

import "math"

// secular is the equation for the eigenvalues λ of diag(d) + ρ z zᵀ,
//
//	f(λ) = 1/ρ + Σ_j z_j² / (d_j − λ) = 0
//
// with ρ > 0, d strictly increasing and no z_j = 0. Root i lies between d_i and
// d_{i+1}, the last above d_{K−1} by no more than ρ ‖z‖² ([golub2013], section 8.4.3).
//
// A root is sought as its distance τ from the nearer pole, so that all d_j − λ come out to a
// few units of the last place, by Li's iterations ([li1993]; dlaed4): the poles on the two
// sides of the root stay and the others are replaced by a constant that makes f' right, in the
// fixed weight or the middle way, whichever makes progress. Each step is kept in an interval
// that holds the root, which is bisected otherwise.
type secular struct {
	d, z []float64
	rho  float64
}

// value is f at the distance τ from pole origin, split at the root: ψ has the
// poles up to left, φ the others.
type value struct {
	f, dpsi, dphi float64
	bound         float64 // of the rounding error of f, in units of 2⁻⁵³
}

// at evaluates f and puts d_j − λ in delta.
func (s *secular) at(origin, left int, tau float64, delta []float64) (v value) {
	base := s.d[origin]
	d, z, delta := s.d, s.z[:len(s.d)], delta[:len(s.d)]
	var psi, phi, sum float64
	for j := 0; j <= left; j++ {
		delta[j] = (d[j] - base) - tau
		q := z[j] / delta[j]
		psi += z[j] * q
		v.dpsi += q * q
		sum += psi
	}
	bound := math.Abs(sum)
	sum = 0
	for j := len(d) - 1; j > left; j-- {
		delta[j] = (d[j] - base) - tau
		q := z[j] / delta[j]
		phi += z[j] * q
		v.dphi += q * q
		sum += phi
	}
	v.f = 1/s.rho + phi + psi
	v.bound = bound + math.Abs(sum) + 8*(math.Abs(phi)+math.Abs(psi)) + 1/s.rho + math.Abs(tau)*(v.dpsi+v.dphi)
	return v
}

// Limits to the evaluations of f for one root: three to five are usual. After
// quickSteps the interval is halved: fewer than 10 steps find the magnitude of a
// τ down to 2^−130 of the interval, and 53 its bits.
const (
	quickSteps   = 30
	secularSteps = 120
)

// root finds root i and puts d_j − λ_i in delta; false if it did not converge.
func (s *secular) root(i int, delta []float64) (lambda float64, ok bool) {
	k := len(s.d)
	if k == 1 {
		tau := s.rho * s.z[0] * s.z[0]
		delta[0] = -tau
		return s.d[0] + tau, tau > 0
	}
	origin, l, r, tau, lo, hi := s.start(i, delta)
	const unit = Eps / 2
	last, fixed := math.Inf(1), true
	for step := range secularSteps {
		v := s.at(origin, l, tau, delta)
		if math.Abs(v.f) <= unit*v.bound {
			return s.d[origin] + tau, true
		}
		if v.f < 0 {
			lo = tau
		} else {
			hi = tau
		}
		if !(math.Abs(v.f) <= 0.1*last) {
			fixed = !fixed
		}
		last = math.Abs(v.f)
		next := tau + s.step(v, l, r, origin, delta, fixed)
		if step >= quickSteps || !(next > lo && next < hi) {
			next = between(lo, hi)
		}
		if next == lo || next == hi { // neighbouring numbers
			s.at(origin, l, next, delta)
			return s.d[origin] + next, true
		}
		tau = next
	}
	return 0, false
}

// start returns the pole from which root i is measured, the poles l and r that
// a step keeps, a first τ and an interval that holds the root.
func (s *secular) start(i int, delta []float64) (origin, l, r int, tau, lo, hi float64) {
	k, norm := len(s.d), 0.0
	if i == k-1 {
		for _, v := range s.z {
			norm += v * v
		}
		origin, l, r = i, i-1, i
		hi = s.rho * norm * (1 + 4*float64(k)*Eps)
		tau = hi / 2
	} else {
		origin, l, r = i, i, i+1
		hi = (s.d[i+1] - s.d[i]) / 2
		tau = hi
	}
	v := s.at(origin, l, tau, delta)
	zl, zr := s.z[l]*s.z[l], s.z[r]*s.z[r]
	rest := v.f - zl/delta[l] - zr/delta[r] // f without the two poles
	gap := s.d[r] - s.d[l]
	switch {
	case i == k-1 && v.f < 0: // in the upper half
		lo = tau
	case i == k-1:
		hi = tau
	case v.f < 0: // nearer to the right pole
		origin, lo, hi = r, -tau, 0
	}
	// The zero of rest + zl/(δ_l − τ) + zr/(δ_r − τ).
	var a, b float64 // rest τ² − a τ + b
	switch {
	case i == k-1:
		a, b = -rest*gap+zl+zr, -zr*gap
		if disc := math.Sqrt(a*a - 4*rest*b); rest > 0 && a > 0 {
			tau = (a + disc) / (2 * rest)
		} else {
			tau = 2 * b / (a - disc)
		}
	case origin == l:
		a, b = rest*gap+zl+zr, zl*gap
		tau = middleRoot(a, b, rest)
	default:
		a, b = -rest*gap+zl+zr, -zr*gap
		tau = middleRoot(a, b, rest)
	}
	if !(tau > lo && tau < hi) {
		tau = between(lo, hi)
	}
	return origin, l, r, tau, lo, hi
}

// middleRoot is the zero of c τ² − a τ + b that lies between the two poles.
func middleRoot(a, b, c float64) float64 {
	disc := math.Sqrt(math.Abs(a*a - 4*b*c))
	if a > 0 {
		return 2 * b / (a + disc)
	}
	return (a - disc) / (2 * c)
}

// step is the change of τ that makes the interpolating function zero: with
// δ the distances of the poles l and r,
//
//	c + s/(δ_l − η) + S/(δ_r − η) = 0
//
// where s = δ_l² ψ', S = δ_r² φ' in the middle way; with the weight at the origin
// fixed, that of its pole is z² and the other has the rest of f'.
func (s *secular) step(v value, l, r, origin int, delta []float64, fixed bool) float64 {
	dl, dr, slope := delta[l], delta[r], v.dpsi+v.dphi
	a, b := (dl+dr)*v.f-dl*dr*slope, dl*dr*v.f
	c := v.f - dl*v.dpsi - dr*v.dphi
	if dr < 0 { // the last root, above both poles
		var eta float64
		disc := math.Sqrt(math.Abs(a*a - 4*b*c))
		c = math.Abs(c)
		if a >= 0 {
			eta = (a + disc) / (2 * c)
		} else {
			eta = 2 * b / (a - disc)
		}
		return newton(eta, v.f, slope)
	}
	if fixed {
		q := s.z[origin] / delta[origin]
		if origin == l {
			c = v.f - dr*slope - (s.d[l]-s.d[r])*q*q
		} else {
			c = v.f - dl*slope - (s.d[r]-s.d[l])*q*q
		}
	}
	return newton(middleRoot(a, b, c), v.f, slope)
}

// newton is η, or Newton's step where η goes the wrong way.
func newton(eta, f, slope float64) float64 {
	if f*eta < 0 {
		return eta
	}
	return -f / slope
}

// between halves an interval on one side of 0: the numbers between its ends
// where they are far apart, its length otherwise.
func between(lo, hi float64) float64 {
	switch small, large := min(math.Abs(lo), math.Abs(hi)), max(math.Abs(lo), math.Abs(hi)); {
	case large <= 8*small:
		return lo + (hi-lo)/2
	case small == 0:
		return math.Copysign(large*0x1p-26, lo+hi)
	default:
		return math.Copysign(math.Sqrt(small)*math.Sqrt(large), lo+hi)
	}
}
