package lab

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"concord/internal/chart"
	"concord/internal/cli"
	"concord/lab/experiment"
	"concord/wire"
)

func reproduceCommand(stdout, stderr io.Writer) *cobra.Command {
	var (
		opt         experiment.Options
		quick, full bool
		out         string
		check       bool
		quiet       bool
	)
	cmd := &cobra.Command{
		Use:   "reproduce E1",
		Short: "Run a published experiment and print our figures beside the published",
		Long: `Runs an experiment of the papers on Data Collaboration, and prints our figures
beside the published ones with the difference in standard errors.

` + experimentList() + `
Writes to DIR: E1.html, the report with its figures; E1.md, E1.csv and E1.json, the
same for other readers; figures as SVG. Finished draws are kept in
DIR/trials, so that an interrupted run goes on; delete that folder to begin anew.

--data names the folder of the data sets. One that is not there is an error that says
where it comes from; nothing is left out but by --only, which names runs. What stands
in for data that are not to be had is named in the report.

With --check the exit status is 1 if a figure is further from the published one than
is wanted, a statement about the order of methods does not hold, or a test of
significance ends otherwise.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if opt.Workers < 0 {
				return cli.Usagef("--workers is %d, must not be negative", opt.Workers)
			}
			opt.Size = experiment.Usual
			switch {
			case quick && full:
				return cli.Usagef("--quick and --full exclude each other")
			case quick:
				opt.Size = experiment.Quick
			case full:
				opt.Size = experiment.Full
			}
			e, err := experiment.Load(strings.ToUpper(args[0]))
			if err != nil {
				return &cli.UsageError{Err: plain(err)}
			}
			if out == "" {
				out = e.Name + "-out"
			}
			if info, err := os.Stat(out); err == nil && !info.IsDir() {
				return fmt.Errorf("--out %s: not a folder", out)
			}
			opt.Journals = filepath.Join(out, "trials")
			if !quiet {
				p := newProgress(stderr)
				opt.Progress = func(d experiment.Progress) {
					p.show(fmt.Sprintf("%s %d/%d %s", e.Name, d.Number, d.Of, d.Run), d.Progress)
				}
			}
			r, err := e.Run(cmd.Context(), opt)
			if err != nil {
				err = interrupted(cmd.Context(), err, "finished draws are in "+opt.Journals+", and the same command goes on")
				if errors.Is(err, fs.ErrNotExist) {
					err = wire.WithHint(err, "--data names the folder of the data sets; concord-lab data lists them")
				}
				return plain(err)
			}
			paths, err := writeReport(r, out)
			if err != nil {
				return err
			}
			if err := printReport(stdout, r, paths); err != nil {
				return err
			}
			if missed := r.Missed(); check && len(missed) > 0 {
				return fmt.Errorf("%s: %d figures are not as wanted: %s", e.Name, len(missed), strings.Join(missed, "; "))
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&quick, "quick", false, "a look with few repeats, under two minutes")
	flags.BoolVar(&full, "full", false, "as many repeats as the paper had")
	flags.StringVar(&opt.Data, "data", ".", "folder of the data sets")
	flags.StringVar(&out, "out", "", "folder for the report (default: E1-out)")
	flags.IntVar(&opt.Workers, "workers", 0, "draws computed side by side (default: the cores)")
	flags.StringSliceVar(&opt.Only, "only", nil, "runs to make, by name (default: all)")
	flags.BoolVar(&check, "check", false, "fail if a figure is not as wanted")
	flags.BoolVar(&quiet, "quiet", false, "show no progress")
	return cmd
}

// experimentList names the experiments with their titles.
func experimentList() string {
	var b strings.Builder
	for _, name := range experiment.Names() {
		e, err := experiment.Load(name)
		if err != nil {
			panic("lab: " + err.Error()) // embedded, and tested
		}
		fmt.Fprintf(&b, "  %s  %s (%s)\n", name, e.Title, e.Source)
	}
	return b.String()
}

// renamed is an error with another message.
type renamed struct {
	text string
	err  error
}

// Error says it in the words of the command.
func (r *renamed) Error() string { return r.text }

// Unwrap is the error in its own words.
func (r *renamed) Unwrap() error { return r.err }

// svg writes a figure.
func svg(c chart.Chart) func(io.Writer) error {
	return func(w io.Writer) error {
		figure, err := chart.SVG(c)
		if err != nil {
			return err
		}
		_, err = io.WriteString(w, string(figure))
		return err
	}
}

// writeReport writes all files of a report and returns their paths.
func writeReport(r *experiment.Report, dir string) ([]string, error) {
	var paths []string
	pictures, err := r.Pictures()
	if err != nil {
		return nil, err
	}
	for _, p := range pictures {
		path := filepath.Join(dir, p.Name+".svg")
		if err := whole(path, svg(p.Chart)); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	for _, f := range []struct {
		ending string
		write  func(io.Writer) error
	}{{"csv", r.CSV}, {"json", r.JSON}, {"md", r.Markdown}, {"html", r.HTML}} {
		path := filepath.Join(dir, r.Name+"."+f.ending)
		if err := whole(path, f.write); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: not written", path), err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// printReport prints ours beside theirs, and what was written.
func printReport(stdout io.Writer, r *experiment.Report, paths []string) error {
	w := bufio.NewWriter(stdout) // which keeps the first error
	fmt.Fprintf(w, "%s: %s (%s)\n", r.Name, r.Title, r.Source)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if len(r.Figures) > 0 {
		fmt.Fprintln(t, "\nrun\tmethod\tmodel\tmetric\tours\tpublished\tdifference\tstd errors\twanted")
	}
	for _, f := range r.Figures {
		run := f.Run
		if f.X != 0 {
			run = fmt.Sprintf("%s at %v", f.Run, f.X)
		}
		wanted := ""
		if f.Reached != nil {
			wanted = "reached"
			if !*f.Reached {
				wanted = "missed"
			}
		}
		errs := ""
		if f.StandardErrors != 0 {
			errs = fmt.Sprintf("%+.1f", f.StandardErrors)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%.4g\t%.4g\t%+.3g\t%s\t%s\n", run, f.Name, f.Model, f.Metric, f.Mean, f.Published, f.Difference, errs, wanted)
	}
	t.Flush()
	for _, other := range r.Compared() {
		fmt.Fprintf(w, "\nBeside %s:\n%s\n", other, strings.ReplaceAll(r.Words(other), "\n\n", "\n"))
	}
	for _, v := range r.Times {
		fmt.Fprintf(w, "\n%s: slopes over %s\n", v.Name, v.Axis)
		for _, m := range v.Methods {
			base, _, _ := strings.Cut(m, ":")
			published := ""
			if s, ok := v.Slopes[base]; ok {
				published = fmt.Sprintf(", published %.2f", s)
			}
			fmt.Fprintf(w, "  %-16s %.2f%s; %.3g s at %v\n", m, v.Slope[m], published, v.Median[m][len(v.X)-1], v.X[len(v.X)-1])
		}
	}
	for _, v := range r.Traffic {
		fmt.Fprintf(w, "\n%s: %.4g GB, a round of averaging %.4g GB, as much after %.3g rounds\n", v.Name, v.Total/1e9, v.FedAvgRound/1e9, v.BreakEven)
	}
	for _, m := range r.Missed() {
		fmt.Fprintf(w, "not as wanted: %s\n", m)
	}
	fmt.Fprintf(w, "\nwrote %s\n", strings.Join(paths, " "))
	return w.Flush()
}
