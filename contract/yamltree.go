package contract

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// maxYAMLDepth bounds the nesting of study.yaml; a contract needs four levels.
const maxYAMLDepth = 8

// yamlNode is a value of study.yaml as it was spelled: scalars stay text until
// a field asks for a number, so that YAML's own ideas of what 010, 1_000, no
// or 12:30 mean never touch a contract.
type yamlNode struct {
	path      string // features[2].range
	line, col int
	kind      yamlKind
	text      string // of a scalar
	quoted    bool
	items     []*yamlNode // of a sequence, or a mapping's values
	keys      []string    // of a mapping
}

type yamlKind int

const (
	yamlScalar yamlKind = iota
	yamlSequence
	yamlMapping
)

// errAt is an error at a place of study.yaml, counted from 1.
func (n *yamlNode) errAt(format string, args ...any) error {
	where := n.path
	if where == "" {
		where = "the document"
	}
	return fmt.Errorf("contract: study.yaml: line %d, column %d: %s: %s", n.line, n.col, where, fmt.Sprintf(format, args...))
}

// parseTree reads one YAML document of plain mappings, sequences and scalars.
// Anchors, aliases, merge keys, tags, several documents and repeated keys are
// refused.
func parseTree(b []byte) (*yamlNode, error) {
	if err := checkNesting(b); err != nil {
		return nil, err
	}
	file, err := parser.ParseBytes(b, 0)
	if err != nil {
		return nil, fmt.Errorf("contract: study.yaml: %w", yamlSyntaxError(err))
	}
	var bodies []ast.Node
	for _, doc := range file.Docs {
		if doc.Body != nil && doc.Body.Type() != ast.CommentType {
			bodies = append(bodies, doc.Body)
		}
	}
	if len(bodies) != 1 {
		return nil, fmt.Errorf("contract: study.yaml has %d documents, must have one", len(bodies))
	}
	return toTree(bodies[0], "", 0)
}

// checkNesting refuses what the parser would take very long for: brackets or
// list marks nested far deeper than a contract needs. It looks at characters
// only; a quoted text with hundreds of brackets is refused with them.
func checkNesting(b []byte) error {
	const most = 64
	depth := 0
	for i, line := range bytes.Split(b, []byte("\n")) {
		if bytes.HasPrefix(bytes.TrimLeft(line, " "), []byte("#")) {
			continue // a comment, also between brackets; in a quoted text nothing nests
		}
		marks := 0
		for _, c := range line {
			switch c {
			case '[', '{':
				depth++
			case ']', '}':
				depth = max(0, depth-1)
			case '-', '?', ':':
				marks++
			}
			if depth > most || marks > 4*most {
				return fmt.Errorf("contract: study.yaml: line %d: nested too deep", i+1)
			}
		}
		if indent := len(line) - len(bytes.TrimLeft(line, " \t-?")); indent > most {
			return fmt.Errorf("contract: study.yaml: line %d: indented by %d columns, at most %d are read", i+1, indent, most)
		}
	}
	return nil
}

func toTree(n ast.Node, path string, depth int) (*yamlNode, error) {
	out := &yamlNode{path: path, line: 1, col: 1}
	if tk := n.GetToken(); tk != nil && tk.Position != nil {
		out.line, out.col = tk.Position.Line, tk.Position.Column
	}
	if depth > maxYAMLDepth {
		return nil, out.errAt("nested more than %d deep", maxYAMLDepth)
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		out.kind = yamlMapping
		return out, out.addPairs(n.Values, depth)
	case *ast.MappingValueNode: // a mapping of one pair
		out.kind = yamlMapping
		return out, out.addPairs([]*ast.MappingValueNode{n}, depth)
	case *ast.SequenceNode:
		out.kind = yamlSequence
		for i, v := range n.Values {
			item, err := toTree(v, fmt.Sprintf("%s[%d]", path, i+1), depth+1)
			if err != nil {
				return nil, err
			}
			out.items = append(out.items, item)
		}
		return out, nil
	case *ast.NullNode:
		return nil, out.errAt("has no value")
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		tk := n.GetToken()
		out.text = tk.Value
		out.quoted = tk.Type == token.DoubleQuoteType || tk.Type == token.SingleQuoteType
		return out, nil
	}
	return nil, out.errAt("%s is not used in study.yaml; write plain keys, lists and values", strings.ToLower(n.Type().String()))
}

