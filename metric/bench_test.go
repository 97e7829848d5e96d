package metric_test

import (
	"math/rand/v2"
	"testing"

	"concord/metric"
)

// BenchmarkROCAUC is of a million rows with different scores.
func BenchmarkROCAUC(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	positive, score := make([]bool, 1_000_000), make([]float64, 1_000_000)
	for i := range score {
		positive[i], score[i] = rng.IntN(3) == 0, rng.NormFloat64()
	}
	for b.Loop() {
		if _, err := metric.ROCAUC(positive, score); err != nil {
			b.Fatal(err)
		}
	}
}
