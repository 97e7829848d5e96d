package lab

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"concord/anchor"
	"concord/basis"
	basisspec "concord/basis/spec"
	"concord/secret"
)

// checkLift refuses a lift that is none.
func (c *Case) checkLift(viewed bool, wrong func(string, ...any)) {
	switch {
	case c.Lift < 0 || c.Lift == 1:
		wrong("lift is %d, must be 2 columns or more, or 0 for none", c.Lift)
	case c.Lift == 0 && c.Gamma != 0:
		wrong("gamma belongs to a lift, and there is none")
	case c.Lift > 0 && (!(c.Gamma > 0) || math.IsInf(c.Gamma, 0)):
		wrong("gamma is %v, must be positive and finite", c.Gamma)
	case c.Lift > 0 && viewed:
		wrong("lift and views, or halves, exclude each other")
	case c.Lift > 0 && !c.Anchor.spec(0).Seeded():
		wrong("the anchor is %s, under a lift it must be uniform, normal or orthonormal", c.Anchor.Kind)
	}
}

// raised runs a case on the lifted rows of all parties and of the test.
func (t *trial) raised(c Case, run func() error) error {
	if c.Lift == 0 {
		return run()
	}
	_, m := t.test.Dims()
	up, err := basis.NewLift(basisspec.Lift{Dim: c.Lift, Gamma: c.Gamma}, m, t.source("lift", c.Lift, c.Gamma))
	if err != nil {
		return err
	}
	parties, test, vs := t.parties, t.test, t.vs
	defer func() { t.parties, t.test, t.vs, t.up = parties, test, vs, nil }()
	t.parties = make([]holder, len(parties))
	for i, p := range parties {
		t.parties[i] = holder{up.Apply(secret.NewMatrix(p.x)).Reveal(), p.y}
	}
	t.test, t.up = up.Apply(secret.NewMatrix(test)).Reveal(), up
	t.vs = map[string][]*mat.Dense{}
	return run()
}

// liftedAnchor is an anchor that lies where rows lie, lifted as they are.
func (t *trial) liftedAnchor(kind string, seed anchor.Seed, rows int) (*mat.Dense, error) {
	m, dim := t.up.Dims()
	if rows == 0 {
		rows = usualRows(dim)
	}
	if rows < dim {
		return nil, fmt.Errorf("lab: %d anchor rows for %d lifted columns: the anchor needs as many", rows, dim)
	}
	raw, err := anchor.Generate(anchor.Spec{Kind: kind, Rows: max(rows, m)}, seed, m)
	if err != nil {
		return nil, err
	}
	return t.up.Apply(raw).Reveal(), nil
}
