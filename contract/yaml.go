package contract

import (
	"concord/wire"
	"errors"
	"fmt"
	"slices"

	anchorspec "concord/anchor/spec"

	basisspec "concord/basis/spec"
)

// maxYAMLBytes bounds study.yaml.
const maxYAMLBytes = 16 << 20

// ParseYAML reads study.yaml, fills in what it leaves out and validates the
// result. The file is input only: what it resolves to is shown to people and
// stored as contract.json.
//
// Defaults:
//
//	protocol      dc; under nri answers hard (soft for numbers), local_model as model
//	features      type numeric; missing refuse; layout YYYY-MM-DD of dates
//	missing_values  none: only an empty cell is missing
//	standardise   range when every number has one, none when none has; to be said when some have
//	pooling       where something is pooled: colluders 1; for a common basis weights rows and sketch 0
//	              up to 2,000 columns, beyond 2·dim + 10 with power 2
//	lift, views   none; dim of a view 80 % of its columns
//	anchor        kind orthonormal, under nri normal; rows m (orthonormal) or max(1000, 2m);
//	              rank dim and delta 0.05 of low-rank ([imakura2023], section 6.1), neighbours 5 of smote
//	basis         kind pca, under nri pca-perturbed with delta 0.05 ([nosaka2024mm], section 4.1); dim ⌊0.8 m⌋, at least 1 ([nosaka2024mm], section 4), or
//	              ⌊fraction·m⌋ where fraction is given; a category of k levels counts as k − 1 for it
//	noise         none
//	alignment     method odc, ls with views; dim ⌈1.5·basis.dim⌉ of consensus; target identity
//	              for odc, sigma for ls (NRI's C = Σ; with identity the columns have unit length
//	              and a penalised model learns next to nothing)
//	model         logistic with c 1 for classes, ridge with alpha 1 for numbers; settings of
//	              other kinds as in package learn
//	metrics       roc_auc (two levels) and accuracy, or rmse and r2
//	floors        rows max(10, dim + 1), per_class 3 (0 for numbers), people 10 with a subject
//	max_rows      1000000
//	auditors      none; each is statement: FILE, or name, fingerprint and recipient
//	admission     members all, retrain false
//
// Errors name the line and column, the key, what it holds and what would be
// right. A file in which FILL IN still stands, as concord study draft writes it, is
// refused with all places where it does.
func ParseYAML(b []byte) (*Contract, error) { return ParseYAMLWith(b, nil) }

// ParseYAMLWith is ParseYAML for a file that names others, the statements of auditors:
// read gives what is in them. With a nil read they are refused.
func ParseYAMLWith(b []byte, read func(name string) ([]byte, error)) (*Contract, error) {
	if len(b) > maxYAMLBytes {
		return nil, fmt.Errorf("contract: study.yaml has %d bytes, at most %d are read", len(b), maxYAMLBytes)
	}
	root, err := parseTree(b)
	if err != nil {
		return nil, err
	}
	if err := root.checkBlanks(); err != nil {
		return nil, err
	}
	c := &Contract{
		Format: Format,
		Anchor: anchorspec.Spec{Rows: unset, Rank: unset, Delta: unset, Neighbours: unset},
		Basis:  basisspec.Spec{Dim: unset, Delta: unset},
		Model:  unsetModel(),
		Floors: Floors{Rows: unset, PerClass: unset, People: unset, Eps: unset},
	}
	c.MaxRows = unset
	if err := c.fromYAML(root, read); err != nil {
		return nil, root.placed(err)
	}
	if err := c.someRanges(); err != nil {
		return nil, root.placed(err)
	}
	c.fillIn()
	if err := c.validate(); err != nil {
		return nil, root.placed(err)
	}
	return c, nil
}

