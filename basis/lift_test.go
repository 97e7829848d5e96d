package basis_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/basis"
	"concord/basis/spec"
	"concord/linalg"
	"concord/secret"
)

// TestLiftKernel: inner products of lifted rows are the kernel's. A product is a mean of D
// independent terms in [−2, 2] of mean exp(−γd²): by Hoeffding's inequality one of 45
// pairs is more than 0.1 off with a probability of 90·exp(−D·0.1²/8) = 2e-7 for D = 16,000.
func TestLiftKernel(t *testing.T) {
	const dim = 16_000
	x := linalg.Normal(10, 3, source(1))
	for _, gamma := range []float64{0.05, 0.5, 5} {
		f, err := basis.NewLift(spec.Lift{Dim: dim, Gamma: gamma}, 3, source(2))
		if err != nil {
			t.Fatal(err)
		}
		z := f.Apply(secret.NewMatrix(x)).Reveal()
		for i := range 10 {
			for k := range i {
				d := 0.0
				for j := range 3 {
					d += (x.At(i, j) - x.At(k, j)) * (x.At(i, j) - x.At(k, j))
				}
				got, want := mat.Dot(z.RowView(i), z.RowView(k)), math.Exp(-gamma*d)
				if math.Abs(got-want) > 0.1 {
					t.Errorf("gamma %g: rows %d and %d have the product %.3f, the kernel %.3f", gamma, i+1, k+1, got, want)
				}
			}
		}
	}
}

// TestLiftApply is the definition.
func TestLiftApply(t *testing.T) {
	f, err := basis.NewLift(spec.Lift{Dim: 7, Gamma: 0.3}, 4, source(3))
	if err != nil {
		t.Fatal(err)
	}
	w, b := f.Matrices()
	x := linalg.Normal(5, 4, source(4))
	z := f.Apply(secret.NewMatrix(x)).Reveal()
	for i := range 5 {
		for j := range 7 {
			want := math.Sqrt(2./7) * math.Cos(mat.Dot(x.RowView(i), w.Reveal().ColView(j))+b.Reveal().At(0, j))
			if math.Abs(z.At(i, j)-want) > 1e-14 {
				t.Errorf("element %d, %d is %v, want %v", i+1, j+1, z.At(i, j), want)
			}
		}
	}
	again, err := basis.NewLift(spec.Lift{Dim: 7, Gamma: 0.3}, 4, source(3))
	if err != nil || !mat.Equal(again.Apply(secret.NewMatrix(x)).Reveal(), z) {
		t.Errorf("the same source gives another map: %v", err)
	}
	if n, d := f.Apply(secret.NewMatrix(&mat.Dense{})).Dims(); n != 0 || d != 0 {
		t.Errorf("no rows become %d × %d", n, d)
	}
	f.Erase()
	if mat.Norm(w.Reveal(), 2) != 0 {
		t.Error("an erased map has its frequencies")
	}
}

func TestLiftRefuses(t *testing.T) {
	for _, tc := range []struct {
		m, dim int
		gamma  float64
		want   string
	}{
		{0, 5, 1, "0 columns to 5"}, {5, 0, 1, "5 columns to 0"}, {1 << 20, 1 << 20, 1, "are more than"},
		{5, 5, 0, "gamma is 0"}, {5, 5, math.NaN(), "gamma is NaN"}, {5, 5, math.Inf(1), "gamma is +Inf"},
	} {
		if _, err := basis.NewLift(spec.Lift{Dim: tc.dim, Gamma: tc.gamma}, tc.m, source(5)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("error %v, want %q", err, tc.want)
		}
	}
}

// TestLiftPrintsNothing: no verb and no encoder shows a number of a map.
func TestLiftPrintsNothing(t *testing.T) {
	f, err := basis.NewLift(spec.Lift{Dim: 3, Gamma: 1}, 2, source(6))
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d"} {
		if got := fmt.Sprintf(verb, f); got != "lift(2 columns to 3)" {
			t.Errorf("%s prints %q", verb, got)
		}
	}
	if got := fmt.Sprintf("%+v", struct{ F *basis.Lift }{f}); strings.Contains(got, ".") {
		t.Errorf("a struct around it prints %q", got)
	}
	if _, err := json.Marshal(f); err == nil {
		t.Error("it is marshalled")
	}
}
