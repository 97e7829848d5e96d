package metric

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// Metric is one that contracts and experiments call by its name.
type Metric struct {
	// Name is scikit-learn's where it has one: roc_auc.
	Name string
	// Title is for people: ROC-AUC.
	Title string
	// Regression says that numbers are measured, otherwise classes.
	Regression bool
	// LargerIsBetter tells a score from a loss.
	LargerIsBetter bool
	// Probabilities says that scores have to be probabilities that sum to 1 in
	// each row; otherwise scores of any scale will do.
	Probabilities bool

	classes func(t Truth, scores *mat.Dense) (float64, error)
	numbers func(truth, predicted []float64) (float64, error)
}

// Truth is what predictions are compared with: labels or values.
type Truth struct {
	// Labels has one class index a row, a column of the scores; nil for
	// regression.
	Labels []int
	// Positive is the index of the class to find where there are two; of no
	// meaning otherwise. scikit-learn's is 1.
	Positive int
	// Values is n × q; nil for classification.
	Values *mat.Dense
}

// table is in the order of Names.
var table = []Metric{
	{Name: "roc_auc", Title: "ROC-AUC", LargerIsBetter: true, classes: ranking(ROCAUC)},
	{Name: "pr_auc", Title: "PR-AUC", LargerIsBetter: true, classes: ranking(PRAUC)},
	{Name: "accuracy", Title: "accuracy", LargerIsBetter: true, classes: deciding(Accuracy)},
	{Name: "balanced_accuracy", Title: "balanced accuracy", LargerIsBetter: true, classes: deciding(BalancedAccuracy)},
	{Name: "log_loss", Title: "log loss", Probabilities: true, classes: func(t Truth, scores *mat.Dense) (float64, error) {
		return LogLoss(t.Labels, scores)
	}},
	{Name: "brier", Title: "Brier score", Probabilities: true, classes: func(t Truth, scores *mat.Dense) (float64, error) {
		if _, k := scores.Dims(); k > 2 {
			return BrierClasses(t.Labels, scores)
		}
		return Brier(t.twoClasses(scores))
	}},
	{Name: "rmse", Title: "RMSE", Regression: true, numbers: RMSE},
	{Name: "mae", Title: "MAE", Regression: true, numbers: MAE},
	{Name: "r2", Title: "R²", Regression: true, LargerIsBetter: true, numbers: R2},
}

// Names are the names that [Named] knows, those for classes first.
func Names() []string {
	names := make([]string, len(table))
	for i, m := range table {
		names[i] = m.Name
	}
	return names
}

// Named is the metric of that name; the error of an unknown one lists the names.
func Named(name string) (Metric, error) {
	for _, m := range table {
		if m.Name == name {
			return m, nil
		}
	}
	return Metric{}, fmt.Errorf("metric: name is %q, want one of: %s", name, strings.Join(Names(), ", "))
}

// Compute is the metric of that name for scores; see [Metric.Compute].
func Compute(name string, truth Truth, scores *mat.Dense) (float64, error) {
	m, err := Named(name)
	if err != nil {
		return 0, err
	}
	return m.Compute(truth, scores)
}

