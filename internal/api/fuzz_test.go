package api_test

import (
	"net/http"
	"strconv"
	"testing"

	"concord/internal/api"
)

func FuzzReadVersion(f *testing.F) {
	for _, s := range []string{"1", "2", "01", "-1", "1000001", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := api.ReadVersion(http.Header{api.HeaderVersion: {s}})
		if err == nil && strconv.Itoa(v) != s {
			t.Fatalf("%q is read as %d", s, v)
		}
	})
}
