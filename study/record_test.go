package study_test

import (
	"math"
	"strings"
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
	analyst := newIdentity(t, study.RoleAnalyst, "Analyst")
	r := receipt(analyst)
	got, err := study.DecodeReceipt(r.Encode(), analyst.Statement)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, got); diff != "" {
		t.Error(diff)
	}
	other := newIdentity(t, study.RoleAnalyst, "Analyst")
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
	analyst := newIdentity(f, study.RoleAnalyst, "Analyst")
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

func TestWitness(t *testing.T) {
	analyst := newIdentity(t, study.RoleAnalyst, "Analyst")
	own, seen := study.Head{Number: 7, Hash: study.Hash{1}}, study.Head{Number: 3, Hash: study.Hash{2}}
	w := &study.Witness{
		Format: 1, Study: study.Hash{1}, By: analyst.Statement.Fingerprint(), To: study.Hash{3}, Heads: *study.NewHeads(own, seen),
		Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
	w.Sign(analyst)
	got, err := study.DecodeWitness(w.Encode(), analyst.Statement)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(w, got); diff != "" {
		t.Error(diff)
	}
	_, err = study.DecodeWitness(w.Encode(), newIdentity(t, study.RoleAnalyst, "Analyst").Statement)
	wantProblem(t, "another analyst", err, "expected")
	forged := *w
	forged.Heads.Own = &study.Head{Number: 6, Hash: study.Hash{1}}
	_, err = study.DecodeWitness(forged.Encode(), analyst.Statement)
	wantProblem(t, "another head", err, "witness signature does not verify")
	forged.Heads = study.Heads{}
	_, err = study.DecodeWitness(forged.Encode(), analyst.Statement)
	wantProblem(t, "no head", err, "given and empty")
}

// TestReceiptHeads: heads are signed with the receipt, one without them stays
// what it was, and heads that no log has are refused.
func TestReceiptHeads(t *testing.T) {
	analyst := newIdentity(t, study.RoleAnalyst, "Analyst")
	if b := string(receipt(analyst).Encode()); strings.Contains(b, "heads") {
		t.Errorf("a receipt without heads says %s", b)
	}
	r := receipt(analyst)
	r.Heads = study.NewHeads(study.Head{Number: 7, Hash: study.Hash{1}}, study.Head{})
	r.Sign(analyst)
	got, err := study.DecodeReceipt(r.Encode(), analyst.Statement)
	if err != nil || got.Heads.Own.Number != 7 || got.Heads.Seen != nil {
		t.Fatalf("%+v, %v", got, err)
	}
	r.Heads.Own.Number = 8
	_, err = study.DecodeReceipt(r.Encode(), analyst.Statement)
	wantProblem(t, "another head", err, "receipt signature does not verify")
	r.Heads.Own.Number = 0
	r.Sign(analyst)
	_, err = study.DecodeReceipt(r.Encode(), analyst.Statement)
	wantProblem(t, "number 0", err, "audit head has number 0")
}
