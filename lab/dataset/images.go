package dataset

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"concord/learn"
	"concord/table"
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

// pictures reads rows pictures of width × height bytes and their labels below classes,
// both in gzip-compressed IDX files.
func pictures(dir, images, labels string, rows, width, height, classes int) (x, y []byte, err error) {
	src, err := table.OpenSource(filepath.Join(dir, images), table.Options{Labels: filepath.Join(dir, labels)})
	if err != nil {
		return nil, nil, err
	}
	defer src.Close()
	if m := len(src.Columns()) - 1; src.Format() != "IDX" || m != width*height {
		return nil, nil, fmt.Errorf("dataset: %s: %s of %d numbers a row, must be IDX of %d × %d", images, src.Format(), m, height, width)
	}
	x = make([]byte, 0, rows*width*height+1)
	var r table.Record
	for err = src.Next(&r); err == nil; err = src.Next(&r) {
		for _, cell := range r.Cells {
			v := cell.Int()
			if cell.Kind != table.Whole || v < 0 || v > 255 {
				return nil, nil, fmt.Errorf("dataset: %s: row %d has a number that is no byte", images, r.Row)
			}
			x = append(x, byte(v))
		}
		last := len(x) - 1 // the label
		if y = append(y, x[last]); int(x[last]) >= classes {
			return nil, nil, fmt.Errorf("dataset: %s: label of row %d is not below %d", labels, r.Row, classes)
		}
		x = x[:last]
	}
	if err != io.EOF {
		return nil, nil, fmt.Errorf("dataset: %s: %w", images, err)
	}
	if len(y) != rows {
		return nil, nil, fmt.Errorf("dataset: %s: %d rows, must be %d", images, len(y), rows)
	}
	return x, y, nil
}
