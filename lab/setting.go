package lab

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"concord/learn"
	"concord/metric"
)

// Setting is one simulated study. Names of fields in files are the yaml tags.
type Setting struct {
	// Parties is c. Required, unless Split is by, where zero means one for each
	// value of the column.
	Parties int `yaml:"parties" json:"parties,omitempty"`
	// Rows is n_i, the same for every party. Required; for by and classes zero means
	// all rows that fall to a party, and with by a number is the most it takes.
	Rows int `yaml:"rows" json:"rows,omitempty"`
	// Sizes are the rows of each party in place of Parties and Rows, where they
	// differ; not for classes and by.
	Sizes []int `yaml:"sizes" json:"sizes,omitempty"`
	// Test is the number of test rows, the same for all parties. Required.
	Test int `yaml:"test" json:"test,omitempty"`
	// Pool is how many rows are drawn before anything else; zero means all.
	Pool int `yaml:"pool" json:"pool,omitempty"`
	// Split says how rows are divided: even (default), skewed, dirichlet, classes or
	// by. See package lab/split.
	Split string `yaml:"split" json:"split,omitempty"`
	// Alpha is the concentration of dirichlet; zero means 0.5.
	Alpha float64 `yaml:"alpha" json:"alpha,omitempty"`
	// Stratified says what keeps the shares of the classes: nothing (none, default),
	// the pool, or all: pool, test rows and, where the split is even, parties.
	Stratified string `yaml:"stratified" json:"stratified,omitempty"`
	// PublishedTest draws test rows from the data set's own test part, and the
	// parties' from the rest.
	PublishedTest bool `yaml:"published_test" json:"published_test,omitempty"`
	// Halves gives the first half of the parties the first half of the columns, and
	// the others the other; what a party lacks is zero after standardisation.
	Halves bool `yaml:"halves" json:"halves,omitempty"`
	// Views deals the features at random over so many views, as evenly as can be, beside
	// Shared features that every view has; a category's columns stay together. Party i holds view i mod Views, and what it
	// lacks is zero after standardisation. Zero means that everybody has all columns.
	// The central baseline sees all columns of all rows, which nobody has then.
	Views  int `yaml:"views" json:"views,omitempty"`
	Shared int `yaml:"shared" json:"shared,omitempty"`
	// ViewColumns are the views by the names of their columns, in place of Views and
	// Shared, and ViewDims what l is for each of them; nil for the basis's rule.
	ViewColumns [][]string `yaml:"view_columns" json:"view_columns,omitempty"`
	ViewDims    []int      `yaml:"view_dims" json:"view_dims,omitempty"`
	// Standardise says by whose mean and deviation features are brought to mean 0 and
	// deviation 1: pooled (default), of all parties' rows; all, of every row of the
	// pool, test rows too; party, of each party's own rows; none. What is missing
	// becomes the mean.
	Standardise string `yaml:"standardise" json:"standardise,omitempty"`
	// KeepBinary leaves columns of 0 and 1, such as coded categories, as they are.
	KeepBinary bool `yaml:"keep_binary" json:"keep_binary,omitempty"`
	// Score says who scores the test rows: all, every party all of them, and the mean
	// over parties counts; spread (default for more than 20 parties), row j the party
	// j mod c, which is as fair and c times cheaper.
	Score string `yaml:"score" json:"score,omitempty"`
	// Models are trained as h and, under nri, as tᵢ. Required.
	Models []Model `yaml:"models" json:"models,omitempty"`
	// Metrics are names of package metric; none means roc_auc and accuracy for two
	// classes, accuracy for more, rmse for numbers.
	Metrics []string `yaml:"metrics" json:"metrics,omitempty"`
	// Baselines are central, local, fedavg, central-seen, and dp with its ε, as dp:8.
	// central-seen is central with what parties with views lack at zero, in all rows and
	// in the test rows as each party has them: what missing columns cost even who sees
	// everything that is there. Nil means central and local.
	Baselines []string `yaml:"baselines" json:"baselines,omitempty"`
	// Sensitivity is what one number of the data can change by, for dp: 1 where
	// pixels run from 0 to 1. Noise is then calibrated for one number, not for a row.
	// Zero means that rows are cut to the norm √m and noise covers a whole row.
	Sensitivity float64 `yaml:"sensitivity" json:"sensitivity,omitempty"`
	// Cases are the collaborations. Required.
	Cases []Case `yaml:"cases" json:"cases,omitempty"`
}

// Model is a learner with the name that results have it by.
type Model struct {
	Name string     `yaml:"name" json:"name,omitempty"`
	Spec learn.Spec `yaml:"-" json:"spec"`
}

