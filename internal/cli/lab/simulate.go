package lab

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	anchorspec "concord/anchor/spec"
	basisspec "concord/basis/spec"
	"concord/contract"
	"concord/internal/cli"
	"concord/lab"
	"concord/lab/dataset"
	"concord/learn"
)

// simulateFlags are the flags of concord-lab simulate.
type simulateFlags struct {
	setting  lab.Setting
	data     dataset.Options
	task     string
	study    string
	public   []string
	anchor   lab.Anchor
	basis    string
	dim      int
	delta    float64
	noise    *contract.Noise
	protocol string
	answers  string
	align    []string
	alignDim int
	lift     int
	gamma    float64
	model    string
	set      []string
	split    string
	repeats  lab.Repeats
	json     string
	rows     []int
	quiet    bool
}

func simulateCommand(stdout, stderr io.Writer) *cobra.Command {
	var f simulateFlags
	cmd := &cobra.Command{
		Use:   "simulate DATA --label COL --parties c --rows n_i --test n --align M[,M...] --model NAME",
		Short: "Simulate a study on a table: would collaboration be worth it?",
		Long: `Divides the rows of DATA (.csv, .csv.gz, .parquet or .npz) over parties, lets them
collaborate, and compares with what each would have alone (local) and with what
somebody would have who sees all rows (central). Everything is drawn anew --repeat
times, and every number is repeated by the same --seed.

Columns of numbers are features as they are, columns of text become categories
(0 and 1, without the first level). Features are standardised by pooled figures and
missing numbers take the pooled mean, unless --standardise says otherwise.

anchors      ` + strings.Join(anchorspec.Kinds(), " ") + `
bases        ` + strings.Join(basisspec.Kinds(), " ") + `
alignments   ls gep opp odc gopp rdp consensus; ls-sigma ls-random gep-weighted
             odc-random rdp-ls rdp-opp; with +unit behind it, columns of unit mean
             square, without which ls and gep are too small for penalised models
models       ridge logistic svm-linear svm mlp forest boosting knn, with --set
baselines    central local fedavg dp:EPSILON

With --lift D the columns go through D random Fourier features first, so that a linear
model follows what is nonlinear in them.

With --views parties hold partly different columns; --shared of them are in every
view. Central then is somebody who sees all columns of all rows.

With --study, parties, features, label, anchor, basis, alignment, model and
metrics come from a contract's study.yaml; flags that are given as well count.

--json FILE (- for standard output) holds {"settings", "results", "tests", "notes"}:
results are {"method", "metric", "mean", "std", "ci95", "n"}, where ci95 is half the
width of Student's interval of the mean; tests are paired one-sided t-tests of each
method against local.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return plain(f.run(cmd, args[0], stdout, stderr))
		},
	}
	flags := cmd.Flags()
	s := &f.setting
	flags.StringVar(&f.data.Label, "label", "", "column to predict (default: label)")
	flags.StringVar(&f.data.Positive, "positive", "", "the class to find, of two (default: the second in order)")
	flags.StringVar(&f.task, "task", "", "classes or numbers, where the label leaves it open")
	flags.StringSliceVar(&f.data.Drop, "drop", nil, "columns to leave out")
	flags.StringVar(&f.study, "study", "", "study.yaml to take the settings from")
	flags.IntVar(&s.Parties, "parties", 0, "number of parties")
	flags.IntSliceVar(&f.rows, "rows", nil, "rows of each party: one number, or one for each, with commas")
	flags.IntVar(&s.Test, "test", 0, "rows to test with")
	flags.IntVar(&f.dim, "dim", 0, "columns l that leave (default: 80 % of the features)")
	flags.StringVar(&f.anchor.Kind, "anchor", anchorspec.Orthonormal, "kind of the anchor")
	flags.IntVar(&f.anchor.Rows, "anchor-rows", 0, "rows of the anchor (default: the features, or 1000)")
	flags.StringSliceVar(&f.public, "public", nil, "tables of public rows, for --anchor public; their columns must be those of DATA")
	flags.StringVar(&f.basis, "basis", "", "kind of the bases (default: pca, under nri pca-perturbed)")
	flags.Float64Var(&f.delta, "delta", 0.05, "noise of pca-perturbed bases and low-rank anchors")
	flags.StringVar(&f.protocol, "protocol", "dc", "dc, or nri: only anchor predictions come back")
	flags.StringVar(&f.answers, "answers", "hard", "anchor predictions of nri: hard, classes, or soft, scores")
	flags.StringSliceVar(&f.align, "align", nil, "alignments to compare (default: odc)")
	flags.StringVar(&f.model, "model", "", "what is trained (default: logistic, for numbers ridge)")
	flags.StringSliceVar(&f.set, "set", nil, "settings of the model: hidden=64, epochs=20, ...")
	flags.IntVar(&f.repeats.Count, "repeat", 10, "how often everything is drawn")
	flags.Uint64Var(&f.repeats.Seed, "seed", 1, "seed of all draws")
	flags.StringVar(&f.split, "split", "even", "how rows are divided: even, skewed, dirichlet, classes, or by:COL")
	flags.IntVar(&f.lift, "lift", 0, "random Fourier features before the basis: so many columns (default: none)")
	flags.Float64Var(&f.gamma, "gamma", 0, "of the kernel exp(-gamma |x-y|^2) that --lift approximates (default: 1/features)")
	flags.IntVar(&s.Views, "views", 0, "deal the columns at random over so many views, which parties hold in turn")
	flags.IntVar(&s.Shared, "shared", 0, "columns that every view has")
	flags.IntVar(&f.alignDim, "align-dim", 0, "columns d of the aligned rows, for ls, gep and consensus (default: each method's)")
	flags.BoolVar(&s.Halves, "halves", false, "half of the parties hold half of the columns, the others the other")
	flags.Float64Var(&s.Alpha, "alpha", 0.5, "concentration of dirichlet: the smaller, the fewer classes a party has")
	flags.StringVar(&s.Standardise, "standardise", "pooled", "by whose figures: pooled, all, party or none")
	flags.StringSliceVar(&s.Baselines, "baseline", []string{"central", "local"}, "what to compare with; central and local always are")
	flags.StringSliceVar(&s.Metrics, "metric", nil, "metrics (default: roc_auc and accuracy, accuracy for more classes, rmse for numbers)")
	flags.IntVar(&f.repeats.Workers, "workers", 0, "draws computed side by side (default: the cores)")
	flags.StringVar(&f.repeats.Journal, "journal", "", "file that keeps finished draws, so that an interrupted run goes on")
	flags.StringVar(&f.json, "json", "", "write the results to this file; - is standard output")
	flags.BoolVar(&f.quiet, "quiet", false, "show no progress")
	return cmd
}

func (f *simulateFlags) run(cmd *cobra.Command, path string, stdout, stderr io.Writer) error {
	ctx := cmd.Context()
	given := func(name string) bool { return cmd.Flags().Changed(name) }
	var agreed *contract.Contract
	if f.study != "" {
		var err error
		if agreed, err = readStudy(f.study); err != nil {
			return err
		}
		f.adopt(agreed, given)
	}
	for _, check := range []func() error{f.resolve, f.checkFlags, func() error { return f.missing(given) }} {
		if err := check(); err != nil {
			return &cli.UsageError{Err: err}
		}
	}
	inputs := append([]string{path, f.study}, f.public...)
	if err := writable("--journal", f.repeats.Journal, inputs...); err != nil {
		return err
	}
	if err := writable("--json", f.json, append(inputs, f.repeats.Journal)...); err != nil {
		return err
	}
	data, err := dataset.Open(path, f.data)
	if err != nil {
		return err
	}
	if agreed != nil {
		if err := f.restrict(data, agreed); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	if c := &f.setting.Cases[0]; c.Lift > 0 && c.Gamma == 0 {
		c.Gamma = 1 / float64(len(data.Features))
	}
	if err := f.learner(data, agreed, given("model")); err != nil {
		return &cli.UsageError{Err: err}
	}
	if f.repeats.Public, err = f.readPublic(data, agreed); err != nil {
		return err
	}
	if _, err := f.setting.Resolve(); err != nil {
		return &cli.UsageError{Err: err}
	}
	if !f.quiet {
		f.repeats.Progress = newProgress(stderr).draws
	}
	results, err := f.setting.Repeat(ctx, data, f.repeats)
	if err != nil {
		hint := "with --journal FILE finished draws are kept, and the same command goes on"
		if f.repeats.Journal != "" {
			hint = "finished draws are in " + f.repeats.Journal + ", and the same command goes on"
		}
		return interrupted(ctx, err, hint)
	}
	data.Notes = append(data.Notes, copiesNote(data)...)
	return f.print(stdout, path, data, results)
}

func readStudy(path string) (*contract.Contract, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c, err := contract.ParseYAML(b)
	if err != nil {
		return nil, inFile(path, err)
	}
	return c, nil
}

// adopt takes from a contract what no flag says.
func (f *simulateFlags) adopt(c *contract.Contract, given func(string) bool) {
	if !given("parties") {
		f.setting.Parties = c.Parties
	}
	if !given("label") {
		f.data.Label = c.Label.Name
	}
	if !given("positive") {
		f.data.Positive = c.Label.Positive
	}
	if !given("task") {
		f.task = "classes"
		if c.Label.Type == "number" {
			f.task = "numbers"
		}
	}
	if !given("anchor") {
		f.anchor.Kind = c.Anchor.Kind
		if !given("anchor-rows") {
			f.anchor.Rows = c.Anchor.Rows
		}
	}
	if !given("basis") {
		f.basis = c.Basis.Kind
	}
	if !given("dim") {
		f.dim = c.Basis.Dim
	}
	if !given("protocol") {
		f.protocol = c.Protocol
	}
	if !given("answers") && c.Answers != "" {
		f.answers = c.Answers
	}
	if !given("delta") && c.Basis.Delta > 0 {
		f.delta = c.Basis.Delta
	}
	f.noise = c.Noise
	if !given("align") {
		name := c.Alignment.Method
		if c.Alignment.Target != "" && c.Alignment.Target != "identity" {
			name += "-" + c.Alignment.Target
		}
		f.align = []string{name}
		if !given("align-dim") && c.Alignment.Dim > 0 {
			f.alignDim = c.Alignment.Dim
		}
	}
	if c.Lift != nil && !given("lift") {
		f.lift = c.Lift.Dim
		if !given("gamma") {
			f.gamma = c.Lift.Gamma
		}
	}
	if !given("views") && !given("shared") && !given("halves") {
		for _, v := range c.Views {
			f.setting.ViewColumns = append(f.setting.ViewColumns, v.Features)
			f.setting.ViewDims = append(f.setting.ViewDims, v.Dim)
		}
		if len(c.Views) > 0 && !given("align") && !given("align-dim") {
			f.alignDim = c.D()
		}
	}
	if !given("metric") {
		f.setting.Metrics = c.Metrics
	}
	if !given("standardise") {
		f.setting.Standardise = "none" // the contract's ranges are applied
	}
}

// resolve makes the case and the split of the flags.
func (f *simulateFlags) resolve() error {
	if by, ok := strings.CutPrefix(f.split, "by:"); ok {
		f.setting.Split, f.data.By = "by", by
	} else {
		f.setting.Split = f.split
	}
	switch len(f.rows) {
	case 0:
	case 1:
		f.setting.Rows = f.rows[0]
	default:
		if f.setting.Parties != 0 && f.setting.Parties != len(f.rows) {
			return fmt.Errorf("--rows has %d numbers for %d parties", len(f.rows), f.setting.Parties)
		}
		f.setting.Sizes, f.setting.Parties = f.rows, 0
	}
	switch f.task {
	case "":
	case "classes":
		f.data.Task = dataset.Classes
	case "numbers":
		f.data.Task = dataset.Regression
	default:
		return fmt.Errorf("--task is %q, want classes or numbers", f.task)
	}
	for _, b := range []string{"local", "central"} {
		if !slices.Contains(f.setting.Baselines, b) {
			f.setting.Baselines = append([]string{b}, f.setting.Baselines...)
		}
	}
	if f.basis == "" {
		f.basis = basisspec.PCA
		if f.protocol == "nri" {
			f.basis = basisspec.Perturbed
		}
	}
	b, ok := lab.BasisOf(f.basis)
	if !ok {
		return fmt.Errorf("there is no basis %q, want one of: %s", f.basis, strings.Join(basisspec.Kinds(), " "))
	}
	b.Dim, b.Delta, f.anchor.Delta = f.dim, f.delta, f.delta
	if !(f.delta > 0) || math.IsInf(f.delta, 0) {
		return fmt.Errorf("--delta is %v, must be positive and finite", f.delta)
	}
	f.anchor.Data = f.public
	if f.anchor.Kind == anchorspec.Public && len(f.public) == 0 {
		return fmt.Errorf("--anchor public needs --public FILE")
	}
	c := lab.Case{Protocol: f.protocol, Answers: f.answers, Anchor: f.anchor, Basis: b}
	if len(f.align) == 0 {
		f.align = []string{"odc"}
	}
	for _, name := range f.align {
		a, err := lab.ParseAlignment(name)
		if err != nil {
			return err
		}
		if f.alignDim != 0 {
			a = a.WithDim(f.alignDim)
		}
		c.Align = append(c.Align, a)
	}
	if f.noise != nil {
		sigma, err := f.noise.Deviation()
		if err != nil {
			return err
		}
		c.Sigma, c.Clip = sigma, f.noise.Clip
	}
	c.Lift, c.Gamma = f.lift, f.gamma
	f.setting.Cases = []lab.Case{c}
	return nil
}

// learner makes the model: --model with --set, the contract's, or the usual one.
func (f *simulateFlags) learner(data *dataset.Data, agreed *contract.Contract, given bool) error {
	spec := learn.Spec{Kind: f.model}
	switch {
	case given:
	case agreed != nil:
		spec = agreed.Model.Spec()
		if local := agreed.LocalModel; local != nil && !reflect.DeepEqual(*local, agreed.Model) {
			return fmt.Errorf("the study has the model %s and the local model %s: simulate trains one kind at both; choose it with --model", agreed.Model, local)
		}
	case data.Y.Classification():
		spec.Kind = "logistic"
	default:
		spec.Kind = "ridge"
	}
	for _, s := range f.set {
		name, value, ok := strings.Cut(s, "=")
		if !ok {
			return fmt.Errorf("--set %s: want name=value", s)
		}
		if err := spec.Set(name, value); err != nil {
			return unprefixed(err)
		}
	}
	if _, err := learn.New(spec); err != nil {
		return unprefixed(err)
	}
	f.setting.Models = []lab.Model{{Name: spec.Kind, Spec: spec}}
	return nil
}

// restrict keeps the contract's features, in its order and mapped by its ranges.
func (f *simulateFlags) restrict(data *dataset.Data, c *contract.Contract) error {
	for _, feature := range c.Features {
		if feature.Type != contract.Numeric || feature.Missing != contract.MissingRefuse {
			return fmt.Errorf("feature %q is not a number, or may be missing; simulate takes contracts of numbers only", feature.Name)
		}
	}
	n, _ := data.X.Dims()
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	all, _ := data.Take(rows)
	x := mat.NewDense(n, c.M(), nil)
	var names []string
	for j, feature := range c.Features {
		at := slices.Index(data.Features, feature.Name)
		if at < 0 {
			return fmt.Errorf("no column of numbers called %q, which the contract names, or it does not vary", feature.Name)
		}
		names = append(names, feature.Name)
		for i := range n {
			v := all.At(i, at)
			if c.Standardise == "range" && f.setting.Standardise == "none" {
				v = (2*v - feature.Range.Min - feature.Range.Max) / (feature.Range.Max - feature.Range.Min)
			}
			x.Set(i, j, v)
		}
	}
	data.X, data.Features = dataset.Dense(x), names
	return nil
}

// readPublic reads the tables of public rows, with the columns of the data.
func (f *simulateFlags) readPublic(data *dataset.Data, agreed *contract.Contract) (map[string]*dataset.Data, error) {
	sets := map[string]*dataset.Data{}
	for _, path := range f.public {
		d, err := dataset.Open(path, f.data)
		if err != nil {
			return nil, err
		}
		if agreed != nil {
			if err := f.restrict(d, agreed); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
		}
		if err := sameColumns(path, d, data); err != nil {
			return nil, err
		}
		sets[path] = d
	}
	return sets, nil
}

// simulated is the JSON of a simulation. Its names are stable.
type simulated struct {
	Settings simulatedSettings `json:"settings"`
	Results  []simulatedResult `json:"results"`
	Tests    []simulatedTest   `json:"tests"`
	Notes    []string          `json:"notes"`

	parties string // how many, for people
}

type simulatedSettings struct {
	Data     string      `json:"data"`
	Rows     int         `json:"data_rows"`
	Features int         `json:"data_features"`
	Seed     uint64      `json:"seed"`
	Repeat   int         `json:"repeat"`
	Study    lab.Setting `json:"study"`
}

type simulatedResult struct {
	Method string  `json:"method"`
	Metric string  `json:"metric"`
	Mean   float64 `json:"mean"`
	Std    float64 `json:"std"`
	CI95   float64 `json:"ci95"`
	N      int     `json:"n"`
}

type simulatedTest struct {
	Better     string  `json:"better"`
	Worse      string  `json:"worse"`
	Metric     string  `json:"metric"`
	Difference float64 `json:"mean_difference"`
	P          float64 `json:"p"`
}

func (f *simulateFlags) print(stdout io.Writer, path string, data *dataset.Data, r *lab.Results) error {
	resolved, err := f.setting.Resolve()
	if err != nil {
		return err
	}
	n, m := data.X.Dims()
	out := simulated{
		Settings: simulatedSettings{filepath.Base(path), n, m, f.repeats.Seed, r.Repeats, resolved},
		parties:  parties(resolved.Parties, data),
		Results:  []simulatedResult{}, Tests: []simulatedTest{}, Notes: append(append([]string{}, data.Notes...), r.Notes...),
	}
	for _, s := range r.Summaries() {
		out.Results = append(out.Results, simulatedResult{s.Method, s.Metric, s.Mean, s.Std, s.CI95, s.N})
		if s.Metric == lab.Seconds || s.Method == "local" {
			continue
		}
		local := lab.Cell{Method: "local", Model: s.Model, Metric: s.Metric}
		better, worse := s.Cell, local
		if loss(s.Metric) {
			better, worse = worse, better
		}
		if t, err := r.Better(better, worse); err == nil { // one draw has no test
			out.Tests = append(out.Tests, simulatedTest{s.Method, "local", s.Metric, t.Mean, t.P})
		}
	}
	if f.json != "" {
		if err := writeJSON(f.json, stdout, out); err != nil || f.json == "-" {
			return err
		}
	}
	return out.table(stdout)
}
