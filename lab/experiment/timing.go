package experiment

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"

	"concord/align"
	"concord/lab"
	"concord/linalg"
)

// Timing measures how long alignments of uniform random A_i take along an axis.
type Timing struct {
	Name string `yaml:"name"`
	// Axis is dim, rows or parties; the other two stand below.
	Axis        string    `yaml:"axis"`
	Values      []float64 `yaml:"values"`
	QuickValues []float64 `yaml:"quick_values"`
	Dim         int       `yaml:"dim"`
	Rows        int       `yaml:"rows"`
	Parties     int       `yaml:"parties"`
	// Methods are methods of package align, with a solver behind a colon where it is
	// not the default one.
	Methods []string `yaml:"methods"`
	// Slopes are the published slopes in log-log.
	Slopes map[string]float64 `yaml:"slopes"`
	// Seconds are published times at the last value.
	Seconds map[string]float64 `yaml:"seconds"`
}

// TimingResult is a Timing with its medians.
type TimingResult struct {
	Timing
	X []float64
	// Median seconds by method, for each X.
	Median map[string][]float64
	// Slope of log seconds over log X by least squares, by method.
	Slope map[string]float64
}

// maxTimed bounds the numbers in all A_i of one point: 8 GB.
const maxTimed = 1 << 30

func (t Timing) measure(ctx context.Context, size Size, repeats int, report func(done, count int)) (TimingResult, error) {
	out := TimingResult{Timing: t, X: t.Values, Median: map[string][]float64{}, Slope: map[string]float64{}}
	if size == Quick {
		out.X = t.QuickValues
	}
	for i, v := range out.X {
		dim, rows, parties := t.Dim, t.Rows, t.Parties
		switch t.Axis {
		case "dim":
			dim = int(v)
		case "rows":
			rows = int(v)
		case "parties":
			parties = int(v)
		default:
			return out, fmt.Errorf("there is no axis %q, want dim, rows or parties", t.Axis)
		}
		if dim < 1 || rows < 1 || parties < 1 || float64(dim)*float64(rows)*float64(parties) > maxTimed {
			return out, fmt.Errorf("dim %d, rows %d, parties %d: want positive numbers of a product of at most %d", dim, rows, parties, maxTimed)
		}
		a := make([]*mat.Dense, parties)
		linalg.Parallel(parties, func(k int) {
			a[k] = linalg.Uniform(rows, dim, lab.Stream(seed, "timing", t.Name, v, k))
		})
		for _, m := range t.Methods {
			median, err := timed(ctx, m, a, repeats)
			if err != nil {
				return out, fmt.Errorf("%s %v: %s: %w", t.Axis, v, m, err)
			}
			out.Median[m] = append(out.Median[m], median)
		}
		report(i+1, len(out.X))
	}
	for _, m := range t.Methods {
		out.Slope[m] = slope(out.X, out.Median[m])
	}
	return out, nil
}

// timed is the median of several alignments, after one that is not counted.
func timed(ctx context.Context, method string, a []*mat.Dense, repeats int) (float64, error) {
	name, solver, _ := strings.Cut(method, ":")
	var took []float64
	for i := range max(repeats, 1) + 1 {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		start := time.Now()
		if _, err := align.Run(name, a, align.Options{Solver: solver, NoResidual: true}); err != nil {
			return 0, err
		}
		if i > 0 {
			took = append(took, time.Since(start).Seconds())
		}
	}
	slices.Sort(took)
	return (took[(len(took)-1)/2] + took[len(took)/2]) / 2, nil
}

// slope of log y over log x by least squares; 0 for fewer than two points.
func slope(x, y []float64) float64 {
	var n, sx, sy, sxx, sxy float64
	for i := range x {
		u, v := math.Log(x[i]), math.Log(y[i])
		n, sx, sy, sxx, sxy = n+1, sx+u, sy+v, sxx+u*u, sxy+u*v
	}
	if d := n*sxx - sx*sx; n > 1 && d > 0 {
		return (n*sxy - sx*sy) / d
	}
	return 0
}
