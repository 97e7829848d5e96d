package lab

import (
	"errors"
	"fmt"
	"time"

	"gonum.org/v1/gonum/mat"

	"concord/align"
	"concord/analyst"
	"concord/contract"
	"concord/learn"
	"concord/linalg"
	"concord/party"
	"concord/pooled"
	"concord/privacy"
)

// collaborate plays a case: parties map, the analyst aligns and trains, the test
// rows are scored as the protocol has it.
func (t *trial) collaborate(c Case) error {
	l, err := t.dim(c.Basis)
	if err != nil {
		return err
	}
	a, err := t.anchor(c, l)
	if err != nil {
		return err
	}
	f, err := t.bases(c, t.dims(c.Basis, l), a)
	if err != nil && !t.viewed() {
		rank, whose := t.leastRank(c.Basis), "some party's rows"
		if few := new(pooled.RankError); errors.As(err, &few) {
			rank, whose = few.Rank, "all rows together"
		}
		if rank > 0 && rank < l {
			t.note("in some draws the dimension %d is cut to the rank of %s", l, whose)
			l = rank
			f, err = t.bases(c, t.dims(c.Basis, l), a)
		}
	}
	if err != nil {
		return err
	}
	parts := make([]analyst.Contribution, len(f))
	linalg.Parallel(len(f), func(i int) {
		p := t.parties[i]
		x, image := new(mat.Dense), new(mat.Dense)
		x.Mul(p.x, f[i])
		image.Mul(a, f[i])
		parts[i] = analyst.Contribution{Party: fmt.Sprint(i + 1), X: x, A: image, Values: p.y.Values}
		for _, k := range p.y.Labels {
			parts[i].Labels = append(parts[i].Labels, int64(k))
		}
	})
	if c.Basis.Energy {
		kept, all := 0.0, 0.0
		for i, p := range t.parties {
			kept += linalg.SumSquares(parts[i].X)
			all += linalg.SumSquares(p.x)
		}
		t.put(Cell{Case: c.Name, Method: "basis", Metric: Energy}, kept/all)
	}
	if err := t.addNoise(c, parts, f); err != nil {
		return err
	}
	for _, al := range c.Align {
		start := time.Now()
		result, err := al.run(parts, t.source("align", c.Name, al.Name))
		if err != nil {
			return fmt.Errorf("%s: %w", al.Name, err)
		}
		t.put(Cell{Case: c.Name, Method: al.Name, Metric: Seconds}, since(start))
		if !result.Converged {
			t.note("%s: some alignments stopped at their limit of iterations", al.Name)
		}
		x, y := analyst.Stack(parts, result.G, t.data.Y.Classes)
		al.scale(x, result.G)
		for _, m := range t.Models {
			h, err := t.fit(t.ctx, m.Spec, x, y, "h", m.Name)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", al.Name, m.Name, err)
			}
			var scores []*mat.Dense
			if c.Protocol == "nri" {
				scores, err = t.answered(c, a, parts, result, m, h)
			} else {
				scores, err = t.scored(func(i int, rows *mat.Dense) (*mat.Dense, error) {
					var mapped, aligned mat.Dense
					mapped.Mul(rows, f[i])
					aligned.Mul(&mapped, result.G[i])
					return h.Scores(&aligned)
				})
			}
			if err != nil {
				return fmt.Errorf("%s: %s: %w", al.Name, m.Name, err)
			}
			if err := t.judge(c.Name, al.Name, m.Name, scores); err != nil {
				return fmt.Errorf("%s: %w", al.Name, err)
			}
		}
	}
	return nil
}

// addNoise puts a case's noise on what leaves: X̃ = clip(X) F + N. The test rows are
// scored without.
func (t *trial) addNoise(c Case, parts []analyst.Contribution, f []*mat.Dense) error {
	for i := range parts {
		if c.Clip > 0 {
			rows := mat.DenseCopyOf(t.parties[i].x)
			if _, err := privacy.Clip(rows, c.Clip); err != nil {
				return err
			}
			parts[i].X.Mul(rows, f[i])
		}
		if c.Sigma > 0 {
			parts[i].X = privacy.Gaussian(parts[i].X, c.Sigma, t.source("noise", c.Name, i))
		}
	}
	return nil
}

// answered is the end of nri: the analyst answers for each party's anchor, and party i trains
// t_i on (A, Y_i^anc) and scores its rows with that ([imakura2023], algorithm 2).
func (t *trial) answered(c Case, a *mat.Dense, parts []analyst.Contribution, r *align.Result, m Model, h learn.Model) ([]*mat.Dense, error) {
	classes := t.data.Y.Classes
	of := &contract.Contract{Answers: c.Answers}
	if classes == nil {
		of.Answers = "soft"
	}
	answers, err := analyst.Answer(of, h, parts, r)
	if err != nil {
		return nil, err
	}
	return t.scored(func(i int, rows *mat.Dense) (*mat.Dense, error) {
		known := a
		if t.viewed() {
			known = t.seen(i, known)
		}
		x, y := party.Answers(answers[i]).Target(m.Spec.Kind, classes, known)
		if always, ok := oneLabel(y); ok && of.Answers == "hard" {
			if c.OneClass == "refuse" {
				return nil, fmt.Errorf("party %d: lab: the analyst's %d answers are all of class %d", i+1, len(y.Labels), always+1)
			}
			t.note("some anchor predictions were all of one class, and a party's own model constant")
		}
		own, err := t.fit(t.ctx, m.Spec, x, y, "t", m.Name, i)
		if err != nil {
			return nil, fmt.Errorf("party %d: %w", i+1, err)
		}
		return own.Scores(rows)
	})
}
