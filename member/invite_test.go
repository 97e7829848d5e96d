package member_test

import (
	"fmt"
	"strings"
	"testing"

	"concord/member"
	"concord/wire"
)

func TestInvite(t *testing.T) {
	web := member.NewInvite("analyst.example:443", wire.HashOf([]byte("c")), wire.HashOf([]byte("a")))
	web.TLS, web.Prefix = member.TLSWebPKI, "/trials/concord"
	got, err := member.ParseInvite(web.Line())
	if err != nil {
		t.Fatal(err)
	}
	if got.TLS != web.TLS || got.Address != web.Address || got.Prefix != web.Prefix || got.Contract != web.Contract || got.Line() != web.Line() {
		t.Errorf("the webpki invite changed on its way: %v", got)
	}
	v := member.NewInvite("analyst.example:8443", wire.HashOf([]byte("c")), wire.HashOf([]byte("a")))
	line := v.Line()
	got, err = member.ParseInvite(" " + line + "\n")
	if err != nil {
		t.Fatal(err)
	}
	if got.TLS != member.TLSPinned || got.Address != v.Address || got.Contract != v.Contract || got.Analyst != v.Analyst || got.Line() != line {
		t.Errorf("the invite changed on its way: %v", got)
	}
	if strings.Contains(fmt.Sprintf("%v %+v", v, v), line[strings.LastIndex(line, "/")+1:]) {
		t.Error("an invite printed its secret")
	}
	for _, bad := range []struct{ name, line, problem string }{
		{"empty", "", "begins with concord-invite/1/"},
		{"another version", strings.Replace(line, "/1/", "/3/", 1), `version "3", this program reads versions 1 and 2`},
		{"another mode", strings.Replace(web.Line(), "webpki", "quantum", 1), `tls "quantum"`},
		{"a prefix out of its place", strings.Replace(web.Line(), "/trials/", "/../", 1), "path prefix"},
		{"a prefix with an escape", strings.Replace(web.Line(), "/trials/", "/%2e/", 1), "path prefix"},
		{"webpki cut", web.Line()[:len(web.Line())-1], "damaged"},
		{"a query in the address", strings.Replace(web.Line(), ":443", "?x:443", 1), "must be host:port"},
		{"cut", line[:len(line)-1], "damaged"},
		{"cut at a slash", line[:strings.LastIndex(line, "/")], "has 5 parts"},
		{"no port", strings.Replace(line, ":8443", "", 1), "must be host:port"},
	} {
		_, err := member.ParseInvite(bad.line)
		wantProblem(t, bad.name, err, bad.problem)
	}
}

func FuzzParseInvite(f *testing.F) {
	v := member.NewInvite("[::1]:8443", wire.Hash{1}, wire.Hash{2})
	f.Add(v.Line())
	f.Add(v.Line()[:len(v.Line())-4] + "\r\r" + v.Line()[len(v.Line())-4:]) // which base64 passes over
	v.TLS, v.Prefix = member.TLSWebPKI, "/a/b"
	f.Add(v.Line())
	f.Fuzz(func(t *testing.T, line string) {
		v, err := member.ParseInvite(line)
		if err == nil && v.Line() != strings.TrimSpace(line) {
			t.Fatal("accepted another spelling")
		}
	})
}
