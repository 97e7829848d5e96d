package concord

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"concord/contract"
	"concord/internal/cli"
	"concord/internal/durable"
	"concord/internal/site"
	"concord/learn"
	"concord/metric"
	"concord/onnx"
	"concord/release"
	"concord/table"
	"concord/wire"
)

func (p *program) predictCommand() *cobra.Command {
	var out string
	var force bool
	cmd := &cobra.Command{
		Use:   "predict NEW",
		Short: "Score new rows at this site with its model",
		Long: `Scores the rows of a file or a query with this site's model.onnx. The file needs the
contract's features, in any order; other columns are ignored. Writes one line a
row: its line in the file, the predicted class (or number) and the score of
every class. If the file has the label, says how good the predictions are; the
label's column may be missing or empty.`,
		Args: cobra.ExactArgs(1),
	}
	data := addDataFlags(cmd)
	cmd.RunE = withData(data, func(path string, opt table.Options) error { return p.predict(path, opt, out, force) })
	cmd.Flags().StringVar(&out, "out", "", "file to write (default: the terminal)")
	cmd.Flags().BoolVar(&force, "force", false, "let --out replace a file")
	return cmd
}

func (p *program) predict(path string, opt table.Options, out string, force bool) error {
	v, err := p.open()
	if err != nil {
		return err
	}
	if err := v.mayWrite(out, path, force); err != nil {
		return err
	}
	raw, err := v.site.Model()
	if errors.Is(err, fs.ErrNotExist) {
		return wire.WithHint(errors.New("there is no model yet"), "run concord receive")
	}
	if err != nil {
		return err
	}
	model, err := onnx.Decode(raw)
	if err != nil {
		return wire.WithHint(fmt.Errorf("%s: %w", v.site.Path(site.ModelFile), err), "run concord receive: it makes the model anew")
	}
	if err := v.needView(); err != nil {
		return err
	}
	opt.Label, opt.AllowExtra, opt.AllowOutOfRange = table.Optional, true, true
	t, err := table.Open(path, v.contract, opt)
	if err != nil {
		return err
	}
	defer t.Erase()
	scored, err := model.Run(t.X().Reveal())
	if err != nil {
		return err
	}
	if out == "" {
		err = p.writePredictions(v.contract, t, scored)
	} else {
		err = durable.Write(out, draftPerm, func(f *os.File) error {
			w := bufio.NewWriter(f)
			q := &program{out: w}
			return errors.Join(q.writePredictions(v.contract, t, scored), w.Flush())
		})
	}
	if err != nil {
		return err
	}
	for j, n := range t.OutOfRange() {
		if n > 0 {
			fmt.Fprintf(p.err, "concord: note: %s is outside the contract's range in %d of %s (%s)\n", v.contract.Features[j].Name, n, counted(t.Rows(), "row"), t.Outside(j))
		}
	}
	// On the terminal the predictions stand alone on standard output.
	say := p.err
	if out != "" {
		say = p.out
		fmt.Fprintf(say, "scored %s into %s\n", counted(t.Rows(), "row"), out)
	}
	figures, err := judge(v.contract, t, scored.Scores)
	if err != nil {
		return err
	}
	for _, m := range figures {
		fmt.Fprintf(say, "  %s %.4f on these rows\n", m.Name, m.Value)
	}
	return nil
}

// mayWrite keeps predictions from replacing what they are made from, anything in
// the site's folder and, without force, any file.
func (v *visit) mayWrite(out, in string, force bool) error {
	if out == "" {
		return nil
	}
	info, err := os.Stat(out)
	if err == nil {
		if source, err := os.Stat(in); err == nil && os.SameFile(info, source) {
			return cli.Usagef("--out names the file that is read, %s", in)
		}
	}
	inside, withinErr := within(filepath.Dir(out), v.site.Dir)
	if withinErr != nil {
		return withinErr
	}
	if inside {
		return cli.Usagef("--out lies in this site's own folder, %s; write somewhere else", v.site.Dir)
	}
	if err == nil && !force {
		return wire.WithHint(fmt.Errorf("the file %s is there already", out), "name another file, or say --force to replace it")
	}
	return nil
}

func (p *program) writePredictions(c *contract.Contract, t *table.Table, scored onnx.Output) error {
	w := csv.NewWriter(p.out)
	header := []string{"line", c.Label.Name}
	for _, level := range c.Label.Levels {
		header = append(header, "score "+level)
	}
	if err := w.Write(header); err != nil {
		return err
	}
	rows, cols := scored.Scores.Dims()
	for i := range rows {
		record := []string{strconv.Itoa(t.Line(i))}
		if scored.Labels != nil {
			record = append(record, c.Label.Levels[scored.Labels[i]])
		}
		for j := range cols {
			record = append(record, strconv.FormatFloat(scored.Scores.At(i, j), 'g', 9, 64))
		}
		if err := w.Write(record); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
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
