package lab

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"concord/align"
	"concord/internal/cli"
)

// streamFrom is the size of all A_i as float64 from which they are read one at a
// time where the method allows it.
const streamFrom = 1 << 30

// alignFlags are the flags of concord-lab align.
type alignFlags struct {
	method, target string
	seed           uint64
	json           bool
	stream         bool
	out            string
	opt            align.Options
}

func alignCommand(stdout, stderr io.Writer) *cobra.Command {
	var f alignFlags
	cmd := &cobra.Command{
		Use:   "align --method M --out DIR A1.npy A2.npy ...",
		Short: "Find the change-of-basis matrices G_i of anchor representations in NumPy files",
		Long: `Reads the anchor representations A_i (anchor rows × l_i) of the parties from
NumPy files, C or Fortran order, float32 or float64, and writes the
change-of-basis matrices G_i (l_i × d) to DIR/G1.npy, DIR/G2.npy, ... and what
is to be said about them to DIR/align.json, which is written last: where it is,
all is. Nothing is written when anything fails.

Methods, and the solvers of each (--solver; the default is the cheapest for the shape):
  ls         least squares to the top singular vectors of [A_1 A_2 ...]
             svd, gram, randomized
  gep        generalised eigenvalue problem: qr, direct, randomized
  opp        orthogonal Procrustes to the top singular vectors: svd, gram, randomized
  odc        orthogonal Procrustes to party 1: polar
  gopp       generalised orthogonal Procrustes: block, direct
  rdp        full-rank G_i with a determinant penalty: block, direct
  consensus  semi-orthogonal G_i with d >= l_i: block, direct

align.json and --json hold one object. Always: format (1), method, solver, dim,
target, seed, seconds (the alignment with its figures; with --stream also reading
and writing), residual (sum over i of ||A_i G_i - mean||_F^2), objective,
eigenvalues (gep, else empty), iterations, converged, ranks, conditions, rows,
files (file, cols), warnings, streamed, backend and peak_rss_bytes (0 where the
system does not say). Where the method has them: start, overlap,
singular_values, weights, log_det, eta.

With --stream the files are read one at a time and G_i is written as soon as it
is known: odc reads them once, ls two or three times. It is the default for
these two from 1 GiB on.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			return f.run(cmd.Context(), cmd.Flags().Changed("stream"), args, stdout, stderr)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.method, "method", "", "ls, gep, opp, odc, gopp, rdp or consensus")
	flags.IntVar(&f.opt.Dim, "dim", 0, "columns d of every G_i (default: the smallest l_i, 1.5 times the largest for consensus)")
	flags.StringVar(&f.target, "target", "identity", "what multiplies the target of ls and odc: identity, random or sigma (ls)")
	flags.StringVar(&f.opt.Solver, "solver", "", "how the method computes (default: by cost, from the shape)")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of a random target, of a randomized solver and of random starts")
	flags.BoolVar(&f.json, "json", false, "print the contents of align.json")
	flags.StringVar(&f.out, "out", "", "folder for the results; made if need be")
	flags.BoolVar(&f.stream, "stream", false, "read the files one at a time (ls and odc)")
	flags.BoolVar(&f.opt.Weighting, "weighting", false, "scale the columns by their eigenvalues (gep)")
	flags.Float64Var(&f.opt.Eta, "eta", 0, "weight of the penalty, relative to the mean of ||A_i||_F^2/l (rdp; default 0.001)")
	flags.IntVar(&f.opt.Starts, "starts", 0, "further, random starts, the best of which counts (gopp and consensus)")
	return cmd
}

// check refuses flags that are wrong whatever the files hold.
func (f *alignFlags) check(cmd *cobra.Command) error {
	switch {
	case f.method == "":
		return cli.Usagef("--method is needed, one of %s", strings.Join(align.Methods(), ", "))
	case f.out == "":
		return cli.Usagef("--out is needed, the folder for the results")
	}
	if !slices.Contains(align.Methods(), f.method) {
		return cli.Usagef("--method is %q, must be one of %s", f.method, strings.Join(align.Methods(), ", "))
	}
	for _, only := range []struct {
		flag    string
		methods []string
	}{
		{"weighting", []string{"gep"}},
		{"eta", []string{"rdp"}},
		{"starts", []string{"gopp", "consensus"}},
		{"target", []string{"ls", "odc"}},
	} {
		if cmd.Flags().Changed(only.flag) && !slices.Contains(only.methods, f.method) && !(only.flag == "target" && f.target == "identity") {
			return cli.Usagef("--%s is for method %s, not for %s", only.flag, strings.Join(only.methods, " and "), f.method)
		}
	}
	if f.opt.Starts < 0 {
		return cli.Usagef("--starts is %d, must not be negative", f.opt.Starts)
	}
	if cmd.Flags().Changed("eta") && !(f.opt.Eta > 0) {
		return cli.Usagef("--eta is %v, must be above 0", f.opt.Eta)
	}
	if cmd.Flags().Changed("dim") && f.opt.Dim < 1 {
		return cli.Usagef("--dim is %d, must be 1 or more", f.opt.Dim)
	}
	f.opt.Target = align.Target(f.target)
	if err := f.trial(f.stream); err != nil {
		return &cli.UsageError{Err: err}
	}
	return nil
}

// trial aligns two parties of one number each: what fails then is the fault of
// the flags.
func (f *alignFlags) trial(stream bool) error {
	one := mat.NewDense(1, 1, []float64{1})
	opt := f.opt
	opt.Dim, opt.Source, opt.Starts = 0, f.source(), min(opt.Starts, 1)
	if stream {
		_, err := align.RunStream(f.method, align.Stream{
			Parties: 2,
			Read:    func(int) (*mat.Dense, error) { return one, nil },
			Write:   func(int, *mat.Dense) error { return nil },
		}, opt)
		return err
	}
	_, err := align.Run(f.method, []*mat.Dense{one, one}, opt)
	return err
}

func (f *alignFlags) source() rand.Source {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], f.seed)
	return rand.NewChaCha8(key)
}

func (f *alignFlags) run(ctx context.Context, streamGiven bool, paths []string, stdout, stderr io.Writer) error {
	arrays, err := openArrays(paths)
	if err != nil {
		return err
	}
	if !streamGiven {
		f.stream = f.mustStream(arrays)
	}
	f.opt.Source = f.source()

	var out *outDir
	defer func() { out.abandon() }() // of no effect after commit
	var res *align.Result
	var seconds float64
	if f.stream {
		if out, err = newOutDir(f.out, arrays); err != nil {
			return err
		}
		res, seconds, err = f.alignStream(ctx, arrays, out)
	} else {
		res, seconds, err = f.alignAll(ctx, arrays)
	}
	if err != nil {
		return nameFiles(err, paths)
	}
	if !f.stream {
		if out, err = newOutDir(f.out, arrays); err != nil {
			return err
		}
		for i, g := range res.G {
			if err := out.put(i, g); err != nil {
				return err
			}
		}
	}
	record, err := f.record(res, seconds, arrays)
	if err != nil {
		return err
	}
	if err := out.commit(len(arrays), record); err != nil {
		return err
	}
	warnings := nameParties(res.Warnings, paths)
	for _, w := range warnings[:min(len(warnings), mostLines)] {
		fmt.Fprintf(stderr, "concord: warning: %s\n", w)
	}
	if n := len(warnings) - mostLines; n > 0 {
		fmt.Fprintf(stderr, "concord: warning: %d more, see %s\n", n, filepath.Join(f.out, recordFile))
	}
	if f.json {
		_, err := stdout.Write(record)
		return err
	}
	return f.print(stdout, res, seconds, arrays)
}

var errInterrupted = errors.New("interrupted, nothing was written")

// mustStream says whether the files are too large to hold them all, and need not
// be held.
func (f *alignFlags) mustStream(arrays []array) bool {
	total := int64(0)
	for _, a := range arrays {
		total += 8 * int64(a.rows) * int64(a.cols)
	}
	return total >= streamFrom && f.trial(true) == nil
}

// alignAll reads everything and aligns it. It returns at once when ctx ends.
func (f *alignFlags) alignAll(ctx context.Context, arrays []array) (*align.Result, float64, error) {
	a := make([]*mat.Dense, len(arrays))
	for i := range a {
		var err error
		if ctx.Err() != nil {
			return nil, 0, errInterrupted
		}
		if a[i], err = arrays[i].read(); err != nil {
			return nil, 0, err
		}
	}
	type outcome struct {
		res *align.Result
		err error
	}
	done := make(chan outcome, 1)
	begun := time.Now()
	go func() {
		res, err := align.Run(f.method, a, f.opt)
		done <- outcome{res, err}
	}()
	select {
	case o := <-done:
		return o.res, time.Since(begun).Seconds(), o.err
	case <-ctx.Done():
		return nil, 0, errInterrupted
	}
}

// alignStream reads, aligns and writes one party after the other.
func (f *alignFlags) alignStream(ctx context.Context, arrays []array, out *outDir) (*align.Result, float64, error) {
	begun := time.Now()
	res, err := align.RunStream(f.method, align.Stream{
		Parties: len(arrays),
		Read: func(i int) (*mat.Dense, error) {
			if ctx.Err() != nil {
				return nil, errInterrupted
			}
			return arrays[i].read()
		},
		Write: out.put,
	}, f.opt)
	return res, time.Since(begun).Seconds(), err
}
