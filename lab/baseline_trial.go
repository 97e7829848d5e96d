package lab

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"concord/lab/fedavg"
	"concord/learn"
	"concord/privacy"
)

// baseline trains all models as one of Setting.Baselines has it.
func (t *trial) baseline(name string) error {
	b, err := parseBaseline(name)
	if err != nil {
		return err
	}
	for _, m := range t.Models {
		var scores []*mat.Dense
		switch b.kind {
		case "central":
			x := t.whole
			if x == nil {
				x = t.rows()
			}
			scores, err = t.central(m, stackRows(x), name)
		case "central-seen":
			scores, err = t.centralSeen(m)
		case "dp":
			scores, err = t.central(m, t.noised(b), name)
		case "local":
			scores, err = t.local(m)
		case "fedavg":
			scores, err = t.fedavg(m)
		}
		if err != nil {
			return err
		}
		if scores == nil {
			continue
		}
		if err := t.judge("", name, m.Name, scores); err != nil {
			return err
		}
	}
	return nil
}

func (t *trial) rows() []*mat.Dense {
	x := make([]*mat.Dense, len(t.parties))
	for i, p := range t.parties {
		x[i] = p.x
	}
	return x
}

// central is the model of somebody who sees all rows, noised or not.
func (t *trial) central(m Model, x *mat.Dense, name string) ([]*mat.Dense, error) {
	h, err := t.fit(t.ctx, m.Spec, x, stackTargets(t.parties), "h", m.Name)
	if err != nil {
		return nil, err
	}
	s, err := h.Scores(t.test)
	return []*mat.Dense{s}, err
}

// centralSeen is the model of somebody who sees all rows as the parties have them, and
// for each party the test rows as it has them.
func (t *trial) centralSeen(m Model) ([]*mat.Dense, error) {
	h, err := t.fit(t.ctx, m.Spec, stackRows(t.rows()), stackTargets(t.parties), "h", m.Name)
	if err != nil {
		return nil, err
	}
	return t.scored(func(_ int, rows *mat.Dense) (*mat.Dense, error) { return h.Scores(rows) })
}

// local is each party's own model.
func (t *trial) local(m Model) ([]*mat.Dense, error) {
	models := make([]learn.Model, len(t.parties))
	err := t.each(func(i int) (err error) {
		models[i], err = t.fit(t.ctx, m.Spec, t.parties[i].x, t.parties[i].y, "local", m.Name, i)
		return err
	})
	if err != nil {
		return nil, err
	}
	return t.scored(func(i int, rows *mat.Dense) (*mat.Dense, error) { return models[i].Scores(rows) })
}

// noised are all parties' rows with the noise of (ε, 10⁻³) differential privacy
// ([nosaka2025]'s baseline), by the analytic Gaussian mechanism.
func (t *trial) noised(b baseline) *mat.Dense {
	const delta = 1e-3 // [nosaka2025]
	x := stackRows(t.rows())
	n, m := x.Dims()
	sensitivity := t.Sensitivity
	if sensitivity == 0 {
		bound := math.Sqrt(float64(m))
		for i := range n {
			row := x.RawRowView(i)
			if norm := mat.Norm(mat.NewVecDense(m, row), 2); norm > bound {
				for j := range row {
					row[j] *= bound / norm
				}
			}
		}
		sensitivity = 2 * bound
		t.note("dp: rows cut to the norm √m = %.4g, noise for whole rows (replace one, sensitivity %.4g)", bound, sensitivity)
	} else {
		t.note("dp: noise for one number of sensitivity %g, not for a row", sensitivity)
	}
	sigma, err := privacy.Sigma(b.epsilon, delta, sensitivity)
	if err != nil {
		panic("lab: " + err.Error()) // the setting was checked
	}
	out := privacy.Gaussian(x, sigma, Stream(t.seed, "repeat", t.repeat, b.name))
	return out
}

// fedavg is the model of forty rounds of federated averaging; nil for learners that
// have no weights to average.
func (t *trial) fedavg(m Model) ([]*mat.Dense, error) {
	if !fedavg.Can(m.Spec.Kind) {
		t.note("fedavg: not for %s", m.Spec.Kind)
		return nil, nil
	}
	parts := make([]fedavg.Part, len(t.parties))
	for i, p := range t.parties {
		parts[i] = fedavg.Part{X: p.x, Y: p.y}
	}
	h, err := fedavg.Fit(t.ctx, m.Spec, parts, fedavg.Options{Seed: t.source("fedavg", m.Name).Uint64()})
	if err != nil {
		return nil, err
	}
	s, err := h.Scores(t.test)
	return []*mat.Dense{s}, err
}
