package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestListApplies: every mutation of the list has its place in the code, and only one.
func TestListApplies(t *testing.T) {
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	all, err := parse(list)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 150 {
		t.Errorf("the list has %d mutations, want 150 at least", len(all))
	}
	tree, err := readTree(root)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, m := range all {
		p, err := tree.place(m)
		if err != nil {
			t.Error(err)
			continue
		}
		if seen[p.path+p.mutated] {
			t.Errorf("mutations.txt:%d stands there twice", m.line)
		}
		seen[p.path+p.mutated] = true
		if found, _ := filepath.Glob(filepath.Join(root, p.Package, "*_test.go")); len(found) == 0 {
			t.Errorf("mutations.txt:%d: %s has no tests", m.line, p.Package)
		}
	}
}

// smallList are mutations of each fate, of the module small. with a mutation of each fate.
const smallList = `
== sum/sum.go
why killed
- return a + b
+ return a - b

== sum/sum.go
why survives
- return a * b
+ return a / b

== sum/old.go
why does not compile, in a file that was renamed
- return -a
+ return "a"
`

var small = map[string]string{
	"go.mod":          "module small\n\ngo 1.26\n",
	"sum/sum.go":      "package sum\n\nfunc Add(a, b int) int { return a + b }\n\nfunc Mul(a, b int) int { return a * b }\n\nfunc Neg(a int) int { return -a }\n",
	"sum/sum_test.go": "package sum\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Error(\"1 + 2\")\n\t}\n}\n",
}

func TestFates(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a module four times")
	}
	root := t.TempDir()
	for name, text := range small {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err := parse(smallList)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := readTree(root)
	if err != nil {
		t.Fatal(err)
	}
	run := tester{root: root, limit: time.Minute}
	for i, want := range []verdict{killed, survived, broken} {
		p, err := tree.place(all[i])
		if err != nil {
			t.Fatal(err)
		}
		if err := run.baseline(t.Context(), []placed{p}, 1); err != nil {
			t.Fatal(err)
		}
		if got, output, err := run.mutant(t.Context(), p); err != nil || got != want {
			t.Errorf("%s: %q (%v), want %q\n%s", p.Why, got, err, want, output)
		}
	}
}

func TestListRefuses(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"a.go", "b.go"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte("package a\n\nconst x, y = 1, 1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := readTree(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ text, want string }{
		{"why nothing", "begins with =="},
		{"== a.go\n- 1\n+ 2", "says why"},
		{"== a.go\nwhy x\n- 1\n+ 1", "says why"},
		{"== a.go\nwhy x\nold 1", `"old" begins no line`},
		{"== a.go\nwhy x\n- 1\n+ 2", "2 times"},
		{"== c.go\nwhy x\n- x, y\n+ y, x", "moved"},
		{"== a.go\nwhy x\n- 3\n+ 2", "no file has"},
	} {
		all, err := parse(tc.text)
		if err == nil {
			_, err = tree.place(all[0])
		}
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q: %v, want an error with %q", tc.text, err, tc.want)
		}
	}
}
