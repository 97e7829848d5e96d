package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// mutation is an entry of the list:
//
//	== masked/word.go
//	why the carry between the halves of a word is lost
//	test ./masked TestWord          (optional: package, and pattern of -run; without a pattern -short)
//	equivalent reason               (optional: no test can tell it)
//	- hi, _ := bits.Add64(w.Hi, o.Hi, carry)
//	+ hi, _ := bits.Add64(w.Hi, o.Hi, 0)
//
// The text behind "- " stands in the file exactly once, over several lines with their
// tabs where one line is not unique. It is replaced by the text behind "+ ".
type mutation struct {
	File, Why, Package, Run, Equivalent string
	Old, New                            string
	line                                int // of mutations.txt
}

// parse reads the list. Empty lines and lines that begin with # say nothing.
func parse(text string) ([]mutation, error) {
	var all []mutation
	var old, replacement []string
	end := func() error {
		if len(all) == 0 {
			return nil
		}
		m := &all[len(all)-1]
		m.Old, m.New = strings.Join(old, "\n"), strings.Join(replacement, "\n")
		if m.Why == "" || m.Old == "" || m.Old == m.New {
			return fmt.Errorf("mutations.txt:%d: an entry says why, what and by what it is replaced", m.line)
		}
		old, replacement = nil, nil
		return nil
	}
	for i, line := range strings.Split(text, "\n") {
		word, rest, _ := strings.Cut(line, " ")
		if word != "==" && word != "" && !strings.HasPrefix(word, "#") && len(all) == 0 {
			return nil, fmt.Errorf("mutations.txt:%d: an entry begins with == and a file", i+1)
		}
		switch {
		case word == "" || strings.HasPrefix(word, "#"):
		case word == "==":
			if err := end(); err != nil {
				return nil, err
			}
			all = append(all, mutation{File: rest, line: i + 1})
		case word == "why":
			all[len(all)-1].Why = rest
		case word == "test":
			m := &all[len(all)-1]
			m.Package, m.Run, _ = strings.Cut(rest, " ")
		case word == "equivalent":
			all[len(all)-1].Equivalent = rest
		case word == "-":
			old = append(old, rest)
		case word == "+":
			replacement = append(replacement, rest)
		default:
			return nil, fmt.Errorf("mutations.txt:%d: %q begins no line of an entry", i+1, word)
		}
	}
	return all, end()
}

// sources are the texts of the module's Go files that are no tests, by their paths from
// its root.
type sources struct {
	root  string
	texts map[string]string
}

// placed is a mutation with its place in the tree.
type placed struct {
	mutation
	path    string // from the module's root
	mutated string // the file's text with the change
}

func readTree(root string) (*sources, error) {
	s := &sources{root, map[string]string{}}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			_, other := os.Stat(filepath.Join(path, "go.mod"))
			if path != root && (other == nil || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		s.texts[filepath.ToSlash(rel)] = string(b)
		return err
	})
	return s, err
}

// place finds the old text: in the file that the entry names or, if code has moved, in
// the one file of the module that has it. Its package's tests are run unless the entry
// names others.
func (s *sources) place(m mutation) (placed, error) {
	path := m.File
	if !strings.Contains(s.texts[path], m.Old) {
		path = ""
		for candidate, text := range s.texts {
			if !strings.Contains(text, m.Old) {
				continue
			}
			if path != "" {
				return placed{}, fmt.Errorf("mutations.txt:%d: %s has moved, and its text stands in %s and in %s", m.line, m.File, path, candidate)
			}
			path = candidate
		}
	}
	text := s.texts[path]
	switch n := strings.Count(text, m.Old); {
	case n == 0:
		return placed{}, fmt.Errorf("mutations.txt:%d: no file has the text that is to be changed (%s): %q", m.line, m.File, m.Old)
	case n > 1:
		return placed{}, fmt.Errorf("mutations.txt:%d: %s has the text %d times, must be once: %q", m.line, path, n, m.Old)
	}
	if m.Package == "" || m.Package == "." {
		m.Package = "./" + filepath.ToSlash(filepath.Dir(path))
	}
	return placed{m, path, strings.Replace(text, m.Old, m.New, 1)}, nil
}
