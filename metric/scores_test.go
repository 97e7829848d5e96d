package metric_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"concord/metric"
)

type scores struct {
	Two []struct {
		Name        string
		Positive    []bool
		Score       []float64
		ROCAUC      float64 `json:"roc_auc"`
		ROC         [3][]float64
		PRAUC       float64 `json:"pr_auc"`
		PR          [3][]float64
		Brier       float64
		Calibration []struct {
			Bins                int
			Strategy            string
			Observed, Predicted []float64
		}
	}
	Many []struct {
		Name             string
		Truth            []int
		Probability      [][]float64
		Macro            float64 `json:"ovr_macro"`
		Weighted         float64 `json:"ovr_weighted"`
		PRMacro          float64 `json:"pr_macro"`
		PRWeighted       float64 `json:"pr_weighted"`
		LogLoss          float64 `json:"log_loss"`
		Brier            float64
		Accuracy         float64
		BalancedAccuracy float64 `json:"balanced_accuracy"`
	}
	Confusion []struct {
		Name                  string
		Classes               int
		Truth, Guess          []int
		Counts                [][]int
		Precision, Recall, F1 []float64
		Support               []int
		Macro                 [3]float64
		Accuracy              float64
		BalancedAccuracy      float64 `json:"balanced_accuracy"`
		Kappa, Matthews       float64
	}
	Outputs struct {
		Truth, Predicted [][]float64
		R2, RMSE, MAE    []float64
		MeanR2           float64 `json:"mean_r2"`
		MeanRMSE         float64 `json:"mean_rmse"`
		MeanMAE          float64 `json:"mean_mae"`
	}
}

func readScores(t *testing.T) scores {
	t.Helper()
	s := read[scores](t, "testdata/scores.json")
	if len(s.Two) != 6 || len(s.Many) != 3 || len(s.Confusion) != 4 {
		t.Fatalf("%d, %d and %d cases, want 6, 3 and 4", len(s.Two), len(s.Many), len(s.Confusion))
	}
	return s
}

// TestTwoClasses compares curves, areas, Brier's score and calibration with
// scikit-learn, point by point.
func TestTwoClasses(t *testing.T) {
	for _, c := range readScores(t).Two {
		t.Run(c.Name, func(t *testing.T) {
			got, err := metric.ROCAUC(c.Positive, c.Score)
			near(t, "ROCAUC", got, err, c.ROCAUC)
			got, err = metric.PRAUC(c.Positive, c.Score)
			near(t, "PRAUC", got, err, c.PRAUC)
			got, err = metric.Brier(c.Positive, c.Score)
			near(t, "Brier", got, err, c.Brier)

			roc, err := metric.ROCCurve(c.Positive, c.Score)
			if err != nil {
				t.Fatal(err)
			}
			nearAll(t, "FPR", roc.FPR, c.ROC[0])
			nearAll(t, "TPR", roc.TPR, c.ROC[1])
			nearAll(t, "ROC threshold", roc.Threshold, c.ROC[2])
			pr, err := metric.PRCurve(c.Positive, c.Score)
			if err != nil {
				t.Fatal(err)
			}
			nearAll(t, "precision", pr.Precision, c.PR[0])
			nearAll(t, "recall", pr.Recall, c.PR[1])
			nearAll(t, "PR threshold", pr.Threshold, c.PR[2])

			if len(c.Calibration) != 8 {
				t.Fatalf("%d calibration curves, want 8", len(c.Calibration))
			}
			for _, k := range c.Calibration {
				by := map[string]metric.Binning{"uniform": metric.Uniform, "quantile": metric.Quantile}[k.Strategy]
				curve, err := metric.CalibrationCurve(c.Positive, c.Score, k.Bins, by)
				if err != nil {
					t.Fatal(err)
				}
				rows := 0
				var observed, predicted []float64
				for _, b := range curve {
					rows += b.Rows
					observed, predicted = append(observed, b.Observed), append(predicted, b.Predicted)
					// The first bin also has what equals its lower edge; the mean is rounded.
					if !(b.Low <= b.Predicted+1e-15 && b.Predicted <= b.High+1e-15) {
						t.Errorf("mean %v outside of the bin %v to %v", b.Predicted, b.Low, b.High)
					}
				}
				if rows != len(c.Score) {
					t.Errorf("%d rows in the bins, want %d", rows, len(c.Score))
				}
				nearAll(t, k.Strategy+" observed", observed, k.Observed)
				nearAll(t, k.Strategy+" predicted", predicted, k.Predicted)
			}
		})
	}
}

