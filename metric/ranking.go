package metric

import (
	"math"
	"slices"
)

// ROCAUC is the area under the receiver operating characteristic: the
// probability that a positive row drawn at random has a higher score than a
// negative one, a tie counting one half. positive[i] says whether row i is of
// the positive class; score has one number a row, of any scale.
//
// With p positives and q negatives,
//
//	AUC = ( #{(i, j) : sᵢ > sⱼ} + ½ #{(i, j) : sᵢ = sⱼ} ) / (p q),   i positive, j negative
//
// ([mann1947]; [hanley1982]).
// Constant scores give ½. Rows of one class only leave it undefined
// ([ErrUndefined]). Cost O(n log n).
func ROCAUC(positive []bool, score []float64) (float64, error) {
	r, err := rank("roc auc", positive, score)
	if err != nil {
		return 0, err
	}
	if err := r.wantBoth("roc auc"); err != nil {
		return 0, err
	}
	// Trapezia between the points of the curve, in units of 1/(2pq): whole
	// numbers, and so exact up to 2⁵³, 9·10⁷ rows of each class.
	var area float64
	tp0, fp0 := 0, 0
	r.descend(func(_ float64, tp, fp int) {
		area += float64(fp-fp0) * float64(tp+tp0)
		tp0, fp0 = tp, fp
	})
	return area / 2 / (float64(len(r.positive)) * float64(len(r.negative))), nil
}

// ROC is a receiver operating characteristic: point i is what one gets by
// calling positive every row whose score is at least Threshold[i].
type ROC struct {
	// FPR is the share of the negatives that are called positive, TPR of the
	// positives; both ascend from 0 to 1.
	FPR, TPR []float64
	// Threshold descends. The first is above every score, so that nothing is
	// called positive: the highest plus 1, as in scikit-learn 1.2, or the next
	// float64 where adding 1 changes nothing.
	Threshold []float64
}

// ROCCurve is the receiver operating characteristic of the rows, for arguments
// as of [ROCAUC]. Points on the line between their neighbours, at equal steps,
// are left out, as scikit-learn does by default (drop_intermediate). Cost
// O(n log n).
func ROCCurve(positive []bool, score []float64) (*ROC, error) {
	r, err := rank("roc curve", positive, score)
	if err != nil {
		return nil, err
	}
	if err := r.wantBoth("roc curve"); err != nil {
		return nil, err
	}
	type point struct {
		threshold float64
		tp, fp    int
	}
	var all []point
	r.descend(func(threshold float64, tp, fp int) {
		all = append(all, point{threshold, tp, fp})
	})
	above := max(all[0].threshold+1, math.Nextafter(all[0].threshold, math.Inf(1)))
	c := &ROC{FPR: []float64{0}, TPR: []float64{0}, Threshold: []float64{above}}
	p, q := float64(len(r.positive)), float64(len(r.negative))
	for i, a := range all {
		if i > 0 && i < len(all)-1 {
			before, after := all[i-1], all[i+1]
			if after.tp-a.tp == a.tp-before.tp && after.fp-a.fp == a.fp-before.fp {
				continue
			}
		}
		c.FPR = append(c.FPR, float64(a.fp)/q)
		c.TPR = append(c.TPR, float64(a.tp)/p)
		c.Threshold = append(c.Threshold, a.threshold)
	}
	return c, nil
}

// ranked are the scores of each class, ascending.
type ranked struct{ positive, negative []float64 }

func rank(what string, positive []bool, score []float64) (ranked, error) {
	if err := checkLengths(what, len(positive), len(score)); err != nil {
		return ranked{}, err
	}
	if err := checkFinite("score", score); err != nil {
		return ranked{}, err
	}
	p := 0
	for _, is := range positive {
		if is {
			p++
		}
	}
	all := make([]float64, len(score))
	r := ranked{all[:0:p], all[p:p]}
	for i, s := range score {
		if positive[i] {
			r.positive = append(r.positive, s)
		} else {
			r.negative = append(r.negative, s)
		}
	}
	slices.Sort(r.positive)
	slices.Sort(r.negative)
	return r, nil
}

func (r ranked) wantBoth(what string) error {
	if len(r.positive) == 0 || len(r.negative) == 0 {
		return undefined("%s of %d positive and %d negative rows, want at least one of each", what, len(r.positive), len(r.negative))
	}
	return nil
}

// descend visits the distinct scores from the highest, each with the numbers of
// positives and negatives that have at least that score.
func (r ranked) descend(visit func(threshold float64, tp, fp int)) {
	i, j := len(r.positive), len(r.negative)
	for i > 0 || j > 0 {
		threshold := math.Inf(-1)
		if i > 0 {
			threshold = r.positive[i-1]
		}
		if j > 0 {
			threshold = max(threshold, r.negative[j-1])
		}
		for i > 0 && r.positive[i-1] == threshold {
			i--
		}
		for j > 0 && r.negative[j-1] == threshold {
			j--
		}
		visit(threshold, len(r.positive)-i, len(r.negative)-j)
	}
}
