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
	"time"

	"concord/bundle"
	"concord/internal/cli"
	"concord/internal/site"
	"concord/study"
)

// source says which file a contribution was prepared from. It stays.
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

// unchanged makes sure that the file is what it was. One that is not there any more
// is fine: nobody wants another contribution of it.
func (s source) unchanged() error {
	now, err := describeSource(s.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if now != s {
		return cli.WithHint(fmt.Errorf("%s was changed since it was prepared; nothing was sent", s.Path),
			"run concord prepare again, or bring the file back as it was")
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

// loadSource is the file of the prepared contribution.
func (v *visit) loadSource() (source, error) {
	var s source
	path := v.site.Stays(bundle.KindContribution, sourceFile)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, cli.WithHint(fmt.Errorf("%s is missing", path), "run concord prepare again")
	}
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// sourceUnchanged compares the file of the prepared contribution with what was
// prepared: what is approved and sent speaks of the rows as they are.
func (v *visit) sourceUnchanged() error {
	s, err := v.loadSource()
	if err != nil {
		return err
	}
	return s.unchanged()
}

// ledgerPath is where this site counts what left, as its policy says.
func (v *visit) ledgerPath() (string, error) {
	own, err := v.site.Policy()
	if err != nil || own == nil {
		return "", err
	}
	return own.Ledger, nil
}

// spend counts the prepared and approved contribution before it is sealed.
func (v *visit) spend(m *bundle.Manifest) error {
	from, err := v.loadSource()
	if err != nil {
		return err
	}
	r, err := v.report()
	if err != nil {
		return err
	}
	path, err := v.ledgerPath()
	if err != nil {
		return err
	}
	e := site.Spent{Time: time.Now().UTC().Truncate(time.Second), Study: v.study, Name: v.contract.Name, Manifest: m.Hash(), Source: from.SHA256, Rows: r.Rows, Dim: r.Dim}
	if n := v.contract.Noise; n != nil {
		e.Epsilon, e.Delta = n.Epsilon, n.Delta
	}
	return v.site.Spend(path, e)
}

// spentBefore says what left of the same rows before, a line each, and at the end what
// that comes to; nothing if nothing did.
func (v *visit) spentBefore(m *bundle.Manifest) ([]string, error) {
	from, err := v.loadSource()
	if err != nil {
		return nil, err
	}
	path, err := v.ledgerPath()
	if err != nil {
		return nil, err
	}
	before, err := v.site.SpentOn(path, from.SHA256, m.Hash())
	if err != nil || len(before) == 0 {
		return nil, err
	}
	var lines []string
	epsilon, delta, bare := 0.0, 0.0, 0
	for _, e := range before {
		what := "without differential privacy"
		if e.Epsilon > 0 {
			what = fmt.Sprintf("epsilon %g, delta %g", e.Epsilon, e.Delta)
		} else {
			bare++
		}
		epsilon, delta = epsilon+e.Epsilon, delta+e.Delta
		lines = append(lines, fmt.Sprintf("%s  %s, %d directions of %d rows, %s", e.Time.Format("2006-01-02"), cli.Printable(e.Name), e.Dim, e.Rows, what))
	}
	switch n := v.contract.Noise; {
	case n == nil || !n.Guarantees():
		return append(lines, "several projections of the same rows together show more of them than each alone"), nil
	case bare > 0:
		return append(lines, fmt.Sprintf("%d of them had no guarantee, so that of this one says little of the rows as a whole", bare)), nil
	default:
		return append(lines, fmt.Sprintf("with this one they add up to epsilon %g, delta %g (basic composition)", epsilon+n.Epsilon, delta+n.Delta)), nil
	}
}

// printSpent prints what left of the same rows before.
func (p *program) printSpent(v *visit, m *bundle.Manifest) error {
	lines, err := v.spentBefore(m)
	if err != nil || lines == nil {
		return err
	}
	last := len(lines) - 1
	p.printf("\nthe same file was projected before:\n")
	for _, line := range lines[:last] {
		p.printf("  %s\n", line)
	}
	p.printf("%s\n", lines[last])
	return nil
}
