package dataset_test

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/lab/dataset"
	"concord/learn"
	"concord/metric"
)

// TestCredit wants a logistic regression on 1000 companies to find good ratings
// among the others about as well as MM report (0.973).
func TestCredit(t *testing.T) {
	d, err := dataset.Load("", "credit")
	if err != nil {
		t.Fatal(err)
	}
	n, m := d.X.Dims()
	if n != 3932 || m != 16 {
		t.Fatalf("%d × %d", n, m)
	}
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	x, y := d.Take(rows[:1000])
	test, truth := d.Take(rows[1000:])
	for j := range m { // by the training rows' mean and deviation
		mean, sum := 0.0, 0.0
		for i := range 1000 {
			mean += x.At(i, j) / 1000
		}
		for i := range 1000 {
			sum += (x.At(i, j) - mean) * (x.At(i, j) - mean)
		}
		scale := math.Sqrt(sum / 1000)
		for _, a := range []*mat.Dense{x, test} {
			r, _ := a.Dims()
			for i := range r {
				a.Set(i, j, (a.At(i, j)-mean)/scale)
			}
		}
	}
	learner, err := learn.New(learn.Spec{Kind: "logistic"})
	if err != nil {
		t.Fatal(err)
	}
	model, err := learner.Fit(context.Background(), x, y)
	if err != nil {
		t.Fatal(err)
	}
	scores, err := model.Scores(test)
	if err != nil {
		t.Fatal(err)
	}
	is, score := make([]bool, len(truth.Labels)), make([]float64, len(truth.Labels))
	for i, k := range truth.Labels {
		is[i], score[i] = k == 1, scores.At(i, 1)
	}
	auc, err := metric.ROCAUC(is, score)
	if err != nil {
		t.Fatal(err)
	}
	// The standard error with 2932 test rows is about 0.003; the data are fixed,
	// so the test gives the same every time.
	if math.Abs(auc-0.973) > 0.006 {
		t.Errorf("ROC-AUC %.4f, want about 0.973", auc)
	}
}

// TestHospital wants smokers to have the label more often than others: with
// pressures of 129.4/89.9 and 119.4/79.4 and a deviation of 4.8 the
// probabilities are
//
//	1 - Φ((80-89.9-0.5)/4.8) Φ((140-129.4-0.5)/4.8) ≈ 0.99 and ≈ 0.49
func TestHospital(t *testing.T) {
	d, err := dataset.Load("", "hospital")
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]int, 100)
	for i := range rows {
		rows[i] = i
	}
	x, y := d.Take(rows)
	count, label := [2]float64{}, [2]float64{}
	for i, k := range y.Labels {
		smoker := int(x.At(i, 3))
		count[smoker]++
		label[smoker] += float64(k)
		if age := x.At(i, 1); age < 25 || age > 50 {
			t.Errorf("row %d: age %v", i, age)
		}
	}
	// Three standard deviations of a count: 3 √(100 · 0.34 · 0.66) = 14 smokers,
	// and 3 √(0.49 · 0.51 / 66) = 0.19 of the others' rate.
	if math.Abs(count[1]-34) > 14 {
		t.Errorf("%v smokers, want about 34", count[1])
	}
	if rate := label[1] / count[1]; rate < 0.9 {
		t.Errorf("%.2f of the smokers have the label, want almost all", rate)
	}
	if rate := label[0] / count[0]; math.Abs(rate-0.49) > 0.19 {
		t.Errorf("%.2f of the others have the label, want about 0.49", rate)
	}
}
