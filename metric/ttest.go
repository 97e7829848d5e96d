package metric

import (
	"fmt"
	"math"
)

// Alternative is what a test holds against "the means are equal".
type Alternative int

const (
	// Greater: the mean of a is greater than that of b.
	Greater Alternative = iota
	// Less: the mean of a is less than that of b.
	Less
	// TwoSided: the means differ.
	TwoSided
)

// TTest is the result of a paired t-test.
type TTest struct {
	// Mean is that of the differences a − b, StandardError its standard error.
	Mean, StandardError float64
	// T is Mean / StandardError.
	T float64
	// Freedom is the number of pairs less one.
	Freedom int
	// P is the probability of a T at least so far towards the alternative if the
	// means are equal.
	P float64
}

// PairedTTest tests whether the mean of a exceeds that of b (or as the
// alternative says), where a[i] and b[i] belong together: two methods on the
// same repeat (Student 1908; scipy.stats.ttest_rel). At least two pairs:
//
//	T = d̄ / (s_d/√n),   dᵢ = aᵢ − bᵢ,   P = P(T_{n−1} > T)
//
// The differences have to be independent and about normal. Differences that do
// not vary beyond rounding, twice 2⁻⁵² of the largest value, leave it undefined
// ([ErrUndefined]); SciPy gives NaN, infinity or an accident of rounding there.
func PairedTTest(a, b []float64, alternative Alternative) (TTest, error) {
	if alternative != Greater && alternative != Less && alternative != TwoSided {
		panic("metric: no such alternative")
	}
	if len(a) != len(b) {
		return TTest{}, fmt.Errorf("metric: paired t-test of %d and %d values, want as many of each", len(a), len(b))
	}
	if len(a) < 2 {
		return TTest{}, fmt.Errorf("metric: paired t-test of %d pairs, want at least two", len(a))
	}
	if err := checkFinite("first value", a); err != nil {
		return TTest{}, err
	}
	if err := checkFinite("second value", b); err != nil {
		return TTest{}, err
	}
	differences := make([]float64, len(a))
	var largest float64
	for i, v := range a {
		differences[i] = v - b[i]
		largest = max(largest, math.Abs(v), math.Abs(b[i]))
	}
	mean, deviation := meanAndDeviation(differences)
	if _, err := result("paired t-test", deviation); err != nil {
		return TTest{}, err
	}
	// Each value was rounded to 2⁻⁵³ of itself once, and so was the difference.
	if deviation <= 2*0x1p-52*largest {
		return TTest{}, undefined("paired t-test of %d differences that do not vary, want at least two different ones", len(a))
	}
	out := TTest{Mean: mean, StandardError: deviation / math.Sqrt(float64(len(a))), Freedom: len(a) - 1}
	out.T = mean / out.StandardError
	freedom := float64(out.Freedom)
	switch alternative {
	case Greater:
		out.P = studentTail(freedom, out.T)
	case Less:
		out.P = studentTail(freedom, -out.T)
	case TwoSided:
		out.P = 2 * studentTail(freedom, math.Abs(out.T))
	}
	return out, nil
}
