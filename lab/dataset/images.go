package dataset

import (
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"concord/internal/idx"
	"concord/learn"
)

// loadTrainTest reads a set of 28 × 28 pictures of ten kinds in MNIST's four
// files: the rows of the training files, then those of the test files.
func loadTrainTest(folder string) func(dir string) (*Data, error) {
	return func(dir string) (*Data, error) {
		var pixels, labels []byte
		var train int
		for k, part := range []struct {
			name string
			rows int
		}{{"train", 60000}, {"t10k", 10000}} {
			x, y, err := pictures(filepath.Join(dir, folder), part.name+"-images-idx3-ubyte.gz", part.name+"-labels-idx1-ubyte.gz", part.rows, 28, 28, 10)
			if err != nil {
				return nil, err
			}
			if k == 0 {
				train = part.rows
			}
			pixels, labels = append(pixels, x...), append(labels, y...)
		}
		d := newPictures(pixels, labels, 28, 28, 10)
		for i := train; i < len(labels); i++ {
			d.Test = append(d.Test, i)
		}
		return d, nil
	}
}

// loadOlivetti reads the faces: 40 people, 10 pictures of each.
func loadOlivetti(dir string) (*Data, error) {
	x, y, err := pictures(filepath.Join(dir, "olivetti_faces"), "faces-images-idx3-ubyte.gz", "faces-labels-idx1-ubyte.gz", 400, 64, 64, 40)
	if err != nil {
		return nil, err
	}
	return newPictures(x, y, 64, 64, 40), nil
}

func newPictures(pixels, labels []byte, width, height, classes int) *Data {
	d := &Data{
		X: Bytes(len(labels), width*height, pixels), Positive: -1,
		Width: width, Height: height,
		Notes: []string{"Pixels are divided by 255."},
	}
	for i := range width * height {
		d.Features = append(d.Features, fmt.Sprintf("pixel_%d_%d", i/width, i%width))
	}
	d.Y = learn.Target{Labels: make([]int, len(labels))}
	for k := range classes {
		d.Y.Classes = append(d.Y.Classes, strconv.Itoa(k))
	}
	for i, k := range labels {
		d.Y.Labels[i] = int(k)
	}
	return d
}

// pictures reads rows pictures and their labels below classes.
func pictures(dir, images, labels string, rows, width, height, classes int) (x, y []byte, err error) {
	if x, err = idxFile(filepath.Join(dir, images), rows, height, width); err != nil {
		return nil, nil, err
	}
	if y, err = idxFile(filepath.Join(dir, labels), rows); err != nil {
		return nil, nil, err
	}
	for i, k := range y {
		if int(k) >= classes {
			return nil, nil, fmt.Errorf("dataset: %s: label of row %d is not below %d", labels, i+1, classes)
		}
	}
	return x, y, nil
}

// idxFile reads a gzip-compressed IDX file of that shape.
func idxFile(path string, shape ...int) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("dataset: %s: %w", filepath.Base(path), err)
	}
	data, err := idx.ReadBytes(z, shape...)
	if err != nil {
		return nil, fmt.Errorf("dataset: %s: %w", filepath.Base(path), err)
	}
	return data, nil
}
