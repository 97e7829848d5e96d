package contract_test

import (
	"errors"
	"strings"
	"testing"

	"concord/contract"
)

// TestFieldError: what is wrong is a value with a path, and the file's line is that of the
// deepest part of the path that the file has.
func TestFieldError(t *testing.T) {
	for _, tc := range []struct{ yaml, path, line string }{
		{smallYAML + "basis: {kind: pca, dim: 40}\n", "basis.dim", "line 11: "},
		{smallYAML + "basis: {kind: pco}\n", "basis.kind", "line 11: "},
		{smallYAML + "model: {kind: ridge, c: 2}\n", "model.c", "line 11: "},
		{smallYAML + "alignment: {method: odc, target: nowhere}\n", "alignment.target", "line 11: "},
		{smallYAML + "standardise: pooled\nfloors: {eps: 2}\n", "pooling.colluders", ""},
		{strings.Replace(smallYAML, "[1, 300]", "[300, 1]", 1), "features[2].range", "line 6: "},
		{strings.Replace(smallYAML, `levels: ["0", "1"]`, `levels: ["0", "0"]`, 1), "label.levels", "line 10: "},
		{strings.Replace(smallYAML, "name: pressure", "name: weight", 1), "features[3].name", "line 7: "},
	} {
		_, err := contract.ParseYAML([]byte(tc.yaml))
		field, ok := errors.AsType[*contract.FieldError](err)
		if !ok {
			t.Errorf("want a field error about %s, got %v", tc.path, err)
			continue
		}
		if field.Path != tc.path {
			t.Errorf("the path is %s, want %s (%v)", field.Path, tc.path, err)
		}
		if !strings.Contains(err.Error(), "study.yaml: "+tc.line) != (tc.line == "") {
			t.Errorf("%s: the place is not %q in: %v", tc.path, tc.line, err)
		}
	}
}
