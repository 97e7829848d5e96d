package dataset_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"concord/lab/dataset"
)

func gzipped(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	z.Write(b)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestFetch(t *testing.T) {
	content := []byte("a,label\n1,2\n")
	sum := sha256.Sum256(content)
	hash := hex.EncodeToString(sum[:])
	asked := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked[r.URL.Path]++
		switch r.URL.Path {
		case "/good":
			w.Write(gzipped(t, content))
		case "/other":
			w.Write(gzipped(t, []byte("b,label\n1,2\n")))
		case "/longer":
			w.Write(gzipped(t, append(bytes.Clone(content), '\n')))
		case "/huge":
			w.Write(make([]byte, 1<<20))
		case "/plain":
			w.Write(content)
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	file := func(paths ...string) []dataset.File {
		f := dataset.File{Path: "set/a.csv.gz", SHA256: hash, Size: int64(len(content))}
		for _, p := range paths {
			f.URLs = append(f.URLs, server.URL+p)
		}
		return []dataset.File{f}
	}
	fetch := func(dir string, files []dataset.File) error {
		return dataset.FetchFiles(context.Background(), dir, files, server.Client())
	}

	dir := t.TempDir()
	if err := fetch(dir, file("/none", "/other", "/good")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "set", "a.csv.gz")
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, gzipped(t, content)) {
		t.Errorf("%v, %v", got, err)
	}
	if err := fetch(dir, file("/good")); err != nil || asked["/good"] != 1 {
		t.Errorf("%v, asked %d times", err, asked["/good"])
	}
	if err := os.WriteFile(path, gzipped(t, []byte("mine")), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := fetch(dir, file("/good")); err == nil || !strings.Contains(err.Error(), "is there, but its content") {
		t.Errorf("error %v", err)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, gzipped(t, []byte("mine"))) {
		t.Error("a file that was there is overwritten")
	}

	for _, tt := range []struct{ path, want string }{
		{"/none", "404"},
		{"/other", "must have " + hash},
		{"/longer", "not of 12 bytes"},
		{"/huge", "more than"},
		{"/plain", "gzip"},
	} {
		dir := t.TempDir()
		if err := fetch(dir, file(tt.path)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", tt.path, err, tt.want)
		}
		if left, err := filepath.Glob(filepath.Join(dir, "*", "*")); err != nil || len(left) > 0 {
			t.Errorf("%s: %q is left behind", tt.path, left)
		}
	}
	if err := fetch(t.TempDir(), file()); err == nil || !strings.Contains(err.Error(), "by hand") || !strings.Contains(err.Error(), hash) {
		t.Errorf("error %v, want one that says how to come by the file", err)
	}

	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	if err := dataset.FetchFiles(stopped, t.TempDir(), file("/good"), server.Client()); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestFetchWithoutFiles(t *testing.T) {
	if err := dataset.Fetch(context.Background(), t.TempDir(), "credit", nil); err == nil || !strings.Contains(err.Error(), "simulated") {
		t.Errorf("error %v", err)
	}
	if err := dataset.Fetch(context.Background(), t.TempDir(), "nothing", nil); err == nil || !strings.Contains(err.Error(), "wdbc") {
		t.Errorf("error %v, want one that lists the sets", err)
	}
}

// TestAbsent wants Load to say of every set whose files are missing which file
// that is and where it comes from.
func TestAbsent(t *testing.T) {
	for _, info := range dataset.Published() {
		if info.Source == "" || info.Licence == "" || info.Cols == 0 {
			t.Errorf("%s: %+v", info.Name, info)
		}
		if len(info.Files) == 0 {
			continue
		}
		_, err := dataset.Load(t.TempDir(), info.Name)
		if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), info.Files[0].Path) || !strings.Contains(err.Error(), info.Source) {
			t.Errorf("%s: error %v", info.Name, err)
		}
	}
	if _, err := dataset.Load("", "nothing"); err == nil || !strings.Contains(err.Error(), "no set is called") {
		t.Errorf("error %v", err)
	}
}
