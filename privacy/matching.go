package privacy

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// Limits of matching: means, axes and moments are those of a sample, which they need
// no more of than to about one part in a hundred.
const (
	matchRows    = 10000 // rows of either sample that are used
	judgedRows   = 5000  // rows among which a guess is linked
	judgedLinked = 500   // guesses that are linked
)

// Match is an attacker's guess of the map from images to rows, found by matching the
// distribution of the images with that of a second sample of the same kind: [MatchPCA]
// and [MatchICA]. Call [Match.Rows] for the guessed rows, [Match.Judge] for what they are
// worth.
type Match struct {
	// Knows is the number p of rows of the second sample; none of them needs to be
	// a row behind the images, and no image of them is needed.
	Knows int
	// Matched is the number r of axes or components that were matched, at most l.
	Matched int
	// Shape says how alike the matched distributions are, from 0 for the same: the
	// mean, over the axes, of the mean difference between the quantiles of an axis
	// of the images and its partner's, in standard deviations.
	Shape float64
	// Iterations and Converged tell of the slower of the two independent component
	// analyses. Principal axes need none: 0 and true.
	Iterations int
	Converged  bool

	back   *mat.Dense // l × m
	origin []float64  // of the images
	mean   []float64  // of the second sample
}

// Rows are the guessed rows (n × m) behind images z (n × l),
//
//	x̂ = x̄_public + (z − z̄) M.
//
// It panics if z has another width than the images that were matched.
func (g *Match) Rows(z *mat.Dense) *mat.Dense {
	n, l := z.Dims()
	if l != len(g.origin) {
		panic(fmt.Sprintf("privacy: images have %d columns, the matched ones %d", l, len(g.origin)))
	}
	x := repeatRow(g.mean, n)
	var part mat.Dense
	part.Mul(linalg.Centred(z, g.origin), g.back)
	x.Add(x, &part)
	return x
}

// Matched is what the rows guessed by a [Match] are worth.
type Matched struct {
	// Knows is the number of rows of the second sample, see [Match].
	Knows int
	// Error is ‖x̂ − x‖_F / ‖x‖_F, and Trivial the same of guessing the mean of x for
	// every row. An Error above Trivial says that the attack failed.
	Error, Trivial float64
	// Linked is the share of guessed rows whose nearest true row is the right one (see
	// [Linkage]), and Chance the share that knowing nothing has.
	Linked, Chance float64
}

// Judge compares the rows guessed from images z (n × l) with the true rows x (n × m).
// Of more than 5000 rows a random sample of 5000 is judged, and of those 500 guesses are
// linked, so Linked has a standard deviation of at most .022; among all n rows fewer are
// right than among a sample, as Chance is lower.
func (g *Match) Judge(x, z *mat.Dense, src rand.Source) (Matched, error) {
	n, m, l, err := pairedShapes(x, z)
	if err != nil {
		return Matched{}, err
	}
	if m != len(g.mean) || l != len(g.origin) {
		return Matched{}, fmt.Errorf("privacy: rows have %d columns and images %d, must be %d and %d as matched", m, l, len(g.mean), len(g.origin))
	}
	x, z = someRows(n, judgedRows, rand.New(src), x, z)
	n, _ = x.Dims()
	size := math.Sqrt(linalg.SumSquares(x))
	if size == 0 {
		return Matched{}, fmt.Errorf("privacy: rows are zero throughout, so errors have no scale")
	}
	guess := g.Rows(z)
	link, err := Linkage(x, guess, judgedLinked, src)
	if err != nil {
		return Matched{}, err
	}
	return Matched{
		Knows:   g.Knows,
		Error:   frobenius(guess, x) / size,
		Trivial: frobenius(repeatRow(linalg.ColumnMeans(x), n), x) / size,
		Linked:  link.Rate, Chance: link.Chance,
	}, nil
}

// MatchPCA guesses rows from images z (n × l) with a second sample public (p × m) of the
// same kind: public data, or another site's. It is against an analyst who holds such a
// sample and nothing else, and it works as far as principal axes are distinct and the
// basis keeps them, as one of principal axes with an orthogonal scrambling does.
//
// Axis j of the images, in the order of variance, is taken for axis j of public:
//
//	x̂ = x̄ + Σⱼ σⱼ tⱼ(z) vⱼᵀ
//
// with tⱼ the image's score on its j-th axis in standard deviations, vⱼ and σⱼ axis and
// deviation of public. The sign of tⱼ is that at which the moments
//
//	E tⱼ,  E tⱼ³,  E tᵢ²tⱼ
//
// agree best, each divided by the variance that it has for normal scores (1, 15, 3). The
// first is of the scores about 0 and not about the mean, which a linear map keeps; it is
// what tells where the features were not centred. Scores beyond 4 deviations count as
// 4. Distributions with none of these moments leave signs to chance.
//
// At most 10,000 rows of each sample are used, drawn by src, which also serves the
// randomized decomposition; both need two rows or more. The cost is
// O((n l + p m) min(l, m)).
func MatchPCA(z, public *mat.Dense, src rand.Source) (*Match, error) {
	a, b, err := matchedAxes(z, public, matchRows, src)
	if err != nil {
		return nil, err
	}
	r := min(len(a.dev), len(b.dev))
	sign := axisSigns(a, b, r)
	g := &Match{Converged: true, Matched: r, origin: a.mean, mean: b.mean}
	g.Knows, _ = public.Dims()
	g.back = mat.NewDense(len(a.mean), len(b.mean), nil)
	if r == 0 {
		return g, nil
	}
	left, right := mat.NewDense(len(a.mean), r, nil), mat.NewDense(len(b.mean), r, nil)
	for j := range r {
		for i := range len(a.mean) {
			left.Set(i, j, sign[j]*a.v.At(i, j)/a.dev[j])
		}
		for i := range len(b.mean) {
			right.Set(i, j, b.v.At(i, j)*b.dev[j])
		}
		qa, qb := a.quantiles(j), b.quantiles(j)
		g.Shape += quantileGap(qa, qb, sign[j]) / float64(r)
	}
	g.back.Mul(left, right.T())
	return g, nil
}

