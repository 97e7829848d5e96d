package chaos

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"
	_ "modernc.org/sqlite"

	"concord/test/powercut"
)

// played plays a study to its end, or to where it fails.
func played(t *testing.T, protocol string, tr trouble) (*play, error) {
	t.Helper()
	opt := options(t, 0)
	p, err := newPlay(opt.Programs, protocol, filepath.Join(opt.Dir, protocol), rand.New(rand.NewPCG(opt.Seed, 10)), tr)
	if err != nil {
		t.Fatal(err)
	}
	return p, p.run(t.Context())
}

// TestLyingDisk: where a disk acknowledges flushes and keeps nothing of them, and loses
// power when all parties have done their setup, the check finds that acknowledged data are
// gone, at whoever's disk it was; on honest disks the same study goes on to its end.
func TestLyingDisk(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lies bool
		off  []string // whose power goes off
	}{
		{true, []string{"analyst"}},
		{true, []string{names[1]}},
		{false, []string{"analyst", names[1]}},
	} {
		t.Run(fmt.Sprintf("lies %v, %s", c.lies, strings.Join(c.off, " and ")), func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var off []string
			p, err := played(t, "dc", trouble{
				lies: c.lies,
				cut:  func(string) int { return 0 }, // none by themselves
				was: func(c Cut) {
					mu.Lock()
					defer mu.Unlock()
					off = append(off, c.Machine)
				},
				between: func(_ context.Context, p *play) error {
					for _, m := range p.machines() {
						m.survival = func(*rand.Rand) powercut.Survival { return powercut.Nothing }
						if slices.Contains(c.off, m.name) {
							m.folder().disk.Cut()
						}
					}
					return nil
				},
			})
			slices.Sort(off)
			if want := slices.Sorted(slices.Values(c.off)); !slices.Equal(off, want) {
				t.Fatalf("the power went off at %v, want %v", off, want)
			}
			if !c.lies {
				if err == nil {
					_, err = p.finish(t.Context())
				}
				if err != nil {
					t.Errorf("honest disks lost something: %v", err)
				}
				return
			}
			var broken *Broken
			if !errors.As(err, &broken) || broken.Who != c.off[0] {
				t.Fatalf("the check did not find that %s's disk has lost what was acknowledged; the play ended with: %v", c.off[0], err)
			}
			t.Log(broken)
		})
	}
}

// damage is something that may not become of a study that has ended, and what the check
// says of it.
type damage struct {
	what string
	who  string // whose folder it is in
	do   func(dir string) error
	want string
}

func removed(file string) func(string) error {
	return func(dir string) error { return os.Remove(filepath.Join(dir, file)) }
}

func made(file string) func(string) error {
	return func(dir string) error {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o700); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, file), []byte("x"), 0o600)
	}
}

// changed changes the first file that a pattern names.
func changed(pattern string, how func([]byte) []byte) func(string) error {
	return func(dir string) error {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(found) == 0 {
			return fmt.Errorf("there is no %s (%v)", pattern, err)
		}
		b, err := os.ReadFile(found[0])
		if err != nil {
			return err
		}
		return os.WriteFile(found[0], how(b), 0o600)
	}
}

// executed changes one row, or more, of the analyst's database.
func executed(statement string) func(string) error {
	return func(dir string) error {
		db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, analystDir, "concord.db"))
		if err != nil {
			return err
		}
		defer db.Close()
		done, err := db.Exec(statement)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return fmt.Errorf("%s changed nothing (%v)", statement, err)
		}
		return nil
	}
}

func empty([]byte) []byte         { return nil }
func firstLine(b []byte) []byte   { return b[:bytes.IndexByte(b, '\n')+1] }
func withoutEnd(b []byte) []byte  { return b[:len(b)-1] }
func lastFlipped(b []byte) []byte { b[len(b)-1] ^= 1; return b }
func twice(b []byte) []byte       { return append(b, b...) }