// Case is a way to collaborate: protocol, anchor, bases, and the alignments to
// compare on the same intermediate representations.
type Case struct {
	// Name is for results; it may be empty where there is one case.
	Name string `yaml:"name" json:"name,omitempty"`
	// Protocol is dc (default) or nri.
	Protocol string `yaml:"protocol" json:"protocol,omitempty"`
	// Answers are the anchor predictions of nri: hard (default), classes, or soft,
	// scores.
	Answers string `yaml:"answers" json:"answers,omitempty"`
	// OneClass says what a party makes of hard answers that are all of one class, as
	// they are where the aligned rows are too small for the model's penalty: constant
	// (default), a model that always gives it, so that its ROC-AUC is 0.5; or refuse,
	// an error.
	OneClass string `yaml:"one_class" json:"one_class,omitempty"`
	// Anchor is what all parties map.
	Anchor Anchor `yaml:"anchor" json:"anchor"`
	// Basis is how each party maps.
	Basis Basis `yaml:"basis" json:"basis"`
	// Lift maps the columns to so many random Fourier features before the basis, for the
	// kernel exp(−Gamma‖x − y‖²); zero for none. Anchors are then uniform, normal or
	// orthonormal: made of the lifted columns, under nri of those before, and lifted.
	Lift  int     `yaml:"lift" json:"lift,omitempty"`
	Gamma float64 `yaml:"gamma" json:"gamma,omitempty"`
	// Sigma is the deviation of Gaussian noise on every number of X̃, and Clip the
	// length that rows are cut to before; zero for none.
	Sigma float64 `yaml:"sigma" json:"sigma,omitempty"`
	Clip  float64 `yaml:"clip" json:"clip,omitempty"`
	// Align are the alignments. Required.
	Align []Alignment `yaml:"-" json:"align"`
}

// Anchor says which anchor is made.
type Anchor struct {
	// Kind is uniform, normal, orthonormal, public, public-mixed, low-rank, smote or
	// gaussian (of pooled covariances); empty means orthonormal. METHODS: see package
	// anchor.
	Kind string `yaml:"kind" json:"kind,omitempty"`
	// Rows is a; zero means the kind's default.
	Rows int `yaml:"rows" json:"rows,omitempty"`
	// Times is a as a multiple of the columns, in place of Rows.
	Times float64 `yaml:"times" json:"times,omitempty"`
	// Rank is that of low-rank; zero means the dimension of the basis.
	Rank int `yaml:"rank" json:"rank,omitempty"`
	// Delta is the noise of low-rank; zero means 0.05.
	Delta float64 `yaml:"delta" json:"delta,omitempty"`
	// Neighbours are those of smote; zero means 5.
	Neighbours int `yaml:"neighbours" json:"neighbours,omitempty"`
	// Data names the data sets whose rows are public.
	Data []string `yaml:"data" json:"data,omitempty"`
}

// Basis says how F_i is made: F_i = V E.
type Basis struct {
	// Kind is what V is made of: svd (default), pca, pca-perturbed or random.
	Kind string `yaml:"kind" json:"kind,omitempty"`
	// Common makes V the same for all: first, from party 1's rows; pooled, from the
	// second moments of all rows; pooled-equal, where each party counts the same
	// whatever its rows; anchor, from the pooled second moments of the anchor. Empty
	// means each its own.
	Common string `yaml:"common" json:"common,omitempty"`
	// Sketch makes a pooled V from a sketch of so many columns in place of all second
	// moments (at least l; l + 10 is usual), and Power is the number of power steps after
	// it. Zero means all second moments.
	Sketch int `yaml:"sketch" json:"sketch,omitempty"`
	Power  int `yaml:"power" json:"power,omitempty"`
	// Energy asks for the share of all parties' sum of squares that the bases keep, with
	// the mix haar or none: the metric energy of the method basis.
	Energy bool `yaml:"energy" json:"energy,omitempty"`
	// Mix is E: haar (default), uniform on [0, 1), normal, or none.
	Mix string `yaml:"mix" json:"mix,omitempty"`
	// Delta is the noise of pca-perturbed; zero means 0.05.
	Delta float64 `yaml:"delta" json:"delta,omitempty"`
	// Dim is l; Fraction l/m, rounded down; Variance the share of the variance of
	// party 1's rows below which l directions stay. One of them at most; none means
	// the fraction 0.8. l is never more than fits the smallest party.
	Dim      int     `yaml:"dim" json:"dim,omitempty"`
	Fraction float64 `yaml:"fraction" json:"fraction,omitempty"`
	Variance float64 `yaml:"variance" json:"variance,omitempty"`
}

