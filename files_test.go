package concord

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"concord/internal/cli"
	"concord/internal/cli/concord"
	"concord/internal/cli/concordd"
	_ "concord/internal/repeatable" // the same cases in every run
)

// carriers is a study of three clinics whose files get mixed up, forgotten, found again
// and taken by the wrong people.
type carriers struct {
	t       *testing.T
	dir     string
	clinics []string
	// files are all parcels that were ever written, newest is the last one for each
	// clinic.
	files   []string
	newest  map[string]string
	invites map[string]string
}

func newCarriers(t *testing.T) *carriers {
	t.Helper()
	dir, err := os.MkdirTemp(t.TempDir(), "study")
	if err != nil {
		t.Fatal(err)
	}
	s := &carriers{t: t, dir: dir, clinics: []string{"north", "east", "west"}, newest: map[string]string{}, invites: map[string]string{}}
	s.must(s.office("init", "--name", "Study office", "--address", "192.0.2.1:9"))
	s.must(s.office("study", "create", filepath.Join("examples", "clinics", "study.yaml")))
	for _, c := range s.clinics {
		s.invites[c] = strings.TrimSpace(s.must(s.office("invite", "--admit", "--for", c)))
	}
	return s
}

func (s *carriers) must(out string, status int) string {
	s.t.Helper()
	if status != cli.StatusDone {
		s.t.Fatalf("exit status %d: %s", status, out)
	}
	return out
}

// office runs concordd, at a clinic runs concord; both return what was printed.
func (s *carriers) office(args ...string) (string, int) {
	var out bytes.Buffer
	status := concordd.Run(s.t.Context(), append([]string{"--dir", filepath.Join(s.dir, "office")}, args...), strings.NewReader(""), &out, &out)
	return out.String(), status
}

func (s *carriers) at(clinic string, args ...string) (string, int) {
	var out bytes.Buffer
	status := concord.Run(s.t.Context(), append([]string{"--dir", filepath.Join(s.dir, clinic)}, args...), strings.NewReader("yes\n"), &out, &out)
	return out.String(), status
}

// file is a new place for a parcel.
func (s *carriers) file() string {
	return filepath.Join(s.dir, fmt.Sprintf("%d.parcel", len(s.files)))
}

// keep remembers a parcel if it was written.
func (s *carriers) keep(path string) bool {
	if _, err := os.Stat(path); err != nil {
		return false
	}
	s.files = append(s.files, path)
	return true
}

// visit does one of the things that people do at a clinic. None of them may break
// anything, whatever came before.
func (s *carriers) visit(clinic, what string, path string) {
	out := s.file()
	switch what {
	case "join":
		s.at(clinic, "join", s.invites[clinic], "--name", clinic, "--to", out)
	case "take":
		s.at(clinic, "take", path)
	case "confirm":
		text, _ := s.at(clinic, "roster")
		for line := range strings.Lines(text) {
			if words, ok := strings.CutPrefix(line, "phrase: "); ok {
				s.at(clinic, "roster", "confirm", "--phrase", strings.TrimSpace(words), "--to", out)
			}
		}
	case "sync":
		s.at(clinic, "sync", "--to", out)
	case "contribute":
		s.at(clinic, "prepare", filepath.Join("examples", "clinics", clinic+".csv"))
		s.at(clinic, "approve")
		s.at(clinic, "send", "--to", out)
	case "give":
		s.at(clinic, "give", out)
	case "receive":
		s.at(clinic, "receive")
	}
	s.keep(out)
}

// give writes the analyst's parcel for a clinic.
func (s *carriers) give(clinic string) {
	out := s.file()
	s.office("give", "--to", clinic, "--out", out)
	if s.keep(out) {
		s.newest[clinic] = out
	}
}

// TestFilesMixedUp: three clinics and the analyst do random things with random files,
// their own and others', old and new, whole and cut. Then everybody does once more what is
// due with the newest files, and the study ends as if nothing had happened: one
// contribution each, all with the approved bytes, and a model at every clinic.
func TestFilesMixedUp(t *testing.T) {
	if testing.Short() {
		t.Skip("whole studies")
	}
	checks := flag.Lookup("rapid.checks")
	defer checks.Value.Set(checks.Value.String())
	n := "3" // each is a whole study
	if os.Getenv("CONCORD_RANDOM_TESTS") != "" {
		n = "15"
	}
	if err := checks.Value.Set(n); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		s := newCarriers(t)
		things := []string{"join", "take", "take", "confirm", "sync", "contribute", "give", "receive", "office takes", "office takes", "office gives"}
		for range rapid.IntRange(0, 40).Draw(rt, "steps") {
			what := rapid.SampledFrom(things).Draw(rt, "what")
			clinic := rapid.SampledFrom(s.clinics).Draw(rt, "clinic")
			path := filepath.Join(s.dir, "none")
			if len(s.files) > 0 {
				path = rapid.SampledFrom(s.files).Draw(rt, "file")
				if rapid.IntRange(0, 5).Draw(rt, "cut") == 0 {
					path = s.cut(path)
				}
			}
			switch what {
			case "office takes":
				s.office("take", path)
			case "office gives":
				s.give(clinic)
			default:
				s.visit(clinic, what, path)
			}
		}
		for _, what := range []string{"join", "confirm", "sync", "contribute", "receive"} {
			before := len(s.files)
			for _, clinic := range s.clinics {
				if path, ok := s.newest[clinic]; ok {
					s.visit(clinic, "take", path)
				}
				if what == "receive" {
					s.must(s.at(clinic, "receive"))
				} else {
					s.visit(clinic, what, "")
					s.visit(clinic, "give", "")
				}
			}
			if len(s.files) > before {
				s.must(s.office(append([]string{"take"}, s.files[before:]...)...))
			}
			for _, clinic := range s.clinics {
				s.give(clinic)
			}
		}
		if out := s.must(s.office("status")); !strings.Contains(out, "released, 3 of 3") {
			t.Fatalf("the study ends at %s", out)
		}
		for _, clinic := range s.clinics {
			out := s.must(s.at(clinic, "predict", filepath.Join("examples", "clinics", "new.csv"), "--out", filepath.Join(s.dir, clinic+".csv")))
			if !strings.Contains(out, "scored 100 rows") {
				t.Errorf("%s: %s", clinic, out)
			}
			s.kept(rt, clinic)
		}
	})
}

// cut is a copy of a file without its last bytes.
func (s *carriers) cut(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	path += ".cut"
	if err := os.WriteFile(path, b[:len(b)-1-len(b)/3], 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// kept looks that the analyst has the bundle that the clinic sealed, and no other.
func (s *carriers) kept(rt *rapid.T, clinic string) {
	sent, err := os.ReadFile(filepath.Join(s.dir, clinic, "outbox", "contribution.bundle"))
	if err != nil {
		rt.Fatal(err)
	}
	stored, err := os.ReadDir(filepath.Join(s.dir, "office", "bundles"))
	if err != nil {
		rt.Fatal(err)
	}
	if len(stored) != 9 { // three of each kind
		rt.Fatalf("the analyst has %d bundles, want 9", len(stored))
	}
	for _, e := range stored {
		b, err := os.ReadFile(filepath.Join(s.dir, "office", "bundles", e.Name()))
		if err != nil {
			rt.Fatal(err)
		}
		if bytes.Equal(b, sent) {
			return
		}
	}
	rt.Fatalf("the analyst has not the contribution that %s sealed", clinic)
}
