package party

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"concord/anchor"
	"concord/contract"
	"concord/secret"
)

// TestGaussianViews: where sites have different features, the anchor has the pooled means and
// covariances of each two columns that a view has together, of the others what the columns
// between them explain: with correlations r_ab and r_bc and nobody who has a and c, r_ab r_bc
// [dempster1972]; and each party has the columns of its view, of the same rows.
func TestGaussianViews(t *testing.T) {
	c, err := contract.ParseYAML([]byte(`
name: Gaussian
parties: 8
features:
  - {name: a, range: [-10, 10]}
  - {name: b, range: [-10, 10]}
  - {name: c, range: [0, 10]}
views:
  - {name: left, features: [a, b], dim: 1}
  - {name: right, features: [b, c], dim: 1}
label: {name: y, levels: ["0", "1"], positive: "1"}
standardise: range
anchor: {kind: gaussian, rows: 40000}
`))
	if err != nil {
		t.Fatal(err)
	}
	seed, err := anchor.SeedFromBytes(secret.NewBytes(slices.Repeat([]byte{5}, anchor.SeedSize)))
	if err != nil {
		t.Fatal(err)
	}
	// Prepared means 0.3, −0.2 and 0.4, deviations 0.1, 0.2 and 0.05, correlations 0.8 and −0.5.
	agreed := Agreed{Seed: seed, Figures: &contract.Figures{
		Version: 1, Sites: 8, Rows: 1000, Views: []int64{600, 400},
		Features: []contract.FeatureFigures{{Count: 600, Mean: 3, Variance: 1}, {Count: 1000, Mean: -2, Variance: 4}, {Count: 400, Mean: 7, Variance: 0.0625}},
	}}
	if err := agreed.Figures.Check(c); err != nil {
		t.Fatal(err)
	}
	mean, deviation := []float64{0.3, -0.2, 0.4}, []float64{0.1, 0.2, 0.05}
	correlation := mat.NewSymDense(3, []float64{1, 0.8, -0.4, 0.8, 1, -0.5, -0.4, -0.5, 1})
	moments := mat.NewDense(3, 3, nil)
	for i := range 3 {
		for j := range 3 {
			if i+j != 2 || i == j { // not a with c
				moments.Set(i, j, correlation.At(i, j)*deviation[i]*deviation[j])
			}
		}
	}
	agreed.Moments = secret.NewMatrix(moments)
	whole, err := agreed.anchor(c)
	if err != nil {
		t.Fatal(err)
	}
	var got mat.SymDense
	stat.CorrelationMatrix(&got, whole.Reveal(), nil)
	// Six standard errors of 40,000 fixed draws: of a mean σ/200, of a correlation 1/200 at most,
	// of a deviation σ/283.
	for j := range 3 {
		m, d := stat.MeanStdDev(mat.Col(nil, j, whole.Reveal()), nil)
		if math.Abs(m-mean[j]) > 0.03*deviation[j] || math.Abs(d-deviation[j]) > 0.022*deviation[j] {
			t.Errorf("column %d has mean %g and deviation %g, must have %g and %g", j+1, m, d, mean[j], deviation[j])
		}
		for k := range j {
			if math.Abs(got.At(j, k)-correlation.At(j, k)) > 0.03 {
				t.Errorf("columns %d and %d correlate by %g, must by %g", k+1, j+1, got.At(j, k), correlation.At(j, k))
			}
		}
	}
	about, err := agreed.Completed(c)
	if err != nil || about.Missing != 1 || about.Blind != 0 || about.Shrunk != 0 {
		t.Errorf("the covariances were completed as %+v, %v", about, err)
	}
	for view, columns := range map[string][]int{"left": {0, 1}, "right": {1, 2}} {
		through, err := c.Through(view)
		if err != nil {
			t.Fatal(err)
		}
		own, err := agreed.anchor(through)
		if err != nil {
			t.Fatal(err)
		}
		for k, j := range columns {
			if !slices.Equal(mat.Col(nil, k, own.Reveal()), mat.Col(nil, j, whole.Reveal())) {
				t.Errorf("column %d of view %s is another than column %d of the anchor", k+1, view, j+1)
			}
		}
		if agreed.ID(through) != agreed.ID(c) {
			t.Errorf("the anchor's id is another through view %s", view)
		}
	}
}
