package learn_test

import (
	"math/rand/v2"
	"testing"

	"concord/learn"
)

// BenchmarkMLP is 20 epochs over 10,000 × 100 with 256 hidden units, 10 classes
// and minibatches of 200.
func BenchmarkMLP(b *testing.B) {
	src := rand.New(rand.NewPCG(1, 1))
	x, centres := normal(src, 10000, 100), normal(src, 10, 100)
	y := learn.Target{Classes: names(10), Labels: make([]int, 10000)}
	for i := range y.Labels {
		y.Labels[i] = i % 10
		for j, v := range centres.RawRowView(i % 10) {
			x.Set(i, j, x.At(i, j)+0.3*v)
		}
	}
	l := learn.MLP{Hidden: []int{256}, Rate: 0.002, Batch: 200, Epochs: 20, Patience: 20}
	for b.Loop() {
		m, err := l.Fit(b.Context(), x, y)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(m.Report().Objective, "loss")
	}
}