func (n *yamlNode) addPairs(pairs []*ast.MappingValueNode, depth int) error {
	for _, pair := range pairs {
		tk := pair.Key.GetToken()
		at := &yamlNode{path: n.path, line: tk.Position.Line, col: tk.Position.Column}
		if _, ok := pair.Key.(*ast.StringNode); !ok {
			return at.errAt("a key must be a plain word, got %q", tk.Value)
		}
		key := tk.Value
		if slices.Contains(n.keys, key) {
			return at.errAt("the key %q stands twice", key)
		}
		path := key
		if n.path != "" {
			path = n.path + "." + key
		}
		v, err := toTree(pair.Value, path, depth+1)
		if err != nil {
			return err
		}
		n.keys, n.items = append(n.keys, key), append(n.items, v)
	}
	return nil
}

// yamlSyntaxError keeps the first line of a parser's message: the rest is a
// drawing of the source.
func yamlSyntaxError(err error) error {
	first, _, _ := strings.Cut(err.Error(), "\n")
	m := parserPlace.FindStringSubmatch(first)
	if m == nil {
		return errors.New(first)
	}
	if strings.Contains(m[3], "'\t'") {
		m[3] = "a tab stands here; YAML is indented with spaces alone"
	}
	return fmt.Errorf("line %s, column %s: %s", m[1], m[2], m[3])
}

// parserPlace is how the parser says where.
var parserPlace = regexp.MustCompile(`^\[(\d+):(\d+)\] (.*)$`)

// fields hands out the values of a mapping by key and remembers which were
// asked for, so that done can refuse the others.
type fields struct {
	node  *yamlNode
	known []string
}

func (n *yamlNode) fields() (*fields, error) {
	if n.kind != yamlMapping {
		return nil, n.errAt("must be a mapping of keys to values")
	}
	return &fields{node: n}, nil
}

// get returns the value of key, nil when it is absent.
func (f *fields) get(key string) *yamlNode {
	f.known = append(f.known, key)
	if i := slices.Index(f.node.keys, key); i >= 0 {
		return f.node.items[i]
	}
	return nil
}

// done refuses keys that nobody asked for.
func (f *fields) done() error {
	for i, key := range f.node.keys {
		if !slices.Contains(f.known, key) {
			return f.node.items[i].errAt("unknown key; the keys here are: %s", strings.Join(f.known, ", "))
		}
	}
	return nil
}

// str stores the text of a scalar in dst; an absent value leaves dst alone.
func (n *yamlNode) str(dst *string) error {
	if n == nil {
		return nil
	}
	if n.kind != yamlScalar {
		return n.errAt("must be one value, not a list or a mapping")
	}
	*dst = n.text
	return nil
}

// decimal is a number as people and JSON write it: no leading zeros, no
// underscores, no hexadecimal or octal, no infinities.
var decimal = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// float stores a number in dst; an absent value leaves dst alone.
func (n *yamlNode) float(dst *float64) error {
	if n == nil {
		return nil
	}
	if n.kind != yamlScalar || n.quoted || !decimal.MatchString(n.text) {
		return n.errAt("must be a plain decimal number such as 12, -0.5 or 1e-3, got %q", n.text)
	}
	v, err := strconv.ParseFloat(n.text, 64)
	if err != nil || math.IsInf(v, 0) {
		return n.errAt("the number %s is out of range", n.text)
	}
	*dst = v
	return nil
}

// integer stores a whole number in dst; an absent value leaves dst alone.
func (n *yamlNode) integer(dst *int) error {
	if n == nil {
		return nil
	}
	if n.kind != yamlScalar || n.quoted || !decimal.MatchString(n.text) || strings.ContainsAny(n.text, ".eE") {
		return n.errAt("must be a whole number such as 12, got %q", n.text)
	}
	v, err := strconv.ParseInt(n.text, 10, 32)
	if err != nil {
		return n.errAt("the number %s is out of range", n.text)
	}
	*dst = int(v)
	return nil
}

// list calls f for every item of a sequence; an absent value has none.
func (n *yamlNode) boolean(dst *bool) error {
	if n == nil {
		return nil
	}
	if n.kind != yamlScalar || n.quoted || n.text != "true" && n.text != "false" {
		return n.errAt("must be true or false, got %q", n.text)
	}
	*dst = n.text == "true"
	return nil
}

func (n *yamlNode) list(f func(*yamlNode) error) error {
	if n == nil {
		return nil
	}
	if n.kind != yamlSequence {
		return n.errAt("must be a list")
	}
	for _, item := range n.items {
		if err := f(item); err != nil {
			return err
		}
	}
	return nil
}