// Compute measures scores against truth.
//
// For classes, scores is n × k with one column a class, k at least 2. roc_auc
// and pr_auc take the column of the positive class where k is 2, and otherwise
// the mean over the classes, each against the rest ([OneVsRest], [Macro]). accuracy
// and balanced_accuracy take the class of the largest score, of equal ones the
// first. log_loss and brier need probabilities; brier is [Brier] where k is 2
// and [BrierClasses] otherwise.
//
// For regression, scores is n × q like the true values, and the figure is the
// mean over the q columns.
func (m Metric) Compute(truth Truth, scores *mat.Dense) (float64, error) {
	if m.classes == nil && m.numbers == nil {
		panic("metric: a metric that does not come from Named")
	}
	if m.Regression {
		return m.computeNumbers(truth, scores)
	}
	if truth.Labels == nil {
		return 0, fmt.Errorf("metric: %s has no labels, want one a row", m.Name)
	}
	if err := checkMatrix(m.Name, len(truth.Labels), scores); err != nil {
		return 0, err
	}
	n, k := scores.Dims()
	if k == 2 && (truth.Positive < 0 || truth.Positive > 1) {
		return 0, fmt.Errorf("metric: positive class of %s is %d, want 0 or 1", m.Name, truth.Positive)
	}
	if err := checkClasses("class", truth.Labels, k); err != nil {
		return 0, err
	}
	for i := range n {
		var total float64
		for j, s := range scores.RawRowView(i) {
			switch {
			case math.IsNaN(s) || math.IsInf(s, 0):
				return 0, fmt.Errorf("metric: score at row %d, column %d is not a finite number", i+1, j+1)
			case m.Probabilities && (s < 0 || s > 1):
				return 0, fmt.Errorf("metric: %s needs probabilities, the score at row %d, column %d is not between 0 and 1", m.Name, i+1, j+1)
			}
			total += s
		}
		// 2⁻¹² is the root of float32's precision, what scikit-learn allows
		// probabilities that were computed in float32.
		if m.Probabilities && math.Abs(total-1) > 0x1p-12 {
			return 0, fmt.Errorf("metric: %s needs probabilities, the scores of row %d do not sum to 1", m.Name, i+1)
		}
	}
	return m.classes(truth, scores)
}

func (m Metric) computeNumbers(truth Truth, scores *mat.Dense) (float64, error) {
	if truth.Values == nil {
		return 0, fmt.Errorf("metric: %s has no true values, want one a row", m.Name)
	}
	figures, err := Outputs(m.numbers, truth.Values, scores)
	if err != nil {
		return 0, err
	}
	var mean float64
	for _, v := range figures {
		mean += v / float64(len(figures))
	}
	return result(m.Name, mean)
}

// Bootstrap is an interval of the metric over rows drawn anew, see [Bootstrap];
// options' Strata may be truth's Labels. Beside the metric's own cost, every
// resample copies its rows.
func (m Metric) Bootstrap(ctx context.Context, rng *rand.Rand, truth Truth, scores *mat.Dense, o BootstrapOptions) (BootstrapInterval, error) {
	if _, err := m.Compute(truth, scores); err != nil { // shapes are in order from here on
		return BootstrapInterval{}, err
	}
	n, _ := scores.Dims()
	return Bootstrap(ctx, rng, n, func(rows []int) (float64, error) {
		drawn := Truth{Positive: truth.Positive}
		if m.Regression {
			drawn.Values = pick(truth.Values, rows)
		} else {
			drawn.Labels = make([]int, len(rows))
			for i, r := range rows {
				drawn.Labels[i] = truth.Labels[r]
			}
		}
		return m.Compute(drawn, pick(scores, rows))
	}, o)
}

// pick is a new matrix of the rows of m.
func pick(m *mat.Dense, rows []int) *mat.Dense {
	_, k := m.Dims()
	out := mat.NewDense(len(rows), k, nil)
	for i, r := range rows {
		copy(out.RawRowView(i), m.RawRowView(r))
	}
	return out
}

// twoClasses are the rows of the positive class and its column.
func (t Truth) twoClasses(scores *mat.Dense) (positive []bool, score []float64) {
	positive = make([]bool, len(t.Labels))
	for i, c := range t.Labels {
		positive[i] = c == t.Positive
	}
	return positive, mat.Col(nil, t.Positive, scores)
}

// ranking makes a metric of scores from one of two classes.
func ranking(of func([]bool, []float64) (float64, error)) func(Truth, *mat.Dense) (float64, error) {
	return func(t Truth, scores *mat.Dense) (float64, error) {
		if _, k := scores.Dims(); k > 2 {
			return OneVsRest(of, t.Labels, scores, Macro)
		}
		return of(t.twoClasses(scores))
	}
}

// deciding makes a metric of scores from one of class indices.
func deciding(of func(truth, predicted []int) (float64, error)) func(Truth, *mat.Dense) (float64, error) {
	return func(t Truth, scores *mat.Dense) (float64, error) {
		predicted := make([]int, len(t.Labels))
		for i := range predicted {
			row := scores.RawRowView(i)
			predicted[i] = slices.Index(row, slices.Max(row))
		}
		return of(t.Labels, predicted)
	}
}
