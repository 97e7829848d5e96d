package npy_test

import (
	"bytes"
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"concord/npy"
)

// What numpy.load reads, and what numpy.save writes, with a bound on what a file may claim.
func ExampleReadMatrix() {
	var file bytes.Buffer
	if err := npy.WriteMatrix(&file, mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 6})); err != nil {
		log.Fatal(err)
	}
	m, err := npy.ReadMatrix(bytes.NewReader(file.Bytes()), npy.Limits{Rows: 1000, Cols: 10})
	if err != nil {
		log.Fatal(err)
	}
	rows, cols := m.Dims()
	fmt.Println(rows, cols, m.At(1, 2))
	_, err = npy.ReadMatrix(bytes.NewReader(file.Bytes()), npy.Limits{Cols: 2})
	fmt.Println(err)
	// Output:
	// 2 3 6
	// npy: shape (2, 3): 3 columns, at most 2 are read
}
