package lab

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/lab/dataset"
	"concord/lab/faces"
)

// pictures are random pictures of 6 × 5 pixels with smooth parts, 40 of them.
func pictures() *dataset.Data {
	rnd := rand.New(rand.NewPCG(1, 2))
	x := mat.NewDense(40, 30, nil)
	d := &dataset.Data{Name: "pictures", Positive: -1, Width: 6, Height: 5}
	for i := range 40 {
		a, b := rnd.Float64(), rnd.Float64()
		for j := range 30 {
			x.Set(i, j, (a*float64(j%6)/5+b*float64(j/6)/4+0.2*rnd.Float64())/2.2)
		}
		d.Y.Labels = append(d.Y.Labels, i/4)
	}
	d.X = dataset.Dense(x)
	return d
}

// TestFacesFiles: the command's work on small pictures; reading the data is
// lab/dataset's.
func TestFacesFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	opt := faces.Options{Seed: 5, Parties: 3, Rows: 9, Dims: []int{4, 20}}
	draw := func(out string) (stdout string, files map[string][]byte) {
		var b bytes.Buffer
		undo, err := folder(out)
		if err != nil {
			t.Fatal(err)
		}
		if err := drawFaces(t.Context(), &b, pictures(), opt, out); err != nil {
			t.Fatal(err)
		}
		undo()
		files = map[string][]byte{}
		for _, name := range names(t, out) {
			if files[name], err = os.ReadFile(filepath.Join(out, name)); err != nil {
				t.Fatal(err)
			}
		}
		return b.String(), files
	}
	out := filepath.Join(t.TempDir(), "new", "folder")
	stdout, files := draw(out)
	if got := names(t, out); !slices.Equal(got, []string{"faces.html", "faces.json", "faces.md", "faces.svg"}) {
		t.Errorf("the folder holds %q", got)
	}
	for _, want := range []string{"original", "kept, own span, l = 9", "note: own span: dimension 20 is cut to 9", filepath.Join(out, "faces.html")} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the output lacks %q: %s", want, stdout)
		}
	}
	const command = "concord-lab faces --data DIR --out DIR --seed 5 --parties 3 --dim 4,20 --rows 9"
	for _, name := range []string{"faces.html", "faces.json", "faces.md"} {
		if !bytes.Contains(files[name], []byte(command)) {
			t.Errorf("%s does not say what made it", name)
		}
	}
	var record struct {
		Chance float64
		Rows   []struct {
			Kind  string
			Guess *struct{ Unexplained, Linked float64 }
		}
	}
	if err := json.Unmarshal(files["faces.json"], &record); err != nil {
		t.Fatal(err)
	}
	if len(record.Rows) != 1+2*2*4+6 || record.Rows[0].Kind != "original" || record.Rows[0].Guess.Linked != 1 || record.Rows[1].Guess != nil {
		t.Errorf("the record holds %+v", record)
	}
	if _, again := draw(out); !equalFiles(files, again) {
		t.Error("the same seed gives other files")
	}
}

func equalFiles(a, b map[string][]byte) bool {
	for name := range a {
		if !bytes.Equal(a[name], b[name]) {
			return false
		}
	}
	return len(a) == len(b)
}

func TestFacesRefuses(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "not", "yet")
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"--data", dir, "--out", out}, 1, "it comes from the Olivetti faces"},
		{[]string{"--data", dir, "--out", out}, 1, "hint: --data names the folder"},
		{[]string{"--data", dir, "--out", file}, 1, "file is not a folder"},
		{[]string{"--data", dir, "--out", filepath.Join(file, "below")}, 1, "file is not a folder"},
		{[]string{"--data", dir}, 2, `required flag(s) "out" not set`},
		{[]string{"--data", dir, "--out", ""}, 2, "--out names no folder"},
		{[]string{"--data", dir, "--out", out, "--parties", "1"}, 2, "--parties is 1, must be at least 2"},
		{[]string{"--data", dir, "--out", out, "--rows", "-1"}, 2, "--rows is -1"},
		{[]string{"--data", dir, "--out", out, "--dim", "20,0"}, 2, "--dim 0: must be at least 1"},
		{[]string{"--data", dir, "--out", out, "--dim", "many"}, 2, "many"},
		{[]string{"--data", dir, "--out", out, "more"}, 2, "more"},
	} {
		status, _, stderr := runLab(t.Context(), append([]string{"faces"}, c.args...)...)
		if status != c.status || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: status %d, %q; want %d, %q", c.args, status, stderr, c.status, c.want)
		}
	}
	if got := names(t, dir); !slices.Equal(got, []string{"file"}) {
		t.Errorf("refusals leave %q", got)
	}
	// What the data decide is the data's error, in the command's words.
	err := drawFaces(t.Context(), &bytes.Buffer{}, pictures(), faces.Options{Rows: 30}, dir)
	if err == nil || err.Error() != "30 pictures for each of 4 parties, pictures has 40: 10 for each at most" {
		t.Errorf("30 of 40 pictures for each: %v", err)
	}
}
