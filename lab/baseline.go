package lab

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"concord/learn"
	"concord/metric"
)

// Scores are the figures by which the demonstration compares models of a label
// with two levels.
type Scores struct {
	ROCAUC, Accuracy float64
}

// Fit trains a baseline on raw standardised rows x (n × m): what one party can
// do alone, or what everybody could do who saw all rows.
func Fit(ctx context.Context, spec learn.Spec, x *mat.Dense, y learn.Target) (learn.Model, error) {
	learner, err := learn.New(spec)
	if err != nil {
		return nil, fmt.Errorf("lab: %w", err)
	}
	model, err := learner.Fit(ctx, x, y)
	if err != nil {
		return nil, fmt.Errorf("lab: %w", err)
	}
	return model, nil
}

// Judge compares scores (n × 2) with true labels, of which positive is the
// class to find.
func Judge(scores *mat.Dense, labels []int, positive int) (Scores, error) {
	is := make([]bool, len(labels))
	score := make([]float64, len(labels))
	for i, k := range labels {
		is[i], score[i] = k == positive, scores.At(i, positive)
	}
	auc, err := metric.ROCAUC(is, score)
	if err != nil {
		return Scores{}, fmt.Errorf("lab: %w", err)
	}
	accuracy, err := metric.Accuracy(labels, learn.Predicted(scores))
	if err != nil {
		return Scores{}, fmt.Errorf("lab: %w", err)
	}
	return Scores{auc, accuracy}, nil
}
