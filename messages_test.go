package concord

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

var update = flag.Bool("update", false, "write testdata/messages.txt anew")

const messagesFile = "testdata/messages.txt"

// turns are archaic turns of phrase, and how often messages still use each. The figures may
// only fall: write a new message in plain words, and lower the figure when you rewrite one.
var turns = map[string]int{
	`is no [a-zA-Z]+`: 27,
	`are no [a-z]+`:   8,
	`(which|that|whom) the [a-z]+ (has|have) not`: 1,
	`to be had`:            4,
	`who (undoes|asks)`:    6,
	`that far from`:        0,
	`leave [-a-z, ]+ away`: 4,
	`of before`:            0,
	`goes? on without`:     1,
	`whoever`:              21,
	`(is|are) none`:        13,
	`is at work`:           5,
	`anew`:                 28,
	`(stand|lie)s? in`:     14,
	`mend(ed)?`:            9,
}

// TestMessages holds that testdata/messages.txt has every text of the three programs that a
// person can read, so that it can be edited from top to bottom in one place.
func TestMessages(t *testing.T) {
	var b strings.Builder
	var all []string
	for _, f := range messages(t) {
		fmt.Fprintf(&b, "# %s\n\n", f.path)
		for _, text := range f.texts {
			fmt.Fprintf(&b, "- %s\n", strings.ReplaceAll(text, "\n", "\n  "))
		}
		b.WriteString("\n")
		all = append(all, f.texts...)
	}
	now := trailing.ReplaceAllString(b.String(), "")
	if *update {
		if err := os.WriteFile(messagesFile, []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	was, err := os.ReadFile(messagesFile)
	if err != nil {
		t.Fatal(err)
	}
	if was := strings.ReplaceAll(string(was), "\r\n", "\n"); was != now {
		t.Errorf("the messages differ from %s:\n%sto update it: go test . -run TestMessages -update",
			messagesFile, shortDiff(was, now))
	}
	if len(all) < 1000 {
		t.Errorf("%d messages: the test does not see most of them", len(all))
	}
	checkTurns(t, all)
}

// trailing is white space at the end of a line.
var trailing = regexp.MustCompile(`(?m)[ \t]+$`)

// fine is what is good English of a turn.
var fine = strings.NewReplacer("here is no ", "", "here are no ", "", "is no longer ", "")

// checkTurns counts the turns.
func checkTurns(t *testing.T, texts []string) {
	for turn, most := range turns {
		is, found := regexp.MustCompile(`\b`+turn+`\b`), 0
		for _, text := range texts {
			found += len(is.FindAllString(fine.Replace(strings.Join(strings.Fields(text), " ")), -1))
		}
		switch {
		case found > most:
			t.Errorf("messages say %q %d times, %d at most: say it in plain words", turn, found, most)
		case found < most:
			t.Errorf("messages say %q %d times: lower the figure %d in turns", turn, found, most)
		}
	}
}

// shortDiff are the first lines that only one of two texts has.
func shortDiff(was, now string) string {
	const most = 12
	var lines []string
	only := func(mark, text, other string) {
		has := map[string]bool{}
		for line := range strings.Lines(other) {
			has[line] = true
		}
		heading := ""
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "# ") {
				heading = line
			}
			if !has[line] {
				lines = append(lines, heading+mark+line)
				heading = ""
			}
		}
	}
	only("< ", was, now)
	only("> ", now, was)
	if len(lines) == 0 {
		return "the same lines in another order\n"
	}
	rest := ""
	if more := len(lines) - most; more > 0 {
		lines, rest = lines[:most], fmt.Sprintf("and %d lines more\n", more)
	}
	return strings.Join(lines, "") + rest
}

// fileMessages are the texts of a file, in its order, each once.
type fileMessages struct {
	path  string
	texts []string
}

func (f *fileMessages) add(text string) {
	text = strings.TrimSpace(text)
	if text != "" && !slices.Contains(f.texts, text) {
		f.texts = append(f.texts, text)
	}
}

// messages are the texts of the packages that the programs are built of, in the order of
// imports. They are those of linux/amd64, on any machine.
func messages(t *testing.T) []fileMessages {
	t.Helper()
	const format = "{{if and .Module .Module.Main}}{{.ImportPath}}" +
		"{{range .GoFiles}} {{.}}{{end}}{{range .EmbedFiles}} {{.}}{{end}}{{end}}"
	cmd := exec.Command("go", "list", "-tags=", "-deps", "-f", format,
		"./cmd/concord", "./cmd/concordd", "./cmd/concord-lab")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	files, module := map[string][]string{}, modulePath(t)
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		files[strings.TrimPrefix(words[0], module+"/")] = words[1:]
	}
	var all []fileMessages
	for _, pkg := range slices.Concat(order...) {
		slices.Sort(files[pkg])
		for _, name := range files[pkg] {
			f := fileMessages{path: pkg + "/" + name}
			src, err := os.ReadFile(filepath.FromSlash(f.path))
			if err != nil {
				t.Fatal(err)
			}
			switch filepath.Ext(name) {
			case ".go":
				f.readGo(t, src)
			case ".html":
				f.readTemplate(string(src))
			}
			if len(f.texts) > 0 {
				all = append(all, f)
			}
		}
	}
	return all
}

