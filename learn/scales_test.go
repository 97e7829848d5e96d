package learn_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/learn"
)

// TestScales fits every learner to numbers of every size: an error, or finite
// scores and a report that JSON can hold.
func TestScales(t *testing.T) {
	const n, d = 30, 3
	sizes := []float64{1e-300, 1e-160, 1e-30, 1, 1e30, 1e99, 1e153, 1e160, 1e290, 1e307}
	base, numbers := mat.NewDense(n, d, nil), mat.NewDense(n, 1, nil)
	src := rand.New(rand.NewPCG(8, 1))
	normal := func(_, _ int, _ float64) float64 { return src.NormFloat64() }
	base.Apply(normal, base)
	numbers.Apply(normal, numbers)
	classes := learn.Target{Classes: []string{"a", "b", "c"}}
	for i := range n {
		classes.Labels = append(classes.Labels, i%3)
	}
	try := func(name string, s learn.Spec, x *mat.Dense, y learn.Target) {
		l, err := learn.New(s)
		if err != nil {
			t.Fatal(err)
		}
		m, err := l.Fit(t.Context(), x, y)
		if err != nil {
			return
		}
		if _, err := json.Marshal(m.Report()); err != nil {
			t.Errorf("%s: report %+v: %v", name, m.Report(), err)
		}
		if r := m.Report(); r.Objective < 0 && s.Kind != "svm" {
			t.Errorf("%s: objective %g", name, r.Objective)
		}
		scores, err := m.Scores(x)
		if err != nil {
			t.Errorf("%s: rows that were learned from cannot be scored: %v", name, err)
			return
		}
		for _, v := range scores.RawMatrix().Data {
			if v-v != 0 {
				t.Errorf("%s: a score is %g", name, v)
				return
			}
		}
	}
	for _, kind := range learn.Kinds() {
		s := learn.Spec{Kind: kind}
		switch kind {
		case "mlp":
			s.Epochs = 5
		case "forest":
			s.Trees = 5
		case "boosting":
			s.MaxIter, s.MinLeaf = 5, 2
		case "svm", "svm-linear", "logistic":
			s.MaxIter = 200
		}
		for _, size := range sizes {
			var x mat.Dense
			x.Scale(size, base)
			try(fmt.Sprintf("%s, x of %g", kind, size), s, &x, classes)
			x.Copy(base)
			for i := range n {
				x.Set(i, 1, size*base.At(i, 1)) // one column alone
			}
			try(fmt.Sprintf("%s, column of %g", kind, size), s, &x, classes)
			if kind == "logistic" {
				continue // learns classes only
			}
			try(fmt.Sprintf("%s, column of %g and numbers", kind, size), s, &x, learn.Target{Values: numbers})
			var y mat.Dense
			y.Scale(math.Min(size, math.MaxFloat64/8), numbers)
			try(fmt.Sprintf("%s, numbers of %g", kind, size), s, base, learn.Target{Values: &y})
		}
	}
}