func (c *Contract) fromYAML(root *yamlNode, read func(name string) ([]byte, error)) error {
	f, err := root.fields()
	if err != nil {
		return err
	}
	fraction := float64(unset)
	err = errors.Join(
		f.get("name").str(&c.Name),
		f.get("protocol").str(&c.Protocol),
		f.get("parties").integer(&c.Parties),
		f.get("features").list(c.featureFromYAML),
		section(f.get("label"), func(s *fields) error {
			return errors.Join(
				s.get("name").str(&c.Label.Name),
				s.get("type").str(&c.Label.Type),
				s.get("levels").list(appendText(&c.Label.Levels)),
				s.get("positive").str(&c.Label.Positive),
			)
		}),
		f.get("subject").str(&c.Subject),
		f.get("answers").str(&c.Answers),
		f.get("missing_values").list(appendText(&c.MissingValues)),
		f.get("standardise").str(&c.Standardise),
		section(f.get("pooling"), func(s *fields) error {
			c.Pooling = &Pooling{Colluders: unset, Sketch: unset, Power: unset}
			return errors.Join(s.get("colluders").integer(&c.Pooling.Colluders), s.get("weights").str(&c.Pooling.Weights),
				s.get("sketch").integer(&c.Pooling.Sketch), s.get("power").integer(&c.Pooling.Power))
		}),
		section(f.get("lift"), func(s *fields) error {
			c.Lift = &basisspec.Lift{Dim: unset, Gamma: unset}
			return errors.Join(s.get("dim").integer(&c.Lift.Dim), s.get("gamma").float(&c.Lift.Gamma))
		}),
		f.get("views").list(c.viewFromYAML),
		section(f.get("anchor"), func(s *fields) error {
			return errors.Join(s.get("kind").str(&c.Anchor.Kind), s.get("rows").integer(&c.Anchor.Rows),
				hashFromYAML(s.get("sha256"), &c.Anchor.SHA256), s.get("rank").integer(&c.Anchor.Rank),
				s.get("delta").float(&c.Anchor.Delta), s.get("neighbours").integer(&c.Anchor.Neighbours))
		}),
		section(f.get("basis"), func(s *fields) error {
			return errors.Join(s.get("kind").str(&c.Basis.Kind), s.get("dim").integer(&c.Basis.Dim), s.get("fraction").float(&fraction), s.get("delta").float(&c.Basis.Delta))
		}),
		section(f.get("noise"), func(s *fields) error {
			c.Noise = new(Noise)
			return errors.Join(s.get("epsilon").float(&c.Noise.Epsilon), s.get("delta").float(&c.Noise.Delta),
				s.get("clip").float(&c.Noise.Clip), s.get("sigma").float(&c.Noise.Sigma))
		}),
		section(f.get("alignment"), func(s *fields) error {
			return errors.Join(s.get("method").str(&c.Alignment.Method), s.get("target").str(&c.Alignment.Target), s.get("dim").integer(&c.Alignment.Dim))
		}),
		section(f.get("model"), c.Model.fromYAML),
		section(f.get("local_model"), func(s *fields) error {
			m := unsetModel()
			c.LocalModel = &m
			return m.fromYAML(s)
		}),
		f.get("metrics").list(appendText(&c.Metrics)),
		section(f.get("floors"), func(s *fields) error {
			return errors.Join(s.get("rows").integer(&c.Floors.Rows), s.get("per_class").integer(&c.Floors.PerClass),
				s.get("people").integer(&c.Floors.People), s.get("eps").float(&c.Floors.Eps))
		}),
		f.get("max_rows").integer(&c.MaxRows),
		f.get("auditors").list(c.auditorFromYAML(read)),
		section(f.get("admission"), func(s *fields) error {
			a := new(Admission)
			err := errors.Join(a.membersFromYAML(s.get("members")), s.get("retrain").boolean(&a.Retrain))
			if len(a.Members) > 0 || a.Count != 0 || a.Retrain {
				c.Admission = a
			}
			return err
		}),
	)
	if err != nil {
		return err
	}
	if fraction != unset {
		if !(fraction > 0 && fraction < 1) {
			return refuse("basis.fraction", "basis.fraction is %g, must be above 0 and below 1: the share of the %d directions that leaves as columns", fraction, c.free())
		}
		if len(c.Views) > 0 {
			return refuse("basis.fraction", "basis has a fraction and there are views; give each view a dim")
		}
		if c.Basis.Dim != unset {
			return refuse("basis.fraction", "basis has both dim and fraction; give one")
		}
		c.Basis.Dim = max(1, int(fraction*float64(c.free())))
	}
	return f.done()
}

func (m *Model) fromYAML(s *fields) error {
	return errors.Join(
		s.get("kind").str(&m.Kind),
		s.get("alpha").float(&m.Alpha),
		s.get("c").float(&m.C),
		s.get("max_iter").integer(&m.MaxIter),
		s.get("hidden").list(appendInteger(&m.Hidden)),
		s.get("rate").float(&m.Rate),
		s.get("batch").integer(&m.Batch),
		s.get("epochs").integer(&m.Epochs),
		s.get("trees").integer(&m.Trees),
		s.get("max_depth").integer(&m.MaxDepth),
		s.get("min_leaf").integer(&m.MinLeaf),
		s.get("max_leaves").integer(&m.MaxLeaves),
		s.get("seed").integer(&m.Seed),
	)
}

