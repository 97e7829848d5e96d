package align_test

import (
	"fmt"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/align"
	"concord/linalg"
)

// BenchmarkRun times the alignment of uniform random A_i (a × l), the points
// of ODC2 §V-A at small sizes.
func BenchmarkRun(b *testing.B) {
	for _, s := range []struct{ a, l, c int }{{1000, 8, 3}, {1000, 50, 10}} {
		src := source(1)
		reps := make([]*mat.Dense, s.c)
		for i := range reps {
			reps[i] = linalg.Uniform(s.a, s.l, src)
		}
		for _, method := range align.Methods() {
			b.Run(fmt.Sprintf("%s/a=%d/l=%d/c=%d", method, s.a, s.l, s.c), func(b *testing.B) {
				for b.Loop() {
					run(b, method, reps, align.Options{})
				}
			})
		}
	}
}
