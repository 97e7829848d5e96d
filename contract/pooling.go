package contract

import (
	"fmt"
	"slices"
	"strconv"

	anchorspec "concord/anchor/spec"
)

// Pooling says how figures of all parties together are made by masked sums, of which
// each party learns the totals and nothing about one other site. A contract has it where
// something is pooled, and only there.
type Pooling struct {
	// Colluders is how many parties may put together what they know and still learn
	// nothing but the sum over three others or more: parties − Colluders is at least 3.
	Colluders int `json:"colluders"`
	// Weights says what counts the same in the second moments of a common basis: each of
	// the "rows", or each party, "equal".
	Weights string `json:"weights,omitempty"`
	// Sketch is how many columns a sketch of the second moments has, or 0 for all of them.
	Sketch int `json:"sketch,omitempty"`
	// Power is how many power steps follow a sketch.
	Power int `json:"power,omitempty"`
}

// View is what some of the parties have of the features.
type View struct {
	Name string `json:"name"`
	// Features are names, in the contract's order.
	Features []string `json:"features"`
	// Dim is lᵢ of the parties that have this view.
	Dim int `json:"dim"`
}

// Stage is one masked sum over all parties.
type Stage struct {
	// Kind is "figures", "moments" or "sketch".
	Kind string
	// Step counts the sketches from 0: the first is random, each further one a power step.
	Step int
}

// String is "figures", "moments", "sketch 0" and so on.
func (s Stage) String() string {
	if s.Kind == StageSketch {
		return s.Kind + " " + strconv.Itoa(s.Step)
	}
	return s.Kind
}

// Kinds of stages.
const (
	StageFigures = "figures"
	StageMoments = "moments"
	StageSketch  = "sketch"
)

// MomentColumns is the most columns whose second moments are pooled in full unless the
// contract says otherwise.
const MomentColumns = 2000

// pooledNumber is what one pooled number takes: an integer modulo 2¹²⁸.
const pooledNumber = 16

var poolWeights = []string{"rows", "equal"}

// pools says whether anything in the contract needs pooled figures.
func (c *Contract) pools() bool {
	return c.Standardise == "pooled" || c.Basis.Pooled() || c.Anchor.Kind == anchorspec.Gaussian ||
		slices.ContainsFunc(c.Features, Feature.usesPooled)
}

// Stages are the masked sums that come before the parties prepare, in their order; nil
// where nothing is pooled. The first is of the figures of each feature, the others of the
// second moments of prepared columns.
func (c *Contract) Stages() []Stage {
	if c.Pooling == nil {
		return nil
	}
	stages := []Stage{{Kind: StageFigures}}
	switch {
	case !c.Basis.Pooled() && c.Anchor.Kind != anchorspec.Gaussian:
	case c.Pooling.Sketch == 0:
		stages = append(stages, Stage{Kind: StageMoments})
	default:
		for step := range c.Pooling.Power + 1 {
			stages = append(stages, Stage{StageSketch, step})
		}
	}
	return stages
}

// poolSteps are the visits that pooling adds: of the first stage's two the first goes with
// setup.
func (c *Contract) PoolSteps() []string {
	var steps []string
	for i, s := range c.Stages() {
		if i > 0 {
			steps = append(steps, "masked "+s.String())
		}
		steps = append(steps, "open "+s.String())
	}
	if c.Basis.Pooled() && steps != nil {
		steps = append(steps, "common directions")
	}
	return steps
}

// StageNumbers is how many numbers a stage pools. Of figures: the rows, those of each view,
// and of each feature the missing values and the counts of its levels, or values, sum and squares; of
// moments a triangle, after the rows of each view; of a sketch its numbers and the sum of all squares.
func (c *Contract) StageNumbers(s Stage) int64 {
	m := int64(c.M())
	switch s.Kind {
	case StageMoments:
		return int64(len(c.Holdings(nil))) + m*(m+1)/2
	case StageSketch:
		return m*int64(c.Pooling.Sketch) + 1
	}
	n := int64(1 + len(c.Holdings(nil)))
	for _, f := range c.Features {
		n++
		if f.Ranged() {
			n += 3
		}
		n += int64(len(f.Spellings()))
	}
	return n
}

func (c *Contract) validatePooling() error {
	p := c.Pooling
	if !c.pools() {
		if p != nil {
			return refuse("pooling", "pooling is given and nothing is pooled: standardise is %s, no missing value is filled by mean or common, and the basis is %s", c.Standardise, c.Basis.Kind)
		}
		return nil
	}
	if p == nil {
		return refuse("pooling", "pooling is missing")
	}
	if p.Colluders < 1 || c.Parties-p.Colluders < 3 {
		need := fmt.Sprintf("%d parties are needed at least with so many", p.Colluders+3)
		if p.Colluders < 1 {
			need = "it must be 1 at least, and there must be 4 parties"
		}
		return refuse("pooling.colluders", "pooling.colluders is %d of %d parties; a pooled sum must be over at least three parties beyond those who may collude, of whom there is one at least, each party itself: %s", p.Colluders, c.Parties, need)
	}
	if sets := len(c.Holdings(nil)); c.Parties < sets*(p.Colluders+LeastBeyond) {
		return refuse("views", "figures are pooled and there are views of %d different sets of features, each of which %d sites at least must have (three beyond pooling.colluders), and parties is %d, below %d: sums over those who have a feature and those who have not would show the figures of few; take fewer views, or standardise: range or none, no missing: mean or common, and a public or normal anchor",
			sets, p.Colluders+LeastBeyond, c.Parties, sets*(p.Colluders+LeastBeyond))
	}
	if !c.Basis.Pooled() {
		if p.Weights != "" || p.Sketch != 0 || p.Power != 0 {
			return refuse("pooling", "pooling.weights, sketch and power belong to basis.kind common, the basis is %s", c.Basis.Kind)
		}
		return nil
	}
	if err := oneOf("pooling.weights", p.Weights, poolWeights); err != nil {
		return err
	}
	if p.Weights == "equal" && c.Anchor.Kind == anchorspec.Gaussian {
		return refuse("pooling.weights", "pooling.weights is equal and the anchor is gaussian, whose covariance is that of all rows; take weights: rows")
	}
	if p.Sketch == 0 {
		if p.Power != 0 {
			return refuse("pooling.power", "pooling.power belongs to a sketch, and pooling.sketch is 0")
		}
		return nil
	}
	if c.Anchor.Kind == anchorspec.Gaussian {
		return refuse("pooling.sketch", "pooling.sketch is %d and the anchor is gaussian, which needs the whole covariance; take sketch: 0", p.Sketch)
	}
	if err := between("pooling.sketch (at least basis.dim, at most the number of columns)", p.Sketch, c.Basis.Dim, c.M()); err != nil {
		return err
	}
	return between("pooling.power", p.Power, 0, 20)
}

