package powercut_test

import (
	"bufio"
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite"

	"concord/internal/durable"
	"concord/test/powercut"
)

// writers are programs that put values 0, 1, 2, ... into a folder, one after the
// other, and say each when it is there to stay, or so they believe.
var writers = map[string]func(dir string, i int) error{
	"durable": func(dir string, i int) error {
		return durable.WriteFile(name(dir, i), content(i), 0o600)
	},
	"durable, in a folder": func(dir string, i int) error {
		return durable.PutDir(filepath.Join(dir, "all"), 0o700, func(tmp string) error {
			for j := range i + 1 {
				if err := os.WriteFile(name(tmp, j), content(j), 0o600); err != nil {
					return err
				}
			}
			return nil
		})
	},
	"durable, in new folders": func(dir string, i int) error {
		sub := filepath.Join(dir, fmt.Sprint("folder ", i), "in it")
		if err := durable.MkdirAll(sub, 0o700); err != nil {
			return err
		}
		return durable.WriteFile(name(sub, i), content(i), 0o600)
	},
	"durable, by a link": func(dir string, i int) error {
		f, err := os.CreateTemp(dir, "coming-")
		if err != nil {
			return err
		}
		if _, err := f.Write(content(i)); err != nil {
			return err
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return err
		}
		if err := os.Link(f.Name(), name(dir, i)); err != nil {
			return err
		}
		if err := durable.SyncDir(dir); err != nil {
			return err
		}
		return durable.Remove(f.Name())
	},
	"no flush": func(dir string, i int) error {
		tmp := name(dir, i) + ".partial-1"
		if err := os.WriteFile(tmp, content(i), 0o600); err != nil {
			return err
		}
		return os.Rename(tmp, name(dir, i))
	},
	"no flush of the folder": func(dir string, i int) error {
		f, err := os.Create(name(dir, i) + ".partial-1")
		if err != nil {
			return err
		}
		if _, err := f.Write(content(i)); err != nil {
			return err
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return err
		}
		return os.Rename(f.Name(), name(dir, i))
	},
	"no flush of the file": func(dir string, i int) error {
		if err := os.WriteFile(name(dir, i), content(i), 0o600); err != nil {
			return err
		}
		return durable.SyncDir(dir)
	},
	"SQLite":                 sqlite("FULL"),
	"SQLite without flushes": sqlite("OFF"),
}

func name(dir string, i int) string { return filepath.Join(dir, fmt.Sprint("value ", i)) }

func content(i int) []byte { return bytes.Repeat(fmt.Appendf(nil, "%06d\n", i), 300) }

