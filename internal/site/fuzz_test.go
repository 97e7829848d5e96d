package site

import (
	"os"
	"path/filepath"
	"testing"

	"concord/wire"
)

// FuzzReadLedger: a ledger that cannot be read is an error, never less than what it
// counts; one that can be read takes another line and has one more.
func FuzzReadLedger(f *testing.F) {
	f.Add([]byte(`{"time":"2026-01-02T03:04:05Z","study":"` + wire.Hash{1}.String() + `","name":"a","manifest":"` + wire.Hash{2}.String() + `","source":"` + wire.Hash{3}.String() + `","rows":30,"dim":3}` + "\n"))
	f.Add([]byte("{}"))
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := &Site{Dir: t.TempDir()}
		path := filepath.Join(s.Dir, ledgerFile)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		before, err := readLedger(path)
		if err != nil {
			return
		}
		for _, e := range before {
			if e.Manifest == (wire.Hash{9}) {
				return
			}
		}
		if err := s.Spend("", Spent{Manifest: wire.Hash{9}}); err != nil {
			t.Fatal(err)
		}
		after, err := readLedger(path)
		if err != nil || len(after) != len(before)+1 || after[len(before)].Manifest != (wire.Hash{9}) {
			t.Fatalf("after one more line there are %d, before %d (%v)", len(after), len(before), err)
		}
	})
}
