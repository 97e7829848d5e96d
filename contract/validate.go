package contract

import (
	"concord/wire"
	"fmt"
	"slices"
	"strings"

	anchorspec "concord/anchor/spec"

	basisspec "concord/basis/spec"
	"concord/learn"
)

// Validate checks every value of the contract against every other. The first
// thing that is wrong is returned, with the field's place in the contract and
// what would be right: a [FieldError].
func (c *Contract) Validate() error {
	if err := c.validate(); err != nil {
		return fmt.Errorf("contract: %w", err)
	}
	return nil
}

// validate is Validate without the package's name.
func (c *Contract) validate() error {
	if c.Format != Format {
		return refuse("format", "format is %d, must be %d", c.Format, Format)
	}
	if err := checkText("name", c.Name); err != nil {
		return err
	}
	if err := oneOf("protocol", c.Protocol, protocols); err != nil {
		return err
	}
	if err := between("parties", c.Parties, 2, MaxParties); err != nil {
		return err
	}
	if err := oneOf("standardise", c.Standardise, standards); err != nil {
		return err
	}
	if err := c.validateFeatures(); err != nil {
		return err
	}
	if err := c.validateLabel(); err != nil {
		return err
	}
	if err := c.validateMissingValues(); err != nil {
		return err
	}
	if err := c.validateLift(); err != nil {
		return err
	}
	if err := c.validateViews(); err != nil {
		return err
	}
	if err := c.validateMethods(); err != nil {
		return err
	}
	if err := c.validatePooling(); err != nil {
		return err
	}
	if err := c.validateModel(); err != nil {
		return err
	}
	if err := c.validateProtocol(); err != nil {
		return err
	}
	if err := c.validateNoise(); err != nil {
		return err
	}
	if err := between("max_rows", c.MaxRows, 1, MaxRows); err != nil {
		return err
	}
	if err := between("floors.rows", c.Floors.Rows, 1, c.MaxRows); err != nil {
		return err
	}
	if err := between("floors.per_class", c.Floors.PerClass, 0, c.Floors.Rows); err != nil {
		return err
	}
	if err := c.validatePeople(); err != nil {
		return err
	}
	if err := c.validateAdmission(); err != nil {
		return err
	}
	if err := c.validateAuditors(); err != nil {
		return err
	}
	for _, size := range []struct {
		path, what string
		n, most    int64
	}{
		{"max_rows", "max_rows × features", int64(c.MaxRows) * int64(max(c.M(), c.Width())), MaxElements},
		{"max_rows", "max_rows × label.levels", int64(c.MaxRows) * int64(len(c.Label.Levels)), MaxElements},
		{"anchor.rows", "anchor.rows × features", int64(c.Anchor.Rows) * int64(max(c.M(), c.Width())), anchorspec.MaxElements},
	} {
		if size.n > size.most {
			return refuse(size.path, "%s is %d, must be at most %d", size.what, size.n, size.most)
		}
	}
	if want := c.expect(); c.Expect != want {
		return refuse("expect", "expect does not follow from the rest of the contract: it says %+v, the rest says %+v", c.Expect, want)
	}
	return nil
}

func (c *Contract) validateLabel() error {
	l := c.Label
	if err := checkText("label.name", l.Name); err != nil {
		return err
	}
	if slices.Contains(c.FeatureNames(), l.Name) {
		return refuse("label.name", "%q is both the label and a feature", l.Name)
	}
	switch l.Type {
	case "class":
		if err := between("the number of label.levels", len(l.Levels), 2, MaxLevels); err != nil {
			return err
		}
		for k, level := range l.Levels {
			if err := checkText(fmt.Sprintf("label.levels[%d]", k+1), level); err != nil {
				return err
			}
			if slices.Contains(l.Levels[:k], level) {
				return refuse("label.levels", "label.levels has %q twice", level)
			}
		}
		if len(l.Levels) == 2 {
			return oneOf("label.positive", l.Positive, l.Levels)
		}
		if l.Positive != "" {
			return refuse("label.positive", "label.positive is for two levels, there are %d", len(l.Levels))
		}
	case "number":
		if len(l.Levels) > 0 || l.Positive != "" {
			return refuse("label.levels", "label %q is a number: it has neither levels nor positive", l.Name)
		}
	default:
		return oneOf("label.type", l.Type, []string{"class", "number"})
	}
	return nil
}

