package lab

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	anchorspec "concord/anchor/spec"
	"concord/basis"
	basisspec "concord/basis/spec"
	"concord/learn"
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
	// gaussian (of pooled covariances); empty means orthonormal. See package anchor.
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
	commons      = []string{"", "first", "pooled", "pooled-equal", "anchor"}
)

// publicMixed is the product's public anchor: mixtures of public rows. The laboratory's
// public anchor is those rows themselves, as published.
const publicMixed = "public-mixed"

// AnchorKinds are a contract's, and public-mixed.
func AnchorKinds() []string { return append(anchorspec.Kinds(), publicMixed) }

// BasisKinds are what directions can be made of.
func BasisKinds() []string { return basis.DirectionKinds() }

func mixes() []string {
	var out []string
	for _, m := range basisspec.Mixes() {
		out = append(out, string(m))
	}
	return out
}

// BasisOf is the basis that a contract calls by this name; false if there is none.
func BasisOf(name string) (Basis, bool) {
	kind, ok := basisspec.Named(name)
	b := Basis{Kind: kind.Directions, Mix: string(kind.Mix)}
	switch kind.From {
	case basisspec.Seed:
		b.Common = "first" // drawn once for all, as of the parties' seed
	case basisspec.Pooled:
		b.Kind, b.Common = basisspec.SVD, "pooled"
	}
	switch name {
	case basisspec.Random:
		b.Mix = string(basisspec.Haar) // of the same law, and how figures were drawn
	case basisspec.Perturbed:
		b.Mix = string(basisspec.None) // as published ([nosaka2024mm], section 4.1)
	}
	return b, ok
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
