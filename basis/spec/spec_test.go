package spec_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"concord/basis/spec"
	"concord/internal/field"
)

// TestCheck: each wrong field is named by a path that a contract can put its own in front
// of, with the value and what would be right.
func TestCheck(t *testing.T) {
	for _, tc := range []struct {
		check func() error
		want  string
	}{
		{spec.Spec{Dim: 1}.Check,
			"basis.kind is missing; it is one of: svd, pca, pca-perturbed, scrambled, random, common-random, common"},
		{spec.Spec{Kind: "umap", Dim: 1}.Check, `basis.kind is "umap", must be one of: svd, `},
		{spec.Spec{Kind: spec.PCA}.Check, "basis.dim is 0, must be from 1 to 100000"},
		{spec.Spec{Kind: spec.Perturbed, Dim: 2}.Check, "basis.delta is 0, must be above 0 and at most 10"},
		{spec.Spec{Kind: spec.Perturbed, Dim: 2, Delta: math.NaN()}.Check, "basis.delta is NaN, must be above 0"},
		{spec.Spec{Kind: spec.Perturbed, Dim: 2, Delta: math.Inf(1)}.Check, "basis.delta is +Inf, must be above 0"},
		{spec.Spec{Kind: spec.SVD, Dim: 2, Delta: 0.1}.Check,
			"basis.delta is 0.1, must be left out of kind svd: it belongs to pca-perturbed"},
		{spec.Lift{Dim: 1, Gamma: 1}.Check, "basis.dim is 1, must be from 2 to 100000"},
		{spec.Lift{Dim: 2, Gamma: 2e6}.Check, "basis.gamma is 2e+06, must be above 0 and at most 1e+06"},
	} {
		err := tc.check()
		var wrong *spec.FieldError
		if !errors.As(err, &wrong) || !strings.HasPrefix(field.In("basis", err).Error(), tc.want) {
			t.Errorf("%v, want %q", field.In("basis", err), tc.want)
		}
	}
}

// TestDefaultsPass: what is filled in for a kind passes its own check.
func TestDefaultsPass(t *testing.T) {
	for _, kind := range spec.Kinds() {
		d := spec.Spec{Kind: kind}.Defaults(10)
		if err := d.Check(); err != nil || d.Dim != 8 || d.Kind != kind {
			t.Errorf("%s: %+v, %v", kind, d, err)
		}
	}
	if d := (spec.Spec{Kind: spec.SVD}).Defaults(1); d.Dim != 1 {
		t.Errorf("of one direction %d leave", d.Dim)
	}
}
