package server_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"concord/internal/api"
	"concord/internal/server"
	"concord/member"
)

// description is api/openapi.json, with its schemas compiled on demand.
type description struct {
	doc      map[string]any
	compiler *jsonschema.Compiler
	mu       sync.Mutex
}

const descriptionURL = "concord:openapi"

var describe = sync.OnceValue(func() *description {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(api.OpenAPI))
	if err != nil {
		panic(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertContent()
	if err := c.AddResource(descriptionURL, doc); err != nil {
		panic(err)
	}
	return &description{doc: doc.(map[string]any), compiler: c}
})

// at follows a path of keys, references included. The second result is the path at
// which it ended.
func (d *description) at(path ...string) (any, []string) {
	var v any = d.doc
	var where []string
	for i, key := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil, nil
		}
		if ref, ok := m["$ref"].(string); ok {
			return d.at(append(unref(ref), path[i:]...)...)
		}
		if v, ok = m[key]; !ok {
			return nil, nil
		}
		where = append(where, key)
	}
	if m, ok := v.(map[string]any); ok {
		if ref, ok := m["$ref"].(string); ok {
			return d.at(unref(ref)...)
		}
	}
	return v, where
}

func unref(ref string) []string {
	keys := strings.Split(strings.TrimPrefix(ref, "#/"), "/")
	for i := range keys {
		keys[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(keys[i])
	}
	return keys
}

// validate compares a value with the schema at a path.
func (d *description) validate(v any, path ...string) error {
	_, where := d.at(path...)
	if where == nil {
		return fmt.Errorf("the document has nothing at %q", path)
	}
	for i := range where {
		where[i] = strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(where[i])
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	schema, err := d.compiler.Compile(descriptionURL + "#/" + strings.Join(where, "/"))
	if err != nil {
		return err
	}
	return schema.Validate(v)
}

// answered counts the answers that were compared, by operation and by code.
type answered struct {
	mu         sync.Mutex
	operations map[string]int
	codes      map[string]int
	problems   []string // for who cannot report them at once
}

// take returns the problems that came up since it was last called.
func (a *answered) take() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := a.problems
	a.problems = nil
	return all
}

// observe compares every request that is taken and every answer of the API with its
// description, as long as the test runs.
func observe(t testing.TB, seen *answered) func(http.Handler) http.Handler {
	return func(inner http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var sent bytes.Buffer
			if r.Header.Get("Content-Type") == "application/json" {
				r.Body = struct {
					io.Reader
					io.Closer
				}{io.TeeReader(r.Body, &sent), r.Body}
			}
			answer := &tee{ResponseWriter: w}
			inner.ServeHTTP(answer, r)
			if err := compare(r, sent.Bytes(), answer, seen); err != nil {
				text := fmt.Sprintf("%s %s, status %d: %v", r.Method, r.URL.Path, answer.status, err)
				if _, fuzzing := t.(*testing.F); fuzzing {
					seen.mu.Lock()
					seen.problems = append(seen.problems, text)
					seen.mu.Unlock()
					return
				}
				t.Error(text)
			}
		})
	}
}

// tee keeps JSON answers.
type tee struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (t *tee) Unwrap() http.ResponseWriter { return t.ResponseWriter }

func (t *tee) WriteHeader(status int) {
	if t.status == 0 {
		t.status = status
	}
	t.ResponseWriter.WriteHeader(status)
}

func (t *tee) Write(b []byte) (int, error) {
	if t.status == 0 {
		t.status = http.StatusOK
	}
	if t.Header().Get("Content-Type") == "application/json" {
		t.body.Write(b)
	}
	return t.ResponseWriter.Write(b)
}

