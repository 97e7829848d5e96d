package visit

import (
	"strings"
	"testing"

	"concord/bundle"
	"concord/contract"
)

// TestOnlyAgreed: a result of one protocol is refused under the other, whatever else it
// holds.
func TestOnlyAgreed(t *testing.T) {
	for _, tc := range []struct {
		protocol string
		members  []string
		refused  string
	}{
		{"dc", []string{"G.npy", "h.onnx", "metrics.json"}, ""},
		{"nri", []string{"answers.npy", "metrics.json"}, ""},
		{"nri", []string{"answers.0000.npy", "answers.0001.npy", "metrics.json"}, ""},
		{"nri", []string{"answers.npy", "metrics.json", "G.npy"}, "G.npy"},
		{"nri", []string{"answers.npy", "h.onnx", "metrics.json"}, "h.onnx"},
		{"nri", []string{"G.npy", "h.onnx", "metrics.json"}, "G.npy"},
		{"dc", []string{"G.npy", "h.onnx", "metrics.json", "answers.npy"}, "answers.npy"},
		{"dc", []string{"G.npy.age", "h.onnx", "metrics.json"}, "G.npy.age"},
	} {
		var m bundle.Manifest
		for _, name := range tc.members {
			m.Members = append(m.Members, bundle.Member{Name: name})
		}
		err := onlyAgreed(&contract.Contract{Protocol: tc.protocol}, &m)
		if tc.refused == "" && err != nil {
			t.Errorf("%s, %v: %v", tc.protocol, tc.members, err)
		}
		if tc.refused != "" && (err == nil || !strings.Contains(err.Error(), `"`+tc.refused+`"`)) {
			t.Errorf("%s, %v: error %v, want one about %s", tc.protocol, tc.members, err, tc.refused)
		}
	}
}
