package learn

import "gonum.org/v1/gonum/mat"

// AnswerCopies is how often [InProportion] repeats a row.
const AnswerCopies = 10

// InProportion turns rows x (n × m) with scores (n × k) into rows with one label each
// (10 n × m): every row is there [AnswerCopies] times, with labels apportioned to its
// scores by largest remainders. Scores below zero count as zero; a row without any
// positive score has all classes alike. It lets every learner of classes learn from
// another model's scores, as the parties do under NRI (docs/methods.md section 2.2).
func InProportion(x, scores *mat.Dense) (*mat.Dense, []int) {
	n, m := x.Dims()
	out := mat.NewDense(n*AnswerCopies, m, nil)
	labels := make([]int, 0, n*AnswerCopies)
	for i := range n {
		var sum float64
		row := scores.RawRowView(i)
		for _, v := range row {
			sum += max(v, 0)
		}
		left := make([]float64, len(row))
		for k, v := range row {
			left[k] = AnswerCopies * max(v, 0) / sum
			if sum == 0 {
				left[k] = AnswerCopies / float64(len(row))
			}
		}
		for j := range AnswerCopies {
			best := 0
			for k, v := range left {
				if v > left[best] {
					best = k
				}
			}
			left[best]--
			labels = append(labels, best)
			out.SetRow(i*AnswerCopies+j, x.RawRowView(i))
		}
	}
	return out, labels
}