func sqlite(synchronous string) func(dir string, i int) error {
	var db *sql.DB
	return func(dir string, i int) (err error) {
		if db == nil {
			if db, err = sql.Open("sqlite", "file:"+filepath.Join(dir, "db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous("+synchronous+")&_txlock=immediate"); err != nil {
				return err
			}
			db.SetMaxOpenConns(1)
			if _, err := db.Exec("CREATE TABLE IF NOT EXISTS v (i INTEGER PRIMARY KEY, b BLOB)"); err != nil {
				return err
			}
		}
		_, err = db.Exec("INSERT OR REPLACE INTO v VALUES (?, ?)", i, content(i))
		return err
	}
}

// TestMain lets the test be a writer in a process of its own.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && writers[os.Args[1]] != nil {
		for i := range 40 {
			if err := writers[os.Args[1]](os.Args[2], i); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			fmt.Println(i)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// run lets a writer work until the power goes off after n operations, and returns
// what is found and how many values it said were there.
func run(t *testing.T, writer string, n int, how powercut.Survival, rnd *rand.Rand) (*powercut.Disk, int) {
	t.Helper()
	disk := powercut.New()
	dir := t.TempDir()
	unmount, err := disk.Mount(dir)
	if err != nil {
		t.Fatal(err)
	}
	disk.CutAfter(n)
	cmd := exec.Command(os.Args[0], writer, dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := 0
	for lines := bufio.NewScanner(out); lines.Scan(); said++ {
	}
	cmd.Wait() // it fails when the power is off
	if err := unmount(); err != nil {
		t.Fatal(err)
	}
	return disk.Survivors(how, rnd), said
}

// lost says what is missing or damaged of the values that were said to be there.
func lost(t *testing.T, writer string, disk *powercut.Disk, said int) error {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "found")
	if err := disk.CopyTo(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "db")); err == nil || writer == "SQLite" || writer == "SQLite without flushes" {
		return lostRows(dir, said)
	}
	for i := range said {
		path := name(dir, i)
		if writer == "durable, in new folders" {
			path = name(filepath.Join(dir, fmt.Sprint("folder ", i), "in it"), i)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !bytes.Equal(b, content(i)) {
			return fmt.Errorf("value %d has %d bytes, some of them wrong", i, len(b))
		}
	}
	return nil
}

func lostRows(dir string, said int) error {
	if said == 0 {
		return nil
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "db"))
	if err != nil {
		return err
	}
	defer db.Close()
	for i := range said {
		var b []byte
		if err := db.QueryRow("SELECT b FROM v WHERE i = ?", i).Scan(&b); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
		if !bytes.Equal(b, content(i)) {
			return fmt.Errorf("row %d is damaged", i)
		}
	}
	return nil
}

// TestAcknowledgedLasts: what durable and SQLite acknowledge is there, whole, after a
// power cut in any operation, whatever the disk makes of the rest.
func TestAcknowledgedLasts(t *testing.T) {
	for _, writer := range []string{"durable", "durable, in new folders", "durable, by a link", "SQLite"} {
		t.Run(writer, func(t *testing.T) {
			for i := range 16 {
				rnd := rand.New(rand.NewPCG(1, uint64(i)))
				n, how := 1+rnd.IntN(150), powercut.AnySurvival(rnd)
				disk, said := run(t, writer, n, how, rnd)
				if err := lost(t, writer, disk, said); err != nil {
					t.Errorf("cut in operation %d, of the rest %v is left: %d values were acknowledged, but %v", n, how, said, err)
				}
			}
		})
	}
}

// TestForgetsWhatWasNotFlushed: programs that leave out a flush lose what they
// acknowledged: the disk would find them.
func TestForgetsWhatWasNotFlushed(t *testing.T) {
	for _, writer := range []string{"no flush", "no flush of the folder", "no flush of the file", "SQLite without flushes"} {
		t.Run(writer, func(t *testing.T) {
			for i := range 10 {
				rnd := rand.New(rand.NewPCG(2, uint64(i)))
				disk, said := run(t, writer, 60+rnd.IntN(60), powercut.Survival(i%3), rnd)
				if said > 0 && lost(t, writer, disk, said) != nil {
					return
				}
			}
			t.Error("nothing that was acknowledged was lost in 10 power cuts")
		})
	}
}

// TestNeverHalf: a file that durable writes over is the old one or the new one, and a
// folder that it replaces is one of both or absent, never a mixture.
func TestNeverHalf(t *testing.T) {
	for i := range 24 {
		rnd := rand.New(rand.NewPCG(3, uint64(i)))
		disk, _ := run(t, "durable, in a folder", 20+rnd.IntN(300), powercut.AnySurvival(rnd), rnd)
		var found []string
		err := disk.Walk(func(path string, mode fs.FileMode, data []byte) error {
			if rel, ok := bytes.CutPrefix([]byte(path), []byte("all/")); ok {
				found = append(found, string(rel))
				var n int
				if _, err := fmt.Sscanf(string(rel), "value %d", &n); err != nil || !bytes.Equal(data, content(n)) {
					return fmt.Errorf("%s is damaged (%v)", path, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		for j := range found {
			if _, err := disk.ReadFile(fmt.Sprintf("all/value %d", j)); err != nil {
				t.Errorf("of %d values in the folder %d is missing", len(found), j)
			}
		}
	}
}
