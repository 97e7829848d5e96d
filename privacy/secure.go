package privacy

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// Clip scales every row of x (n × m) that is longer than bound down to it, in place, and
// returns how many there were. Replacing one row then changes x F by no more than 2·bound
// for every F whose columns are orthonormal. bound must be positive and finite. Cost
// O(n m).
func Clip(x *mat.Dense, bound float64) (int, error) {
	if !(bound > 0) || math.IsInf(bound, 0) {
		return 0, fmt.Errorf("privacy: bound is %v, must be positive and finite", bound)
	}
	if err := linalg.CheckFinite(x); err != nil {
		return 0, fmt.Errorf("privacy: rows: %w", err)
	}
	n, _ := x.Dims()
	clipped := 0
	for i := range n {
		row := x.RawRowView(i)
		var largest float64
		for _, v := range row {
			largest = max(largest, math.Abs(v))
		}
		if largest == 0 {
			continue
		}
		var sum float64 // of squares, relative to the largest, so that none overflows
		for _, v := range row {
			sum += v / largest * (v / largest)
		}
		if length := largest * math.Sqrt(sum); length > bound {
			clipped++
			// A hair less, so that rounding does not leave the row longer than bound.
			scale := bound / length * (1 - 4*linalg.Eps*float64(len(row)))
			for j := range row {
				row[j] *= scale
			}
		}
	}
	return clipped, nil
}

// grid is the step of noisy values in units of σ: 2⁻²⁰.
const grid = 0x1p-20

// AddSecure adds Gaussian noise of standard deviation sigma to every element of x, in
// place, for releases whose guarantee somebody relies on; [Gaussian] is for simulations.
// src must be seeded by the operating system's entropy.
//
// The deviates are exact to 64 binary places behind the point ([karney2016],
// algorithm N), not transformed floating-point numbers, whose gaps
// tell noisy values apart [mironov2012]. The sums are rounded to multiples of about
// 2⁻²⁰ σ, the same step for all, which takes away the low bits in which a value before
// the noise could show. What remains is that rounding falls on the other side once in
// about 2³⁰ elements.
//
// Errors: sigma not positive or finite, elements that are not finite or beyond 2³⁰ σ.
// Cost: about 10 draws an element.
func AddSecure(x *mat.Dense, sigma float64, src rand.Source) error {
	if !(sigma > 0) || math.IsInf(sigma, 0) {
		return fmt.Errorf("privacy: sigma is %v, must be positive and finite", sigma)
	}
	if err := linalg.CheckFinite(x); err != nil {
		return fmt.Errorf("privacy: %w", err)
	}
	_, exponent := math.Frexp(sigma)
	step := math.Ldexp(grid, exponent-1) // a power of two, between grid·σ/2 and grid·σ
	if step == 0 {
		return fmt.Errorf("privacy: sigma is %v, too small for floating point", sigma)
	}
	n, m := x.Dims()
	for i := range n {
		for j, v := range x.RawRowView(i)[:m] {
			if math.Abs(v) > 0x1p30*sigma {
				return fmt.Errorf("privacy: element at row %d, column %d is beyond 2³⁰ σ: the noise would be lost in rounding", i+1, j+1)
			}
		}
	}
	for i := range n {
		row := x.RawRowView(i)
		for j, v := range row {
			row[j] = step * math.RoundToEven((v+sigma*deviate(src))/step)
		}
	}
	return nil
}

// deviate is a standard normal deviate ([karney2016], algorithm N): k and the fraction
// x are accepted with probability exp(−k(k−1)/2) exp(−x(2k+x)/2).
func deviate(src rand.Source) float64 {
	for {
		k := uint64(0)
		for half(src) {
			k++
		}
		if !times(src, k*(k-min(k, 1)), half) {
			continue
		}
		x := src.Uint64()
		if !times(src, k+1, func(src rand.Source) bool { return fraction(src, k, x) }) {
			continue
		}
		v := float64(k) + float64(x)*0x1p-64
		if src.Uint64()>>63 == 1 {
			return -v
		}
		return v
	}
}

// times says whether n trials all succeed.
func times(src rand.Source, n uint64, trial func(rand.Source) bool) bool {
	for range n {
		if !trial(src) {
			return false
		}
	}
	return true
}

// half succeeds with probability exp(−1/2): the run of falling uniform numbers that
// begins below ½ has an even length ([karney2016], algorithm H; [neumann1951]).
func half(src rand.Source) bool {
	even := true
	for y := uint64(1) << 63; ; even = !even {
		z := src.Uint64()
		if z >= y {
			return even
		}
		y = z
	}
}

// fraction succeeds with probability exp(−x(2k+x)/(2k+2)), x in units of 2⁻⁶⁴ ([karney2016],
// algorithm B).
func fraction(src rand.Source, k, x uint64) bool {
	even := true
	for y := x; ; even = !even {
		z := src.Uint64()
		if z >= y {
			return even
		}
		// With probability (2k+x)/(2k+2) the run goes on.
		switch f := below(src, 2*k+2); {
		case f < 2*k:
		case f > 2*k || src.Uint64() >= x:
			return even
		}
		y = z
	}
}

// below is a uniform integer in [0, n), without bias [lemire2019].
func below(src rand.Source, n uint64) uint64 {
	for {
		high, low := bits.Mul64(src.Uint64(), n)
		if low >= n || low >= -n%n {
			return high
		}
	}
}
