package labcli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/mat"

	"concord/internal/durable"
	"concord/internal/npy"
)

// recordFile is written last and removed first: where it is, the G_i beside it
// are those of one alignment.
const recordFile = "align.json"

func outName(i int) string { return fmt.Sprintf("G%d.npy", i+1) }

// outDir is the folder for the results. Everything is first written to a folder
// inside of it and put in place by commit.
type outDir struct {
	dir, tmp string
	made     bool // the folder was not there before
}

// newOutDir makes the folder if need be. It refuses to write over an input.
func newOutDir(dir string, inputs []array) (*outDir, error) {
	o := &outDir{dir: dir}
	if err := os.Mkdir(dir, 0o777); err == nil {
		o.made = true
	} else if !errors.Is(err, os.ErrExist) {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return nil, err
		}
	}
	for i := range inputs {
		there, err := os.Stat(filepath.Join(dir, outName(i)))
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
	o.tmp, err = os.MkdirTemp(dir, "align.partial-")
	if err != nil && o.made {
		os.Remove(dir)
	}
	return o, err
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
	var earlier alignRecord
	if b, err := os.ReadFile(path); err == nil {
		if json.Unmarshal(b, &earlier) != nil {
			earlier = alignRecord{} // not a record: no result of ours to remove
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	for i := n; i < len(earlier.Files); i++ {
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
	o.made = false
	return os.Remove(o.tmp)
}

// abandon removes what is not in place.
func (o *outDir) abandon() {
	if o == nil {
		return
	}
	os.RemoveAll(o.tmp)
	if o.made {
		os.Remove(o.dir)
	}
}
