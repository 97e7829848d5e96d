package concord

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"concord/internal/durable"
	"concord/internal/visit"
	"concord/table"
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
	cmd.RunE = withData(addDataFlags(cmd), func(path string, opt table.Options) error {
		return p.visit(visit.Looking, func(v *visit.Visit) error {
			done, err := v.Predict(path, opt, out, force)
			if err != nil {
				return err
			}
			defer done.Erase()
			return p.tellPredicted(done, out)
		})
	})
	cmd.Flags().StringVar(&out, "out", "", "file to write (default: the terminal)")
	cmd.Flags().BoolVar(&force, "force", false, "let --out replace a file")
	return cmd
}

// tellPredicted writes the predictions, to the terminal or a file, and says how good they
// are.
func (p *program) tellPredicted(done *visit.Predicted, out string) error {
	say, err := p.out, error(nil)
	if out == "" {
		err = writePredictions(p.out, done)
		say = p.err // on the terminal the predictions stand alone on standard output
	} else {
		err = durable.Write(out, 0o600, func(f *os.File) error {
			w := bufio.NewWriter(f)
			return errors.Join(writePredictions(w, done), w.Flush())
		})
	}
	if err != nil {
		return err
	}
	rows := visit.Counted(done.Rows.Rows(), "row")
	for j, n := range done.Rows.OutOfRange() {
		if n > 0 {
			fmt.Fprintf(p.err, "concord: note: %s is outside the contract's range in %d of %s (%s)\n",
				done.Contract.Features[j].Name, n, rows, done.Rows.Outside(j))
		}
	}
	if out != "" {
		fmt.Fprintf(say, "scored %s into %s\n", rows, out)
	}
	for _, m := range done.Figures {
		fmt.Fprintf(say, "  %s %.4f on these rows\n", m.Name, m.Value)
	}
	return nil
}

func writePredictions(to io.Writer, done *visit.Predicted) error {
	c, scored := done.Contract, done.Scored
	w := csv.NewWriter(to)
	header := []string{"line", c.Label.Name}
	for _, level := range c.Label.Levels {
		header = append(header, "score "+level)
	}
	if err := w.Write(header); err != nil {
		return err
	}
	rows, cols := scored.Scores.Dims()
	for i := range rows {
		record := []string{strconv.Itoa(done.Rows.Line(i))}
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
