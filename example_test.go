package concord_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/mat"

	"concord/align"
	"concord/learn"
	"concord/metric"
	"concord/npy"
	"concord/onnx"
)

// load reads testdata/example/NAME.npy.
func load(name string) *mat.Dense {
	f, err := os.Open(filepath.Join("testdata", "example", name+".npy"))
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	m, err := npy.ReadMatrix(f, npy.Limits{})
	if err != nil {
		log.Fatal(err)
	}
	return m
}

// labels reads whole numbers as classes.
func labels(name string) (y []int) {
	f, err := os.Open(filepath.Join("testdata", "example", name+".npy"))
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	v, err := npy.ReadInts(f, npy.Limits{})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range v {
		y = append(y, int(c))
	}
	return y
}

// NumPy files of three parties' images of one anchor are aligned: G brings their images,
// and with them their rows, into one space.
func Example_align() {
	images := []*mat.Dense{load("A1"), load("A2"), load("A3")}
	res, err := align.Run("odc", images, align.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("method %s, residual %.6f\n", res.Method, res.Residual)
	for i, g := range res.G {
		rows, cols := g.Dims()
		fmt.Printf("G%d is %d × %d\n", i+1, rows, cols)
	}
	// Output:
	// method odc, residual 0.000000
	// G1 is 4 × 4
	// G2 is 4 × 4
	// G3 is 4 × 4
}

// The aligned rows of two parties train one model, the third's test it, and the model is
// written as ONNX.
func Example_train() {
	res, err := align.Run("odc", []*mat.Dense{load("A1"), load("A2"), load("A3")}, align.Options{})
	if err != nil {
		log.Fatal(err)
	}
	var x, first, second, test mat.Dense
	first.Mul(load("X1"), res.G[0])
	second.Mul(load("X2"), res.G[1])
	x.Stack(&first, &second)
	learner, err := learn.New(learn.Spec{Kind: "logistic"})
	if err != nil {
		log.Fatal(err)
	}
	target := learn.Target{Classes: []string{"no", "yes"}, Labels: append(labels("Y1"), labels("Y2")...)}
	h, err := learner.Fit(context.Background(), &x, target)
	if err != nil {
		log.Fatal(err)
	}
	graph, err := onnx.FromModel(h)
	if err != nil {
		log.Fatal(err)
	}
	test.Mul(load("X3"), res.G[2])
	out, err := graph.Run(&test)
	if err != nil {
		log.Fatal(err)
	}
	auc, err := metric.Compute("roc_auc", metric.Truth{Labels: labels("Y3"), Positive: 1}, out.Scores)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%v, ROC-AUC of the third party's rows %.2f\n", graph.Operators(), auc)
	path := filepath.Join(os.TempDir(), "concord-example.onnx")
	defer os.Remove(path)
	if err := os.WriteFile(path, graph.Encode(), 0o600); err != nil {
		log.Fatal(err)
	}
	// Output:
	// [Gemm Sigmoid ArgMax], ROC-AUC of the third party's rows 0.96
}
