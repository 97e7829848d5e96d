package learn_test

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/learn"
)

// TestKNNKnown compares with scikit-learn's brute force: testdata/knn.py.
func TestKNNKnown(t *testing.T) {
	data, err := os.ReadFile("testdata/knn.json")
	if err != nil {
		t.Fatal(err)
	}
	var known struct {
		Cases []struct {
			Name              string
			X, Probe, Scores  [][]float64
			K, Classes        int
			Labels, Predicted []int
			Values            []float64
		}
	}
	if err := json.Unmarshal(data, &known); err != nil {
		t.Fatal(err)
	}
	if len(known.Cases) != 5 {
		t.Fatalf("%d cases, want 5", len(known.Cases))
	}
	for _, c := range known.Cases {
		y := learn.Target{Labels: c.Labels}
		if c.Classes > 0 {
			y.Classes = names(c.Classes)
		} else {
			y.Values = mat.NewDense(len(c.Values), 1, c.Values)
		}
		s, err := fitModel(t, learn.KNN{Neighbours: c.K}, dense(c.X), y).Scores(dense(c.Probe))
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range c.Scores {
			for j, w := range want {
				// The same K numbers, each rounded when it is divided by K.
				if math.Abs(s.At(i, j)-w) > 1e-14*float64(c.K) {
					t.Fatalf("%s: scores of row %d are %v, want %v", c.Name, i+1, s.RawRowView(i), want)
				}
			}
		}
		if c.Classes > 0 && !slices.Equal(learn.Predicted(s), c.Predicted) {
			t.Errorf("%s: predicted %v, want %v", c.Name, learn.Predicted(s), c.Predicted)
		}
	}
}
