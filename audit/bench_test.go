package audit_test

import (
	"bytes"
	"testing"

	"concord/audit"
)

// BenchmarkVerify reads a log of 1,000 entries: a signature each.
func BenchmarkVerify(b *testing.B) {
	id := newIdentity(b, "North")
	var many []audit.Event
	for range 1000 {
		many = append(many, events[3])
	}
	lines, _ := log(b, id, many)
	whole := text(lines)
	b.SetBytes(int64(len(whole)))
	for b.Loop() {
		if _, err := audit.Verify(bytes.NewReader(whole), id.Statement.Fingerprint(), hash, audit.KeysOf(id.Statement), nil); err != nil {
			b.Fatal(err)
		}
	}
}
