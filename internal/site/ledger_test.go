package site_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"concord/internal/site"
	"concord/wire"
)

// TestLedger: a contribution counts once, whatever is repeated, and those of the same
// rows are found over studies that share a ledger.
func TestLedger(t *testing.T) {
	shared := filepath.Join(t.TempDir(), "ledger.jsonl")
	a, b := &site.Site{Dir: t.TempDir()}, &site.Site{Dir: t.TempDir()}
	rows, other := wire.Hash{1}, wire.Hash{2}
	for _, e := range []struct {
		s        *site.Site
		manifest byte
		source   wire.Hash
	}{{a, 10, rows}, {a, 10, rows}, {b, 11, rows}, {b, 12, other}} {
		if err := e.s.Spend(shared, site.Spent{Manifest: wire.Hash{e.manifest}, Source: e.source, Epsilon: 2, Delta: 1e-5, Rows: 7}); err != nil {
			t.Fatal(err)
		}
	}
	same, err := a.SpentOn(shared, rows, wire.Hash{11})
	if err != nil || len(same) != 1 || same[0].Manifest != (wire.Hash{10}) || same[0].Epsilon != 2 || same[0].Rows != 7 {
		t.Errorf("%+v, %v", same, err)
	}
	if same, err := a.SpentOn("", rows, wire.Hash{}); err != nil || same != nil {
		t.Errorf("the folder's own ledger has %+v, %v", same, err)
	}
	if err := a.Spend("", site.Spent{Manifest: wire.Hash{10}, Source: rows}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(a.Dir, "ledger.jsonl")); err != nil {
		t.Error(err)
	}
	// Those of one site in one study, pieces aside; who is not named counts.
	for i, e := range []site.Spent{
		{Site: wire.Hash{7}}, {Site: wire.Hash{8}}, {}, {Site: wire.Hash{7}, PieceFor: 2}, {Site: wire.Hash{7}, Study: wire.Hash{9}},
	} {
		e.Manifest = wire.Hash{20, byte(i)}
		if e.Study == (wire.Hash{}) {
			e.Study = wire.Hash{5}
		}
		if err := a.Spend(shared, e); err != nil {
			t.Fatal(err)
		}
	}
	in, err := b.SpentIn(shared, wire.Hash{5}, wire.Hash{7})
	if err != nil || len(in) != 2 || in[0].Manifest != (wire.Hash{20, 0}) || in[1].Manifest != (wire.Hash{20, 2}) {
		t.Errorf("%+v, %v", in, err)
	}
	if err := os.WriteFile(shared, []byte("{}\nno\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := a.SpentOn(shared, rows, wire.Hash{}); err == nil || !strings.Contains(err.Error(), "line 2 is damaged") {
		t.Errorf("a damaged ledger: %v", err)
	}
	if err := a.Spend(shared, site.Spent{}); err == nil {
		t.Error("a damaged ledger was written to")
	}
}

// TestLedgerGrowsInPlace: a ledger that others share stays the file that it is, with its
// permissions and through links, and one whose last line has no end gets it first.
func TestLedgerGrowsInPlace(t *testing.T) {
	s := &site.Site{Dir: t.TempDir()}
	shared := filepath.Join(t.TempDir(), "shared.jsonl")
	if err := os.WriteFile(shared, []byte(`{"manifest":"`+wire.Hash{9}.String()+`","source":"`+wire.Hash{1}.String()+`"}`), 0o660); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(shared)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(shared, filepath.Join(s.Dir, "ledger.jsonl")); err != nil {
		t.Fatal(err)
	}
	if err := s.Spend("", site.Spent{Manifest: wire.Hash{10}, Source: wire.Hash{1}}); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(shared)
	if err != nil || !os.SameFile(before, after) || before.Mode() != after.Mode() {
		t.Errorf("the ledger is another file: %v, %v", after, err)
	}
	same, err := s.SpentOn("", wire.Hash{1}, wire.Hash{})
	if err != nil || len(same) != 2 || same[0].Manifest != (wire.Hash{9}) || same[1].Manifest != (wire.Hash{10}) {
		t.Errorf("%+v, %v", same, err)
	}
}
