package concord

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
)

// TestWords: whatever may happen during a visit has words; a type without them would end the
// program in the middle of a step.
func TestWords(t *testing.T) {
	fset := token.NewFileSet()
	read := func(path string) *ast.File {
		f, err := parser.ParseFile(fset, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	said := map[string]bool{}
	ast.Inspect(read("words.go"), func(n ast.Node) bool {
		clause, ok := n.(*ast.CaseClause)
		if !ok {
			return true
		}
		for _, e := range clause.List {
			if s, ok := e.(*ast.SelectorExpr); ok {
				said[s.Sel.Name] = true
			}
		}
		return true
	})
	events := 0
	for _, d := range read("../../visit/event/event.go").Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.TYPE {
			continue
		}
		for _, s := range g.Specs {
			name := s.(*ast.TypeSpec).Name.Name
			if name == "Event" {
				continue
			}
			if events++; !said[name] {
				t.Errorf("no words for event.%s", name)
			}
		}
	}
	if events < 20 {
		t.Fatalf("%d events were found: the check sees nothing", events)
	}
}