// axes are the principal axes of a sample.
type axes struct {
	mean  []float64  // d
	v     *mat.Dense // d × r
	dev   []float64  // r deviations along them, decreasing
	score *mat.Dense // n × r, each column with mean 0 and variance 1
	first []float64  // r: the mean's own score, in deviations
}

// matchedAxes checks the two samples and returns up to min(l, m) axes of each, those of
// at most most rows drawn by src.
func matchedAxes(z, public *mat.Dense, most int, src rand.Source) (a, b axes, err error) {
	n, l := z.Dims()
	p, m := public.Dims()
	for _, s := range []struct {
		name string
		a    *mat.Dense
		rows int
	}{{"images", z, n}, {"public rows", public, p}} {
		if s.rows < 2 {
			return a, b, fmt.Errorf("privacy: %d %s, matching needs at least 2", s.rows, s.name)
		}
		if err := moderate(s.name, s.a); err != nil {
			return a, b, err
		}
	}
	rng := rand.New(src)
	z, _ = someRows(n, most, rng, z, nil)
	public, _ = someRows(p, most, rng, public, nil)
	if a, err = principalAxes(z, min(l, m), src); err != nil {
		return a, b, fmt.Errorf("privacy: axes of the images: %w", err)
	}
	if b, err = principalAxes(public, min(l, m), src); err != nil {
		return a, b, fmt.Errorf("privacy: axes of the public rows: %w", err)
	}
	return a, b, nil
}

// principalAxes are the r first axes of a (n × d) about its mean, fewer where its rank is
// lower.
func principalAxes(a *mat.Dense, r int, src rand.Source) (axes, error) {
	n, d := a.Dims()
	mean := linalg.ColumnMeans(a)
	u, s, v, err := linalg.RandomSVD(linalg.Centred(a, mean), min(r, n, d), linalg.SketchOptions{Source: src})
	if err != nil {
		return axes{}, err
	}
	r = linalg.NumericalRank(s, n, d, 0)
	// What is left of a constant column is rounding of the mean, not an axis.
	size := math.Sqrt(linalg.SumSquares(a))
	for r > 0 && s[r-1] <= float64(n)*linalg.Eps*size {
		r--
	}
	out := axes{mean: mean, dev: make([]float64, r), first: make([]float64, r)}
	if r == 0 {
		return out, nil
	}
	out.v = mat.DenseCopyOf(v.Slice(0, d, 0, r))
	out.score = mat.DenseCopyOf(u.Slice(0, n, 0, r))
	out.score.Scale(math.Sqrt(float64(n)), out.score)
	for j := range r {
		out.dev[j] = s[j] / math.Sqrt(float64(n))
		for i, x := range mean {
			out.first[j] += x * out.v.At(i, j) / out.dev[j]
		}
	}
	return out, nil
}

// axisSigns are the signs, +1 or −1, of the first r axes of a at which they agree with
// those of b, as [MatchPCA] says.
func axisSigns(a, b axes, r int) []float64 {
	sign := make([]float64, r)
	if r == 0 {
		return sign
	}
	ta, tb := thirdMoments(a.score, r), thirdMoments(b.score, r)
	for j := range r {
		agree := a.first[j] * b.first[j]
		for i := range r {
			variance := 3.0
			if i == j {
				variance = 15
			}
			agree += ta.At(i, j) * tb.At(i, j) / variance
		}
		sign[j] = 1
		if agree < 0 {
			sign[j] = -1
		}
	}
	return sign
}

// thirdMoments are the means of t²ᵢtⱼ (r × r) over the rows of t, beyond 4 cut off.
func thirdMoments(t *mat.Dense, r int) *mat.Dense {
	n, _ := t.Dims()
	cut, square := mat.NewDense(n, r, nil), mat.NewDense(n, r, nil)
	for i := range n {
		c, s := cut.RawRowView(i), square.RawRowView(i)
		for j, v := range t.RawRowView(i)[:r] {
			c[j] = max(-4, min(4, v))
			s[j] = c[j] * c[j]
		}
	}
	var m mat.Dense
	m.Mul(square.T(), cut)
	m.Scale(1/float64(n), &m)
	return &m
}

// someRows are at most most of n rows of a, and the same rows of b unless that is nil.
func someRows(n, most int, rng *rand.Rand, a, b *mat.Dense) (*mat.Dense, *mat.Dense) {
	if n <= most {
		return a, b
	}
	at := rng.Perm(n)[:most]
	if b == nil {
		return linalg.TakeRows(a, at), nil
	}
	return linalg.TakeRows(a, at), linalg.TakeRows(b, at)
}
