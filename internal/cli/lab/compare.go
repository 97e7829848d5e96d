package lab

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"concord/contract"
	"concord/internal/cli"
	"concord/lab"
	"concord/lab/tables"
	"concord/metric"
	"concord/table"
)

func dataTablesCommand(stdout io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "tables DIR",
		Short: "Make the example of four tables with different defects",
		Long: `Makes the folder DIR with invented patients of four hospitals, as their tables
are: semicolons and decimal commas; another order of columns, missing cells called NA;
compressed, quoted, one column in another unit and a patient twice; Parquet. With them
come study.yaml, the contract, and later.csv, patients of later months. The files are
the same each time.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := tables.Write(args[0]); err != nil {
				return err
			}
			_, err := fmt.Fprintf(stdout, "%s holds four tables, later.csv and study.yaml; README.md says what is the matter with each\n", args[0])
			return err
		},
	}
}

// compareOptions are those of compare.
type compareOptions struct {
	predicted, commas []string
}

func compareCommand(stdout io.Writer) *cobra.Command {
	var opt compareOptions
	cmd := &cobra.Command{
		Use:   "compare STUDY.yaml NEW NAME=FILE...",
		Short: "What the sites of a study would have alone, and what in one place",
		Long: `Reads the table of every site as the contract has it, and NEW, rows that nobody
trained on, with their label. Prints how good each site's own model is on them, one model
of all rows, and, with --predicted NAME=FILE, what concord predict --out FILE wrote for
that site: the collaboration's. Rows are prepared by the figures of all tables together.

It sees all tables at once, which nobody in a study may: it is for examples and for
researchers.

  concord-lab compare study.yaml later.csv North=north.csv East=east.csv --decimal-comma North --predicted North=north-scores.csv`,
		Args: cobra.MinimumNArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error { return opt.run(cmd.Context(), stdout, args) },
	}
	cmd.Flags().StringArrayVar(&opt.predicted, "predicted", nil, "NAME=FILE: what concord predict --out wrote at that site")
	cmd.Flags().StringSliceVar(&opt.commas, "decimal-comma", nil, "names of sites whose tables have decimal commas")
	return cmd
}

// sited is a site's table and what is known of it.
type sited struct {
	name      string
	rows      *table.Table
	alone     []float64
	predicted []float64 // nil if nobody gave it
}

func (opt compareOptions) run(ctx context.Context, stdout io.Writer, args []string) error {
	text, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	c, err := contract.ParseYAML(text)
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	if c.Views != nil || c.Lift != nil {
		return errors.New("compare is for studies in which every site has all features, and without a lift")
	}
	test, err := table.Open(args[1], c, table.Options{AllowExtra: true, AllowOutOfRange: true})
	if err != nil {
		return err
	}
	sites, err := opt.sites(c, args[2:])
	if err != nil {
		return err
	}
	metrics := make([]metric.Metric, len(c.Metrics))
	for i, name := range c.Metrics {
		if metrics[i], err = metric.Named(name); err != nil {
			return err
		}
	}
	var all []*table.Table
	for _, s := range sites {
		all = append(all, s.rows)
	}
	prepare, err := lab.Preparation(c, all)
	if err != nil {
		return err
	}
	for i := range sites {
		s := &sites[i]
		if s.alone, err = lab.Baseline(ctx, c, prepare, []*table.Table{s.rows}, test, c.Metrics...); err != nil {
			return fmt.Errorf("%s alone: %w", s.name, err)
		}
		if err := opt.readPredicted(c, s, test); err != nil {
			return err
		}
	}
	central, err := lab.Baseline(ctx, c, prepare, all, test, c.Metrics...)
	if err != nil {
		return fmt.Errorf("all rows in one place: %w", err)
	}
	return printSites(stdout, sites, central, metrics, test.Rows())
}

// sites reads the tables that NAME=FILE names.
func (opt compareOptions) sites(c *contract.Contract, args []string) ([]sited, error) {
	var out []sited
	named := func(name string) bool { return slices.ContainsFunc(out, func(s sited) bool { return s.name == name }) }
	for _, a := range args {
		name, file, ok := strings.Cut(a, "=")
		if !ok || name == "" || file == "" {
			return nil, &cli.UsageError{Err: fmt.Errorf("%q is not NAME=FILE", a)}
		}
		if named(name) {
			return nil, &cli.UsageError{Err: fmt.Errorf("two tables of %q", name)}
		}
		t, err := table.Open(file, c, table.Options{DecimalComma: slices.Contains(opt.commas, name)})
		if err != nil {
			return nil, err
		}
		out = append(out, sited{name: name, rows: t})
	}
	for _, p := range append(slices.Clone(opt.commas), opt.predicted...) {
		if name, _, _ := strings.Cut(p, "="); !named(name) {
			return nil, &cli.UsageError{Err: fmt.Errorf("there is no site %q", name)}
		}
	}
	return out, nil
}

// readPredicted reads what concord predict --out wrote for a site, if it is named.
func (opt compareOptions) readPredicted(c *contract.Contract, s *sited, test *table.Table) error {
	for _, p := range opt.predicted {
		name, file, _ := strings.Cut(p, "=")
		if name != s.name {
			continue
		}
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		records, err := csv.NewReader(f).ReadAll()
		f.Close()
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		first, columns := 2, 2+len(c.Label.Levels) // line, class, a score each
		if len(c.Label.Levels) == 0 {
			first, columns = 1, 2 // line, number
		}
		if len(records) != test.Rows()+1 || len(records[0]) != columns {
			return fmt.Errorf("%s has %d lines of %d columns, want %d of %d: it is not of these new rows, or not of this study", file, len(records), len(records[0]), test.Rows()+1, columns)
		}
		scores := mat.NewDense(test.Rows(), columns-first, nil)
		for i, record := range records[1:] {
			for k, cell := range record[first:] {
				v, err := strconv.ParseFloat(cell, 64)
				if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
					return fmt.Errorf("%s: line %d, column %d is no number", file, i+2, first+k+1)
				}
				scores.Set(i, k, v)
			}
		}
		if s.predicted, err = lab.Judge(c, scores, test, c.Metrics...); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

func printSites(stdout io.Writer, sites []sited, central []float64, metrics []metric.Metric, rows int) error {
	together := slices.ContainsFunc(sites, func(s sited) bool { return s.predicted != nil })
	fmt.Fprintf(stdout, "On %d rows nobody trained on:\n\n", rows)
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "site\trows\t")
	for _, m := range metrics {
		fmt.Fprintf(w, "%s alone\t", m.Title)
		if together {
			fmt.Fprint(w, "together\t")
		}
		fmt.Fprint(w, "in one place\t")
	}
	fmt.Fprintln(w)
	for _, s := range sites {
		fmt.Fprintf(w, "%s\t%d\t", s.name, s.rows.Rows())
		for i := range metrics {
			fmt.Fprintf(w, "%.4f\t", s.alone[i])
			if together && s.predicted == nil {
				fmt.Fprint(w, "-\t")
			} else if together {
				fmt.Fprintf(w, "%.4f\t", s.predicted[i])
			}
			fmt.Fprintf(w, "%.4f\t", central[i])
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}