func compare(r *http.Request, sent []byte, answer *tee, seen *answered) error {
	if r.Pattern == "" || answer.status == 0 && r.Context().Err() != nil {
		return nil // the mux redirects to a clean path, or nobody listens any more
	}
	d := describe()
	status, ok := answer.status, true
	if status == 0 {
		status = http.StatusOK
	}
	method, path, isRoute := strings.Cut(r.Pattern, " ")
	response := []string{"paths", path, strings.ToLower(method), "responses", strconv.Itoa(status)}
	if !isRoute { // the path that is none
		response = []string{"components", "responses", "NotFound"}
		if status != http.StatusNotFound {
			response = []string{"components", "responses", "BadRequest"}
		}
	}
	if _, where := d.at(response...); where == nil {
		return fmt.Errorf("the status is not described for %s", r.Pattern)
	}
	headers, _ := d.at(append(slices.Clone(response), "headers")...)
	if h, ok := headers.(map[string]any); ok {
		for name := range h {
			value := answer.Header().Get(name)
			header := append(slices.Clone(response), "headers", name)
			if required, _ := d.at(append(slices.Clone(header), "required")...); required == true && value == "" {
				return fmt.Errorf("the answer has no header %s", name)
			}
			if kind, _ := d.at(append(slices.Clone(header), "schema", "type")...); kind == "string" && value != "" {
				if err := d.validate(value, append(header, "schema")...); err != nil {
					return fmt.Errorf("header %s: %v", name, err)
				}
			}
		}
	}
	media := answer.Header().Get("Content-Type")
	if _, has := d.at(append(slices.Clone(response), "content")...); has == nil && media == "" {
		seen.count(&seen.operations, r.Pattern)
		return nil // an answer without a body
	}
	content := append(response, "content", media)
	if _, where := d.at(content...); where == nil {
		return fmt.Errorf("content type %q is not described for %s", media, r.Pattern)
	}
	if media == "application/json" && r.Method != http.MethodHead {
		v, err := jsonschema.UnmarshalJSON(&answer.body)
		if err != nil {
			return err
		}
		if err := d.validate(v, append(content, "schema")...); err != nil {
			return fmt.Errorf("the answer: %v", err)
		}
		if m, isObject := v.(map[string]any); isObject && status >= 400 {
			ok = false
			seen.count(&seen.codes, m["code"].(string))
		}
	}
	if !ok || !isRoute {
		return nil
	}
	seen.count(&seen.operations, r.Pattern)
	if len(sent) > 0 {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(sent))
		if err != nil {
			return err
		}
		if err := d.validate(v, "paths", path, strings.ToLower(method), "requestBody", "content", "application/json", "schema"); err != nil {
			return fmt.Errorf("a request that was taken: %v", err)
		}
	}
	return nil
}

func (a *answered) count(m *map[string]int, key string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if *m == nil {
		*m = map[string]int{}
	}
	(*m)[key]++
}

// TestDescriptionIsOpenAPI: the document keeps the schema of OpenAPI 3.1, all its
// own schemas compile, and every reference leads somewhere.
func TestDescriptionIsOpenAPI(t *testing.T) {
	d := describe()
	b, err := os.ReadFile("testdata/openapi/schema-3.1.json")
	if err != nil {
		t.Fatal(err)
	}
	meta, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("concord:oas", meta); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("concord:oas")
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(any(d.doc)); err != nil {
		t.Errorf("openapi.json: %v", err)
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok {
				if _, where := d.at(unref(ref)...); where == nil {
					t.Errorf("%s leads nowhere", ref)
				}
			}
			for _, w := range v {
				walk(w)
			}
		case []any:
			for _, w := range v {
				walk(w)
			}
		}
	}
	walk(d.doc)
	if version, _ := d.at("info", "version"); version != strconv.Itoa(api.Version) {
		t.Errorf("the document describes version %v, the program speaks %d", version, api.Version)
	}
}

// TestEveryRouteIsDescribed, and every described one exists.
func TestEveryRouteIsDescribed(t *testing.T) {
	routes := slices.DeleteFunc(server.Routes(), func(p string) bool { return p == "/" })
	slices.Sort(routes)
	var described []string
	paths, _ := describe().at("paths")
	for path, item := range paths.(map[string]any) {
		for method := range item.(map[string]any) {
			if method != "parameters" {
				described = append(described, strings.ToUpper(method)+" "+path)
			}
		}
	}
	slices.Sort(described)
	if !slices.Equal(routes, described) {
		t.Errorf("routes     %q\ndescribed  %q", routes, described)
	}
}

