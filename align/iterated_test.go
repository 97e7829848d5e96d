package align_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/align"
	"concord/linalg"
)

// iteratedCase is a case of testdata/iterated.py.
type iteratedCase struct {
	Name, Method, Kind, Start string
	Rows, Features, Dim       int
	Cols                      []int
	Spread, Eta               float64
	Seed                      uint64
	First, Objective          float64
	Iterations                int
}

func iteratedCases(t testing.TB) []iteratedCase {
	t.Helper()
	data, err := os.ReadFile("testdata/iterated.json")
	if err != nil {
		t.Fatal(err)
	}
	var known struct{ Cases []iteratedCase }
	if err := json.Unmarshal(data, &known); err != nil {
		t.Fatal(err)
	}
	if len(known.Cases) == 0 {
		t.Fatal("no cases")
	}
	return known.Cases
}

// reps makes A_i as the script does.
func (c iteratedCase) reps() []*mat.Dense {
	src := splitMix(c.Seed)
	var anchor *mat.Dense
	if c.Kind == "normal" {
		anchor = linalg.Normal(c.Rows, c.Features, &src)
	} else {
		anchor = linalg.Uniform(c.Rows, c.Features, &src)
	}
	widest := 0
	for _, l := range c.Cols {
		widest = max(widest, l)
	}
	base := linalg.Normal(c.Features, widest, &src)
	var a []*mat.Dense
	for _, l := range c.Cols {
		noise := linalg.Normal(c.Features, l, &src)
		noise.Scale(c.Spread, noise)
		noise.Add(noise, base.Slice(0, c.Features, 0, l))
		f, _, err := linalg.QR(noise)
		if err != nil {
			panic(err) // the noise is finite
		}
		a = append(a, mul(anchor, f))
	}
	return a
}

// start is the G_i from which the script's RDP begins.
func (c iteratedCase) start(t testing.TB, a []*mat.Dense) []*mat.Dense {
	t.Helper()
	return run(t, c.Start, a, align.Options{Solver: "svd"}).G
}

// TestIterated checks that GOPP, Consensus and RDP, from the start of the peer
// and by either solver, end at an objective no worse than the peer's, which went
// on to the rounding. Ours ends when the objective falls by less than 1e-10 of
// itself in three iterations; 1e-8 leaves room for what further iterations would
// have gained.
func TestIterated(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	for _, c := range iteratedCases(t) {
		t.Run(c.Name, func(t *testing.T) {
			a := c.reps()
			for _, solver := range []string{"block", "direct"} {
				opt := align.Options{Dim: c.Dim, Solver: solver}
				if c.Method == "rdp" {
					opt.Init, opt.Eta, opt.EtaScale = c.start(t, a), c.Eta, 1
				}
				one := opt
				one.MaxIter = 1
				if c.Method != "rdp" {
					// The first iteration evaluates the start, which both must share: figures
					// to rounding, times the condition of the singular vectors.
					if r := run(t, c.Method, a, one); math.Abs(r.Objective-c.First) > 1e-8*c.First {
						t.Errorf("%s: the start has objective %.12g, the peer's %.12g", solver, r.Objective, c.First)
					}
				}
				if c.Method == "rdp" {
					first := float64(len(a)) * residualOf(a, opt.Init)
					for _, g := range opt.Init {
						ld, _ := mat.LogDet(g)
						first += c.Eta * 4 * ld * ld
					}
					if math.Abs(first-c.First) > 1e-8*c.First {
						t.Errorf("the start has objective %.12g, the peer's %.12g", first, c.First)
					}
				}
				r := run(t, c.Method, a, opt)
				if !r.Converged {
					t.Errorf("%s: not at an end after %d iterations", solver, r.Iterations)
				}
				if r.Objective > c.Objective*(1+1e-8) {
					t.Errorf("%s: objective %.12g after %d iterations, the peer reaches %.12g in %d", solver, r.Objective, r.Iterations, c.Objective, c.Iterations)
				}
				t.Logf("%s: %.12g after %d, peer %.12g after %d", solver, r.Objective, r.Iterations, c.Objective, c.Iterations)
			}
		})
	}
}
