package metric_test

import (
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"concord/metric"
)

func ExampleCompute() {
	scores := mat.NewDense(4, 2, []float64{0.9, 0.1, 0.6, 0.4, 0.65, 0.35, 0.2, 0.8})
	truth := metric.Truth{Labels: []int{0, 0, 1, 1}, Positive: 1}
	for _, name := range []string{"roc_auc", "accuracy", "brier"} {
		v, err := metric.Compute(name, truth, scores)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s %.3f\n", name, v)
	}
	// Output:
	// roc_auc 0.750
	// accuracy 0.750
	// brier 0.158
}

// Two methods on the same five draws.
func ExamplePairedTTest() {
	consensus, odc := []float64{0.91, 0.93, 0.90, 0.92, 0.94}, []float64{0.89, 0.90, 0.89, 0.91, 0.91}
	test, err := metric.PairedTTest(consensus, odc, metric.Greater)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("p = %.3f\n", test.P)
	adjusted, err := metric.Holm([]float64{test.P, 0.2, 0.03})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("of three tests %.3f\n", adjusted)
	// Output:
	// p = 0.006
	// of three tests [0.017 0.200 0.060]
}
