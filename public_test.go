package concord

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestPublicPackages holds that doc.go's table has every package that others can import,
// and none that is not there.
func TestPublicPackages(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	promised := map[string]bool{}
	row := regexp.MustCompile(`(?m)^//\t([a-z/]+) {2,}.* {2,}(stable|may change before 1\.0|laboratory)$`)
	for _, m := range row.FindAllStringSubmatch(string(doc), -1) {
		if promised[m[1]] {
			t.Errorf("doc.go has %s twice", m[1])
		}
		promised[m[1]] = true
	}
	module := modulePath(t)
	for _, path := range goList(t, "-f", "{{.ImportPath}} {{.Name}}", "./...") {
		path, name, _ := strings.Cut(path, " ")
		rel := strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
		if rel == "" || name == "main" || strings.Contains("/"+rel+"/", "/internal/") {
			continue
		}
		if !promised[rel] {
			t.Errorf("doc.go does not say what is promised of package %s", rel)
		}
		delete(promised, rel)
	}
	for name := range promised {
		t.Errorf("doc.go promises something of %s, which is not a public package", name)
	}
}

// TestPublicTypes holds that importers can name what public packages ask for and return:
// no exported function, method, field or interface has a type of an internal package.
// (An alias gives such a type a public name.)
func TestPublicTypes(t *testing.T) {
	module := modulePath(t)
	files := 0
	for _, line := range goList(t, "-f", "{{.ImportPath}} {{.Name}} {{.Dir}} {{join .GoFiles \" \"}}", "./...") {
		words := strings.Fields(line)
		path, name, dir := words[0], words[1], words[2]
		if name == "main" || strings.Contains(path+"/", "/internal/") || strings.HasPrefix(path, module+"/lab") {
			continue // the laboratory promises nothing
		}
		for _, file := range words[3:] {
			files++
			parsed, err := parser.ParseFile(token.NewFileSet(), dir+"/"+file, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			internal := map[string]bool{} // names of imported internal packages
			for _, spec := range parsed.Imports {
				imported, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					t.Fatal(err)
				}
				if strings.HasPrefix(imported, module+"/") && strings.Contains(imported, "/internal/") {
					local := imported[strings.LastIndex(imported, "/")+1:]
					if spec.Name != nil {
						local = spec.Name.Name
					}
					internal[local] = true
				}
			}
			if len(internal) == 0 {
				continue
			}
			for _, decl := range parsed.Decls {
				_, function := decl.(*ast.FuncDecl)
				for _, node := range exported(decl) {
					ast.Inspect(node, func(n ast.Node) bool {
						if field, ok := n.(*ast.Field); ok && !function && len(field.Names) > 0 && !anyExported(field.Names) {
							return false
						}
						if sel, ok := n.(*ast.SelectorExpr); ok {
							if id, ok := sel.X.(*ast.Ident); ok && internal[id.Name] {
								t.Errorf("%s/%s: something exported has the type %s.%s, which importers cannot name", path, file, id.Name, sel.Sel.Name)
							}
						}
						return true
					})
				}
			}
		}
	}
	if files < 100 {
		t.Fatalf("looked at %d files only", files)
	}
}

// exported are the parts of a declaration that importers see: signatures, types that are
// not aliases, and stated types of variables.
func exported(decl ast.Decl) (parts []ast.Node) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if !d.Name.IsExported() {
			break
		}
		if d.Recv != nil {
			receiver := d.Recv.List[0].Type
			if star, ok := receiver.(*ast.StarExpr); ok {
				receiver = star.X
			}
			if id, ok := receiver.(*ast.Ident); ok && !id.IsExported() {
				break
			}
		}
		parts = append(parts, d.Type)
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() && !s.Assign.IsValid() {
					parts = append(parts, s.Type)
				}
			case *ast.ValueSpec:
				if anyExported(s.Names) && s.Type != nil {
					parts = append(parts, s.Type)
				}
			}
		}
	}
	return parts
}

func anyExported(names []*ast.Ident) bool {
	for _, name := range names {
		if name.IsExported() {
			return true
		}
	}
	return false
}
