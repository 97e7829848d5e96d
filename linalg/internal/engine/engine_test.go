package engine_test

import (
	"os"
	"strings"
	"testing"

	"concord/linalg/internal/engine"
	"concord/linalg/internal/native"
)

func TestChoice(t *testing.T) {
	for _, choice := range []string{"go", "none", "NONE"} {
		if e := engine.Choose(choice); e.Name != "Go" || e.Note != "" {
			t.Errorf("choice %q gives %s with the note %q", choice, e.Name, e.Note)
		}
	}
	want := "no BLAS library found: /nowhere/libblas.so"
	if !native.CanLoad {
		want = "built without loading of libraries"
	}
	if e := engine.Choose("/nowhere/libblas.so"); e.Name != "Go" || e.Note != want {
		t.Errorf("an absent library gives %s with the note %q", e.Name, e.Note)
	}
	if !native.CanLoad {
		return
	}
	// Neither a text file nor a library without LAPACK is taken.
	file := t.TempDir() + "/libblas.so"
	if err := os.WriteFile(file, []byte("not a library"), 0o600); err != nil {
		t.Fatal(err)
	}
	if e := engine.Choose(file); e.Name != "Go" || !strings.Contains(e.Note, file) {
		t.Errorf("a text file gives %s with the note %q", e.Name, e.Note)
	}
}
