package dataset

import (
	"fmt"
	"os"
	"path/filepath"

	"concord/learn"
	"concord/npy"
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
		bits, n, stride, err := a.Bytes("X", npy.Limits{Cols: fingerprintBits / 8, Bytes: 1 << 30})
		if err != nil {
			return fail(err)
		}
		labels, err := a.Ints("y", npy.Limits{Rows: n})
		if err != nil {
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
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("dataset: %w", err)
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