// apiSource is package api as it is written.
func apiSource(t *testing.T) []*ast.File {
	t.Helper()
	entries, err := os.ReadDir("../api")
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".go") && !strings.HasSuffix(e.Name(), "_test.go") {
			f, err := parser.ParseFile(token.NewFileSet(), "../api/"+e.Name(), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
	}
	return files
}

// constants are the values of package api's string constants with a prefix.
func constants(t *testing.T, prefix string) []string {
	t.Helper()
	var values []string
	for _, f := range apiSource(t) {
		ast.Inspect(f, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 && strings.HasPrefix(v.Names[0].Name, prefix) {
				if lit, ok := v.Values[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
					s, err := strconv.Unquote(lit.Value)
					if err != nil {
						t.Fatal(err)
					}
					values = append(values, s)
				}
			}
			return true
		})
	}
	slices.Sort(values)
	if len(values) == 0 {
		t.Fatalf("package api has no constants %s…", prefix)
	}
	return values
}

// TestEveryCodeIsDescribed, and every state.
func TestEveryCodeIsDescribed(t *testing.T) {
	for prefix, path := range map[string][]string{
		"Code":  {"components", "schemas", "Error", "properties", "code", "enum"},
		"State": {"components", "schemas", "Status", "properties", "state", "enum"},
	} {
		list, _ := describe().at(path...)
		var described []string
		for _, v := range list.([]any) {
			described = append(described, v.(string))
		}
		slices.Sort(described)
		if want := constants(t, prefix); !slices.Equal(described, want) {
			t.Errorf("%s: described %q, the program has %q", prefix, described, want)
		}
	}
}

// messages are the types of what travels as JSON, by the name of their schema.
var messages = map[string]any{
	"Identity": api.Identity{}, "JoinRequest": api.JoinRequest{}, "JoinResponse": api.JoinResponse{}, "Roster": api.Roster{}, "Asking": api.Asking{},
	"Status": api.Status{}, "BundleInfo": api.BundleInfo{}, "Bundles": api.Bundles{}, "Error": api.Error{}, "Audit": api.Audit{}, "Amended": api.Amended{}, "AmendResponse": api.AmendResponse{}, "Checking": api.Checking{}, "Receipt": member.Receipt{},
	"Heads": member.Heads{}, "Head": member.Head{},
}

// TestEveryFieldIsDescribed: a message's type and its schema have the same fields,
// and the optional ones are those that may be left out.
func TestEveryFieldIsDescribed(t *testing.T) {
	for _, f := range apiSource(t) {
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.TypeSpec); ok && s.Name.IsExported() {
				if body, ok := s.Type.(*ast.StructType); ok && slices.ContainsFunc(body.Fields.List, func(f *ast.Field) bool { return f.Tag != nil }) && messages[s.Name.Name] == nil {
					t.Errorf("api.%s travels as JSON and is not among the messages that this test compares", s.Name.Name)
				}
			}
			return true
		})
	}
	for name, v := range messages {
		typ := reflect.TypeOf(v)
		properties, _ := describe().at("components", "schemas", name, "properties")
		described, ok := properties.(map[string]any)
		if !ok {
			t.Errorf("%s: no schema", name)
			continue
		}
		list, _ := describe().at("components", "schemas", name, "required")
		var required []string
		if list != nil {
			for _, v := range list.([]any) {
				required = append(required, v.(string))
			}
		}
		fields := map[string]bool{}
		for i := range typ.NumField() {
			field, options, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			fields[field] = true
			optional := (strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")) && field != "signature" // nothing unsigned travels
			if slices.Contains(required, field) == optional {
				t.Errorf("%s.%s: required is %v in the schema, the type says optional %v", name, field, !optional, optional)
			}
		}
		if !maps.EqualFunc(fields, described, func(bool, any) bool { return true }) {
			t.Errorf("%s: the type has the fields %v, the schema %v", name, slices.Sorted(maps.Keys(fields)), slices.Sorted(maps.Keys(described)))
		}
	}
}
