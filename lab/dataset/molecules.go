package dataset

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"concord/learn"
	"concord/npy"
	"concord/table"
)

// fingerprintBits is the length of the Morgan fingerprints of [nosaka2024odc] and [nosaka2025].
const fingerprintBits = 2048

// loadMolecules reads packed Morgan fingerprints X (n × 256 bytes) and labels
// y, 0 or 1, from a folder's archive. The bits stay packed.
func loadMolecules(folder string) func(dir string) (*Data, error) {
	return func(dir string) (*Data, error) {
		a, done, err := openArchive(filepath.Join(dir, folder, "morgan2048_r2.npz"))
		if err != nil {
			return nil, err
		}
		defer done()
		fail := func(err error) (*Data, error) {
			return nil, fmt.Errorf("dataset: %s/morgan2048_r2.npz: %w", folder, err)
		}
		var bits []byte
		var n, stride int
		err = a.Read("X", func(r io.Reader) error {
			return npy.ScanMatrix(r, npy.Limits{Cols: fingerprintBits / 8, Bytes: 1 << 30}, func(h npy.Header, _ int64, part []float64) error {
				if n, stride = h.Shape[0], h.Shape[len(h.Shape)-1]; h.Dtype != "|u1" || h.Fortran {
					return errors.New("the bytes of X must be of type |u1 in C order")
				}
				for _, b := range part {
					bits = append(bits, byte(b))
				}
				return nil
			})
		})
		if err != nil {
			return fail(err)
		}
		var labels []int64
		if err := a.Read("y", func(r io.Reader) (err error) {
			labels, err = npy.ReadInts(r, npy.Limits{Rows: n})
			return err
		}); err != nil {
			return fail(err)
		}
		if n == 0 || len(labels) != n || stride != fingerprintBits/8 {
			return fail(fmt.Errorf("the array X is %d × %d bytes and y has %d rows, must have the same rows and %d columns", n, stride, len(labels), fingerprintBits/8))
		}
		d := &Data{
			X: Bits(n, fingerprintBits, bits), Positive: 1,
			Y:     learn.Target{Classes: []string{"0", "1"}, Labels: make([]int, n)},
			Notes: []string{"Morgan fingerprints of radius 2 with 2048 bits."},
		}
		for i, k := range labels {
			if k != 0 && k != 1 {
				return fail(fmt.Errorf("label of row %d is neither 0 nor 1", i+1))
			}
			d.Y.Labels[i] = int(k)
		}
		for j := range fingerprintBits {
			d.Features = append(d.Features, fmt.Sprintf("bit_%d", j))
		}
		return d, nil
	}
}

// openArchive opens an .npz file; done closes it.
func openArchive(path string) (a *npy.Archive, done func() error, err error) {
	f, err := table.OpenFile(path) // a pipe would wait for its writer
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		a, err = npy.OpenArchive(f, info.Size())
	}
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("dataset: %s: %w", filepath.Base(path), err)
	}
	return a, f.Close, nil
}
