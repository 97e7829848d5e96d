package contract_test

import (
	"strings"
	"testing"

	"concord/contract"
)

// TestMissingTruth holds that no spelling of a boolean without levels means missing: half of
// the rows would be filled, and nobody told.
func TestMissingTruth(t *testing.T) {
	for value, fine := range map[string]bool{"0": false, "1.0": false, "TRUE": false, "-9": true, "NA": true} {
		_, err := contract.ParseYAML([]byte("name: P\nparties: 4\nmissing_values: [\"" + value + "\"]\nfeatures:\n  - {name: a, range: [18, 100]}\n  - {name: b, type: boolean, missing: common}\n" +
			"label: {name: y, levels: [\"n\", \"p\"], positive: \"p\"}\nbasis: {kind: pca, dim: 1}\n"))
		if (err == nil) != fine || err != nil && !strings.Contains(err.Error(), "spelling of the boolean") {
			t.Errorf("missing_values %q: %v", value, err)
		}
	}
}
