package privacy

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// Limits of [MatchICA], which iterates.
const (
	icaRows       = 4000 // rows of either sample
	icaComponents = 32   // principal axes that are turned into components
	icaSteps      = 120
	icaTol        = 1e-5 // scikit-learn has 1e-4
)

// MatchICA guesses rows as [MatchPCA] does, by independent components instead of principal
// axes: z = xF and the second sample public (p × m) of x's kind are mixtures of the same
// sources, if F keeps their span, whatever invertible matrix scrambles it, orthogonal or
// not. It is against an analyst with a second sample and nothing else, and works as far as
// the sources are independent, far from normal and of distinct shapes.
//
// On either side the scores on the first r principal axes are turned by FastICA
// [hyvarinen1999] into sources sⱼ of variance 1. Each of z is given one of
// public, and a sign, such that the sum of the distances between their quantiles is
// least (the Hungarian method), quantiles about 0 and not about the mean, which a linear
// map keeps:
//
//	x̂ = x̄ + Σⱼ ± sⱼ(z) aⱼᵀ
//
// with aⱼ the column of public's mixing matrix (m) that belongs to the partner. The
// principal axes beyond the first 32 are matched as MatchPCA does.
//
// At most 4000 rows of each sample and 120 steps are used; the starts are random, from
// src. Components that did not converge are matched all the same, and
// [Match.Converged] is false. The cost is that of MatchPCA
// with those rows, and O(r² + 20 r) per row and step for r ≤ 32.
func MatchICA(z, public *mat.Dense, src rand.Source) (*Match, error) {
	a, b, err := matchedAxes(z, public, icaRows, src)
	if err != nil {
		return nil, err
	}
	r, l, m := min(len(a.dev), len(b.dev)), len(a.mean), len(b.mean)
	g := &Match{Converged: true, Matched: r, origin: a.mean, mean: b.mean, back: mat.NewDense(l, m, nil)}
	g.Knows, _ = public.Dims()
	if r == 0 {
		return g, nil
	}
	turned := min(r, icaComponents)
	wa, err := a.turn(turned, src, g)
	if err != nil {
		return nil, err
	}
	wb, err := b.turn(turned, src, g)
	if err != nil {
		return nil, err
	}
	partner, sign := matchShapes(a, b, turned)
	tail := axisSigns(a, b, r)
	for j := turned; j < r; j++ {
		partner, sign = append(partner, j), append(sign, tail[j])
	}
	left, right := mat.NewDense(l, r, nil), mat.NewDense(m, r, nil)
	for j := range r {
		g.Shape += quantileGap(a.quantiles(j), b.quantiles(partner[j]), sign[j]) / float64(r)
		for c := range r {
			if wa := wa.At(j, c); wa != 0 {
				for i := range l {
					left.Set(i, j, left.At(i, j)+wa*a.v.At(i, c)/a.dev[c])
				}
			}
			if wb := wb.At(partner[j], c); wb != 0 {
				for i := range m {
					right.Set(i, j, right.At(i, j)+sign[j]*wb*b.v.At(i, c)*b.dev[c])
				}
			}
		}
	}
	g.back.Mul(left, right.T())
	return g, nil
}

// turn replaces the first k scores of a by independent components, and the mean's own
// scores with them, and returns W for all axes (r × r): the identity beyond k. It notes in
// g how the analysis went.
func (a *axes) turn(k int, src rand.Source, g *Match) (*mat.Dense, error) {
	n, r := a.score.Dims()
	ica, err := independent(mat.DenseCopyOf(a.score.Slice(0, n, 0, k)), linalg.Haar(k, src), icaTol, icaSteps)
	if err != nil {
		return nil, err
	}
	g.Iterations = max(g.Iterations, ica.iterations)
	g.Converged = g.Converged && ica.converged
	w := mat.NewDense(r, r, nil)
	for j := range r {
		w.Set(j, j, 1)
	}
	w.Slice(0, k, 0, k).(*mat.Dense).Copy(ica.w)
	var score mat.Dense
	score.Mul(a.score, w.T())
	var first mat.VecDense
	first.MulVec(w, mat.NewVecDense(r, a.first))
	a.score, a.first = &score, first.RawVector().Data
	return w, nil
}

// matchShapes gives each of the first k columns of a's scores a column of b's and a
// sign, such that the quantiles differ least in sum.
func matchShapes(a, b axes, k int) (partner []int, sign []float64) {
	of := make([][]float64, k)
	for j := range k {
		of[j] = b.quantiles(j)
	}
	cost, signs := mat.NewDense(k, k, nil), mat.NewDense(k, k, nil)
	for i := range k {
		q := a.quantiles(i)
		for j := range k {
			same, turned := quantileGap(q, of[j], 1), quantileGap(q, of[j], -1)
			cost.Set(i, j, math.Min(same, turned))
			signs.Set(i, j, 1)
			if turned < same {
				signs.Set(i, j, -1)
			}
		}
	}
	partner = assign(cost)
	for i, j := range partner {
		sign = append(sign, signs.At(i, j))
	}
	return partner, sign
}
