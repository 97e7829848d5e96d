package lab

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"concord/align"
	"concord/internal/cli"
	"concord/linalg"
)

// benchFlags are the flags of concord-lab bench align.
type benchFlags struct {
	method, solver             string
	dim, rows, parties, repeat int
	floor, json                bool
}

const (
	mostBytes  = 256 << 30 // of all A_i: more than a machine has
	mostRepeat = 1_000_000
)

func benchCommand(stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure how long an alignment or a fit takes",
	}
	cmd.AddCommand(benchAlignCommand(stdout), benchLearnCommand(stdout))
	return cmd
}

func benchAlignCommand(stdout io.Writer) *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "align --method M --dim l --rows a --parties c",
		Short: "Time one alignment of uniform random anchor representations",
		Long: `Makes A_1 ... A_c (a × l), uniform on [0, 1), the same for every run and in every
language (bench/peers.py makes them too), aligns them once unmeasured, and then
--repeat times with a clock that runs during the alignment only: no making or
reading of the A_i, no residual.

--json prints one object: method, dim, rows, parties, seconds (min, median,
max), peak_rss_bytes (of the whole program, the A_i included; 0 where the system
does not say), backend, solver, repeat; of the unmeasured run: residual, iterations and
energy, the sum of the d squared singular values that the target rests on, of
[A_1 A_2 ...] for ls, of the orthonormalised A_i for gep, else 0; with --floor
also floor_seconds: the time of the c products A_i'A_1 alone, one party a core,
which no method can do without.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return f.run(stdout)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.method, "method", "", "ls, gep, opp, odc, gopp, rdp or consensus")
	flags.StringVar(&f.solver, "solver", "", "how the method computes (default: by cost, from the shape)")
	flags.IntVar(&f.dim, "dim", 50, "columns l of every A_i")
	flags.IntVar(&f.rows, "rows", 1000, "anchor rows a")
	flags.IntVar(&f.parties, "parties", 50, "number c of parties")
	flags.IntVar(&f.repeat, "repeat", 10, "measured runs")
	flags.BoolVar(&f.floor, "floor", false, "also time the products A_i'A_1 alone")
	flags.BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

func (f *benchFlags) check() error {
	if !slices.Contains(align.Methods(), f.method) {
		return cli.Usagef("--method is %q, must be one of %s", f.method, strings.Join(align.Methods(), ", "))
	}
	for _, n := range []struct {
		flag  string
		value int
	}{{"dim", f.dim}, {"rows", f.rows}, {"parties", f.parties}, {"repeat", f.repeat}} {
		if n.value < 1 {
			return cli.Usagef("--%s is %d, must be 1 or more", n.flag, n.value)
		}
	}
	if f.dim > f.rows {
		return cli.Usagef("--dim is %d, more than the %d anchor rows of --rows", f.dim, f.rows)
	}
	if bytes := 8 * float64(f.dim) * float64(f.rows) * float64(f.parties); bytes > mostBytes {
		return cli.Usagef("--rows %d, --dim %d and --parties %d take %.3g bytes, at most %.3g are made", f.rows, f.dim, f.parties, bytes, float64(mostBytes))
	}
	if f.repeat > mostRepeat {
		return cli.Usagef("--repeat is %d, must be %d or less", f.repeat, mostRepeat)
	}
	trial := alignFlags{method: f.method, opt: align.Options{Solver: f.solver}}
	if err := trial.trial(false); err != nil {
		return &cli.UsageError{Err: err}
	}
	return nil
}

// benchRecord is what bench align prints with --json; bench/peers.py prints the
// same keys.
type benchRecord struct {
	Method     string   `json:"method"`
	Dim        int      `json:"dim"`
	Rows       int      `json:"rows"`
	Parties    int      `json:"parties"`
	Seconds    seconds  `json:"seconds"`
	PeakRSS    int64    `json:"peak_rss_bytes"`
	Backend    string   `json:"backend"`
	Solver     string   `json:"solver"`
	Repeat     int      `json:"repeat"`
	Residual   float64  `json:"residual"`
	Iterations int      `json:"iterations"`
	Energy     float64  `json:"energy"`
	Floor      *seconds `json:"floor_seconds,omitempty"`
}

type seconds struct {
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	Max    float64 `json:"max"`
}

func (f *benchFlags) run(stdout io.Writer) error {
	a := make([]*mat.Dense, f.parties)
	src := new(splitMix)
	for i := range a {
		a[i] = linalg.Uniform(f.rows, f.dim, src)
	}
	opt := align.Options{Solver: f.solver}
	res, err := align.Run(f.method, a, opt)
	if err != nil {
		return err
	}
	r := benchRecord{
		Method: f.method, Dim: f.dim, Rows: f.rows, Parties: f.parties, Repeat: f.repeat,
		Backend: backend(), Solver: res.Solver, Residual: res.Residual, Iterations: res.Iterations,
		Energy: energy(res, f.parties),
	}
	opt.NoResidual = true
	r.Seconds, err = measure(f.repeat, func() error {
		_, err := align.Run(f.method, a, opt)
		return err
	})
	if err != nil {
		return err
	}
	if f.floor {
		floor, err := measure(f.repeat, func() error { products(a); return nil })
		if err != nil {
			return err
		}
		r.Floor = &floor
	}
	r.PeakRSS = peakRSS()
	if f.json {
		return json.NewEncoder(stdout).Encode(r)
	}
	fmt.Fprintf(stdout, "%s, solver %s: %d parties, %d × %d each, %s\n", r.Method, r.Solver, r.Parties, r.Rows, r.Dim, r.Backend)
	fmt.Fprintf(stdout, "seconds     %.4g median of %d, %.4g to %.4g\n", r.Seconds.Median, r.Repeat, r.Seconds.Min, r.Seconds.Max)
	if r.Floor != nil {
		fmt.Fprintf(stdout, "products    %.4g alone: the alignment takes %.2f times as long\n", r.Floor.Median, r.Seconds.Median/r.Floor.Median)
	}
	if r.Iterations > 0 {
		fmt.Fprintf(stdout, "iterations  %d\n", r.Iterations)
	}
	_, err = fmt.Fprintf(stdout, "residual    %.6g\npeak memory %d MiB\n", r.Residual, r.PeakRSS>>20)
	return err
}

// energy is Σ_j σ_j² over the d singular values that the target of ls or gep rests
// on; λ_j = 2c − 2σ_j² for gep. It is what a randomized solver can lose.
func energy(res *align.Result, parties int) float64 {
	sum := 0.0
	switch res.Method {
	case "ls":
		for _, s := range res.Singular[:res.Dim] {
			sum += s * s
		}
	case "gep":
		for _, lambda := range res.Eigenvalues {
			sum += float64(parties) - lambda/2
		}
	}
	return sum
}

// measure times n runs of f.
func measure(n int, f func() error) (seconds, error) {
	times := make([]float64, n)
	for i := range times {
		begun := time.Now()
		if err := f(); err != nil {
			return seconds{}, err
		}
		times[i] = time.Since(begun).Seconds()
	}
	slices.Sort(times)
	return seconds{Min: times[0], Median: (times[(n-1)/2] + times[n/2]) / 2, Max: times[n-1]}, nil
}

// products makes A_iᵀA_1 (l × l) of all parties and keeps none.
func products(a []*mat.Dense) {
	_, l := a[0].Dims()
	linalg.Parallel(len(a), func(i int) {
		m := mat.NewDense(l, l, nil)
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, a[i].RawMatrix(), a[0].RawMatrix(), 0, m.RawMatrix())
	})
}

// splitMix is SplitMix64 [steele2014] from seed 0: a generator that
// NumPy can repeat with whole arrays, since word n is a function of n alone.
type splitMix struct{ state uint64 }

// Uint64 returns the next word.
func (s *splitMix) Uint64() uint64 {
	s.state += 0x9e3779b97f4a7c15
	z := s.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