// Names of what settings choose from.
var (
	Splits       = []string{"even", "skewed", "dirichlet", "classes", "by"}
	stratifieds  = []string{"none", "pool", "all"}
	standardises = []string{"pooled", "all", "party", "none"}
	scorings     = []string{"all", "spread"}
	protocols    = []string{"dc", "nri"}
	oneClasses   = []string{"constant", "refuse"}
	answers      = []string{"hard", "soft"}
	AnchorKinds  = []string{"uniform", "normal", "orthonormal", "public", "public-mixed", "low-rank", "smote", "gaussian"}
	BasisKinds   = []string{"svd", "pca", "pca-perturbed", "random"}
	commons      = []string{"", "first", "pooled", "pooled-equal", "anchor"}
	mixes        = []string{"haar", "uniform", "normal", "none"}
)

// Resolve returns the setting with its defaults filled in, or what is wrong with
// it.
func (s Setting) Resolve() (Setting, error) {
	var problems []error
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf("lab: "+format, args...)) }
	oneOf := func(name string, value *string, known []string) {
		if *value == "" && !slices.Contains(known, "") {
			*value = known[0]
		}
		if !slices.Contains(known, *value) {
			wrong("%s is %q, want one of: %s", name, *value, strings.Join(slices.DeleteFunc(slices.Clone(known), func(k string) bool { return k == "" }), ", "))
		}
	}
	share := func(name string, v float64) {
		if !(v >= 0 && v < 1) {
			wrong("%s is %v, must be at least 0 and below 1", name, v)
		}
	}
	noise := func(name string, v float64) {
		if !(v >= 0) || math.IsInf(v, 0) {
			wrong("%s is %v, must be finite and not negative", name, v)
		}
	}
	oneOf("split", &s.Split, Splits)
	oneOf("stratified", &s.Stratified, stratifieds)
	oneOf("standardise", &s.Standardise, standardises)
	if s.Score == "" && max(s.Parties, len(s.Sizes)) > 20 {
		s.Score = "spread"
	}
	oneOf("score", &s.Score, scorings)
	if s.Sizes != nil {
		if s.Parties != 0 && s.Parties != len(s.Sizes) || s.Rows != 0 {
			wrong("sizes of %d parties, and parties %d, rows %d: the first says it all", len(s.Sizes), s.Parties, s.Rows)
		}
		if s.Split == "classes" || s.Split == "by" {
			wrong("sizes do not go with the split %s", s.Split)
		}
		for i, n := range s.Sizes {
			if n < 1 {
				wrong("party %d has %d rows, must have at least 1", i+1, n)
			}
		}
		s.Parties = len(s.Sizes)
	}
	if s.Parties < 1 && s.Split != "by" || s.Parties < 0 || s.Parties > maxParties {
		wrong("parties is %d, must be from 1 to %d", s.Parties, maxParties)
	}
	if s.Rows < 1 && s.Sizes == nil && s.Split != "by" && s.Split != "classes" || s.Rows < 0 {
		wrong("rows is %d, must be positive", s.Rows)
	}
	if s.Test < 1 {
		wrong("test is %d, must be positive", s.Test)
	}
	if s.Alpha == 0 {
		s.Alpha = 0.5
	}
	s.checkViews(wrong)
	noise("alpha", s.Alpha)
	noise("sensitivity", s.Sensitivity)
	if s.Baselines == nil {
		s.Baselines = []string{"central", "local"}
	}
	for i, b := range s.Baselines {
		if _, err := parseBaseline(b); err != nil {
			problems = append(problems, err)
		}
		if slices.Contains(s.Baselines[:i], b) {
			wrong("the baseline %s is there twice", b)
		}
	}
	if len(s.Models) == 0 {
		wrong("no models; there are %s", strings.Join(learn.Kinds(), ", "))
	}
	names := map[string]bool{}
	for i := range s.Models {
		m := &s.Models[i]
		if m.Name == "" {
			m.Name = m.Spec.Kind
		}
		if names[m.Name] {
			wrong("two models are called %q", m.Name)
		}
		names[m.Name] = true
		if _, err := learn.New(m.Spec); err != nil {
			problems = append(problems, fmt.Errorf("lab: model %s: %w", m.Name, err))
		}
	}
	for i, name := range s.Metrics {
		if _, err := metric.Named(name); err != nil {
			problems = append(problems, fmt.Errorf("lab: %w", err))
		}
		if slices.Contains(s.Metrics[:i], name) {
			wrong("the metric %s is there twice", name)
		}
	}
	if len(s.Cases) == 0 {
		wrong("no case to compare with the baselines")
	}
	s.Cases = slices.Clone(s.Cases)
	names = map[string]bool{}
	for i := range s.Cases {
		c := &s.Cases[i]
		if names[c.Name] {
			wrong("two cases are called %q", c.Name)
		}
		names[c.Name] = true
		if strings.Contains(c.Name, "/") {
			wrong("the case's name %q has a slash", c.Name)
		}
		oneOf("protocol", &c.Protocol, protocols)
		oneOf("answers", &c.Answers, answers)
		oneOf("one_class", &c.OneClass, oneClasses)
		c.checkLift(s.viewed() || s.Halves, wrong)
		noise("sigma", c.Sigma)
		noise("clip", c.Clip)
		if c.Anchor.Kind == "" {
			c.Anchor.Kind = "orthonormal"
		}
		oneOf("anchor", &c.Anchor.Kind, AnchorKinds)
		oneOf("basis", &c.Basis.Kind, BasisKinds)
		oneOf("common", &c.Basis.Common, commons)
		oneOf("mix", &c.Basis.Mix, mixes)
		if c.Anchor.Rows < 0 {
			wrong("anchor rows is %d, must not be negative", c.Anchor.Rows)
		}
		noise("anchor times", c.Anchor.Times)
		noise("anchor delta", c.Anchor.Delta)
		noise("basis delta", c.Basis.Delta)
		share("basis fraction", c.Basis.Fraction)
		share("basis variance", c.Basis.Variance)
		if c.Basis.Energy && c.Basis.Mix != "haar" && c.Basis.Mix != "none" {
			wrong("energy is of bases with the mix haar or none, not %s", c.Basis.Mix)
		}
		if c.Basis.Dim < 0 {
			wrong("basis dim is %d, must not be negative", c.Basis.Dim)
		}
		switch pools := strings.HasPrefix(c.Basis.Common, "pooled"); {
		case c.Basis.Sketch < 0 || c.Basis.Power < 0:
			wrong("basis sketch is %d and power %d, must not be negative", c.Basis.Sketch, c.Basis.Power)
		case c.Basis.Sketch > 0 && !pools:
			wrong("basis sketch belongs to common: pooled or pooled-equal%s", inCase(c.Name))
		case c.Basis.Power > 0 && c.Basis.Sketch == 0:
			wrong("basis power belongs to a sketch%s", inCase(c.Name))
		}
		rules := 0
		for _, given := range []bool{c.Basis.Dim > 0, c.Basis.Fraction > 0, c.Basis.Variance > 0} {
			if given {
				rules++
			}
		}
		switch {
		case rules > 1:
			wrong("dim, fraction and variance exclude each other")
		case rules == 0:
			c.Basis.Fraction = 0.8
		}
		if strings.HasPrefix(c.Anchor.Kind, "public") && len(c.Anchor.Data) == 0 {
			wrong("a %s anchor needs data sets to take rows from", c.Anchor.Kind)
		}
		if len(c.Align) == 0 {
			wrong("there is no alignment%s", inCase(c.Name))
		}
		methods := map[string]bool{}
		for _, a := range c.Align {
			if methods[a.Name] {
				wrong("the alignment %s is there twice%s", a.Name, inCase(c.Name))
			}
			methods[a.Name] = true
		}
	}
	return s, errors.Join(problems...)
}

// inCase says of which case, where it has a name.
func inCase(name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf(", in the case %q", name)
}

// maxParties bounds c: nobody simulates more, and what is typed by mistake is not
// allocated.
const maxParties = 100_000

// maxEpsilon is the largest that package privacy calibrates noise for.
const maxEpsilon = 1e6

// baseline is one of Setting.Baselines.
type baseline struct {
	name, kind string
	epsilon    float64
}

func parseBaseline(name string) (baseline, error) {
	kind, argument, has := strings.Cut(name, ":")
	switch {
	case !has && slices.Contains([]string{"central", "central-seen", "local", "fedavg"}, kind):
		return baseline{name: name, kind: kind}, nil
	case has && kind == "dp":
		eps, err := strconv.ParseFloat(argument, 64)
		if err == nil && eps > 0 && eps <= maxEpsilon {
			return baseline{name, kind, eps}, nil
		}
	}
	return baseline{}, fmt.Errorf("lab: there is no baseline %q, want central, central-seen, local, fedavg, or dp with its epsilon of at most %g, as dp:8", name, float64(maxEpsilon))
}
