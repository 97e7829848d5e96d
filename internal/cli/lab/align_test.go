package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/align"
	"concord/linalg"
	"concord/npy"
)

// runLab runs the program and returns its exit status and output.
func runLab(ctx context.Context, args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	status = Run(ctx, args, strings.NewReader(""), &out, &err)
	return status, out.String(), err.String()
}

// save writes matrices as A1.npy, A2.npy, ... and returns their paths.
func save(t *testing.T, dir string, a ...*mat.Dense) []string {
	t.Helper()
	var paths []string
	for i, m := range a {
		path := filepath.Join(dir, fmt.Sprintf("A%d.npy", i+1))
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := npy.WriteMatrix(f, m); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

func normals(n, rows, cols int) []*mat.Dense {
	a := make([]*mat.Dense, n)
	for i := range a {
		a[i] = linalg.Normal(rows, cols, new(splitMix))
		a[i].Set(0, 0, float64(i)) // not all the same
	}
	return a
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var s []string
	for _, e := range entries {
		s = append(s, e.Name())
	}
	return s
}

// TestAlignWritesTheResult: what is on disk is what the package returns, to the
// last bit.
func TestAlignWritesTheResult(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	a := normals(3, 30, 4)
	for _, method := range align.Methods() {
		dir := t.TempDir()
		out := filepath.Join(dir, "deep", "out")
		args := append([]string{"align", "--json", "--method", method, "--seed", "7", "--out", out}, save(t, dir, a...)...)
		status, stdout, stderr := runLab(t.Context(), args...)
		if status != 0 {
			t.Fatalf("%s: status %d: %s", method, status, stderr)
		}
		f := alignFlags{seed: 7}
		want, err := align.Run(method, a, align.Options{Source: f.source()})
		if err != nil {
			t.Fatal(err)
		}
		if got := names(t, out); !slices.Equal(got, []string{"G1.npy", "G2.npy", "G3.npy", "align.json"}) {
			t.Fatalf("%s: the folder holds %q", method, got)
		}
		for i, g := range want.G {
			file, err := os.Open(filepath.Join(out, outName(i)))
			if err != nil {
				t.Fatal(err)
			}
			got, err := npy.ReadMatrix(file, npy.Limits{})
			file.Close()
			if err != nil || !mat.Equal(got, g) {
				t.Errorf("%s: G_%d differs from that of the package (%v)", method, i+1, err)
			}
		}
		var r alignRecord
		if err := json.Unmarshal([]byte(stdout), &r); err != nil {
			t.Fatal(err)
		}
		if r.Method != method || r.Dim != want.Dim || r.Residual != want.Residual || r.Objective != want.Objective ||
			r.Iterations != want.Iterations || !slices.Equal(r.Ranks, want.Ranks) || !slices.Equal(r.Eigenvalues, want.Eigenvalues) ||
			r.Seed != 7 || r.Rows != 30 || len(r.Files) != 3 || r.Files[2].Cols != 4 || r.Backend == "" || r.Seconds <= 0 {
			t.Errorf("%s: the record is %+v", method, r)
		}
		var raw map[string]any
		if err := json.Unmarshal([]byte(stdout), &raw); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"format", "method", "solver", "dim", "target", "seed", "seconds", "residual", "objective", "eigenvalues",
			"iterations", "converged", "ranks", "conditions", "rows", "files", "warnings", "streamed", "backend", "peak_rss_bytes"} {
			if v, ok := raw[key]; !ok || v == nil {
				t.Errorf("%s: the record has no %q", method, key)
			}
		}
	}
}

// TestAlignIsAllOrNothing: a run that fails, or is interrupted, leaves what was
// there, and nothing where nothing was.
func TestAlignIsAllOrNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	dir := t.TempDir()
	a := normals(20, 30, 4)
	paths := save(t, dir, a...)
	f, err := os.OpenFile(paths[15], os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	// The last number becomes NaN: only reading the data finds that.
	if _, err := f.WriteAt([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, npy.Size(npy.Float64, 30, 4)-8); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, stream := range []string{"--stream=false", "--stream"} {
		for _, method := range align.StreamMethods() {
			fresh, old := filepath.Join(dir, "fresh"), filepath.Join(dir, "old"+stream+method)
			args := []string{"align", stream, "--method", method, "--out"}
			if status, _, stderr := runLab(t.Context(), slices.Concat(args, []string{old}, paths[:3])...); status != 0 {
				t.Fatal(stderr)
			}
			before, err := os.ReadFile(filepath.Join(old, "G2.npy"))
			if err != nil {
				t.Fatal(err)
			}
			for name, ctx := range map[string]context.Context{"broken file": t.Context(), "interrupted": gone} {
				files := paths
				want := "A16.npy: element at row 30, column 4"
				if name == "interrupted" {
					files, want = paths[:10], "concord: error: interrupted, nothing was written"
				}
				for _, out := range []string{fresh, old} {
					status, stdout, stderr := runLab(ctx, slices.Concat(args, []string{out}, files)...)
					if status != 1 || stdout != "" || !strings.Contains(stderr, want) {
						t.Errorf("%s %s, %s: status %d, %q, %q", method, stream, name, status, stdout, stderr)
					}
				}
				if _, err := os.Stat(fresh); err == nil {
					t.Errorf("%s %s, %s: a folder is left: %q", method, stream, name, names(t, fresh))
				}
				if got := names(t, old); !slices.Equal(got, []string{"G1.npy", "G2.npy", "G3.npy", "align.json"}) {
					t.Errorf("%s %s, %s: the folder holds %q", method, stream, name, got)
				}
				if after, err := os.ReadFile(filepath.Join(old, "G2.npy")); err != nil || !bytes.Equal(before, after) {
					t.Errorf("%s %s, %s: an earlier result was changed", method, stream, name)
				}
			}
		}
	}
}

// TestAlignKeepsOtherFiles: the folder may be one of the user's.
func TestAlignKeepsOtherFiles(t *testing.T) {
	dir := t.TempDir()
	paths := save(t, dir, normals(4, 20, 3)...)
	for _, n := range []int{4, 2} {
		if status, _, stderr := runLab(t.Context(), append([]string{"align", "--method", "odc", "--out", dir}, paths[:n]...)...); status != 0 {
			t.Fatal(stderr)
		}
	}
	want := []string{"A1.npy", "A2.npy", "A3.npy", "A4.npy", "G1.npy", "G2.npy", "align.json"}
	if got := names(t, dir); !slices.Equal(got, want) {
		t.Errorf("the folder holds %q, want %q", got, want)
	}
}

// TestAlignSparesInputs: a file that is read is neither overwritten nor removed,
// whatever it is called.
func TestAlignSparesInputs(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	for _, name := range []string{"align.json", "G1.npy", "G4.npy"} {
		dir := t.TempDir()
		paths := save(t, dir, normals(4, 20, 3)...)
		out := filepath.Join(dir, "out")
		if status, _, stderr := runLab(t.Context(), append([]string{"align", "--method", "odc", "--out", out}, paths...)...); status != 0 {
			t.Fatal(stderr)
		}
		input := filepath.Join(out, name)
		before, err := os.ReadFile(paths[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(input, before, 0o600); err != nil {
			t.Fatal(err)
		}
		if name == "align.json" { // the record of four parties is gone
			if err := os.Remove(filepath.Join(out, "G1.npy")); err != nil {
				t.Fatal(err)
			}
		}
		for _, stream := range []string{"--stream=false", "--stream"} {
			status, _, stderr := runLab(t.Context(), "align", stream, "--method", "odc", "--out", out, paths[1], input)
			if status != 1 || !strings.Contains(stderr, name+" would be overwritten") {
				t.Errorf("%s %s: status %d, %q", name, stream, status, stderr)
			}
		}
		if after, err := os.ReadFile(input); err != nil || !bytes.Equal(before, after) {
			t.Errorf("%s was changed (%v)", name, err)
		}
	}
}

// TestAlignFolders: what cannot be a folder is named, and folders made for a run
// that fails are removed again.
func TestAlignFolders(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	dir := t.TempDir()
	a := normals(2, 20, 3)
	a[1].Set(19, 2, math.NaN())
	paths := save(t, dir, a...)
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "nowhere"), link); err != nil {
		t.Fatal(err)
	}
	for _, stream := range []string{"--stream=false", "--stream"} {
		run := func(out string, files ...string) string {
			status, _, stderr := runLab(t.Context(), append([]string{"align", stream, "--method", "odc", "--out", out}, files...)...)
			if status != 1 {
				t.Errorf("%s: status %d, %q", out, status, stderr)
			}
			return stderr
		}
		for _, out := range []string{paths[0], filepath.Join(paths[0], "deep"), link} {
			if got := run(out, paths[0]); !strings.HasSuffix(got, ": not a folder\n") {
				t.Errorf("%s: %q", out, got)
			}
		}
		run(filepath.Join(dir, "one", "two", "three"), paths...)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"A1.npy", "A2.npy", "link"}) {
		t.Errorf("the folder holds %q", got)
	}
}

// TestTrialIsShort: the flags are tried without the starts that they ask for.
func TestTrialIsShort(t *testing.T) {
	f := alignFlags{method: "gopp", opt: align.Options{Starts: math.MaxInt}}
	if err := f.trial(false); err != nil {
		t.Error(err)
	}
}

// TestAlignOfManyParties: the terminal shows twenty, the record all.
func TestAlignOfManyParties(t *testing.T) {
	dir := t.TempDir()
	a := normals(30, 12, 2)
	for _, m := range a[1:] { // rank one
		for r := range 12 {
			m.Set(r, 1, m.At(r, 0))
		}
	}
	out := filepath.Join(dir, "out")
	args := append([]string{"align", "--method", "ls", "--out", out}, save(t, dir, a...)...)
	status, stdout, stderr := runLab(t.Context(), args...)
	if status != 0 {
		t.Fatal(stderr)
	}
	if !strings.Contains(stdout, "... and 10 more") || strings.Contains(stdout, "A21.npy") {
		t.Errorf("the table is\n%s", stdout)
	}
	if n := strings.Count(stderr, "\n"); n != mostLines+1 || !strings.Contains(stderr, "9 more") || !strings.Contains(stderr, "A2.npy: party 2: A_2 has rank 1 of 2") {
		t.Errorf("%d lines of warnings:\n%s", n, stderr)
	}
	b, err := os.ReadFile(filepath.Join(out, recordFile))
	if err != nil {
		t.Fatal(err)
	}
	var r alignRecord
	if err := json.Unmarshal(b, &r); err != nil || len(r.Warnings) != 29 {
		t.Errorf("the record has %d warnings, want 29 (%v)", len(r.Warnings), err)
	}
}

// TestAlignStreamsLargeInput: from 1 GiB on, and only where the method and its
// solver can.
func TestAlignStreamsLargeInput(t *testing.T) {
	big := []array{{path: "1", rows: 1 << 20, cols: 64}, {path: "2", rows: 1 << 20, cols: 64}}
	for _, c := range []struct {
		method, solver string
		arrays         []array
		want           bool
	}{
		{"odc", "", big, true},
		{"ls", "svd", big, true},
		{"ls", "randomized", big, false},
		{"gep", "", big, false},
		{"odc", "", big[:1], false},
	} {
		f := alignFlags{method: c.method, opt: align.Options{Solver: c.solver}}
		if got := f.mustStream(c.arrays); got != c.want {
			t.Errorf("%s %q of %d files: %v, want %v", c.method, c.solver, len(c.arrays), got, c.want)
		}
	}
}

func TestHelpNamesEveryMethod(t *testing.T) {
	for _, cmd := range []string{alignCommand(io.Discard, io.Discard).Long, alignCommand(io.Discard, io.Discard).Flag("method").Usage} {
		for _, m := range align.Methods() {
			if !strings.Contains(cmd, m) {
				t.Errorf("method %s is not in %q", m, cmd)
			}
		}
	}
}

// TestHelpListsSolvers: what --help says of solvers is what methods have.
func TestHelpListsSolvers(t *testing.T) {
	status, help, _ := runLab(t.Context(), "align", "--help")
	if status != 0 {
		t.Fatal("no help")
	}
	next := regexp.MustCompile(`\n  [a-z]`) // where another method begins
	for _, method := range align.Methods() {
		_, section, ok := strings.Cut(help, "\n  "+method+" ")
		if !ok {
			t.Fatalf("--help lacks %s", method)
		}
		a := []*mat.Dense{mat.NewDense(3, 1, []float64{1, 2, 3}), mat.NewDense(3, 1, []float64{1, 2, 4})}
		_, err := align.Run(method, a, align.Options{Solver: "none"})
		if err == nil {
			t.Fatalf("%s has a solver called none", method)
		}
		_, listed, ok := strings.Cut(err.Error(), "want ")
		if want := strings.ReplaceAll(listed, " or ", ", "); !ok || !strings.Contains(next.Split(section, 2)[0], want) {
			t.Errorf("--help of %s lacks %q", method, want)
		}
	}
	if status, _, stderr := runLab(t.Context(), "align", "--method", "ls", "--dim", "0", "--out", t.TempDir(), "a.npy"); status != 2 || !strings.Contains(stderr, "--dim is 0") {
		t.Errorf("status %d: %s", status, stderr)
	}
}
