package concord

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// citingFiles are what people read and what may cite: the comments of Go files, and all
// of the Markdown pages, experiments, scripts and build files, by path.
func citingFiles(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); path != "." && (strings.HasPrefix(name, ".") || name == "bin" || name == "demo-out") {
				return filepath.SkipDir
			}
			return nil
		}
		switch filepath.Ext(path) {
		case ".go":
			if strings.HasSuffix(path, ".pb.go") {
				return nil // generated, with its source's comments
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			var b strings.Builder
			for _, group := range file.Comments {
				b.WriteString(group.Text())
				b.WriteString("\n\n")
			}
			texts[path] = b.String()
		case ".md", ".yaml", ".yml", ".sh", ".py":
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			texts[path] = string(b)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// citedKey is a key of docs/references.md in a text: [halko2011].
var citedKey = regexp.MustCompile(`\[([a-z]+[0-9]{4}[a-z]*)\]`)

// TestReferences holds that a citation can be looked up: each key is an entry of
// docs/references.md, which has it once.
func TestReferences(t *testing.T) {
	texts := citingFiles(t)
	entries := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^- \*\*\[([^\]]+)\]\*\* `).FindAllStringSubmatch(texts["docs/references.md"], -1) {
		key := m[1]
		if entries[key] {
			t.Errorf("docs/references.md has [%s] twice", key)
		}
		if !citedKey.MatchString("[" + key + "]") {
			t.Errorf("docs/references.md: [%s] is not a name, a year and at most some letters", key)
		}
		entries[key] = true
	}
	cited := 0
	for path, text := range texts {
		for _, m := range citedKey.FindAllStringSubmatch(text, -1) {
			cited++
			if !entries[m[1]] {
				t.Errorf("%s cites [%s], which is not in docs/references.md", path, m[1])
			}
		}
	}
	if len(entries) < 80 || cited < 200 {
		t.Fatalf("found %d entries and %d citations: the test sees too little", len(entries), cited)
	}
}

// TestCitedPages holds that a page that is named exists: a path below docs/ in a comment
// or a page, a relative link of a page, and every section of docs/methods.md.
func TestCitedPages(t *testing.T) {
	texts := citingFiles(t)
	var (
		path    = regexp.MustCompile(`\bdocs/[A-Za-z0-9_./-]*[A-Za-z0-9]`)
		link    = regexp.MustCompile(`\]\(([^)\s#:]+)(#[^)]*)?\)`)
		section = regexp.MustCompile(`docs/methods\.md\)?,?\s+sections?\s+([0-9.]+[0-9]|[0-9]+)(?:(?:,\s+|\s+and\s+|,\s+and\s+)([0-9]+\.[0-9]+))?`)
		heading = regexp.MustCompile(`(?m)^#{2,3} ([0-9]+(?:\.[0-9]+)?)\.? `)
	)
	sections := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(texts["docs/methods.md"], -1) {
		sections[m[1]] = true
	}
	paths, links, numbers := 0, 0, 0
	for from, text := range texts {
		for _, name := range path.FindAllString(text, -1) {
			paths++
			if _, err := os.Stat(name); err != nil {
				t.Errorf("%s names %s, which does not exist", from, name)
			}
		}
		if filepath.Ext(from) == ".md" {
			for _, m := range link.FindAllStringSubmatch(text, -1) {
				links++
				if _, err := os.Stat(filepath.Join(filepath.Dir(from), m[1])); err != nil {
					t.Errorf("%s links to %s, which does not exist", from, m[1])
				}
			}
		}
		for _, m := range section.FindAllStringSubmatch(text, -1) {
			for _, number := range m[1:] {
				if number == "" {
					continue
				}
				numbers++
				if !sections[number] {
					t.Errorf("%s cites docs/methods.md section %s, which does not exist", from, number)
				}
			}
		}
	}
	if len(sections) < 30 || paths < 50 || links < 50 || numbers < 30 {
		t.Fatalf("found %d sections, %d paths, %d links, %d citations of sections: the test sees too little", len(sections), paths, links, numbers)
	}
}

// TestNoLostPages holds that nothing refers to notes that are not in the repository.
func TestNoLostPages(t *testing.T) {
	lost := regexp.MustCompile(`\b(METHODS|EXPERIMENTS|DESIGN|STYLE)(\.md|' | section)|\b(METHODS|DESIGN):`)
	for path, text := range citingFiles(t) {
		if found := lost.FindString(text); found != "" {
			t.Errorf("%s cites %q, which is not a page of this repository", path, found)
		}
	}
}
