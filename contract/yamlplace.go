package contract

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// placed names the package in an error of the contract, and adds the line of what it is
// about, where the file has that: a default has no line.
func (n *yamlNode) placed(err error) error {
	e, ok := errors.AsType[*FieldError](err)
	if !ok {
		return err // it has its place
	}
	at := n
	for key := range strings.SplitSeq(e.Path, ".") {
		next := at.child(key)
		if next == nil {
			break
		}
		at = next
	}
	if at == n {
		return fmt.Errorf("contract: %w", err)
	}
	return fmt.Errorf("contract: study.yaml: line %d: %w", at.line, err)
}

// child is the value of a key, or of an item of its list, counted from 1, as in features[3];
// nil if there is none.
func (n *yamlNode) child(key string) *yamlNode {
	key, index, listed := strings.Cut(key, "[")
	i := slices.Index(n.keys, key)
	if i < 0 || i >= len(n.items) {
		return nil
	}
	value := n.items[i]
	if listed {
		k, err := strconv.Atoi(strings.TrimSuffix(index, "]"))
		if err != nil || k < 1 || k > len(value.items) {
			return value
		}
		return value.items[k-1]
	}
	return value
}
