package visit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/mat"

	"concord/contract"
	"concord/internal/site"
	"concord/learn"
	"concord/metric"
	"concord/onnx"
	"concord/release"
	"concord/table"
	"concord/wire"
)

// mayWrite keeps predictions from replacing what they are made from, anything in
// the site's folder and, without force, any file.
func (v *Visit) mayWrite(out, in string, force bool) error {
	if out == "" {
		return nil
	}
	info, err := os.Stat(out)
	if err == nil {
		if source, err := os.Stat(in); err == nil && os.SameFile(info, source) {
			return misusef("--out names the file that is read, %s", in)
		}
	}
	inside, withinErr := within(filepath.Dir(out), v.site.Dir)
	if withinErr != nil {
		return withinErr
	}
	if inside {
		return misusef("--out is in this site's own folder, %s; write somewhere else", v.site.Dir)
	}
	if err == nil && !force {
		return wire.WithHint(fmt.Errorf("the file %s is there already", out),
			"name another file, or say --force to replace it")
	}
	return nil
}

// judge compares predictions with the labels of the file, if it has them.
func judge(c *contract.Contract, t *table.Table, scores *mat.Dense) ([]release.Metric, error) {
	var out []release.Metric
	add := func(name string, v float64, err error) error {
		if err == nil {
			out = append(out, release.Metric{Name: name, Value: v})
		}
		return err
	}
	if labels := t.Labels(); labels != nil {
		v, err := metric.Accuracy(labels, learn.Predicted(scores))
		if err := add("accuracy", v, err); err != nil {
			return nil, err
		}
		if counts := t.ClassCounts(); len(counts) == 2 && counts[0] > 0 && counts[1] > 0 {
			positive := c.PositiveLevel()
			is := make([]bool, len(labels))
			for i, k := range labels {
				is[i] = k == positive
			}
			v, err := metric.ROCAUC(is, mat.Col(nil, positive, scores))
			if err := add("roc_auc", v, err); err != nil {
				return nil, err
			}
		}
	}
	if values := t.Values(); values != nil {
		predicted := mat.Col(nil, 0, scores)
		v, err := metric.RMSE(values, predicted)
		if err := add("rmse", v, err); err != nil {
			return nil, err
		}
		// R² is undefined where the labels do not vary; then RMSE says it all.
		if v, err := metric.R2(values, predicted); err == nil {
			out = append(out, release.Metric{Name: "r2", Value: v})
		}
	}
	return out, nil
}

// Predicted are rows with what this site's model says of them.
type Predicted struct {
	Contract *contract.Contract
	Rows     *table.Table
	Scored   onnx.Output
	// Figures say how good it is, where the rows have labels.
	Figures []release.Metric
}

// Erase forgets the rows.
func (p *Predicted) Erase() { p.Rows.Erase() }

// Predict scores rows by this site's model. out is the file that the answers are for, "" for
// none; without force it must not exist.
func (v *Visit) Predict(path string, opt table.Options, out string, force bool) (*Predicted, error) {
	if err := v.mayWrite(out, path, force); err != nil {
		return nil, err
	}
	raw, err := v.site.Model()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, wire.WithHint(errors.New("there is no model yet"), "run concord receive")
	}
	if err != nil {
		return nil, err
	}
	model, err := onnx.Decode(raw)
	if err != nil {
		return nil, wire.WithHint(fmt.Errorf("%s: %w", v.site.Path(site.ModelFile), err),
			"run concord receive: it makes the model again")
	}
	if err := v.needView(); err != nil {
		return nil, err
	}
	opt.Label, opt.AllowExtra, opt.AllowOutOfRange = table.Optional, true, true
	done := &Predicted{Contract: v.Contract}
	if done.Rows, err = table.Open(path, v.Contract, opt); err != nil {
		return nil, err
	}
	if done.Scored, err = model.Run(done.Rows.X().Reveal()); err == nil {
		done.Figures, err = judge(v.Contract, done.Rows, done.Scored.Scores)
	}
	if err != nil {
		done.Erase()
		return nil, err
	}
	return done, nil
}
