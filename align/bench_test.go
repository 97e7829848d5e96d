package align_test

import (
	"fmt"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/align"
	"concord/linalg"
)

// BenchmarkRun times the alignment of uniform random A_i (a × l), the points
// of [nosaka2025], section V-A, at small sizes. Each solver has its line, randomized among them.
func BenchmarkRun(b *testing.B) {
	for _, s := range []struct{ a, l, c int }{{1000, 8, 3}, {1000, 50, 10}} {
		src := source(1)
		reps := make([]*mat.Dense, s.c)
		for i := range reps {
			reps[i] = linalg.Uniform(s.a, s.l, src)
		}
		for _, method := range align.Methods() {
			solvers := exactSolvers[method][1:]
			if method == "ls" || method == "gep" || method == "opp" {
				solvers = append(solvers[:len(solvers):len(solvers)], "randomized")
			}
			for _, solver := range solvers {
				b.Run(fmt.Sprintf("%s/%s/a=%d/l=%d/c=%d", method, solver, s.a, s.l, s.c), func(b *testing.B) {
					for b.Loop() {
						run(b, method, reps, align.Options{Solver: solver, NoResidual: true})
					}
				})
			}
		}
	}
}

// BenchmarkRDP times RDP from both of its starts on the shapes of the studies of [nosaka2024mm] at
// η = 1: PID (c = 13, l = 6) and HD (c = 18, l = 17), a = 1000. The figures are
// those of one iteration, too: iterations/op and seconds over them.
func BenchmarkRDP(b *testing.B) {
	for _, c := range iteratedCases(b) {
		if c.Method != "rdp" || c.Rows != 1000 || c.Spread != 0.5 || c.Start != "ls" {
			continue
		}
		a := c.reps()
		b.Run(fmt.Sprintf("c=%d/l=%d", len(c.Cols), c.Dim), func(b *testing.B) {
			n := 0
			for b.Loop() {
				n = run(b, "rdp", a, align.Options{Eta: c.Eta, EtaScale: 1, NoResidual: true}).Iterations
			}
			b.ReportMetric(float64(n), "iterations")
		})
	}
}

// BenchmarkConsensus times one iteration of the power method, d = 1.5 l, by the
// difference between 20 iterations and one.
func BenchmarkConsensus(b *testing.B) {
	for _, s := range []struct{ a, l, c int }{{64, 10, 10}, {64, 20, 20}, {1000, 50, 10}} {
		src := source(1)
		reps := make([]*mat.Dense, s.c)
		for i := range reps {
			reps[i] = linalg.Normal(s.a, s.l, src)
		}
		for _, n := range []int{1, 21} {
			b.Run(fmt.Sprintf("a=%d/l=%d/c=%d/iterations=%d", s.a, s.l, s.c, n), func(b *testing.B) {
				for b.Loop() {
					run(b, "consensus", reps, align.Options{MaxIter: n, Tol: 1e-16, NoResidual: true})
				}
			})
		}
	}
}