func (c *Contract) validateMethods() error {
	if err := c.validateAnchor(); err != nil {
		return err
	}
	if err := c.validateBasis(); err != nil {
		return err
	}
	if err := oneOf("alignment.method", c.Alignment.Method, methods); err != nil {
		return err
	}
	if d := c.Alignment.Dim; d != 0 {
		if !slices.Contains(widths, c.Alignment.Method) {
			return refuse("alignment.dim", "alignment.dim belongs to %s, the method is %s", orList(widths), c.Alignment.Method)
		}
		if err := between("alignment.dim", d, 1, min(c.Parties*c.Basis.Dim, c.Anchor.Rows)); err != nil {
			return err
		}
	}
	if c.Alignment.Method == "consensus" && c.Alignment.Dim < c.Basis.Dim {
		return refuse("alignment.dim", "alignment.dim is %d, must be at least basis.dim, %d: consensus keeps all columns of every party", c.Alignment.Dim, c.Basis.Dim)
	}
	allowed := targets[c.Alignment.Method]
	if allowed == nil {
		allowed = onlyIdentity
	}
	return oneOf("alignment.target of "+c.Alignment.Method, c.Alignment.Target, allowed)
}

// validateBasis checks the basis by itself and against the columns that it sees.
func (c *Contract) validateBasis() error {
	if err := oneOf("basis.kind", c.Basis.Kind, basisspec.Kinds()); err != nil {
		return err
	}
	if w := c.free(); c.Basis.Dim < 1 || c.Basis.Dim >= w {
		sum := ""
		if w < c.Width() {
			sum = fmt.Sprintf(", which vary in %d directions, since the columns of a category sum to 1,", w)
		}
		return refuse("basis.dim", "basis.dim is %d, must be from 1 to %d: a basis as wide as the %d %s%s would leave nothing out", c.Basis.Dim, w-1, c.Width(), c.ColumnsWord(), sum)
	}
	return inSpec("basis", c.Basis.Check())
}

// validateAnchor checks the anchor by itself and against the rest.
func (c *Contract) validateAnchor() error {
	a := c.Anchor
	if err := oneOf("anchor.kind", a.Kind, anchorspec.Kinds()); err != nil {
		return err
	}
	if err := between("anchor.rows (at least the number of "+c.ColumnsWord()+", for Rank(A) = m)", a.Rows, c.Width(), anchorspec.MaxRows); err != nil {
		return err
	}
	if a.Kind == anchorspec.LowRank {
		if err := between("anchor.rank", a.Rank, 1, c.M()); err != nil {
			return err
		}
	}
	if err := inSpec("anchor", a.Check()); err != nil {
		return err
	}
	if a.Pieces() && c.NeedsFigures() {
		return refuse("anchor.kind", "the anchor is %s, whose pieces are made before anything is pooled, and rows are prepared by pooled figures; take standardise: range and no missing: mean or common, or another anchor", a.Kind)
	}
	if a.Pieces() && len(c.Views) > 0 {
		return refuse("anchor.kind", "the anchor is %s and there are views; a piece of a party has its own columns only, so that nothing in such an anchor relates the views: take public or normal", a.Kind)
	}
	if a.Pieces() && c.Standardise != "range" {
		return refuse("standardise", "standardise is %s and the anchor %s, whose pieces show near-raw rows to the other parties: give every feature a range, so that none stands out", c.Standardise, a.Kind)
	}
	return nil
}