// damages are of what a site and the analyst have acknowledged, each alone.
func damages(site string) []damage {
	const party = siteDir + "/"
	return []damage{
		{"the keys", site, removed(party + "identity.secret"), "identity.secret"},
		{"the contract", site, removed(party + "contract.json"), "contract.json"},
		{"the log", site, removed(party + "audit.jsonl"), "has no audit log"},
		{"the end of the log", site, changed(party+"audit.jsonl", firstLine), "its audit log has no entry"},
		{"the confirmation", site, removed(party + "confirmation.json"),
			"roster confirm was acknowledged: there is no confirmation"},
		{"the receipt for the setup", site, removed(party + "receipts/setup.json"),
			"sync was acknowledged: there is no receipt for the setup bundle"},
		{"the draft", site, changed(party+"contribution/leaves/manifest.json", withoutEnd),
			"prepare was acknowledged: another contribution lies there"},
		{"the report", site, removed(party + "contribution/stays/report.json"), "prepare was acknowledged"},
		{"the approval", site, removed(party + "contribution/leaves/approval.json"), "approve was acknowledged"},
		{"the log of approvals", site, changed(party+"approvals.log", empty),
			"approvals.log does not name the contribution"},
		{"the receipt", site, removed(party + "receipts/contribution.json"),
			"send was acknowledged: there is no receipt"},
		{"the ledger", site, removed(party + "ledger.jsonl"), "the ledger does not count it"},
		{"a line of the ledger", site, changed(party+"ledger.jsonl", empty), "the ledger does not count it"},
		{"the model", site, removed(party + "model.onnx"), "receive was acknowledged"},
		{"the metrics", site, removed(party + "metrics.json"), "receive was acknowledged"},
		{"an anchor seed after closing", site, made(party + "anchor.secret"), "anchor.secret is still there"},
		{"another's share after closing", site, made(party + "inbox/setup-1.bundle"),
			"setup-1.bundle is still there"},

		{"the study", "analyst", executed("DELETE FROM studies"), "the study that was created is gone"},
		{"an invite", "analyst", executed("DELETE FROM invites WHERE rowid = (SELECT min(rowid) FROM invites)"),
			"3 invites were given, the store has 2"},
		{"a member", "analyst", executed("DELETE FROM members WHERE rowid = (SELECT min(rowid) FROM members)"),
			"has joined, and the store does not know it"},
		{"a confirmation", "analyst", executed(
			"DELETE FROM confirmations WHERE rowid = (SELECT min(rowid) FROM confirmations)"),
			"has confirmed the roster, and the store does not know it"},
		{"a contribution", "analyst", executed(
			"DELETE FROM bundles WHERE rowid = (SELECT min(rowid) FROM bundles WHERE kind = 'contribution')"),
			"there is a receipt for"},
		{"a contribution twice", "analyst", executed(
			"INSERT INTO bundles SELECT study, epoch, sender, kind, round, x'01', " +
				"manifest, file, size, receipt FROM bundles WHERE kind = 'contribution' LIMIT 1"),
			"4 bundles of kind contribution are stored for 3 parties"},
		{"one of the results", "analyst", executed(
			"DELETE FROM bundles WHERE rowid = (SELECT min(rowid) FROM bundles WHERE kind = 'result')"),
			"2 of 3 results are stored"},
		{"all results", "analyst", executed("DELETE FROM bundles WHERE kind = 'result'"),
			"has received a result, and the store has none"},
		{"the end of the log", "analyst", executed("DELETE FROM audit WHERE number > 3"), "and not the entry"},
		{"the end of a bundle", "analyst", changed(analystDir+"/bundles/*", withoutEnd), "bytes, must have"},
		{"a bit of a bundle", "analyst", changed(analystDir+"/bundles/*", lastFlipped), "a stored"},
	}
}

