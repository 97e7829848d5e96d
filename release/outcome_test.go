package release_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"concord/release"
)

func TestOutcome(t *testing.T) {
	o := &release.Outcome{Format: 1, Rows: 12, Metrics: []release.Metric{{Name: "roc_auc", Value: 0.9}}, Notes: []string{"a < b & c"}}
	b, err := o.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := release.DecodeOutcome(b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(o, got); diff != "" {
		t.Error(diff)
	}
	o.Metrics[0].Value = math.NaN()
	if _, err := o.Encode(); err == nil {
		t.Error("a metric that is not a number was encoded")
	}
}

func FuzzDecodeOutcome(f *testing.F) {
	f.Add([]byte(`{"format":1,"rows":12,"metrics":[{"name":"roc_auc","value":0.9}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		o, err := release.DecodeOutcome(b)
		if err != nil {
			return
		}
		again, err := o.Encode()
		if err != nil || string(again) != string(b) {
			t.Fatalf("accepted another spelling: %v", err)
		}
	})
}