// validatePeople checks what is said of the people behind the rows.
func (c *Contract) validatePeople() error {
	if c.Subject != "" {
		if err := checkText("subject", c.Subject); err != nil {
			return err
		}
		if c.Subject == c.Label.Name || slices.Contains(c.FeatureNames(), c.Subject) {
			return refuse("subject", "the subject %q is the label or a feature; it must be a column of its own, which does not leave", c.Subject)
		}
		if err := between("floors.people", c.Floors.People, 1, c.Floors.Rows); err != nil {
			return err
		}
	} else if c.Floors.People != 0 {
		return refuse("floors.people", "floors.people is %d without a subject: name the column that tells people apart", c.Floors.People)
	}
	if !wire.Finite(c.Floors.Eps) || c.Floors.Eps < 0 || c.Floors.Eps >= 1 {
		return refuse("floors.eps", "floors.eps is %g, must be from 0 to below 1", c.Floors.Eps)
	}
	return nil
}

// validateNoise checks that noise is either a guarantee, which holds only if basis and
// scaling do not look at the rows, or noise without one.
func (c *Contract) validateNoise() error {
	n := c.Noise
	if n == nil {
		return nil
	}
	for _, v := range []struct {
		key   string
		value float64
	}{{"epsilon", n.Epsilon}, {"delta", n.Delta}, {"clip", n.Clip}, {"sigma", n.Sigma}} {
		if !wire.Finite(v.value) || v.value < 0 || v.value > 1e6 {
			return refuse("noise."+v.key, "noise.%s is %g, must be positive and at most 1e6", v.key, v.value)
		}
	}
	if n.Sigma > 0 {
		if n.Epsilon != 0 || n.Delta != 0 || n.Clip != 0 {
			return refuse("noise", "noise has both sigma and epsilon, delta or clip; sigma alone is noise without a guarantee, the other three give one")
		}
		return nil
	}
	if n.Epsilon == 0 || n.Delta == 0 || n.Clip == 0 {
		return refuse("noise", "noise must have epsilon, delta and clip, for a guarantee, or sigma alone, for noise without one")
	}
	switch {
	case n.Delta >= 0.1:
		return refuse("noise.delta", "noise.delta is %g, must be below 0.1: it is the probability that the guarantee fails", n.Delta)
	case !c.Basis.Independent():
		return refuse("basis.kind", "basis.kind is %s, which is made from the rows, and noise has an epsilon; a guarantee needs basis.kind random or common-random, or write noise.sigma alone", c.Basis.Kind)
	case c.Standardise != "range":
		return refuse("standardise", "standardise is %s and noise has an epsilon; clip is in units of standardised features, so give every feature a range", c.Standardise)
	case c.Floors.Eps > 0:
		return refuse("floors.eps", "floors.eps drops rows by what they are, and noise has an epsilon, which does not cover that; take one of the two")
	}
	if _, err := n.Deviation(); err != nil {
		return refuse("noise", "noise: %v", err)
	}
	return nil
}

