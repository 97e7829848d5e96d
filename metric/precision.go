package metric

import "slices"

// PRAUC is the area under the curve of precision over recall as average
// precision: a sum of steps, which does not interpolate between points and so
// is not optimistic [davis2006].
// With precision P and recall R at the i-th highest distinct score,
//
//	AP = Σᵢ (Rᵢ − Rᵢ₋₁) Pᵢ,   R₀ = 0
//
// Arguments are as of [ROCAUC]. Constant scores give the share of positives.
// Rows without a positive leave it undefined ([ErrUndefined]); scikit-learn
// warns and gives 0 there. Cost O(n log n).
func PRAUC(positive []bool, score []float64) (float64, error) {
	r, err := rank("pr auc", positive, score)
	if err != nil {
		return 0, err
	}
	if err := r.wantPositive("pr auc"); err != nil {
		return 0, err
	}
	var sum float64
	tp0 := 0
	r.descend(func(_ float64, tp, fp int) {
		sum += float64(tp-tp0) * float64(tp) / float64(tp+fp)
		tp0 = tp
	})
	return sum / float64(len(r.positive)), nil
}

// PR is a curve of precision over recall: point i is what one gets by calling
// positive every row whose score is at least Threshold[i].
type PR struct {
	// Precision is the share of the rows called positive that are; Recall is
	// the share of the positives that are called so, and descends. Both have
	// one entry more than Threshold, the point of precision 1 and recall 0 at
	// which nothing is called positive.
	Precision, Recall []float64
	// Threshold are the distinct scores, ascending.
	Threshold []float64
}

// PRCurve is the curve of precision over recall of the rows, for arguments as
// of [ROCAUC]; rows without a positive leave it undefined. All distinct scores
// are points, in the order of scikit-learn. Cost O(n log n).
func PRCurve(positive []bool, score []float64) (*PR, error) {
	r, err := rank("pr curve", positive, score)
	if err != nil {
		return nil, err
	}
	if err := r.wantPositive("pr curve"); err != nil {
		return nil, err
	}
	c := &PR{Precision: []float64{1}, Recall: []float64{0}}
	r.descend(func(threshold float64, tp, fp int) {
		c.Precision = append(c.Precision, float64(tp)/float64(tp+fp))
		c.Recall = append(c.Recall, float64(tp)/float64(len(r.positive)))
		c.Threshold = append(c.Threshold, threshold)
	})
	slices.Reverse(c.Precision)
	slices.Reverse(c.Recall)
	slices.Reverse(c.Threshold)
	return c, nil
}

func (r ranked) wantPositive(what string) error {
	if len(r.positive) == 0 {
		return undefined("%s of 0 positive and %d negative rows, want at least one positive", what, len(r.negative))
	}
	return nil
}
