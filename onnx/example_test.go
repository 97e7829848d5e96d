package onnx_test

import (
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"concord/learn"
	"concord/onnx"
	"concord/secret"
)

// A party puts its scaling, its basis F and its change of basis G in front of the
// analyst's model: one file from raw features to a score.
func ExampleAssemble() {
	h := &learn.Linear{Kind: "ridge", W: mat.NewDense(1, 1, []float64{2}), B: []float64{1}, Link: learn.Identity}
	model, err := onnx.FromModel(h)
	if err != nil {
		log.Fatal(err)
	}
	whole, err := onnx.Assemble(onnx.Front{
		Centre: []float64{50, 100},
		Scale:  []float64{10, 20},
		F:      secret.NewMatrix(mat.NewDense(2, 1, []float64{1, -1})),
		G:      mat.NewDense(1, 1, []float64{3}),
	}, model)
	if err != nil {
		log.Fatal(err)
	}
	read, err := onnx.Decode(whole.Encode()) // as from a file
	if err != nil {
		log.Fatal(err)
	}
	out, err := read.Run(mat.NewDense(1, 2, []float64{60, 100})) // ((60−50)/10 − 0)·3·2 + 1
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(read.Operators(), out.Scores.At(0, 0))
	// Output:
	// [Sub Div MatMul Gemm] 7
}

// Files that are no model of the listed operators are refused.
func ExampleDecode() {
	_, err := onnx.Decode([]byte("no model"))
	fmt.Println(err)
	// Output:
	// onnx: field 13 of ModelProto is not allowed in a concord model
}
