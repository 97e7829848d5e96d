// Mutate breaks the code on purpose, one small change at a time, and says which of the
// changes no test notices. The changes are a kept list, mutations.txt, of places where a
// mistake would cost a promise of the project: formulas, share arithmetic, signatures,
// floors, ledgers, the order of flushes, authorisation, entropy.
//
//	go run ./scripts/mutate              every mutation of the list
//	go run ./scripts/mutate masked/ Fixed    those whose file or reason contains one of the words
//
// Each mutation is compiled over the real file by `go test -overlay`, so that nothing in
// the tree changes and several run at once. The exit status is 0 if all are killed but
// the equivalents that the list names, 1 otherwise.
package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

//go:embed mutations.txt
var list string

func main() {
	jobs := flag.Int("j", 2, "mutations tested at the same time")
	limit := flag.Duration("timeout", 3*time.Minute, "time for one run of tests; a mutation that hangs is killed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *jobs, *limit, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, jobs int, limit time.Duration, words []string) error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	all, err := parse(list)
	if err != nil {
		return err
	}
	tree, err := readTree(root)
	if err != nil {
		return err
	}
	var todo []placed
	for _, m := range all {
		if !m.matches(words) {
			continue
		}
		p, err := tree.place(m)
		if err != nil {
			return err
		}
		todo = append(todo, p)
	}
	start := time.Now()
	t := tester{root: root, limit: limit}
	defer t.tidy(todo)()
	if err := t.baseline(ctx, todo, jobs); err != nil {
		return err
	}
	count := map[verdict]int{}
	var failed []string
	var mu sync.Mutex
	err = each(todo, jobs, func(p placed) error {
		v, output, err := t.mutant(ctx, p)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		if v == survived && p.Equivalent != "" {
			v = equivalent
		}
		count[v]++
		fmt.Printf("%-16s %s: %s\n", v, p.path, p.Why)
		switch {
		case v == survived, v == broken:
			failed = append(failed, fmt.Sprintf("%s, mutations.txt:%d, %s: %s\n%s", v, p.line, p.path, p.Why, output))
		case v == killed && p.Equivalent != "":
			failed = append(failed, fmt.Sprintf("mutations.txt:%d calls this an equivalent, and a test tells it: %s", p.line, p.Why))
		}
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Printf("%d mutations in %v: %d killed, %d survived, %d do not compile, %d equivalent\n", len(todo),
		time.Since(start).Round(time.Second), count[killed], count[survived], count[broken], count[equivalent])
	if len(failed) > 0 {
		return fmt.Errorf("\n%s", strings.Join(failed, "\n"))
	}
	return nil
}

// each calls f for every mutation, a few at a time, until one gives an error.
func each[T any](items []T, jobs int, f func(T) error) error {
	next := make(chan T)
	errs := make(chan error, jobs)
	for range jobs {
		go func() {
			var first error
			for item := range next {
				if first == nil {
					first = f(item)
				}
			}
			errs <- first
		}()
	}
	for _, item := range items {
		next <- item
	}
	close(next)
	var first error
	for range jobs {
		if err := <-errs; first == nil {
			first = err
		}
	}
	return first
}

// moduleRoot is the folder of go.mod above the working directory.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("no go.mod above the working directory")
		}
		dir = up
	}
}

func (m mutation) matches(words []string) bool {
	return len(words) == 0 || slices.ContainsFunc(words, func(w string) bool {
		return strings.Contains(m.File, w) || strings.Contains(m.Why, w)
	})
}
