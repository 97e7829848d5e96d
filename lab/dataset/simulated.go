package dataset

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// loadHospital makes 100 patients like those of MATLAB's example table
// hospital.mat, on which NRI's first experiment stands: sex, age from 25 to 50,
// weight in pounds by sex, and a third of smokers, whose blood pressure is
// higher by 10. The label is a systolic pressure of 140 or a diastolic pressure
// of 80 and more. Means and spreads (about 129/90 for smokers, 119/79 for
// others, standard deviation 4.8) are close to that table's.
func loadHospital(string) (*Data, error) {
	const n = 100
	rnd := rand.New(rand.NewPCG(100, 1))
	x := mat.NewDense(n, 4, nil)
	is := make([]bool, n)
	for i := range n {
		male, smoker := 0.0, 0.0
		if rnd.Float64() < 0.47 {
			male = 1
		}
		if rnd.Float64() < 0.34 {
			smoker = 1
		}
		age := float64(25 + rnd.IntN(26))
		weight := math.Round(130 + 50*male + 9*rnd.NormFloat64())
		systolic := math.Round(119.4 + 10*smoker + 4.8*rnd.NormFloat64())
		diastolic := math.Round(79.4 + 10.5*smoker + 4.8*rnd.NormFloat64())
		x.SetRow(i, []float64{male, age, weight, smoker})
		is[i] = systolic >= 140 || diastolic >= 80
	}
	return &Data{
		Features: []string{"male", "age", "weight", "smoker"},
		X:        Dense(x), Y: binary(is), Positive: 1,
		Notes: []string{"Simulated with a fixed seed. Label 1: systolic pressure >= 140 or diastolic pressure >= 80."},
	}, nil
}

// loadCredit makes 3932 companies like those of MATLAB's
// CreditRating_Historical: five financial ratios and an industry, one-hot
// without the first, and whether the rating is BBB or better. A company's
// creditworthiness q moves all five ratios, as Altman's z-score supposes
// [altman1968]; the rating follows from
// the ratios r, each standardised, and from what they do not tell:
//
//	s = Σⱼ wⱼ rⱼ + σ ε,   BBB or better: s above its 40th percentile
//
// σ is chosen so that a logistic regression on other rows has a ROC-AUC of
// about 0.97, as MM report.
func loadCredit(string) (*Data, error) {
	const n, industries = 3932, 12
	rnd := rand.New(rand.NewPCG(3932, 1))
	names := []string{"WC_TA", "RE_TA", "EBIT_TA", "MVE_BVTD", "S_TA"}
	// How much of each ratio is creditworthiness, and its weight.
	load := []float64{0.6, 0.8, 0.7, 0.75, 0.4}
	weight := []float64{0.15, 0.45, 0.25, 0.45, 0.1}
	const sigma = 0.3
	x := mat.NewDense(n, len(names)+industries-1, nil)
	score := make([]float64, n)
	for i := range n {
		q := rnd.NormFloat64()
		r := make([]float64, len(names))
		for j := range r {
			r[j] = load[j]*q + math.Sqrt(1-load[j]*load[j])*rnd.NormFloat64()
			score[i] += weight[j] * r[j]
		}
		score[i] += sigma * rnd.NormFloat64()
		row := x.RawRowView(i)
		row[0] = rounded(0.14 + 0.12*r[0])
		row[1] = rounded(0.20 + 0.20*r[1])
		row[2] = rounded(0.05 + 0.02*r[2])
		row[3] = rounded(math.Max(0.01, 1.9+1.1*r[3]))
		row[4] = rounded(math.Max(0.01, 0.33+0.15*r[4]))
		if k := rnd.IntN(industries); k > 0 {
			row[len(names)+k-1] = 1
		}
	}
	for k := 1; k < industries; k++ {
		names = append(names, "Industry="+formatNumber(float64(k+1)))
	}
	sorted := slices.Sorted(slices.Values(score))
	is := make([]bool, n)
	for i, s := range score {
		is[i] = s > sorted[n*2/5]
	}
	return &Data{
		Features: names, X: Dense(x), Y: binary(is), Positive: 1,
		Notes: []string{"Simulated with a fixed seed. Label 1: a rating of BBB or better. Industry is one-hot without the first."},
	}, nil
}

// rounded has three decimals, as the table that is stood in for.
func rounded(v float64) float64 { return math.Round(v*1000) / 1000 }
