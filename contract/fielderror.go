package contract

import (
	"errors"
	"fmt"
	"strings"

	"concord/internal/field"
	"concord/wire"
)

// FieldError is a value of a contract that is wrong: where it stands, what it says and what
// would be right. Path is written as people read study.yaml, such as basis.dim or
// features[3].range, lists counted from 1.
type FieldError = field.Error

func refuse(path, format string, args ...any) error { return field.Refuse(path, format, args...) }

func oneOf(what, got string, allowed []string) error {
	return at(what, field.OneOf(what, got, allowed))
}

func between(what string, got, lo, hi int) error { return at(what, field.Between(what, got, lo, hi)) }

func checkText(path, s string) error {
	if err := wire.CheckText(path, s); err != nil {
		return refuse(path, "%v", err)
	}
	return nil
}

// at gives an error about what, a path with words around it, the path alone.
func at(what string, err error) error {
	path, _, _ := strings.Cut(strings.TrimPrefix(what, "the number of "), " ")
	if err == nil || path == what {
		return err
	}
	return refuse(path, "%v", err)
}

// inSpec is what is wrong with a part of the contract.
func inSpec(part string, err error) error { return field.In(part, err) }

// inFeature is what is wrong with the feature of index j.
func inFeature(j int, name string, err error) error {
	path := fmt.Sprintf("features[%d]", j+1)
	if e, ok := errors.AsType[*FieldError](err); ok {
		path += "." + e.Path
	}
	return refuse(path, "feature %q: %v", name, err)
}