// validateProtocol checks what nri has and dc has not.
func (c *Contract) validateProtocol() error {
	if c.Protocol != "nri" {
		if c.Answers != "" || c.LocalModel != nil {
			return refuse("answers", "answers and local_model belong to protocol nri, this one is %s", c.Protocol)
		}
		if c.Basis.OneWay() {
			return refuse("basis.kind", "basis.kind %s makes a basis that cannot be made again, for protocol nri; under %s the basis is kept anyway, so take svd or pca", c.Basis.Kind, c.Protocol)
		}
		return nil
	}
	if c.Anchor.Kind == anchorspec.Uniform || c.Anchor.Kind == anchorspec.Orthonormal {
		return refuse("anchor.kind", "anchor.kind is %s; under nri each party trains its model on the anchor, which must lie where rows lie: take normal", c.Anchor.Kind)
	}
	if c.Anchor.Kind == anchorspec.Normal && c.Standardise == "none" {
		return refuse("standardise", "standardise is %s; under nri each party trains its model on the normal anchor, which lies around 0 with deviation 1, and features must lie there too: give every feature a range, or take pooled", c.Standardise)
	}
	if err := oneOf("answers", c.Answers, answers); err != nil {
		return err
	}
	if c.Label.Type == "number" && c.Answers != "soft" {
		return refuse("answers", "answers are %s, but the label %q is a number: they must be soft", c.Answers, c.Label.Name)
	}
	if c.LocalModel == nil {
		return refuse("local_model", "local_model is missing; under nri each party trains one of: %s", strings.Join(modelKinds, ", "))
	}
	if n := int64(c.Anchor.Rows) * learn.AnswerCopies * int64(c.Width()); n > MaxElements {
		return refuse("anchor.rows", "%d anchor rows of %d columns, %d times for soft answers, are %d numbers, must be at most %d", c.Anchor.Rows, c.Width(), learn.AnswerCopies, n, int64(MaxElements))
	}
	return c.checkModel("local_model", *c.LocalModel, modelKinds, c.Width(), c.Anchor.Rows*learn.AnswerCopies)
}

// checkModel checks a model of so many inputs and rows at most.
func (c *Contract) checkModel(key string, m Model, kinds []string, inputs, rows int) error {
	if err := oneOf(key+".kind", m.Kind, kinds); err != nil {
		return err
	}
	if m.Kind == "logistic" && c.Label.Type != "class" {
		return refuse(key+".kind", "logistic regression predicts classes, the label %q is a number; take another model, such as ridge", c.Label.Name)
	}
	if err := m.validate(key); err != nil {
		return err
	}
	if m.Kind == "mlp" {
		if n := m.weights(int64(inputs), c.outputs()); n > learn.MaxWeights {
			return refuse(key+".hidden", "%s.hidden %v with %d columns has %d weights, must be at most %d", key, m.Hidden, inputs, n, learn.MaxWeights)
		}
	}
	if m.Kind == "boosting" {
		if n := m.nodes(c.outputs(), int64(rows)); n > learn.MaxTreeNodes {
			return refuse(key+".max_iter", "%s.max_iter %d with max_leaves %d can have %d nodes, must be at most %d",
				key, m.MaxIter, m.MaxLeaves, n, learn.MaxTreeNodes)
		}
	}
	return nil
}

func (c *Contract) validateModel() error {
	kinds := modelKinds
	if c.Protocol == "nri" { // it stays with the analyst
		kinds = slices.Concat(modelKinds, rowKinds)
	} else if slices.Contains(rowKinds, c.Model.Kind) {
		return refuse("model.kind", "model.kind is %q: its model contains training rows, which every party could turn back into rows of the others; under dc it must be one of: %s",
			c.Model.Kind, strings.Join(modelKinds, ", "))
	}
	if err := c.checkModel("model", c.Model, kinds, c.D(), c.MaxRows*c.Parties); err != nil {
		return err
	}
	metrics := classMetrics
	if c.Label.Type == "number" {
		metrics = valueMetrics
	}
	if len(c.Metrics) == 0 {
		return refuse("metrics", "metrics is empty; there are %s", strings.Join(metrics, ", "))
	}
	for k, name := range c.Metrics {
		if err := oneOf("metrics", name, metrics); err != nil {
			return err
		}
		if slices.Contains(c.Metrics[:k], name) {
			return refuse("metrics", "metrics has %q twice", name)
		}
		if (name == "roc_auc" || name == "pr_auc") && len(c.Label.Levels) != 2 {
			return refuse("metrics", "metric %s needs two levels, the label has %d", name, len(c.Label.Levels))
		}
	}
	return nil
}

// ColumnsWord is what the basis sees, for people: "features" where each is one column.
func (c *Contract) ColumnsWord() string {
	switch {
	case c.Lift != nil:
		return "lifted columns"
	case c.M() != len(c.Features):
		return "columns, levels counted"
	}
	return "features"
}
