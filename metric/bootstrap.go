package metric

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// BootstrapMethod says how an interval is read off the resamples.
type BootstrapMethod int

const (
	// Percentile takes the quantiles of the resamples' figures.
	Percentile BootstrapMethod = iota
	// BCa corrects these quantiles for bias and for a spread that changes with
	// the figure [efron1987]. It computes the
	// figure once more for every row, leaving that one out.
	BCa
)

// BootstrapOptions are what Bootstrap may be told; the zero value works.
type BootstrapOptions struct {
	// Level is the probability to cover, between 0 and 1; 0 means 0.95.
	Level float64
	// Resamples is how often the rows are drawn anew, from 2/(1−Level), so that
	// the quantiles lie inside, to 1,000,000; 0 means 2,000.
	Resamples int
	// Strata has one number a row, say the class: rows are drawn within those of
	// the same number, so that every resample has as many of each. nil means all
	// rows are one stratum.
	Strata []int
	// Method is Percentile unless set.
	Method BootstrapMethod
}

// BootstrapInterval is an interval from resampled rows.
type BootstrapInterval struct {
	Interval
	// StandardError is the standard deviation of the resamples' figures.
	StandardError float64
	// Undefined is the number of resamples without a figure, at most one in 20;
	// the interval is that of the others.
	Undefined int
}

// maxResamples is where the memory for figures stays below 8 MB.
const maxResamples = 1_000_000

// Bootstrap is an interval of a figure over rows: its distribution when as many
// rows are drawn with replacement from the given ones stands for that over new
// rows ([efron1979]; [efron1993], chapters 13 and 14; the methods
// are those of scipy.stats.bootstrap).
//
// of computes the figure from row indices below rows, at least two; it may keep
// nothing of the slice. It is called once for all rows, then for each resample,
// then, for [BCa], once for all rows but each. Resamples for which it returns
// [ErrUndefined], say those without one of the classes, are left out; more than
// one in 20 of them are an error, for which Strata is the cure. Any other error
// ends the work, and so does ctx.
//
// The result is the same for the same generator. Cost: Resamples times that of
// the figure, for BCa Resamples + rows times.
func Bootstrap(ctx context.Context, rng *rand.Rand, rows int, of func(rows []int) (float64, error), o BootstrapOptions) (BootstrapInterval, error) {
	if o.Level == 0 {
		o.Level = 0.95
	}
	if o.Resamples == 0 {
		o.Resamples = 2000
	}
	if err := o.check(rows); err != nil {
		return BootstrapInterval{}, err
	}
	figure := func(rows []int) (float64, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		v, err := of(rows)
		if err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
			err = errors.New("metric: the figure to bootstrap is not a finite number")
		}
		return v, err
	}

	strata := strataOf(rows, o.Strata)
	drawn := make([]int, rows)
	for i := range drawn {
		drawn[i] = i
	}
	estimate, err := figure(drawn)
	if err != nil {
		return BootstrapInterval{}, err
	}
	out := BootstrapInterval{Interval: Interval{Estimate: estimate, Level: o.Level}}
	figures := make([]float64, 0, o.Resamples)
	for range o.Resamples {
		at := 0
		for _, members := range strata {
			for range members {
				drawn[at] = members[rng.IntN(len(members))]
				at++
			}
		}
		v, err := figure(drawn)
		switch {
		case errors.Is(err, ErrUndefined):
			out.Undefined++
			if 20*out.Undefined > o.Resamples {
				return BootstrapInterval{}, undefined("more than one in 20 of %d resamples are without a figure, want strata or more rows: %v", o.Resamples, err)
			}
		case err != nil:
			return BootstrapInterval{}, err
		default:
			figures = append(figures, v)
		}
	}
	_, deviation := meanAndDeviation(figures)
	if out.StandardError, err = result("standard error", deviation); err != nil {
		return BootstrapInterval{}, err
	}
	slices.Sort(figures)
	low, high := (1-o.Level)/2, (1+o.Level)/2
	if o.Method == BCa {
		acceleration, err := acceleration(strata, drawn, figure)
		if err != nil {
			return BootstrapInterval{}, err
		}
		if low, high, err = corrected(figures, estimate, acceleration, low); err != nil {
			return BootstrapInterval{}, err
		}
	}
	out.Low, out.High = quantile(figures, low), quantile(figures, high)
	return out, nil
}

func (o BootstrapOptions) check(rows int) error {
	if rows < 2 {
		return fmt.Errorf("metric: bootstrap of %d rows, want at least two", rows)
	}
	if err := checkLevel(o.Level); err != nil {
		return err
	}
	if least := 2 / (1 - o.Level); float64(o.Resamples) < least || o.Resamples > maxResamples {
		return fmt.Errorf("metric: bootstrap with %d resamples at level %g, want %.0f to %d", o.Resamples, o.Level, math.Ceil(least), maxResamples)
	}
	if o.Strata != nil && len(o.Strata) != rows {
		return fmt.Errorf("metric: bootstrap of %d rows with strata for %d, want as many", rows, len(o.Strata))
	}
	if o.Method != Percentile && o.Method != BCa {
		panic("metric: no such bootstrap method")
	}
	return nil
}

// strataOf are the rows of each stratum, in the order of their first rows.
func strataOf(rows int, strata []int) [][]int {
	var out [][]int
	at := map[int]int{}
	for i := range rows {
		s := 0
		if strata != nil {
			s = strata[i]
		}
		k, ok := at[s]
		if !ok {
			k = len(out)
			at[s] = k
			out = append(out, nil)
		}
		out[k] = append(out[k], i)
	}
	return out
}
