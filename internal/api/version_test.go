package api

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// TestVersionRule: the newer of two programs that are one version apart reads the
// older; further apart, the older one is to be upgraded, whichever side it is on.
func TestVersionRule(t *testing.T) {
	header := func(v int) http.Header {
		return http.Header{HeaderVersion: {strconv.Itoa(v)}}
	}
	for _, tc := range []struct {
		err  error
		want []string // nil for no error
	}{
		{CheckRequest(http.Header{}), nil},
		{CheckRequest(header(Version)), nil},
		{CheckRequest(header(Version + 1)), []string{"the party's program speaks version 3", "this server speaks version 2", "concordd"}},
		{answerError(http.Header{}), nil},
		{answerError(header(Version)), nil},
		{answerError(header(Version + 1)), nil},
		{answerError(header(Version + 2)), []string{"the server speaks version 4", "this program speaks version 2", "upgrade concord at the party"}},
		{&VersionError{Theirs: 1, Ours: 3, Server: true}, []string{"the party's program speaks version 1", "reads version 2", "upgrade concord at the party"}},
		{&VersionError{Theirs: 1, Ours: 3}, []string{"the server speaks version 1", "upgrades concordd"}},
	} {
		if tc.want == nil {
			if tc.err != nil {
				t.Errorf("got %v, want no error", tc.err)
			}
			continue
		}
		var far *VersionError
		if !errors.As(tc.err, &far) {
			t.Errorf("got %v, want a VersionError with %q", tc.err, tc.want)
			continue
		}
		for _, want := range tc.want {
			if !strings.Contains(far.Error()+" "+far.Hint(), want) {
				t.Errorf("%q, hint %q: want %q in them", far, far.Hint(), want)
			}
		}
	}
}

func answerError(h http.Header) error {
	_, err := CheckAnswer(h)
	return err
}
