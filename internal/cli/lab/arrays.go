package lab

import (
	"fmt"
	"math"
	"os"
	"strings"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
	"concord/npy"
)

// array is a file with an anchor representation A_i (rows × cols), of which
// only the header was read.
type array struct {
	path       string
	rows, cols int
	size       int64 // of the file, in bytes
}

// openArrays reads the headers of the files and checks all that can be told from
// them: a matrix that is not empty, as many bytes as it says, no more columns
// than rows, and equal numbers of rows. Errors name the file and the numbers.
func openArrays(paths []string) ([]array, error) {
	arrays := make([]array, len(paths))
	for i, path := range paths {
		a, err := openArray(path)
		if err != nil {
			return nil, err
		}
		if first := arrays[0]; i > 0 && a.rows != first.rows {
			return nil, fmt.Errorf("%s: %d rows, and %s has %d: all must come from one anchor", path, a.rows, first.path, first.rows)
		}
		arrays[i] = a
	}
	return arrays, nil
}

func openArray(path string) (array, error) {
	info, err := os.Stat(path) // before it is opened: to open a pipe is to wait for a writer
	if err != nil {
		return array{}, err
	}
	if !info.Mode().IsRegular() {
		return array{}, fmt.Errorf("%s: not a file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return array{}, err
	}
	defer f.Close()
	h, err := npy.ReadHeader(f)
	if err != nil {
		return array{}, inFile(path, err)
	}
	a := array{path: path, size: info.Size()}
	switch len(h.Shape) {
	case 1:
		a.rows, a.cols = h.Shape[0], 1
	case 2:
		a.rows, a.cols = h.Shape[0], h.Shape[1]
	default:
		return array{}, fmt.Errorf("%s: an array of %d dimensions, must be a matrix", path, len(h.Shape))
	}
	switch {
	case h.Bytes() != a.size:
		return array{}, fmt.Errorf("%s: %d × %d numbers of type %s need a file of %d bytes, it has %d", path, a.rows, a.cols, h.Dtype, h.Bytes(), a.size)
	case a.rows == 0 || a.cols == 0:
		return array{}, fmt.Errorf("%s: the matrix is empty: %d × %d", path, a.rows, a.cols)
	case a.cols > a.rows:
		return array{}, fmt.Errorf("%s: %d columns, more than its %d anchor rows: take more anchor rows or fewer dimensions", path, a.cols, a.rows)
	}
	return a, nil
}

// read returns the matrix, all of whose numbers are finite and so small that
// their squares can be added up.
func (a array) read() (*mat.Dense, error) {
	f, err := os.Open(a.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := npy.ReadMatrix(f, npy.Limits{Input: a.size})
	if err != nil {
		return nil, inFile(a.path, err)
	}
	if rows, cols := m.Dims(); rows != a.rows || cols != a.cols {
		return nil, fmt.Errorf("%s: changed while it was being read: %d × %d, was %d × %d", a.path, rows, cols, a.rows, a.cols)
	}
	sum := 0.0
	for _, v := range m.RawMatrix().Data {
		sum += v * v
	}
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		if err := linalg.CheckFinite(m); err != nil {
			return nil, inFile(a.path, err)
		}
		return nil, fmt.Errorf("%s: numbers so large that the sum of their squares overflows: standardise the features before projecting them", a.path)
	}
	return m, nil
}

// inFile puts the file's name in place of the package's.
func inFile(path string, err error) error {
	text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "npy: "), "linalg: ")
	return fmt.Errorf("%s: %s", path, text)
}