// TestManyClasses compares averages over classes with scikit-learn, by function
// and by name.
func TestManyClasses(t *testing.T) {
	for _, c := range readScores(t).Many {
		t.Run(c.Name, func(t *testing.T) {
			p := dense(c.Probability)
			for _, a := range []struct {
				what    string
				of      func([]bool, []float64) (float64, error)
				average metric.Average
				want    float64
			}{
				{"ROC-AUC macro", metric.ROCAUC, metric.Macro, c.Macro},
				{"ROC-AUC weighted", metric.ROCAUC, metric.Weighted, c.Weighted},
				{"PR-AUC macro", metric.PRAUC, metric.Macro, c.PRMacro},
				{"PR-AUC weighted", metric.PRAUC, metric.Weighted, c.PRWeighted},
			} {
				got, err := metric.OneVsRest(a.of, c.Truth, p, a.average)
				near(t, a.what, got, err, a.want)
			}
			for name, want := range map[string]float64{
				"roc_auc": c.Macro, "pr_auc": c.PRMacro, "log_loss": c.LogLoss, "brier": c.Brier,
				"accuracy": c.Accuracy, "balanced_accuracy": c.BalancedAccuracy,
			} {
				got, err := metric.Compute(name, metric.Truth{Labels: c.Truth}, p)
				near(t, name, got, err, want)
			}
		})
	}
}

func TestConfusion(t *testing.T) {
	for _, c := range readScores(t).Confusion {
		t.Run(c.Name, func(t *testing.T) {
			m, err := metric.Confusion(c.Truth, c.Guess, c.Classes)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.Counts, m.Counts); d != "" {
				t.Errorf("counts (-want +got):\n%s", d)
			}
			var precision, recall, f1 []float64
			var support []int
			for _, f := range m.PerClass() {
				precision, recall, f1 = append(precision, f.Precision), append(recall, f.Recall), append(f1, f.F1)
				support = append(support, f.Support)
			}
			nearAll(t, "precision", precision, c.Precision)
			nearAll(t, "recall", recall, c.Recall)
			nearAll(t, "f1", f1, c.F1)
			if d := cmp.Diff(c.Support, support); d != "" {
				t.Errorf("support (-want +got):\n%s", d)
			}
			p, r, f := m.Macro()
			nearAll(t, "macro", []float64{p, r, f}, c.Macro[:])
			got, err := m.Kappa()
			near(t, "Kappa", got, err, c.Kappa)
			near(t, "Matthews", m.Matthews(), nil, c.Matthews)
			got, err = metric.Accuracy(c.Truth, c.Guess)
			near(t, "Accuracy", got, err, c.Accuracy)
			got, err = metric.BalancedAccuracy(c.Truth, c.Guess)
			near(t, "BalancedAccuracy", got, err, c.BalancedAccuracy)
		})
	}
}

func TestOutputs(t *testing.T) {
	o := readScores(t).Outputs
	truth, predicted := dense(o.Truth), dense(o.Predicted)
	for _, c := range []struct {
		name string
		of   func(truth, predicted []float64) (float64, error)
		want []float64
		mean float64
	}{{"r2", metric.R2, o.R2, o.MeanR2}, {"rmse", metric.RMSE, o.RMSE, o.MeanRMSE}, {"mae", metric.MAE, o.MAE, o.MeanMAE}} {
		got, err := metric.Outputs(c.of, truth, predicted)
		if err != nil {
			t.Fatal(err)
		}
		nearAll(t, c.name, got, c.want)
		mean, err := metric.Compute(c.name, metric.Truth{Values: truth}, predicted)
		near(t, "mean "+c.name, mean, err, c.mean)
	}
}

// TestTwoColumns checks that a name takes the positive class's column, and that
// for two classes Brier's own score is twice the one of two classes.
func TestTwoColumns(t *testing.T) {
	for _, c := range readScores(t).Two {
		p := mat.NewDense(len(c.Score), 2, nil)
		labels := make([]int, len(c.Score))
		for i, s := range c.Score {
			p.SetRow(i, []float64{1 - s, s})
			if c.Positive[i] {
				labels[i] = 1
			}
		}
		truth := metric.Truth{Labels: labels, Positive: 1}
		for name, want := range map[string]float64{"roc_auc": c.ROCAUC, "pr_auc": c.PRAUC, "brier": c.Brier} {
			got, err := metric.Compute(name, truth, p)
			near(t, name, got, err, want)
		}
		both, err := metric.BrierClasses(labels, p)
		near(t, "BrierClasses", both, err, 2*c.Brier)
	}
}

// twoClasses draws rows of both classes with scores among which some are equal.
func twoClasses(t *rapid.T) (positive []bool, score []float64) {
	n := rapid.IntRange(2, 60).Draw(t, "n")
	positive = rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, "positive")
	positive[0], positive[1] = true, false
	score = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) float64 {
		return float64(rapid.IntRange(-20, 20).Draw(t, "s")) / 4
	}), n, n).Draw(t, "score")
	return positive, score
}

