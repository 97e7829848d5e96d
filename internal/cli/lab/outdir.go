package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/mat"

	"concord/internal/durable"
	"concord/npy"
)

// recordFile is written last and removed first: where it is, the G_i beside it
// are those of one alignment.
const recordFile = "align.json"

func outName(i int) string { return fmt.Sprintf("G%d.npy", i+1) }

// outDir is the folder for the results. Everything is first written to a folder
// inside of it and put in place by commit.
type outDir struct {
	dir, tmp string
	made     []string // folders that were not there before, the innermost first
	earlier  int      // G_i of the record that is there
}

// newOutDir makes the folder if need be. It refuses to write over an input, or to
// remove one.
func newOutDir(dir string, inputs []array) (*outDir, error) {
	o := &outDir{dir: dir}
	for d := filepath.Clean(dir); ; d = filepath.Dir(d) {
		info, err := os.Stat(d)
		if err == nil && info.IsDir() || d == filepath.Dir(d) {
			break
		}
		_, there := os.Lstat(d)
		switch {
		case there == nil: // a file, or a link to nothing
			return nil, fmt.Errorf("%s: not a folder", d)
		case errors.Is(err, os.ErrNotExist):
			o.made = append(o.made, d)
		}
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		o.abandon()
		return nil, err
	}
	names := []string{recordFile}
	var earlier alignRecord
	if b, err := os.ReadFile(filepath.Join(dir, recordFile)); err == nil && json.Unmarshal(b, &earlier) == nil {
		o.earlier = len(earlier.Files) // else not a record: no result of ours to remove
	}
	for i := range max(len(inputs), o.earlier) {
		names = append(names, outName(i))
	}
	for _, name := range names {
		there, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		for _, in := range inputs {
			if info, err := os.Stat(in.path); err == nil && os.SameFile(info, there) {
				return nil, fmt.Errorf("%s would be overwritten by a result: name another folder", in.path)
			}
		}
	}
	var err error
	if o.tmp, err = os.MkdirTemp(dir, "align.partial-"); err != nil {
		o.abandon()
		return nil, err
	}
	return o, nil
}

// put writes G_i. It may be called by several goroutines at once.
func (o *outDir) put(i int, g *mat.Dense) (err error) {
	f, err := os.Create(filepath.Join(o.tmp, outName(i)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := npy.WriteMatrix(f, g); err != nil {
		return err
	}
	return f.Sync()
}

// commit puts G_1 … G_n in place and then the record. Results of an earlier
// alignment of more parties are removed.
func (o *outDir) commit(n int, record []byte) error {
	path := filepath.Join(o.dir, recordFile)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for i := n; i < o.earlier; i++ {
		if err := os.Remove(filepath.Join(o.dir, outName(i))); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	for i := range n {
		if err := os.Rename(filepath.Join(o.tmp, outName(i)), filepath.Join(o.dir, outName(i))); err != nil {
			return err
		}
	}
	if err := durable.WriteFile(path, record, 0o644); err != nil {
		return err
	}
	o.made = nil
	return os.Remove(o.tmp)
}

// abandon removes what is not in place.
func (o *outDir) abandon() {
	if o == nil {
		return
	}
	os.RemoveAll(o.tmp)
	for _, d := range o.made {
		os.Remove(d) // unless something is in it
	}
}
