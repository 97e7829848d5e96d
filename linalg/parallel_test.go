package linalg_test

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
	"concord/linalg/linalgtest"
)

func TestParallel(t *testing.T) {
	linalgtest.Each(t, func(t *testing.T) {
		for _, n := range []int{0, 1, 2, 100} {
			seen := make([]int, n)
			linalg.Parallel(n, func(i int) {
				seen[i]++
				a := linalg.Normal(60, 60, source(uint64(i)))
				var p mat.Dense
				p.Mul(a, a.T())
				linalg.Parallel(2, func(int) {}) // sections may be nested
			})
			if slices.ContainsFunc(seen, func(k int) bool { return k != 1 }) {
				t.Errorf("%d calls ran %v times each", n, seen)
			}
		}
	})
}

func TestParallelPanics(t *testing.T) {
	defer func() {
		if r := recover(); r != "three" {
			t.Errorf("recovered %v, want the panic of a call", r)
		}
	}()
	linalg.Parallel(10, func(i int) {
		if i == 3 {
			panic("three")
		}
	})
	t.Error("the panic of a call was lost")
}
