package study_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"concord/study"
)

func receipt(id *study.Identity) *study.Receipt {
	r := &study.Receipt{
		Format: 1, Study: study.Hash{1}, Epoch: study.Hash{2}, Sender: study.Hash{3}, Manifest: study.Hash{4},
		Ciphertext: study.Hash{5}, Received: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
	r.Sign(id)
	return r
}

func TestReceipt(t *testing.T) {
	analyst := identity(t, study.RoleAnalyst, "Analyst")
	r := receipt(analyst)
	got, err := study.DecodeReceipt(r.Encode(), analyst.Statement)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, got); diff != "" {
		t.Error(diff)
	}
	other := identity(t, study.RoleAnalyst, "Analyst")
	_, err = study.DecodeReceipt(r.Encode(), other.Statement)
	wantProblem(t, "another analyst", err, "receipt signature does not verify")
	forged := *r
	forged.Manifest = study.Hash{9}
	_, err = study.DecodeReceipt(forged.Encode(), analyst.Statement)
	wantProblem(t, "another bundle", err, "receipt signature does not verify")
	_, err = study.DecodeReceipt(append(r.Encode(), ' '), analyst.Statement)
	wantProblem(t, "trailing space", err, "canonical")
}

func TestOutcome(t *testing.T) {
	o := &study.Outcome{Format: 1, Rows: 12, Metrics: []study.Metric{{Name: "roc_auc", Value: 0.9}}, Notes: []string{"a < b & c"}}
	b, err := o.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := study.DecodeOutcome(b)
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

func FuzzDecodeReceipt(f *testing.F) {
	analyst := identity(f, study.RoleAnalyst, "Analyst")
	f.Add(receipt(analyst).Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := study.DecodeReceipt(b, analyst.Statement)
		if err == nil && string(r.Encode()) != string(b) {
			t.Fatal("accepted another spelling")
		}
	})
}

func FuzzDecodeOutcome(f *testing.F) {
	f.Add([]byte(`{"format":1,"rows":12,"metrics":[{"name":"roc_auc","value":0.9}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		o, err := study.DecodeOutcome(b)
		if err != nil {
			return
		}
		again, err := o.Encode()
		if err != nil || string(again) != string(b) {
			t.Fatalf("accepted another spelling: %v", err)
		}
	})
}
