package linalg_test

import (
	"os"
	"strings"
	"testing"

	"concord/linalg"
)

// eachEngine runs f under every backend. It fails if the environment variable
// CONCORD_REQUIRE_BLAS is set and no library could be loaded.
func eachEngine(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	engines, note := linalg.Engines()
	native := false
	for _, e := range engines {
		native = native || e.Native()
		t.Run(e.Name, func(t *testing.T) {
			defer e.Use()()
			f(t)
		})
	}
	if !native && os.Getenv("CONCORD_REQUIRE_BLAS") != "" {
		t.Errorf("no library was loaded: %s", note)
	}
}

// TestEveryBackend runs the properties and the known answers under every
// backend.
func TestEveryBackend(t *testing.T) {
	eachEngine(t, func(t *testing.T) {
		t.Run("SVD", TestSVD)
		t.Run("OneSided", TestOneSided)
		t.Run("Pinv", TestPinv)
		t.Run("LeastSquares", TestLeastSquares)
		t.Run("Polar", TestPolar)
		t.Run("QR", TestQR)
		t.Run("NotFinite", TestNotFinite)
		t.Run("Overflow", TestOverflow)
		t.Run("Stiefel", TestStiefel)
		t.Run("KnownAnswers", TestKnownAnswers)
	})
}

func TestBackend(t *testing.T) {
	b := linalg.Backend()
	if b.Name == "" || b.Product == "" || b.Threads < 1 {
		t.Errorf("backend %+v", b)
	}
	if s := b.String(); !strings.Contains(s, b.Name) || !strings.Contains(s, b.Product) {
		t.Errorf("backend as text: %s", s)
	}
}

func TestChoice(t *testing.T) {
	for _, choice := range []string{"go", "none", "NONE"} {
		if name, note := linalg.Load(choice); name != "Go" || note != "" {
			t.Errorf("choice %q gives %s with the note %q", choice, name, note)
		}
	}
	want := "no BLAS library found: /nowhere/libblas.so"
	if !linalg.CanLoad {
		want = "built without loading of libraries"
	}
	if name, note := linalg.Load("/nowhere/libblas.so"); name != "Go" || note != want {
		t.Errorf("an absent library gives %s with the note %q", name, note)
	}
	if !linalg.CanLoad {
		return
	}
	// Neither a text file nor a library without LAPACK is taken.
	file := t.TempDir() + "/libblas.so"
	if err := os.WriteFile(file, []byte("not a library"), 0o600); err != nil {
		t.Fatal(err)
	}
	if name, note := linalg.Load(file); name != "Go" || !strings.Contains(note, file) {
		t.Errorf("a text file gives %s with the note %q", name, note)
	}
}
