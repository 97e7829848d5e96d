package privacy_test

import (
	"math/rand/v2"
	"testing"

	"concord/linalg"
	"concord/privacy"
)

// BenchmarkReport times the measures of a report on 100,000 rows of 200 features and
// 100 shared columns.
func BenchmarkReport(b *testing.B) {
	const n, m, l = 100_000, 200, 100
	src := rand.NewPCG(1, 1)
	x, guess := linalg.Normal(n, m, src), linalg.Normal(n, m, src)
	f, anchor := linalg.Stiefel(m, l, src), linalg.Uniform(m, m, src)
	z, image := product(x, f), product(anchor, f)
	for _, c := range []struct {
		name string
		run  func() error
	}{
		{"RecoverBasis", func() error { return second(privacy.RecoverBasis(anchor, image)) }},
		{"Reconstruct", func() error { return second(privacy.Reconstruct(z, f)) }},
		{"DR", func() error { return second(privacy.DR(x, f)) }},
		{"Compare", func() error { return second(privacy.Compare(x, guess)) }},
		{"Linkage", func() error { return second(privacy.Linkage(x, guess, 500, rand.NewPCG(1, 1))) }},
		{"Correlations", func() error { return second(privacy.Correlations(x, z)) }},
		{"RankMatching", func() error { return second(privacy.RankMatching(x, z)) }},
		{"Columns", func() error { return second(privacy.Columns(x)) }},
		{"Dimensions", func() error { return second(privacy.Dimensions(x, l)) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if err := c.run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
