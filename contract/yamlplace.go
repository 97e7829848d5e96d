package contract

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// What [Contract.Validate] says begins with a feature's name, with a key, or with both.
var (
	ofFeature = regexp.MustCompile(`^feature ("(?:[^"\\]|\\.)*"):? `)
	ofKey     = regexp.MustCompile(`^[a-z_]+(\.[a-z_]+)*`)
)

// placed adds to an error of the contract the line of what it is about, where the file
// has that: a default has no line.
func (n *yamlNode) placed(err error) error {
	text := strings.TrimPrefix(err.Error(), "contract: ")
	at, rest := n, text
	if m := ofFeature.FindStringSubmatch(text); m != nil {
		name, _ := strconv.Unquote(m[1])
		list := n.child("features")
		if list == nil {
			return err
		}
		i := slices.IndexFunc(list.items, func(f *yamlNode) bool {
			spelled := f.child("name")
			return f.kind == yamlScalar && f.text == name || spelled != nil && spelled.text == name
		})
		if i < 0 {
			return err
		}
		at, rest = list.items[i], text[len(m[0]):]
	}
	for key := range strings.SplitSeq(ofKey.FindString(rest), ".") {
		if next := at.child(key); next != nil {
			at = next
		} else {
			break
		}
	}
	if at == n {
		return err
	}
	return fmt.Errorf("contract: study.yaml: line %d: %s", at.line, text)
}

// child is the value of a key, or nil.
func (n *yamlNode) child(key string) *yamlNode {
	if i := slices.Index(n.keys, key); i >= 0 && i < len(n.items) {
		return n.items[i]
	}
	return nil
}
