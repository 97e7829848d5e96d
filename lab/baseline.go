package lab

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"concord/anchor"
	anchorspec "concord/anchor/spec"
	basisspec "concord/basis/spec"
	"concord/contract"
	"concord/learn"
	"concord/metric"
	"concord/pooled"
	"concord/table"
)

// Preparation is what the sites of tables would do to their rows in a study, by the figures that
// they would pool. Only the laboratory may see all tables.
func Preparation(c *contract.Contract, tables []*table.Table) (*contract.Preparation, error) {
	if !c.NeedsFigures() {
		return c.Preparation(nil)
	}
	alone := *c // without the stages that basis and anchor add
	alone.Basis.Kind, alone.Anchor.Kind = basisspec.PCA, anchorspec.Normal
	var rows []pooled.Rows
	for _, t := range tables {
		rows = append(rows, pooled.MatrixRows(t.X().Reveal()))
	}
	pool, err := pooled.InClear(&alone, anchor.Seed{}, rows)
	if err != nil {
		return nil, fmt.Errorf("lab: %w", err)
	}
	return pool.Preparation(), nil
}

// Baseline trains a contract's model on the rows of tables, prepared and in one place, and
// judges it on the rows of test, which nobody trained on: what one site could do alone, or
// what everybody could do who saw all rows. The figures are those of [Judge].
func Baseline(ctx context.Context, c *contract.Contract, prep *contract.Preparation, tables []*table.Table, test *table.Table, metrics ...string) ([]float64, error) {
	var rows []*mat.Dense
	for _, t := range tables {
		rows = append(rows, t.Prepared(prep).Reveal())
	}
	learner, err := learn.New(c.Model.Spec())
	if err != nil {
		return nil, fmt.Errorf("lab: %w", err)
	}
	model, err := learner.Fit(ctx, stackRows(rows), labels(c, tables))
	if err != nil {
		return nil, fmt.Errorf("lab: %w", err)
	}
	scores, err := model.Scores(test.Prepared(prep).Reveal())
	if err != nil {
		return nil, fmt.Errorf("lab: %w", err)
	}
	return Judge(c, scores, test, metrics...)
}

// Judge compares scores (n × levels, or n × 1) with the labels of test (n rows), by names of
// package metric.
func Judge(c *contract.Contract, scores *mat.Dense, test *table.Table, metrics ...string) ([]float64, error) {
	y := labels(c, []*table.Table{test})
	truth := metric.Truth{Labels: y.Labels, Positive: max(c.PositiveLevel(), 0), Values: y.Values}
	out := make([]float64, len(metrics))
	for i, name := range metrics {
		v, err := metric.Compute(name, truth, scores)
		if err != nil {
			return nil, fmt.Errorf("lab: %w", err)
		}
		out[i] = v
	}
	return out, nil
}

// labels are those of tables, one after the other.
func labels(c *contract.Contract, tables []*table.Table) learn.Target {
	y := learn.Target{Classes: c.Label.Levels}
	var values []float64
	for _, t := range tables {
		y.Labels = append(y.Labels, t.Labels()...)
		values = append(values, t.Values()...)
	}
	if !y.Classification() {
		y.Values = mat.NewDense(len(values), 1, values)
	}
	return y
}