// TestRankingsSeeOnlyOrder checks that an increasing map of the scores changes
// no area and no point of a curve.
func TestRankingsSeeOnlyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		positive, score := twoClasses(t)
		mapped := make([]float64, len(score))
		for i, s := range score {
			mapped[i] = 3 + math.Exp(s) // different for scores ¼ apart
		}
		for name, of := range map[string]func([]bool, []float64) (float64, error){"ROCAUC": metric.ROCAUC, "PRAUC": metric.PRAUC} {
			a, err := of(positive, score)
			if err != nil {
				t.Fatal(err)
			}
			b, err := of(positive, mapped)
			if err != nil {
				t.Fatal(err)
			}
			if a != b {
				t.Fatalf("%s is %v, after an increasing map %v", name, a, b)
			}
		}
		a, err := metric.ROCCurve(positive, score)
		if err != nil {
			t.Fatal(err)
		}
		b, err := metric.ROCCurve(positive, mapped)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([][]float64{a.FPR, a.TPR}, [][]float64{b.FPR, b.TPR}); d != "" {
			t.Fatal(d)
		}
	})
}

// TestCurvesHaveTheirAreas integrates the curves.
func TestCurvesHaveTheirAreas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		positive, score := twoClasses(t)
		roc, err := metric.ROCCurve(positive, score)
		if err != nil {
			t.Fatal(err)
		}
		var area float64
		for i := 1; i < len(roc.FPR); i++ {
			area += (roc.FPR[i] - roc.FPR[i-1]) * (roc.TPR[i] + roc.TPR[i-1]) / 2
			if !(roc.Threshold[i] < roc.Threshold[i-1]) {
				t.Fatal("thresholds do not descend")
			}
		}
		auc, err := metric.ROCAUC(positive, score)
		// At most 60 terms of at most 1.
		if err != nil || math.Abs(area-auc) > 1e-14 {
			t.Fatalf("area under the points %v, ROCAUC %v, %v", area, auc, err)
		}
		pr, err := metric.PRCurve(positive, score)
		if err != nil {
			t.Fatal(err)
		}
		area = 0
		for i := range pr.Threshold {
			area += (pr.Recall[i] - pr.Recall[i+1]) * pr.Precision[i]
		}
		ap, err := metric.PRAUC(positive, score)
		if err != nil || math.Abs(area-ap) > 1e-14 {
			t.Fatalf("area under the steps %v, PRAUC %v, %v", area, ap, err)
		}
	})
}

// TestConfusionByRows compares with counts by definition, and with the metrics
// of the same rows, under any renaming of the classes.
func TestConfusionByRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(2, 5).Draw(t, "k")
		n := rapid.IntRange(1, 40).Draw(t, "n")
		class := rapid.IntRange(0, k-1)
		truth := rapid.SliceOfN(class, n, n).Draw(t, "truth")
		guess := rapid.SliceOfN(class, n, n).Draw(t, "guess")
		m, err := metric.Confusion(truth, guess, k)
		if err != nil {
			t.Fatal(err)
		}
		hits, recall, classes := 0, 0.0, 0.0
		for c, f := range m.PerClass() {
			hits += m.Counts[c][c]
			if f.Support > 0 {
				recall += f.Recall
				classes++
			}
		}
		if a, err := metric.Accuracy(truth, guess); err != nil || a != float64(hits)/float64(n) {
			t.Fatalf("Accuracy = %v, %v, the diagonal has %d of %d", a, err, hits, n)
		}
		// The same terms in the same order: exact.
		if b, err := metric.BalancedAccuracy(truth, guess); err != nil || b != recall/classes {
			t.Fatalf("BalancedAccuracy = %v, %v, mean recall %v", b, err, recall/classes)
		}
		names := rapid.Permutation([]int{0, 1, 2, 3, 4}[:k]).Draw(t, "names")
		for i := range truth {
			truth[i], guess[i] = names[truth[i]], names[guess[i]]
		}
		renamed, err := metric.Confusion(truth, guess, k)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := m.Matthews(), renamed.Matthews(); a != b || math.Abs(a) > 1+1e-15 { // one root, one quotient
			t.Fatalf("Matthews = %v, with other names %v", a, b)
		}
	})
}

// TestCalibrationErrorWeighs: a bin counts by its rows: (1·0.5 + 3·0.1) / 4.
func TestCalibrationErrorWeighs(t *testing.T) {
	got, err := metric.CalibrationError([]metric.CalibrationBin{{Rows: 1, Predicted: 0.5, Observed: 1}, {Rows: 3, Predicted: 0.1, Observed: 0}})
	if err != nil || math.Abs(got-0.2) > 1e-15 {
		t.Errorf("the error of two bins is %v (%v), want 0.2", got, err)
	}
}
