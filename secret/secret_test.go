package secret_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/secret"
)

// TestNothingPrints sends a recognisable secret through every way of printing
// that a careless caller could take.
func TestNothingPrints(t *testing.T) {
	type holder struct {
		Seed secret.Bytes
		Rows secret.Matrix
	}
	h := holder{
		Seed: secret.NewBytes([]byte("hunter2")),
		Rows: secret.NewMatrix(mat.NewDense(2, 2, []float64{31.25, 31.25, 31.25, 31.25})),
	}
	// fmt calls no method of what lies in unexported fields.
	type inner struct {
		seed secret.Bytes
		rows secret.Matrix
		both *holder
	}
	hidden := inner{h.Seed, h.Rows, &h}
	var out strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%T"} {
		fmt.Fprintf(&out, verb+"\n", h)
		fmt.Fprintf(&out, verb+"\n", &h)
		fmt.Fprintf(&out, verb+verb+"\n", h.Seed, h.Rows)
		fmt.Fprintf(&out, verb+verb+"\n", hidden, &hidden)
		fmt.Fprintf(&out, verb+"\n", []any{hidden, map[string]inner{"x": hidden}})
	}
	log := slog.New(slog.NewTextHandler(&out, nil))
	log.Info("x", "seed", h.Seed, "rows", h.Rows, "all", h)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "seed", h.Seed, "rows", h.Rows, "all", h)
	for _, leak := range []string{"hunter2", "31.25", "68756e74657232", "104 117 110", "[104, 117", "0x68, 0x75"} {
		if strings.Contains(out.String(), leak) {
			t.Errorf("a secret was printed: found %q", leak)
		}
	}
	if !strings.Contains(out.String(), "secret(7 bytes)") || !strings.Contains(out.String(), "secret(2 × 2 matrix)") {
		t.Errorf("sizes are not printed:\n%s", out.String())
	}
}

func TestEncodersRefuse(t *testing.T) {
	for _, v := range []any{secret.NewBytes([]byte("k")), secret.NewMatrix(mat.NewDense(1, 1, nil))} {
		if _, err := json.Marshal(v); !errors.Is(err, secret.ErrEncode) {
			t.Errorf("json.Marshal(%T) = %v, want ErrEncode", v, err)
		}
		if err := gob.NewEncoder(new(bytes.Buffer)).Encode(v); !errors.Is(err, secret.ErrEncode) {
			t.Errorf("gob of %T = %v, want ErrEncode", v, err)
		}
	}
}

func TestErase(t *testing.T) {
	b := secret.NewBytes([]byte{1, 2})
	b.Erase()
	m := secret.NewMatrix(mat.NewDense(1, 2, []float64{3, 4}))
	m.Erase()
	if b.Reveal()[1] != 0 || mat.Norm(m.Reveal(), 1) != 0 {
		t.Error("Erase left a value")
	}
	var zero secret.Matrix
	zero.Erase()
	if r, c := zero.Dims(); r != 0 || c != 0 {
		t.Errorf("zero value has shape %d × %d", r, c)
	}
}
