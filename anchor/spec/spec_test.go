package spec_test

import (
	"errors"
	"strings"
	"testing"

	"concord/anchor/spec"
	"concord/internal/field"
)

// TestCheck: each wrong field is named by a path that a contract can put its own in front
// of, with the value and what would be right.
func TestCheck(t *testing.T) {
	file := strings.Repeat("0a", 32)
	for _, tc := range []struct {
		spec spec.Spec
		want string
	}{
		{spec.Spec{Rows: 1},
			"anchor.kind is missing; it is one of: uniform, normal, orthonormal, public, low-rank, smote, gaussian"},
		{spec.Spec{Kind: "pink", Rows: 1}, `anchor.kind is "pink", must be one of: uniform, `},
		{spec.Spec{Kind: spec.Normal}, "anchor.rows is 0, must be from 1 to 1000000"},
		{spec.Spec{Kind: spec.Normal, Rows: 1_000_001}, "anchor.rows is 1000001, must be from 1 to 1000000"},
		{spec.Spec{Kind: spec.Normal, Rows: 1, SHA256: file},
			"anchor.sha256 is " + file + ", must be left out of kind normal: it belongs to public"},
		{spec.Spec{Kind: spec.SMOTE, Rows: 1, Neighbours: 5, Rank: 2},
			"anchor.rank is 2, must be left out of kind smote: it belongs to low-rank"},
		{spec.Spec{Kind: spec.SMOTE, Rows: 1, Neighbours: 5, Delta: 0.5},
			"anchor.delta is 0.5, must be left out of kind smote: it belongs to low-rank"},
		{spec.Spec{Kind: spec.Public, Rows: 1, SHA256: file, Neighbours: 5},
			"anchor.neighbours is 5, must be left out of kind public: it belongs to smote"},
		{spec.Spec{Kind: spec.Public, Rows: 1}, "anchor.sha256 is missing; it is the SHA-256 of the public file"},
		{spec.Spec{Kind: spec.Public, Rows: 1, SHA256: strings.Repeat("0", 64)}, "anchor.sha256 is missing"},
		{spec.Spec{Kind: spec.Public, Rows: 1, SHA256: strings.ToUpper(file)}, `anchor.sha256 is "0A`},
		{spec.Spec{Kind: spec.Public, Rows: 1, SHA256: file[1:]},
			"anchor.sha256 is \"" + file[1:] + "\", must be 64 lower-case hexadecimal digits"},
		{spec.Spec{Kind: spec.LowRank, Rows: 1, Delta: 0.5}, "anchor.rank is 0, must be from 1 to"},
		{spec.Spec{Kind: spec.LowRank, Rows: 1, Rank: 1, Delta: 11},
			"anchor.delta is 11, must be above 0 and at most 10"},
		{spec.Spec{Kind: spec.SMOTE, Rows: 1, Neighbours: 101}, "anchor.neighbours is 101, must be from 1 to 100"},
	} {
		err := tc.spec.Check()
		var wrong *spec.FieldError
		if !errors.As(err, &wrong) || !strings.HasPrefix(field.In("anchor", err).Error(), tc.want) {
			t.Errorf("%v, want %q", field.In("anchor", err), tc.want)
		}
	}
}

// TestDefaultsPass: what is filled in for a kind passes its own check, with the file that
// public needs.
func TestDefaultsPass(t *testing.T) {
	for _, kind := range spec.Kinds() {
		d := spec.Spec{Kind: kind}.Defaults(20, 4)
		if kind == spec.Public {
			d.SHA256 = strings.Repeat("0a", 32)
		}
		want := 1000
		if kind == spec.Orthonormal {
			want = 20
		}
		if err := d.Check(); err != nil || d.Rows != want || d.Kind != kind {
			t.Errorf("%s: %+v, %v", kind, d, err)
		}
	}
}
