package pooled

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/anchor"
	"concord/basis"
	basisspec "concord/basis/spec"
	"concord/contract"
	"concord/secret"
)

// TestNothingEncodes holds that what parties know of each other's rows, and what is made of
// it, is printed nowhere and encoded by no careless call.
func TestNothingEncodes(t *testing.T) {
	const telling = 31.4159
	f, err := basis.NewLift(basisspec.Lift{Dim: 3, Gamma: 1}, 2, rand.NewPCG(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	made, _, err := basis.New(basis.Spec{Kind: "random", Dim: 1}, secret.NewMatrix(mat.NewDense(3, 2, []float64{1, 2, 3, 4, 5, 6.5})), basis.Shared{}, rand.NewPCG(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	feature := contract.FeatureFigures{Count: 314159, Mean: telling, Variance: telling, Levels: []int64{314159}}
	figures := contract.Figures{Version: 1, Sites: 4, Rows: 314159, Features: []contract.FeatureFigures{feature}}
	prepare := contract.Preparation{Fill: []float64{telling}, Levels: []int{0}, Centre: []float64{telling}, Scale: []float64{telling}}
	pairs := anchor.Pairs{Sums: mat.NewSymDense(1, []float64{telling}), Counts: mat.NewSymDense(1, []float64{314159}), Means: []float64{telling}}
	type holder struct{ Held any }
	for _, v := range []any{
		feature, &feature, figures, &figures, prepare, &prepare, pairs, &pairs, f, made,
		[]contract.FeatureFigures{feature}, map[string]contract.Figures{"x": figures}, holder{figures}, holder{&prepare},
	} {
		if b, err := json.Marshal(v); !errors.Is(err, secret.ErrEncode) {
			t.Errorf("json.Marshal(%T) = %s, %v", v, b, err)
		}
		var out bytes.Buffer
		fmt.Fprintf(&out, "%v %+v %#v %s %x %d\n", v, v, v, v, v, v)
		slog.New(slog.NewTextHandler(&out, nil)).Info("x", "v", v)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "v", v)
		for _, leak := range []string{"31.4", "314159", "3.14"} {
			if strings.Contains(out.String(), leak) {
				t.Errorf("%T is printed: %s", v, out.String())
			}
		}
	}
	for _, v := range []any{feature, figures, prepare, pairs, f, made} {
		if err := gob.NewEncoder(new(bytes.Buffer)).Encode(v); !errors.Is(err, secret.ErrEncode) {
			t.Errorf("gob of %T: %v", v, err)
		}
	}
	// By name they encode, and are read again as they were.
	b, err := figures.Encode()
	if err != nil || !strings.HasPrefix(string(b), `{"format":1,"sites":4,"rows":314159,"features":[{"count":314159,`) {
		t.Errorf("%s, %v", b, err)
	}
}
