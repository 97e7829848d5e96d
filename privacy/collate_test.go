package privacy_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
	"concord/privacy"
)

func TestRankMatchingKnown(t *testing.T) {
	k := readKnown(t)
	got, err := privacy.RankMatching(matrix(k.X), matrix(k.Z))
	if err != nil {
		t.Fatal(err)
	}
	for j, want := range k.Match {
		g := got[j]
		// The order of rows, and so every share, is the same; the sign of a principal
		// component is free.
		if g.Column != want.Column || g.Component != want.Component || math.Abs(math.Abs(g.Correlation)-want.Correlation) > 1e-12 ||
			math.Abs(g.Exact-want.Exact) > 1e-12 || math.Abs(g.Near-want.Near) > 1e-12 || g.Tolerance != 2 || g.Chance != 1/200. {
			t.Errorf("feature %d: %+v, want %+v", j+1, g, want)
		}
	}
}

// TestRankMatchingProperties: a monotone copy of a feature collates every row, in
// either direction; a feature of v equal shares of values collates v/n.
func TestRankMatchingProperties(t *testing.T) {
	src := rand.NewPCG(41, 42)
	const n = 1000
	x := linalg.Normal(n, 4, src)
	z := linalg.Normal(n, 3, src)
	for i := range n {
		x.Set(i, 1, float64(i%5)) // five values, 200 of each
		x.Set(i, 2, 1)            // constant
		z.Set(i, 0, 7-1e-3*x.At(i, 0))
		z.Set(i, 1, x.At(i, 1)+1e-6*z.At(i, 1)) // the five values, with an order within
	}
	got, err := privacy.RankMatching(x, z)
	if err != nil {
		t.Fatal(err)
	}
	if g := got[0]; g.Column != 0 || g.Component || g.Exact != 1 || g.Near != 1 || g.Correlation > -1+1e-9 {
		t.Errorf("a copy with the sign changed: %+v", g)
	}
	// 1000 terms of 1/200.
	if g := got[1]; g.Column != 1 || math.Abs(g.Exact-5./n) > 1e-12 {
		t.Errorf("five values: %+v, want an exact share of %v", g, 5./n)
	}
	if g := got[2]; g.Column != -1 || g.Correlation != 0 || g.Exact != 1./n || g.Near != g.ChanceNear {
		t.Errorf("constant: %+v", g)
	}
	// Of independent orders n·Exact is Poisson of mean 1: 12 or more happens with a
	// probability of 1e-9.
	if g := got[3]; g.Exact > 12./n || math.Abs(g.ChanceNear-0.021) > 2e-4 {
		t.Errorf("independent: %+v", g) // 21 places of 1000, fewer at the ends
	}

	// Scrambled out of the columns, the feature is still the principal component.
	scores := mat.NewDense(n, 2, nil)
	for i := range n {
		scores.SetRow(i, []float64{x.At(i, 0) * 100, x.At(i, 3)})
	}
	angle := math.Pi / 4
	mixed := product(scores, mat.NewDense(2, 2, []float64{math.Cos(angle), -math.Sin(angle), math.Sin(angle), math.Cos(angle)}))
	got, err = privacy.RankMatching(x.Slice(0, n, 0, 1).(*mat.Dense), mixed)
	if err != nil {
		t.Fatal(err)
	}
	if g := got[0]; !g.Component || g.Column != 0 || g.Near < 0.9 {
		t.Errorf("rotated: %+v, want the first component", g)
	}
}

// scrambled returns X F with the scrambled PCA basis of [imakura2023], section 6.1, F = B E: B
// are the l leading principal directions of x (n × m), E is l × l, random and not orthogonal.
// With whiten the directions are divided by the deviations along them.
func scrambled(t *testing.T, x *mat.Dense, l int, whiten bool, src rand.Source) *mat.Dense {
	t.Helper()
	n, m := x.Dims()
	c := mat.DenseCopyOf(x)
	for j := range m {
		mean := mat.Sum(x.ColView(j)) / float64(n)
		for i := range n {
			c.Set(i, j, x.At(i, j)-mean)
		}
	}
	s, v, err := linalg.SVDRight(c)
	if err != nil {
		t.Fatal(err)
	}
	b := mat.DenseCopyOf(v.Slice(0, m, 0, l))
	if whiten {
		for i := range m {
			for j := range l {
				b.Set(i, j, b.At(i, j)/s[j])
			}
		}
	}
	return product(x, product(b, linalg.Normal(l, l, src)))
}

func standardised(x *mat.Dense) *mat.Dense {
	n, m := x.Dims()
	out := mat.NewDense(n, m, nil)
	for j := range m {
		mean, square := mat.Sum(x.ColView(j))/float64(n), 0.
		for i := range n {
			square += (x.At(i, j) - mean) * (x.At(i, j) - mean)
		}
		for i := range n {
			out.Set(i, j, (x.At(i, j)-mean)/math.Sqrt(square/float64(n)))
		}
	}
	return out
}

// TestRankMatchingNRI: sorting by one shared column collates most of the patients of [imakura2023],
// in the tables as published and under other draws of the scrambling matrix;
// standardising or whitening before the projection brings that down.
func TestRankMatchingNRI(t *testing.T) {
	for party := 1; party <= 2; party++ {
		p := readPatients(t, party)
		published, err := privacy.RankMatching(p.x, p.share)
		if err != nil {
			t.Fatal(err)
		}
		// Party 1 by the numbers of the table: all but patients 1 and 5, who are
		// exchanged, and 6 and 10 of one weight, who count half.
		if g, want := published[weight], []float64{0.7, 0.9}[party-1]; math.Abs(g.Exact-want) > 1e-12 || g.Chance != 0.1 {
			t.Errorf("party %d as published: %+v, want an exact share of %v", party, g, want)
		}
		const draws = 200
		var rate [3]float64
		for d := range uint64(draws) {
			for k, x := range []*mat.Dense{p.x, standardised(p.x), standardised(p.x)} {
				got, err := privacy.RankMatching(p.x, scrambled(t, x, 3, k == 2, rand.NewPCG(d, uint64(k))))
				if err != nil {
					t.Fatal(err)
				}
				rate[k] += got[weight].Exact / draws
			}
		}
		// A draw's share has a deviation of about 0.2, the mean of 200 one of 0.014.
		// The rates are 0.76 raw and 0.25 to 0.29 after; 0.1 would be chance for a
		// column chosen beforehand, and the best of six is chosen here.
		if !(rate[0] > 0.7) || !(rate[1] < 0.35) || !(rate[2] < 0.35) {
			t.Errorf("party %d: share of weights collated: raw %.3f, standardised %.3f, whitened %.3f", party, rate[0], rate[1], rate[2])
		}
	}
}