// TestDamageIsFound: the check fails for each single thing that was acknowledged and is
// gone, and names it; at the end it also finds a contribution that is counted twice and a
// model that is not made of the released result.
func TestDamageIsFound(t *testing.T) {
	t.Parallel()
	p, err := played(t, "dc", trouble{})
	if err != nil {
		t.Fatal(err)
	}
	q := p.parties[0]
	if r, err := p.finish(t.Context()); err != nil || r.Models != 3 {
		t.Fatalf("the study did not end well: %+v, %v", r, err)
	}
	// found checks a copy of somebody's folder after something was done to it.
	found := func(t *testing.T, d damage) error {
		t.Helper()
		m, check := p.analyst, p.checkStore
		if d.who == q.name {
			m, check = q.machine, q.check
		}
		copied := folder{dir: filepath.Join(t.TempDir(), "copy")}
		if err := m.folder().copyTo(copied.dir); err != nil {
			t.Fatal(err)
		}
		if err := d.do(copied.dir); err != nil {
			t.Fatal(err)
		}
		return check(copied)
	}
	same := func(string) error { return nil }
	for _, who := range []string{q.name, "analyst"} {
		if err := found(t, damage{who: who, do: same}); err != nil {
			t.Fatalf("the check finds fault with %s's folder as it was: %v", who, err)
		}
	}
	for _, d := range damages(q.name) {
		t.Run(d.who+" loses "+d.what, func(t *testing.T) {
			err := found(t, d)
			var broken *Broken
			if !errors.As(err, &broken) || broken.Who != d.who || !strings.Contains(err.Error(), d.want) {
				t.Errorf("the check says %v, want a broken promise of %s: %q", err, d.who, d.want)
			}
		})
	}

	other, err := os.ReadFile(filepath.Join(p.parties[1].dir, siteDir, "model.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []damage{
		{"a line of the ledger more", q.name, changed(siteDir+"/ledger.jsonl", twice),
			"the ledger counts the contribution 2 times"},
		{"another party's model", q.name, changed(siteDir+"/model.onnx", func([]byte) []byte { return other }),
			"the scores of its model differ"},
		{"a result cut off", "analyst", changed(analystDir+"/bundles/*", withoutEnd), "bytes, must have"},
	} {
		t.Run(d.what, func(t *testing.T) {
			m := q.machine
			if d.who == "analyst" {
				m = p.analyst
			}
			was := m.dir
			defer func() { m.dir = was }()
			m.dir = filepath.Join(t.TempDir(), "copy")
			if err := (folder{dir: was}).copyTo(m.dir); err != nil {
				t.Fatal(err)
			}
			if err := d.do(m.dir); err != nil {
				t.Fatal(err)
			}
			if _, err := p.finish(t.Context()); err == nil || !strings.Contains(err.Error(), d.want) {
				t.Errorf("the end is checked and found to be: %v, want %q", err, d.want)
			}
		})
	}
}

// TestRegenerationIsFound: under nri the check finds a site's rows through any orthonormal
// basis, in any order, at any byte of any file, and does not take other numbers for them.
func TestRegenerationIsFound(t *testing.T) {
	t.Parallel()
	opt := options(t, 0)
	p, err := newPlay(opt.Programs, "nri", filepath.Join(opt.Dir, "nri"), rand.New(rand.NewPCG(opt.Seed, 11)), trouble{})
	if err != nil {
		t.Fatal(err)
	}
	q := p.parties[2]
	x, err := q.rows()
	if err != nil {
		t.Fatal(err)
	}
	n, m := x.Dims()
	rnd := rand.New(rand.NewPCG(1, 12))
	normal := mat.NewDense(n, 4, nil)
	normal.Apply(func(_, _ int, _ float64) float64 { return rnd.NormFloat64() }, normal)
	var svd mat.SVD
	var v, image mat.Dense
	if !svd.Factorize(x, mat.SVDThin) {
		t.Fatal("no singular value decomposition")
	}
	svd.VTo(&v)
	image.Mul(x, v.Slice(0, m, 0, 4))
	for name, c := range map[string]struct {
		content []byte
		want    string
	}{
		"an image of the rows":  {floats(&image, rnd.Perm(n)), "that this site's own explain"},
		"an array in the clear": {[]byte("\x93NUMPY"), "in the clear"},
		"other numbers":         {floats(normal, rnd.Perm(n)), ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := folder{dir: t.TempDir()}
			if err := os.WriteFile(filepath.Join(f.dir, "left"), append([]byte("any"), c.content...), 0o600); err != nil {
				t.Fatal(err)
			}
			err := q.check(f)
			var broken *Broken
			switch {
			case c.want == "" && err != nil:
				t.Errorf("it takes numbers at random for the rows: %v", err)
			case c.want != "" && (!errors.As(err, &broken) || !strings.Contains(err.Error(), c.want)):
				t.Errorf("the check says %v, want %q", err, c.want)
			}
		})
	}
}

// floats are the rows of z in another order, as bytes.
func floats(z *mat.Dense, order []int) []byte {
	var b []byte
	for _, i := range order {
		for _, v := range z.RawRowView(i) {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
	}
	return b
}
