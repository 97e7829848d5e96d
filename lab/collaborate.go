package lab

import (
	"errors"
	"fmt"
	"time"

	"gonum.org/v1/gonum/mat"

	"concord/learn"
	"concord/linalg"
	"concord/pooled"
	"concord/privacy"
)

// images are what leaves the parties of a case.
type images struct {
	f       []*mat.Dense // F_i (m × l_i)
	anchor  *mat.Dense   // A (a × m)
	rows    []*mat.Dense // X̃_i = X_i F_i
	anchors []*mat.Dense // A_i = A F_i
}

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
	im := images{f: f, anchor: a, rows: make([]*mat.Dense, len(f)), anchors: make([]*mat.Dense, len(f))}
	linalg.Parallel(len(f), func(i int) {
		im.rows[i], im.anchors[i] = new(mat.Dense), new(mat.Dense)
		im.rows[i].Mul(t.parties[i].x, f[i])
		im.anchors[i].Mul(a, f[i])
	})
	if c.Basis.Energy {
		kept, all := 0.0, 0.0
		for i, p := range t.parties {
			kept += linalg.SumSquares(im.rows[i])
			all += linalg.SumSquares(p.x)
		}
		t.put(Cell{Case: c.Name, Method: "basis", Metric: Energy}, kept/all)
	}
	if err := t.addNoise(c, im, f); err != nil {
		return err
	}
	for _, al := range c.Align {
		start := time.Now()
		g, result, err := al.run(im.anchors, t.source("align", c.Name, al.Name))
		if err != nil {
			return fmt.Errorf("%s: %w", al.Name, err)
		}
		t.put(Cell{Case: c.Name, Method: al.Name, Metric: Seconds}, since(start))
		if !result.Converged {
			t.note("%s: some alignments stopped at their limit of iterations", al.Name)
		}
		x, g := al.stacked(im.rows, g)
		y := stackTargets(t.parties)
		for _, m := range t.Models {
			h, err := t.fit(t.ctx, m.Spec, x, y, "h", m.Name)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", al.Name, m.Name, err)
			}
			var scores []*mat.Dense
			if c.Protocol == "nri" {
				scores, err = t.answered(c, im, g, m, h)
			} else {
				scores, err = t.scored(func(i int, rows *mat.Dense) (*mat.Dense, error) {
					var mapped, aligned mat.Dense
					mapped.Mul(rows, f[i])
					aligned.Mul(&mapped, g[i])
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
func (t *trial) addNoise(c Case, im images, f []*mat.Dense) error {
	for i := range im.rows {
		if c.Clip > 0 {
			rows := mat.DenseCopyOf(t.parties[i].x)
			if _, err := privacy.Clip(rows, c.Clip); err != nil {
				return err
			}
			im.rows[i].Mul(rows, f[i])
		}
		if c.Sigma > 0 {
			im.rows[i] = privacy.Gaussian(im.rows[i], c.Sigma, t.source("noise", c.Name, i))
		}
	}
	return nil
}

// answered is the end of nri: the analyst predicts each party's anchor, Y_i^anc = h(A_i G_i),
// party i trains t_i on (A, Y_i^anc) and scores its rows with that ([imakura2023], algorithm
// 2).
func (t *trial) answered(c Case, im images, g []*mat.Dense, m Model, h learn.Model) ([]*mat.Dense, error) {
	return t.scored(func(i int, rows *mat.Dense) (*mat.Dense, error) {
		var aligned mat.Dense
		aligned.Mul(im.anchors[i], g[i])
		s, err := h.Scores(&aligned)
		if err != nil {
			return nil, err
		}
		known := im.anchor
		if t.viewed() {
			known = t.seen(i, known)
		}
		own, err := t.fitAnswers(c, m, known, s, i)
		if err != nil {
			return nil, fmt.Errorf("party %d: %w", i+1, err)
		}
		return own.Scores(rows)
	})
}

// fitAnswers trains tᵢ on anchor rows and the analyst's scores for them.
//
// Hard answers are the class with the largest score. Soft ones are the scores
// themselves, which ridge regresses on; other learners of classes have every anchor
// row ten times, with labels in proportion to the scores.
func (t *trial) fitAnswers(c Case, m Model, anchor, scores *mat.Dense, party int) (learn.Model, error) {
	classes := t.data.Y.Classes
	switch {
	case classes == nil:
		return t.fit(t.ctx, m.Spec, anchor, learn.Target{Values: scores}, "t", m.Name, party)
	case c.Answers == "hard":
		y := learn.Target{Classes: classes, Labels: learn.Predicted(scores)}
		if always, ok := oneLabel(y); ok {
			if c.OneClass == "refuse" {
				return nil, fmt.Errorf("lab: the analyst's %d answers are all of class %d", len(y.Labels), always+1)
			}
			t.note("some anchor predictions were all of one class, and a party's own model constant")
		}
		return t.fit(t.ctx, m.Spec, anchor, y, "t", m.Name, party)
	case m.Spec.Kind == "ridge":
		return t.fit(t.ctx, m.Spec, anchor, learn.Target{Values: scores}, "t", m.Name, party)
	}
	x, labels := learn.InProportion(anchor, scores)
	return t.fit(t.ctx, m.Spec, x, learn.Target{Classes: classes, Labels: labels}, "t", m.Name, party)
}