var (
	action     = regexp.MustCompile(`(?s)\{\{.*?\}\}`)
	filledIn   = regexp.MustCompile(`…( ?…)+`)
	beforeStop = regexp.MustCompile(` ([.,;:])`)
	markup     = regexp.MustCompile(`(?s)<(style|script)\b.*?</(style|script)>|<!--.*?-->|</?[a-zA-Z!](?:"[^"]*"|[^>"])*>`)
)

// readTemplate adds what a template shows: tags are left out, and … is what is filled in.
func (f *fileMessages) readTemplate(src string) {
	text := markup.ReplaceAllString(action.ReplaceAllString(src, "…"), " ")
	for line := range strings.Lines(text) {
		line = strings.Join(strings.Fields(line), " ")
		if isMessage(line) {
			f.add(beforeStop.ReplaceAllString(filledIn.ReplaceAllString(line, "…"), "$1"))
		}
	}
}

// readGo adds the texts of a source file: those with words, but for what is not for people.
func (f *fileMessages) readGo(t *testing.T, src []byte) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), f.path, src, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	if !ast.IsGenerated(file) {
		f.walk(file)
	}
}

func (f *fileMessages) walk(root ast.Node) {
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field: // without its tag
			f.walk(n.Type)
			return false
		case *ast.CompositeLit:
			others, ok := f.help(n)
			for _, e := range others {
				f.walk(e)
			}
			return !ok
		case *ast.CallExpr:
			if name := flagName(n); name != "" {
				usage, others, _ := fold(n.Args[len(n.Args)-1])
				f.add("--" + name + ": " + usage)
				for _, e := range others {
					f.walk(e)
				}
				return false
			}
			return !slices.Contains(notForPeople, callee(n))
		case *ast.BinaryExpr, *ast.BasicLit:
			text, others, ok := fold(n.(ast.Expr))
			if !ok {
				return true
			}
			if isMessage(text) {
				f.add(text)
			}
			for _, e := range others {
				f.walk(e)
			}
			return false
		}
		return true
	})
}

// notForPeople are functions whose texts are patterns, lists of words, or mistakes of our
// own code.
var notForPeople = []string{"panic", "regexp.MustCompile", "strings.Fields"}

func callee(call *ast.CallExpr) string {
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		return fun.Name
	case *ast.SelectorExpr:
		if pkg, ok := fun.X.(*ast.Ident); ok {
			return pkg.Name + "." + fun.Sel.Name
		}
		return "." + fun.Sel.Name
	}
	return ""
}

// fold is the text of an expression that adds literals, with … for what else it adds, and
// the expressions that these stand for. It is false if there is no literal.
func fold(e ast.Expr) (text string, others []ast.Expr, ok bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, err := strconv.Unquote(e.Value)
			return text, nil, err == nil
		}
	case *ast.ParenExpr:
		return fold(e.X)
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			x, fromX, okX := fold(e.X)
			y, fromY, okY := fold(e.Y)
			return x + y, append(fromX, fromY...), okX || okY
		}
	}
	return "…", []ast.Expr{e}, false
}

var (
	verb    = regexp.MustCompile(`%[-+# 0]*(\[\d+\])?[\d.*]*[a-zA-Z]`)
	machine = regexp.MustCompile(`^\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|PRAGMA)\b` +
		`|^(GET|PUT|POST|PATCH|HEAD) /` +
		`|TABLE [a-z]+|[a-z] = \?` + // the rest of SQL
		`|2006-01-02|15:04|-src |^[a-z-]+/[a-z-]+; ` + // times, headers of HTTP
		`|^\s*[a-zA-Z-]+="[^"]*"|^M%s|^[^{]+\{ [a-z-]+: .*; \}|\x00`) // SVG, CSS, marks of files
)

// isMessage says that a text has words: a letter and white space, besides tags, verbs and
// what is filled in. (Texts of one word, such as names of settings, are not listed.)
func isMessage(text string) bool {
	if machine.MatchString(text) {
		return false
	}
	text = strings.ReplaceAll(verb.ReplaceAllString(markup.ReplaceAllString(text, ""), ""), "…", "")
	return strings.ContainsFunc(text, unicode.IsLetter) && strings.ContainsFunc(text, unicode.IsSpace)
}

// help adds the help of a command as it is printed, and returns the other fields; it is
// false for other literals.
func (f *fileMessages) help(lit *ast.CompositeLit) (others []ast.Expr, ok bool) {
	if of, ok := lit.Type.(*ast.SelectorExpr); !ok || of.Sel.Name != "Command" {
		return nil, false
	}
	parts := map[string]string{}
	for _, e := range lit.Elts {
		kv := e.(*ast.KeyValueExpr)
		key := kv.Key.(*ast.Ident).Name
		if text, _, ok := fold(kv.Value); ok {
			parts[key] = strings.TrimSpace(text)
		} else {
			others = append(others, kv.Value)
		}
	}
	text := "help of: " + parts["Use"]
	for _, key := range []string{"Short", "Long", "Example"} {
		if parts[key] != "" {
			text += "\n\n" + parts[key]
		}
	}
	f.add(text)
	return others, true
}

// flagName is the name of the flag that a call declares, "" if it declares none.
func flagName(call *ast.CallExpr) string {
	fun, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) < 3 || !strings.Contains(fun.Sel.Name, "Var") {
		return ""
	}
	name, _, _ := fold(call.Args[1])
	return name
}
