package privacy

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Errors says how near guesses of rows come to the true rows, against the trivial guess
// that everybody is the mean.
type Errors struct {
	// Features has one entry for each feature.
	Features []FeatureError
	// Rows sums up the rows.
	Rows RowErrors
	// Unexplained is 1 − R² over all elements, each feature in units of its deviation:
	// the mean of Ratio² over the features that are not constant. 0 is an exact guess,
	// 1 as good as the mean, more is worse. It is 1 if all features are constant.
	Unexplained float64
}

// FeatureError is the error of the guesses of one feature.
type FeatureError struct {
	// RMSE is the root of the mean squared error in units of the feature, Trivial that
	// of the guess that everybody is the mean: the deviation of the feature.
	RMSE, Trivial float64
	// Ratio is RMSE/Trivial: 0 for an exact guess, 1 for one as good as the mean. For a
	// constant feature, which nobody learns anything from, it is 1.
	Ratio float64
	// Constant says that the feature is constant up to rounding.
	Constant bool
}

// RowErrors sum up the errors of rows, each relative to the distance of the true row
// from the mean: ‖x − x'‖ / ‖x − mean‖, with every feature that is not constant in
// units of its deviation. A row that is the mean itself has error 0 if the guess is
// exact and 1 if not. If all features are constant, all rows have 1.
type RowErrors struct {
	// Min is the smallest error: that of the person who is known best. Median is the
	// median.
	Min, Median float64
	// Under10 and Under50 are the shares of rows with an error below 0.1 and 0.5.
	Under10, Under50 float64
}

// Compare measures guess (n × m), row by row, against the true rows x (n × m): the
// gain of an attacker who made the guesses, for example by [Reconstruct], over one who
// knows the means alone. A small error of few rows can hide in a mean over all, so both
// are given. The measure knows nothing of how the guess came about, and an attacker
// may have a better one.
//
// The cost is O(n m) in time and n numbers of storage.
func Compare(x, guess *mat.Dense) (Errors, error) {
	if err := checkShapes("data", x, "guess", guess); err != nil {
		return Errors{}, err
	}
	n, m := x.Dims()
	s := momentsOf(x)
	scale, varying := make([]float64, m), 0
	for j := range m {
		// Constant features have no deviation: their errors are taken relative to a
		// power of two near their value, which the result is given back in.
		scale[j] = s.dev[j]
		if s.constant[j] {
			scale[j] = 1 / powerOf2(s.mean[j])
		} else {
			varying++
		}
	}
	rows := make([]float64, n)
	sums := make([][]float64, blocksOf(n))
	eachBlock(n, func(b, from, to int) {
		sum := make([]float64, m)
		for i := from; i < to; i++ {
			var off, length float64
			g := guess.RawRowView(i)
			for j, v := range x.RawRowView(i) {
				// The difference may overflow, and so may the square of a guess that
				// far off.
				e := (v - g[j]) / scale[j]
				if math.IsInf(v-g[j], 0) {
					e = v/scale[j] - g[j]/scale[j]
				}
				e = max(-1e100, min(1e100, e))
				sum[j] += e * e
				if !s.constant[j] {
					d := (v - s.mean[j]) / scale[j]
					off += e * e
					length += d * d
				}
			}
			rows[i] = 1
			if varying > 0 {
				rows[i] = relative(off, length)
			}
		}
		sums[b] = sum
	})

	out := Errors{Features: make([]FeatureError, m), Unexplained: 1}
	var total float64
	for j := range m {
		var square float64
		for _, sum := range sums {
			square += sum[j]
		}
		square /= float64(n)
		f := FeatureError{RMSE: math.Sqrt(square) * scale[j], Trivial: s.dev[j], Ratio: 1, Constant: s.constant[j]}
		if !f.Constant {
			f.Ratio = math.Sqrt(square)
			total += square
		}
		out.Features[j] = f
	}
	if varying > 0 {
		out.Unexplained = total / float64(varying)
	}
	for _, e := range rows {
		if e < 0.1 {
			out.Rows.Under10++
		}
		if e < 0.5 {
			out.Rows.Under50++
		}
	}
	out.Rows.Under10 /= float64(n)
	out.Rows.Under50 /= float64(n)
	out.Rows.Median = sortingMedian(rows)
	out.Rows.Min = rows[0] // in order now
	return out, nil
}

// relative is √(off/length), and for a length of zero 0 if off is, else 1.
func relative(off, length float64) float64 {
	switch {
	case length > 0:
		return math.Sqrt(off / length)
	case off > 0:
		return 1
	}
	return 0
}