// featureFromYAML reads either a bare name or a mapping of name, type and what the type
// has.
func (c *Contract) featureFromYAML(n *yamlNode) error {
	var feature Feature
	if n.kind == yamlScalar {
		feature.Name = n.text
	} else {
		err := section(n, func(s *fields) error {
			err := errors.Join(
				s.get("name").str(&feature.Name),
				s.get("type").str(&feature.Type),
				s.get("levels").list(appendText(&feature.Levels)),
				s.get("unit").str(&feature.Unit),
				rangeFromYAML(s.get("range"), &feature.Range),
				s.get("as").str(&feature.As),
				s.get("from").str(&feature.From),
				s.get("layout").str(&feature.Layout),
				s.get("missing").str(&feature.Missing),
			)
			setDefault(&feature.Type, Numeric)
			return errors.Join(err, feature.fillFromYAML(s.get("fill")))
		})
		if err != nil {
			return err
		}
	}
	setDefault(&feature.Type, Numeric)
	if feature.Type == Date {
		setDefault(&feature.Layout, "YYYY-MM-DD")
	}
	if feature.Missing == "refuse" {
		feature.Missing = MissingRefuse
	}
	c.Features = append(c.Features, feature)
	return nil
}

// fillFromYAML reads a number, or the name of a level.
func (f *Feature) fillFromYAML(n *yamlNode) error {
	if n == nil {
		return nil
	}
	f.Fill = new(float64)
	if f.Type == Numeric || f.Type == Date {
		return n.float(f.Fill)
	}
	var level string
	if err := n.str(&level); err != nil {
		return err
	}
	k := slices.Index(f.Spellings(), level)
	if k < 0 {
		return n.errAt("must be one of the levels: %s", wire.List(f.Spellings(), 8))
	}
	*f.Fill = float64(k)
	return nil
}

// viewFromYAML reads a mapping of name, features and dim.
func (c *Contract) viewFromYAML(n *yamlNode) error {
	v := View{Dim: unset}
	err := section(n, func(s *fields) error {
		return errors.Join(s.get("name").str(&v.Name), s.get("features").list(appendText(&v.Features)), s.get("dim").integer(&v.Dim))
	})
	c.Views = append(c.Views, v)
	return err
}

// membersFromYAML reads all, a number, or a list of names.
func (a *Admission) membersFromYAML(n *yamlNode) error {
	switch {
	case n == nil || n.kind == yamlScalar && n.text == "all":
		return nil
	case n.kind == yamlScalar:
		if err := n.integer(&a.Count); err != nil || a.Count < 1 {
			return n.errAt("must be all, a number of members, or a list of their names")
		}
		return nil
	}
	return n.list(appendText(&a.Members))
}

func rangeFromYAML(n *yamlNode, dst **Range) error {
	if n == nil {
		return nil
	}
	if n.kind != yamlSequence || len(n.items) != 2 {
		return n.errAt("must be a list of two numbers, the smallest and the largest plausible value")
	}
	*dst = new(Range)
	return errors.Join(n.items[0].float(&(*dst).Min), n.items[1].float(&(*dst).Max))
}

func hashFromYAML(n *yamlNode, dst *string) error {
	if n == nil {
		return nil
	}
	if err := n.str(dst); err != nil {
		return err
	}
	if _, err := wire.ParseHash(*dst); err != nil {
		return n.errAt("must be a SHA-256 of 64 lower-case hexadecimal digits")
	}
	return nil
}

// section reads a mapping; an absent one is left at its defaults.
func section(n *yamlNode, read func(*fields) error) error {
	if n == nil {
		return nil
	}
	f, err := n.fields()
	if err != nil {
		return err
	}
	if err := read(f); err != nil {
		return err
	}
	return f.done()
}

func appendText(dst *[]string) func(*yamlNode) error {
	return func(n *yamlNode) error {
		var s string
		if err := n.str(&s); err != nil {
			return err
		}
		*dst = append(*dst, s)
		return nil
	}
}

func appendInteger(dst *[]int) func(*yamlNode) error {
	return func(n *yamlNode) error {
		var v int
		if err := n.integer(&v); err != nil {
			return err
		}
		*dst = append(*dst, v)
		return nil
	}
}

// someRanges asks for a word when some features have a range and some do not:
// one forgotten range must not switch standardisation off for all.
func (c *Contract) someRanges() error {
	missing := slices.IndexFunc(c.Features, func(f Feature) bool { return f.Range == nil && f.Ranged() })
	given := slices.ContainsFunc(c.Features, func(f Feature) bool { return f.Range != nil })
	if c.Standardise == "" && missing >= 0 && given {
		return refuse(fmt.Sprintf("features[%d]", missing+1), "feature %q has no range and others have one; give it one, or say standardise: none", c.Features[missing].Name)
	}
	return nil
}

func setDefault(v *string, to string) {
	if *v == "" {
		*v = to
	}
}

// unset marks a number that study.yaml did not give, so that an explicit 0 is
// judged as 0. No number that the file can hold for these keys is valid there.
const unset = -1 << 31

func setNumber[T int | float64](v *T, to T) {
	if *v == unset {
		*v = to
	}
}
