package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

type verdict string

const (
	killed     verdict = "killed"
	survived   verdict = "SURVIVED"
	broken     verdict = "DOES NOT COMPILE"
	equivalent verdict = "equivalent"
)

// tester runs tests of the module, with a file replaced or without.
type tester struct {
	root  string
	limit time.Duration
}

// baseline makes sure that the tests pass before anything is changed: tests that fail
// anyway would kill everything.
func (t tester) baseline(ctx context.Context, todo []placed, jobs int) error {
	type tests struct{ pkg, run string }
	var all []tests
	for _, p := range todo {
		if s := (tests{p.Package, p.Run}); !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return each(all, jobs, func(s tests) error {
		passed, output, err := t.test(ctx, s.pkg, s.run)
		switch {
		case err != nil:
			return err
		case !passed:
			return fmt.Errorf("the tests of %s fail without a mutation:\n%s", s.pkg, output)
		case strings.Contains(output, "[no tests to run]") || strings.Contains(output, "[no test files]"):
			return fmt.Errorf("no test of %s matches %q", s.pkg, s.run)
		}
		return nil
	})
}

// mutant tests a mutation. The output says why it does not compile.
func (t tester) mutant(ctx context.Context, p placed) (verdict, string, error) {
	dir, err := os.MkdirTemp("", "mutate-")
	if err != nil {
		return "", "", err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "mutated.go")
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(t.root, filepath.FromSlash(p.path)): file}})
	if err != nil {
		return "", "", err
	}
	if err := os.WriteFile(file, []byte(p.mutated), 0o600); err != nil {
		return "", "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600); err != nil {
		return "", "", err
	}
	passed, output, err := t.test(ctx, p.Package, p.Run, "-overlay", filepath.Join(dir, "overlay.json"))
	switch {
	case err != nil:
		return "", "", err
	case passed:
		return survived, "", nil
	case strings.Contains(output, "[build failed]") || strings.Contains(output, "[setup failed]"):
		return broken, output, nil
	}
	return killed, "", nil
}

// tidy returns what removes the failed cases that property tests leave in the tree, where
// there were none before: of code that is whole they are no cases.
func (t tester) tidy(todo []placed) func() {
	fresh := map[string]bool{}
	for _, p := range todo {
		dir := filepath.Join(t.root, filepath.FromSlash(p.Package), "testdata", "rapid")
		if _, err := os.Stat(dir); os.IsNotExist(err) {
			fresh[dir] = true
		}
	}
	return func() {
		for dir := range fresh {
			os.RemoveAll(dir)
			os.Remove(filepath.Dir(dir)) // if it is empty
		}
	}
}

// test reports whether a package's tests pass: the short ones, or all that have a name.
func (t tester) test(ctx context.Context, pkg, run string, more ...string) (passed bool, output string, err error) {
	args := append([]string{"test", "-failfast", "-count=1", "-vet=off", "-timeout", t.limit.String()}, more...)
	if run == "" {
		args = append(args, "-short")
	} else {
		args = append(args, "-run", run)
	}
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", append(args, pkg)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = t.root, &out, &out
	err = cmd.Run()
	if ctx.Err() != nil {
		return false, "", ctx.Err()
	}
	if _, failed := err.(*exec.ExitError); err != nil && !failed {
		return false, "", err
	}
	return err == nil, out.String(), nil
}
