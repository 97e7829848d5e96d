package learn_test

import (
	"context"
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"concord/learn"
)

// A line through four points, without a penalty on its slope.
func ExampleRidge() {
	x := mat.NewDense(4, 1, []float64{1, 2, 3, 4})
	y := mat.NewDense(4, 1, []float64{3, 5, 7, 9})
	h, err := learn.Ridge{Unpenalised: true}.Fit(context.Background(), x, learn.Target{Values: y})
	if err != nil {
		log.Fatal(err)
	}
	scores, err := h.Scores(mat.NewDense(1, 1, []float64{10}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f\n", scores.At(0, 0))
	// Output:
	// 21.000
}

// Learners by name, as a contract has them. Models that carry rows are not released under
// the protocol dc.
func ExampleNew() {
	x := mat.NewDense(6, 1, []float64{-3, -2, -1, 1, 2, 3})
	y := learn.Target{Classes: []string{"no", "yes"}, Labels: []int{0, 0, 0, 1, 1, 1}}
	for _, spec := range []learn.Spec{{Kind: "logistic", C: 1}, {Kind: "knn", Neighbours: 1}} {
		learner, err := learn.New(spec)
		if err != nil {
			log.Fatal(err)
		}
		h, err := learner.Fit(context.Background(), x, y)
		if err != nil {
			log.Fatal(err)
		}
		scores, err := h.Scores(mat.NewDense(2, 1, []float64{-5, 5}))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(learner.Name(), learn.Predicted(scores), "carries rows:", learner.CarriesRows())
	}
	_, err := learn.New(learn.Spec{Kind: "ridge", C: 1})
	fmt.Println(err)
	// Output:
	// logistic [0 1] carries rows: false
	// knn [0 1] carries rows: true
	// learn: ridge has no setting c
}
