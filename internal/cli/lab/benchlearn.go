package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"concord/internal/cli"
	"concord/learn"
	"concord/npy"
)

// learnFlags are the flags of concord-lab bench learn.
type learnFlags struct {
	spec             learn.Spec
	settings         []string
	x, y, score, out string
	numbers, json    bool
	repeat           int
	learner          learn.Learner
}

func benchLearnCommand(stdout io.Writer) *cobra.Command {
	var f learnFlags
	cmd := &cobra.Command{
		Use:   "learn --model M --x X.npy --y Y.npy [--score T.npy --out S.npy]",
		Short: "Time one fit of a learner to NumPy arrays",
		Long: `Fits a learner --repeat times to the rows of X.npy (n × d) and the labels 0, 1, ... of
Y.npy (n, or with --numbers n × q numbers), with a clock that runs during the fit
only. With --score and --out it then writes the scores of the rows of T.npy
(t × k: probabilities or decision values of the classes, or the numbers) as
float64.

--set gives a setting, for example --set c=10 --set hidden=256,64; which learner has
which is an error's answer.

--json prints one object: model, rows, inputs, outputs, seconds (min, median, max),
status, iterations, objective, peak_rss_bytes, backend, repeat.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return &cli.UsageError{Err: err}
			}
			return f.run(cmd.Context(), stdout)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.spec.Kind, "model", "", strings.Join(learn.Kinds(), ", "))
	flags.StringVar(&f.x, "x", "", "file of the rows")
	flags.StringVar(&f.y, "y", "", "file of the labels or numbers")
	flags.StringVar(&f.score, "score", "", "file of rows to score")
	flags.StringVar(&f.out, "out", "", "file for their scores")
	flags.StringArrayVar(&f.settings, "set", nil, "a setting, name=value; may be given several times")
	flags.Uint64Var(&f.spec.Seed, "seed", 0, "what a learner that draws draws from")
	flags.BoolVar(&f.numbers, "numbers", false, "learn numbers, not classes")
	flags.IntVar(&f.repeat, "repeat", 1, "measured fits")
	flags.BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

func (f *learnFlags) check() (err error) {
	for _, n := range []struct{ flag, value string }{{"model", f.spec.Kind}, {"x", f.x}, {"y", f.y}} {
		if n.value == "" {
			return fmt.Errorf("--%s is missing", n.flag)
		}
	}
	if (f.score == "") != (f.out == "") {
		return fmt.Errorf("--score and --out go together")
	}
	if f.repeat < 1 {
		return fmt.Errorf("--repeat is %d, must be 1 or more", f.repeat)
	}
	for _, s := range f.settings {
		name, value, ok := strings.Cut(s, "=")
		if !ok {
			return fmt.Errorf("--set is %q, must be name=value", s)
		}
		if err := f.spec.Set(name, value); err != nil {
			return unprefixed(err)
		}
	}
	if !slices.Contains(learn.Settings(f.spec.Kind), "seed") {
		f.spec.Seed = 0 // nothing is drawn
	}
	if f.learner, err = learn.New(f.spec); err != nil {
		return unprefixed(err)
	}
	return nil
}

func unprefixed(err error) error { return fmt.Errorf("%s", strings.TrimPrefix(err.Error(), "learn: ")) }

// learnRecord is what bench learn prints with --json.
type learnRecord struct {
	Model      string       `json:"model"`
	Rows       int          `json:"rows"`
	Inputs     int          `json:"inputs"`
	Outputs    int          `json:"outputs"`
	Seconds    seconds      `json:"seconds"`
	Status     learn.Status `json:"status"`
	Iterations int          `json:"iterations"`
	Objective  float64      `json:"objective"`
	PeakRSS    int64        `json:"peak_rss_bytes"`
	Backend    string       `json:"backend"`
	Repeat     int          `json:"repeat"`
}

func (f *learnFlags) run(ctx context.Context, stdout io.Writer) error {
	x, err := readMatrix(f.x)
	if err != nil {
		return err
	}
	y, err := f.target()
	if err != nil {
		return err
	}
	var model learn.Model
	times, err := measure(f.repeat, func() (err error) {
		model, err = f.learner.Fit(ctx, x, y)
		return err
	})
	if err != nil {
		return err
	}
	if f.score != "" {
		if err := f.writeScores(model); err != nil {
			return err
		}
	}
	report := model.Report()
	r := learnRecord{
		Model: f.spec.Kind, Rows: report.Rows, Inputs: report.Inputs, Outputs: report.Outputs, Seconds: times, Status: report.Status,
		Iterations: report.Iterations, Objective: report.Objective, PeakRSS: peakRSS(), Backend: backend(), Repeat: f.repeat,
	}
	if f.json {
		return json.NewEncoder(stdout).Encode(r)
	}
	_, err = fmt.Fprintf(stdout, "%s: %d × %d, %d outputs, %s\nseconds     %.4g median of %d, %.4g to %.4g\nstatus      %s, %d iterations\npeak memory %d MiB\n",
		r.Model, r.Rows, r.Inputs, r.Outputs, r.Backend, times.Median, f.repeat, times.Min, times.Max, r.Status, r.Iterations, r.PeakRSS>>20)
	return err
}

// maxClasses bounds the labels of a file.
const maxClasses = 10_000

// target reads Y.
func (f *learnFlags) target() (y learn.Target, err error) {
	m, err := readMatrix(f.y)
	if err != nil {
		return y, err
	}
	if f.numbers {
		return learn.Target{Values: m}, nil
	}
	n, q := m.Dims()
	if q != 1 {
		return y, fmt.Errorf("%s: %d columns of labels, want one", f.y, q)
	}
	y.Labels = make([]int, n)
	classes := 0
	for i := range n {
		v := m.At(i, 0)
		if k := int(v); float64(k) != v || k < 0 || k >= maxClasses {
			return y, fmt.Errorf("%s: the label of row %d is not a whole number from 0 to %d", f.y, i+1, maxClasses-1)
		}
		y.Labels[i] = int(v)
		classes = max(classes, y.Labels[i]+1)
	}
	for k := range classes {
		y.Classes = append(y.Classes, fmt.Sprint(k))
	}
	return y, nil
}

func (f *learnFlags) writeScores(model learn.Model) error {
	t, err := readMatrix(f.score)
	if err != nil {
		return err
	}
	scores, err := model.Scores(t)
	if err != nil {
		return inFile(f.score, err)
	}
	out, err := os.Create(f.out)
	if err != nil {
		return err
	}
	if err := npy.WriteMatrix(out, scores); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}

// readMatrix reads a file of a matrix, or of a vector as one column.
func readMatrix(path string) (*mat.Dense, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a file", path)
	}
	m, err := npy.ReadMatrix(file, npy.Limits{Input: info.Size()})
	if err != nil {
		return nil, inFile(path, err)
	}
	if m.IsEmpty() {
		return nil, fmt.Errorf("%s: the matrix is empty", path)
	}
	return m, nil
}
