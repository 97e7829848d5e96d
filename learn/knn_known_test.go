package learn_test

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
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

// TestKNNLarge checks that numbers whose distances would overflow are refused,
// and that the largest that are not do no harm.
func TestKNNLarge(t *testing.T) {
	y := learn.Target{Classes: names(2), Labels: []int{0, 1, 0}}
	rows := func(v float64) *mat.Dense { return mat.NewDense(3, 2, []float64{v, v, -v, v, v / 2, -v}) }
	m := fitModel(t, learn.KNN{Neighbours: 1}, rows(1e100), y)
	s, err := m.Scores(rows(1e100))
	if err != nil || !slices.Equal(learn.Predicted(s), y.Labels) {
		t.Errorf("rows are not their own neighbours, error %v", err)
	}
	if _, err := (learn.KNN{Neighbours: 1}).Fit(t.Context(), rows(1e155), y); err == nil || !strings.Contains(err.Error(), "x at row 1, column 1 is larger than 1e+100") {
		t.Errorf("Fit of large numbers: error %v", err)
	}
	if _, err := m.Scores(rows(1e155)); err == nil || !strings.Contains(err.Error(), "x at row 1, column 1 is larger than 1e+100") {
		t.Errorf("Scores of large numbers: error %v", err)
	}
	for _, bad := range []*learn.Neighbours{
		{}, {Rows: rows(1), Votes: mat.NewDense(2, 1, nil), K: 1}, {Rows: rows(1), Votes: mat.NewDense(3, 1, nil), K: 4},
		{Rows: rows(1e155), Votes: mat.NewDense(3, 1, nil), K: 1}, {Rows: rows(1), Votes: mat.NewDense(3, 1, nil), K: 1, Levels: names(2)},
	} {
		if _, err := bad.Scores(rows(1)); err == nil {
			t.Errorf("scores of a model of %d neighbours that does not fit together gave no error", bad.K)
		}
	}
}