// validateLift checks random Fourier features.
func (c *Contract) validateLift() error {
	l := c.Lift
	if l == nil {
		return nil
	}
	if err := inSpec("lift", l.Check()); err != nil {
		return err
	}
	switch {
	case c.Basis.Pooled():
		return refuse("lift", "lift and basis.kind common do not go together: the common basis is of the columns, not of what they are lifted to")
	case len(c.Views) > 0:
		return refuse("lift", "lift and views do not go together")
	case c.Standardise == "none":
		return refuse("standardise", "standardise is none, and lift.gamma is in units of standardised columns; take range or pooled")
	}
	return nil
}

// validateViews checks that views cover the features.
func (c *Contract) validateViews() error {
	if len(c.Views) == 0 {
		return nil
	}
	if len(c.Views) < 2 || len(c.Views) > c.Parties {
		return refuse("views", "there are %d views, must be from 2 to %d, one a party", len(c.Views), c.Parties)
	}
	if c.Basis.Pooled() {
		return refuse("basis.kind", "basis.kind is common and there are views: the directions in which all rows vary most go across columns of which no party has all, so that no party could project on them; take pca, or svd")
	}
	widest := 0
	covered := make([]bool, len(c.Features))
	for i, v := range c.Views {
		if err := checkText(fmt.Sprintf("views[%d].name", i+1), v.Name); err != nil {
			return err
		}
		if k := slices.IndexFunc(c.Views, func(w View) bool { return w.Name == v.Name }); k < i {
			return refuse(fmt.Sprintf("views[%d].name", i+1), "views %d and %d are both named %q", k+1, i+1, v.Name)
		}
		free, last := 0, -1
		for _, name := range v.Features {
			j := slices.IndexFunc(c.Features, func(f Feature) bool { return f.Name == name })
			if j < 0 {
				return refuse(fmt.Sprintf("views[%d].features", i+1), "view %q: there is no feature %q", v.Name, name)
			}
			if j <= last {
				return refuse(fmt.Sprintf("views[%d].features", i+1), "view %q: the feature %q stands twice or not in the order of features", v.Name, name)
			}
			last, covered[j] = j, true
			free += c.Features[j].free()
		}
		if v.Dim < 1 || v.Dim >= free {
			return refuse(fmt.Sprintf("views[%d].dim", i+1), "view %q: dim is %d, must be from 1 to %d: its columns vary in %d directions, and a basis as wide would leave nothing out", v.Name, v.Dim, free-1, free)
		}
		widest = max(widest, v.Dim)
	}
	if j := slices.Index(covered, false); j >= 0 {
		return refuse("views", "feature %q is in no view", c.Features[j].Name)
	}
	if !slices.Contains(widths, c.Alignment.Method) {
		return refuse("alignment.method", "alignment.method is %s, and there are views: with partly different columns it must be %s", c.Alignment.Method, orList(widths))
	}
	if c.Basis.Dim != widest {
		return refuse("basis.dim", "basis.dim is %d, must be that of the widest view, %d", c.Basis.Dim, widest)
	}
	return nil
}

// truthWords are the words by which files spell a boolean whose contract gives no levels,
// beside 0 and 1.
var truthWords = []string{"false", "False", "FALSE", "true", "True", "TRUE"}

// validateMissingValues checks the cells that mean missing.
func (c *Contract) validateMissingValues() error {
	if err := between("the number of missing_values", len(c.MissingValues), 0, MaxLevels); err != nil {
		return err
	}
	seen := map[string]bool{}
	for i, v := range c.MissingValues {
		if err := checkText(fmt.Sprintf("missing_values[%d]", i+1), v); err != nil {
			return err
		}
		if seen[v] {
			return refuse("missing_values", "missing_values has %q twice", v)
		}
		seen[v] = true
	}
	for _, f := range c.Features {
		for _, level := range f.Spellings() {
			if seen[level] {
				return refuse("missing_values", "%q is among missing_values and a level of feature %q", level, f.Name)
			}
		}
		if f.Type != Boolean || f.Levels != nil {
			continue
		}
		for _, v := range c.MissingValues { // which files may spell in other ways, too
			if x, err := strconv.ParseFloat(v, 64); slices.Contains(truthWords, v) || err == nil && (x == 0 || x == 1) {
				return refuse("missing_values", "%q is among missing_values and a spelling of the boolean feature %q; give its two levels", v, f.Name)
			}
		}
	}
	for _, level := range c.Label.Levels {
		if seen[level] {
			return refuse("missing_values", "%q is among missing_values and a level of the label", level)
		}
	}
	return nil
}
