package metric

import (
	"fmt"
	"math"
)

// ConfusionMatrix counts rows by true and predicted class.
type ConfusionMatrix struct {
	// Counts is k × k: Counts[t][p] rows of class t are predicted as class p.
	Counts [][]int
}

// maxClasses keeps a confusion matrix under 128 MiB.
const maxClasses = 4096

// Confusion counts the rows by true and predicted class index, 0 to classes−1.
// Classes that do not occur have rows and columns of zeros. At most 4096
// classes. Cost O(n + k²).
func Confusion(truth, predicted []int, classes int) (*ConfusionMatrix, error) {
	if err := checkLengths("confusion matrix", len(truth), len(predicted)); err != nil {
		return nil, err
	}
	if classes < 1 || classes > maxClasses {
		return nil, fmt.Errorf("metric: confusion matrix of %d classes, want 1 to %d", classes, maxClasses)
	}
	if err := checkClasses("true class", truth, classes); err != nil {
		return nil, err
	}
	if err := checkClasses("predicted class", predicted, classes); err != nil {
		return nil, err
	}
	all := make([]int, classes*classes)
	m := &ConfusionMatrix{make([][]int, classes)}
	for c := range m.Counts {
		m.Counts[c] = all[c*classes : (c+1)*classes : (c+1)*classes]
	}
	for i, c := range truth {
		m.Counts[c][predicted[i]]++
	}
	return m, nil
}

// ClassFigures say how one class is found.
type ClassFigures struct {
	// Support is the number of rows of the class, Predicted of those predicted
	// as it.
	Support, Predicted int
	// Precision is the share of the rows predicted as the class that are of it;
	// 0 if Predicted is 0.
	Precision float64
	// Recall is the share of the rows of the class that are predicted as it; 0
	// if Support is 0.
	Recall float64
	// F1 is the harmonic mean of both, 2·hits / (Support + Predicted); 0 if
	// both are 0.
	F1 float64
}

// PerClass are the figures of each class. Where a share is of no rows it is 0,
// as in scikit-learn; Support and Predicted tell such a 0 from a bad one.
func (m *ConfusionMatrix) PerClass() []ClassFigures {
	out := make([]ClassFigures, len(m.Counts))
	for t, row := range m.Counts {
		for p, n := range row {
			out[t].Support += n
			out[p].Predicted += n
		}
	}
	for c := range out {
		f, hits := &out[c], m.Counts[c][c]
		f.Precision = share(hits, f.Predicted)
		f.Recall = share(hits, f.Support)
		f.F1 = share(2*hits, f.Support+f.Predicted)
	}
	return out
}

// Macro are the means of precision, recall and F1 over the classes that occur
// in truth or in predictions, each class counting the same, as scikit-learn's
// average="macro". A nil or empty matrix has no classes: zeros.
func (m *ConfusionMatrix) Macro() (precision, recall, f1 float64) {
	classes := 0.0
	for _, f := range m.PerClass() {
		if f.Support+f.Predicted == 0 {
			continue
		}
		classes++
		precision += f.Precision
		recall += f.Recall
		f1 += f.F1
	}
	if classes == 0 {
		return 0, 0, 0
	}
	return precision / classes, recall / classes, f1 / classes
}

// Kappa is Cohen's: the agreement beyond what the class shares alone give
// [cohen1960]. With pₒ the share of rows on
// the diagonal and pₑ = Σ_c (true share of c)(predicted share of c),
//
//	κ = (pₒ − pₑ) / (1 − pₑ)
//
// It is undefined when truth and predictions are all of one and the same class.
func (m *ConfusionMatrix) Kappa() (float64, error) {
	a := m.agreement()
	// κ with numerator and denominator times n², in integers.
	if a.rows*a.rows == a.chance {
		return 0, undefined("kappa of rows whose true and predicted classes are all one class, want at least two classes")
	}
	return float64(a.hits*a.rows-a.chance) / float64(a.rows*a.rows-a.chance), nil
}

// Matthews is Matthews' correlation of truth and prediction ([matthews1975];
// for more than two classes [gorodkin2004]). With n rows of which s on the
// diagonal, t_c true and p_c predicted rows of class c,
//
//	(s n − Σ t_c p_c) / √( (n² − Σ p_c²)(n² − Σ t_c²) )
//
// It is 0 by convention, as in scikit-learn, when truth or predictions are all
// of one class: a constant is correlated with nothing.
func (m *ConfusionMatrix) Matthews() float64 {
	a := m.agreement()
	spread := float64(a.rows*a.rows-a.truth2) * float64(a.rows*a.rows-a.predicted2)
	if spread == 0 {
		return 0
	}
	return float64(a.hits*a.rows-a.chance) / math.Sqrt(spread)
}

// agreement holds sums over the classes: of rows, of rows on the diagonal, and
// of products of the counts of true and predicted rows. Squares of the number of
// rows are exact up to 3·10⁹ rows.
type agreement struct {
	rows, hits, chance, truth2, predicted2 int64
}

func (m *ConfusionMatrix) agreement() agreement {
	var a agreement
	for c, f := range m.PerClass() {
		t, p := int64(f.Support), int64(f.Predicted)
		a.rows += t
		a.hits += int64(m.Counts[c][c])
		a.chance += t * p
		a.truth2 += t * t
		a.predicted2 += p * p
	}
	return a
}

// share is part / whole, 0 of nothing.
func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
