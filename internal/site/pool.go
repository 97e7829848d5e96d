package site

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"concord/bundle"
	"concord/internal/durable"
)

// poolDir holds what this site knows of the masked sums:
//
//	pool/1-2/leaves, stays  message 2 of stage 1, as other drafts
//	pool/vector-1.secret    this site's own figures of the stage, until it is done   0600
//	pool/stage-1.secret     what was said in the stage: all messages, without words   0600
//	pool/….words            words of ready messages, by their SHA-256, until it is done
//	pool/sums-1.secret      the pooled sums of a stage that is done                  0600
//	pool/figures.secret     the pooled figures, which stay for later models          0600
//	pool/directions.secret  the common directions                                    0600
//	pool/source.json        the file of rows of which this site's figures were summed
//	pool/ledger.json        which statistics of which set this site has answered
const poolDir = "pool"

// PoolName names a message of masked sums among this site's drafts, sealed bundles and
// receipts, where other bundles have their kind: pool-1-2 is the second of stage 1.
func PoolName(stage, number int) string {
	return fmt.Sprintf("%s-%d-%d", bundle.KindPool, stage, number)
}

// ParsePoolName reads what PoolName made.
func ParsePoolName(name string) (stage, number int, ok bool) {
	if _, err := fmt.Sscanf(name, bundle.KindPool+"-%d-%d", &stage, &number); err != nil || name != PoolName(stage, number) || stage < 1 || number < 1 {
		return 0, 0, false
	}
	return stage, number, true
}

// KindOf is the kind of the bundle that has a name among drafts, sealed bundles and
// receipts.
func KindOf(name string) string {
	if _, _, ok := ParsePoolName(name); ok {
		return bundle.KindPool
	}
	return name
}

// Draft is the folder of the draft of a name.
func (s *Site) Draft(name string) string {
	if stage, number, ok := ParsePoolName(name); ok {
		return s.path(poolDir, fmt.Sprintf("%d-%d", stage, number))
	}
	return s.path(name)
}

// HasDraft reports whether there is a draft of a name, or in its folder a file.
func (s *Site) HasDraft(name string, file ...string) bool {
	_, err := os.Stat(filepath.Join(append([]string{s.Draft(name)}, file...)...))
	return err == nil
}

// MakePool makes the folder for the masked sums.
func (s *Site) MakePool() error { return durable.MkdirAll(s.path(poolDir), dirPerm) }

// Pool is the path of a file among what this site knows of the masked sums.
func (s *Site) Pool(name string) string { return s.path(poolDir, name) }

// PutPool stores a secret file among what this site knows of the masked sums.
func (s *Site) PutPool(name string, b []byte) error {
	if err := s.MakePool(); err != nil {
		return err
	}
	return durable.WriteFile(s.Pool(name), b, secretPerm)
}

// ReadPool loads it; nil says that there is none.
func (s *Site) ReadPool(name string) ([]byte, error) {
	b, err := os.ReadFile(s.Pool(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// PoolMessages lists the sealed messages of masked sums in the outbox by their names, in
// the order in which they were made.
func (s *Site) PoolMessages() ([]string, error) {
	entries, err := os.ReadDir(s.path(outboxDir))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".bundle"); ok && KindOf(name) == bundle.KindPool {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		sa, na, _ := ParsePoolName(a)
		sb, nb, _ := ParsePoolName(b)
		if sa != sb {
			return sa - sb
		}
		return na - nb
	})
	return names, nil
}

// forgetPool removes all that this site knows of the masked sums, its own numbers and the
// others' messages; what it has answered stays in the ledger, and the pooled figures stay.
func (s *Site) forgetPool() error {
	entries, err := os.ReadDir(s.path(poolDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if e.Name() == PoolLedger || e.Name() == PoolFigures {
			continue
		}
		if err := os.RemoveAll(s.path(poolDir, e.Name())); err != nil {
			return err
		}
	}
	inbox, err := filepath.Glob(s.path(inboxDir, bundle.KindPool+"-*.bundle"))
	if err != nil {
		return err
	}
	for _, path := range inbox {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	if len(entries) > 0 {
		return durable.SyncDir(s.path(poolDir))
	}
	return nil
}

// PoolFigures are the pooled figures by which a model's rows are prepared. They stay when a
// study is closed: every later model needs them, and holds them.
const PoolFigures = "figures.secret"

// PoolLedger is the file that says which statistics of which set of parties this site has
// answered.
const PoolLedger = "ledger.json"
