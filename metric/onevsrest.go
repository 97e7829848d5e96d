package metric

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// Average says how the figures of several classes become one.
type Average int

const (
	// Macro counts every class the same.
	Macro Average = iota
	// Weighted counts every class by its number of rows.
	Weighted
)

// OneVsRest extends a metric of two classes to more: each class in turn is the
// positive one, scored by its column, and the figures are averaged.
//
//	auc, err := metric.OneVsRest(metric.ROCAUC, truth, scores, metric.Macro)
//
// truth has one class index a row, scores is n × k with one column a class, of
// any scale. With ROCAUC it is scikit-learn's multi_class="ovr". Every class
// needs a row: a class that is absent, say from a fold, leaves the average
// undefined ([ErrUndefined]) and is named by its index. Cost k times that of the
// metric.
func OneVsRest(of func(positive []bool, score []float64) (float64, error), truth []int, scores *mat.Dense, average Average) (float64, error) {
	if average != Macro && average != Weighted {
		panic("metric: no such average")
	}
	if err := checkMatrix("one-vs-rest", len(truth), scores); err != nil {
		return 0, err
	}
	n, k := scores.Dims()
	if err := checkClasses("class", truth, k); err != nil {
		return 0, err
	}
	counts := make([]int, k)
	for _, c := range truth {
		counts[c]++
	}
	for c, rows := range counts {
		if rows == 0 {
			return 0, undefined("one-vs-rest of %d classes: class %d has no row, want at least one", k, c)
		}
	}
	positive, score := make([]bool, n), make([]float64, n)
	var sum float64
	for c, rows := range counts {
		for i, t := range truth {
			positive[i] = t == c
		}
		v, err := of(positive, mat.Col(score, c, scores))
		if err != nil {
			return 0, fmt.Errorf("metric: one-vs-rest, class %d: %w", c, err)
		}
		if average == Weighted {
			sum += v * float64(rows) / float64(n)
		} else {
			sum += v / float64(k)
		}
	}
	return sum, nil
}
