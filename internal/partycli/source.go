package partycli

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"concord/internal/cli"
	"concord/study"
)

// source says which file a contribution, or a piece of the anchor, was prepared from. It stays.
type source struct {
	Path   string     `json:"path"` // absolute
	Bytes  int64      `json:"bytes"`
	SHA256 study.Hash `json:"sha256"`
}

// sourceFile holds the source of the prepared contribution.
const sourceFile = "source.json"

// describeSource reads the file once.
func describeSource(path string) (source, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return source{}, err
	}
	f, err := os.Open(path)
	if err != nil {
		return source{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return source{}, err
	}
	if !info.Mode().IsRegular() {
		return source{}, cli.WithHint(fmt.Errorf("%s is no regular file", path), "write the rows into a file first: it is read again before anything leaves")
	}
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	return source{path, n, study.Hash(sum.Sum(nil))}, err
}

// unchanged makes sure that the file is what it was; hint says how to prepare it again.
// One that is not there any more is fine: nobody wants another contribution of it.
func (s source) unchanged(hint string) error {
	now, err := describeSource(s.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if now != s {
		return cli.WithHint(fmt.Errorf("%s was changed since it was prepared; nothing was sent", s.Path),
			hint+", or bring the file back as it was")
	}
	return nil
}

func (s source) write(dir string) error {
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, sourceFile), append(b, '\n'), draftPerm)
}

// loadSource is the file that what is prepared was made from.
func (v *visit) loadSource(kind string) (source, error) {
	var s source
	path := v.site.Stays(kind, sourceFile)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, cli.WithHint(fmt.Errorf("%s is missing", path), v.prepareAgain(kind))
	}
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// sourceUnchanged compares the file of rows with what was prepared: what is approved and
// sent speaks of the rows as they are.
func (v *visit) sourceUnchanged(kind string) error {
	s, err := v.loadSource(kind)
	if err != nil {
		return err
	}
	return s.unchanged(v.prepareAgain(kind))
}
