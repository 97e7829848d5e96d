package lab

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	anchorspec "concord/anchor/spec"
	"concord/learn"
	"concord/metric"
)

// Resolve returns the setting with its defaults filled in, or what is wrong with
// it.
func (s Setting) Resolve() (Setting, error) {
	k := &checker{}
	k.oneOf("split", &s.Split, Splits)
	k.oneOf("stratified", &s.Stratified, stratifieds)
	k.oneOf("standardise", &s.Standardise, standardises)
	if s.Score == "" && max(s.Parties, len(s.Sizes)) > 20 {
		s.Score = "spread"
	}
	k.oneOf("score", &s.Score, scorings)
	s.checkParties(k)
	if s.Test < 1 {
		k.wrong("test is %d, must be positive", s.Test)
	}
	if s.Alpha == 0 {
		s.Alpha = 0.5
	}
	s.checkViews(k.wrong)
	k.noise("alpha", s.Alpha)
	k.noise("sensitivity", s.Sensitivity)
	s.checkModels(k)
	s.checkCases(k)
	return s, errors.Join(k.problems...)
}

// checker gathers what is wrong with a setting.
type checker struct{ problems []error }

func (k *checker) add(err error) { k.problems = append(k.problems, err) }

func (k *checker) wrong(format string, args ...any) { k.add(fmt.Errorf("lab: "+format, args...)) }

// oneOf fills in the first of the known names, and wants one of them.
func (k *checker) oneOf(name string, value *string, known []string) {
	if *value == "" && !slices.Contains(known, "") {
		*value = known[0]
	}
	if !slices.Contains(known, *value) {
		k.wrong("%s is %q, want one of: %s", name, *value, strings.Join(slices.DeleteFunc(slices.Clone(known), func(n string) bool { return n == "" }), ", "))
	}
}

func (k *checker) share(name string, v float64) {
	if !(v >= 0 && v < 1) {
		k.wrong("%s is %v, must be at least 0 and below 1", name, v)
	}
}

func (k *checker) noise(name string, v float64) {
	if !(v >= 0) || math.IsInf(v, 0) {
		k.wrong("%s is %v, must be finite and not negative", name, v)
	}
}

// checkParties is for who takes part, with how many rows.
func (s *Setting) checkParties(k *checker) {
	if s.Sizes != nil {
		if s.Parties != 0 && s.Parties != len(s.Sizes) || s.Rows != 0 {
			k.wrong("sizes of %d parties, and parties %d, rows %d: the first says it all", len(s.Sizes), s.Parties, s.Rows)
		}
		if s.Split == "classes" || s.Split == "by" {
			k.wrong("sizes do not go with the split %s", s.Split)
		}
		for i, n := range s.Sizes {
			if n < 1 {
				k.wrong("party %d has %d rows, must have at least 1", i+1, n)
			}
		}
		s.Parties = len(s.Sizes)
	}
	if s.Parties < 1 && s.Split != "by" || s.Parties < 0 || s.Parties > maxParties {
		k.wrong("parties is %d, must be from 1 to %d", s.Parties, maxParties)
	}
	if s.Rows < 1 && s.Sizes == nil && s.Split != "by" && s.Split != "classes" || s.Rows < 0 {
		k.wrong("rows is %d, must be positive", s.Rows)
	}
}

// checkModels is for baselines, models and metrics.
func (s *Setting) checkModels(k *checker) {
	if s.Baselines == nil {
		s.Baselines = []string{"central", "local"}
	}
	for i, b := range s.Baselines {
		if _, err := parseBaseline(b); err != nil {
			k.add(err)
		}
		if slices.Contains(s.Baselines[:i], b) {
			k.wrong("the baseline %s is there twice", b)
		}
	}
	if len(s.Models) == 0 {
		k.wrong("no models; there are %s", strings.Join(learn.Kinds(), ", "))
	}
	names := map[string]bool{}
	for i := range s.Models {
		m := &s.Models[i]
		if m.Name == "" {
			m.Name = m.Spec.Kind
		}
		if names[m.Name] {
			k.wrong("two models are called %q", m.Name)
		}
		names[m.Name] = true
		if _, err := learn.New(m.Spec); err != nil {
			k.add(fmt.Errorf("lab: model %s: %w", m.Name, err))
		}
	}
	for i, name := range s.Metrics {
		if _, err := metric.Named(name); err != nil {
			k.add(fmt.Errorf("lab: %w", err))
		}
		if slices.Contains(s.Metrics[:i], name) {
			k.wrong("the metric %s is there twice", name)
		}
	}
}

