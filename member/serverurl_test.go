package member_test

import (
	"bytes"
	"testing"

	"concord/member"
	"concord/wire"
)

func TestParseServerURL(t *testing.T) {
	for _, good := range []struct{ url, address, prefix string }{
		{"https://analyst.example", "analyst.example:443", ""},
		{"https://analyst.example:8443/", "analyst.example:8443", ""},
		{"https://analyst.example/trials/concord/", "analyst.example:443", "/trials/concord"},
		{"https://[::1]:9", "[::1]:9", ""},
	} {
		address, prefix, err := member.ParseServerURL(good.url)
		if err != nil || address != good.address || prefix != good.prefix {
			t.Errorf("ParseServerURL(%q) = %q, %q, %v", good.url, address, prefix, err)
		}
	}
	for _, bad := range []string{
		"", "analyst.example", "http://analyst.example", "https://", "https://a:0", "https://a:99999", "https://user@a",
		"https://a/?", "https://a/?q", "https://a/#f", "https://a//b", "https://a/../b", "https://a/%41", "https://a/b c",
	} {
		if address, prefix, err := member.ParseServerURL(bad); err == nil {
			t.Errorf("ParseServerURL(%q) = %q, %q, want an error", bad, address, prefix)
		}
	}
}

// TestJoinProof: a proof holds for one statement, one study, one analyst and one
// secret.
func TestJoinProof(t *testing.T) {
	key, c, a, s := wire.HashOf([]byte("secret")), wire.Hash{1}, wire.Hash{2}, []byte("statement")
	proof := member.JoinProof(key, c, a, s)
	for name, other := range map[string][]byte{
		"secret":    member.JoinProof(wire.Hash{3}, c, a, s),
		"study":     member.JoinProof(key, wire.Hash{3}, a, s),
		"analyst":   member.JoinProof(key, c, wire.Hash{3}, s),
		"statement": member.JoinProof(key, c, a, []byte("Statement")),
	} {
		if bytes.Equal(proof, other) {
			t.Errorf("another %s gives the same proof", name)
		}
	}
	if !bytes.Equal(proof, member.JoinProof(key, c, a, s)) {
		t.Error("the same gives another proof")
	}
}