// checkCases is for what is compared with the baselines.
func (s *Setting) checkCases(k *checker) {
	if len(s.Cases) == 0 {
		k.wrong("no case to compare with the baselines")
	}
	s.Cases = slices.Clone(s.Cases)
	names := map[string]bool{}
	for i := range s.Cases {
		c := &s.Cases[i]
		if names[c.Name] {
			k.wrong("two cases are called %q", c.Name)
		}
		names[c.Name] = true
		if strings.Contains(c.Name, "/") {
			k.wrong("the case's name %q has a slash", c.Name)
		}
		c.check(k, s.viewed() || s.Halves)
	}
}

// check is for one case; viewed says that parties have different columns.
func (c *Case) check(k *checker, viewed bool) {
	k.oneOf("protocol", &c.Protocol, protocols)
	k.oneOf("answers", &c.Answers, answers)
	k.oneOf("one_class", &c.OneClass, oneClasses)
	c.checkLift(viewed, k.wrong)
	k.noise("sigma", c.Sigma)
	k.noise("clip", c.Clip)
	if c.Anchor.Kind == "" {
		c.Anchor.Kind = anchorspec.Orthonormal
	}
	k.oneOf("anchor", &c.Anchor.Kind, AnchorKinds())
	k.oneOf("basis", &c.Basis.Kind, BasisKinds())
	k.oneOf("common", &c.Basis.Common, commons)
	k.oneOf("mix", &c.Basis.Mix, mixes())
	if c.Anchor.Rows < 0 {
		k.wrong("anchor rows is %d, must not be negative", c.Anchor.Rows)
	}
	k.noise("anchor times", c.Anchor.Times)
	k.noise("anchor delta", c.Anchor.Delta)
	k.noise("basis delta", c.Basis.Delta)
	k.share("basis fraction", c.Basis.Fraction)
	k.share("basis variance", c.Basis.Variance)
	c.Basis.check(k, c.Name)
	if strings.HasPrefix(c.Anchor.Kind, "public") && len(c.Anchor.Data) == 0 {
		k.wrong("a %s anchor needs data sets to take rows from", c.Anchor.Kind)
	}
	if len(c.Align) == 0 {
		k.wrong("there is no alignment%s", inCase(c.Name))
	}
	methods := map[string]bool{}
	for _, a := range c.Align {
		if methods[a.Name] {
			k.wrong("the alignment %s is there twice%s", a.Name, inCase(c.Name))
		}
		methods[a.Name] = true
	}
}

// check is for the energy, the sketch and the dimension of a case's bases.
func (b *Basis) check(k *checker, name string) {
	if b.Energy && b.Mix != "haar" && b.Mix != "none" {
		k.wrong("energy is of bases with the mix haar or none, not %s", b.Mix)
	}
	if b.Dim < 0 {
		k.wrong("basis dim is %d, must not be negative", b.Dim)
	}
	switch pools := strings.HasPrefix(b.Common, "pooled"); {
	case b.Sketch < 0 || b.Power < 0:
		k.wrong("basis sketch is %d and power %d, must not be negative", b.Sketch, b.Power)
	case b.Sketch > 0 && !pools:
		k.wrong("basis sketch belongs to common: pooled or pooled-equal%s", inCase(name))
	case b.Power > 0 && b.Sketch == 0:
		k.wrong("basis power belongs to a sketch%s", inCase(name))
	}
	rules := 0
	for _, given := range []bool{b.Dim > 0, b.Fraction > 0, b.Variance > 0} {
		if given {
			rules++
		}
	}
	switch {
	case rules > 1:
		k.wrong("dim, fraction and variance exclude each other")
	case rules == 0:
		b.Fraction = 0.8
	}
}

// inCase says of which case, where it has a name.
func inCase(name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf(", in the case %q", name)
}
