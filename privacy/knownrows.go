package privacy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// Limits of [KnownRows]: what is judged is a sample, so that the cost does not grow
// with the number of rows. The relative error over 1000 rows varies by about
// 1/√(2·1000), two parts in a hundred.
const (
	knownPool   = 4096 // rows drawn from all, or twice what a basis needs
	knownJudged = 1000 // rows not known on which the decoders are judged
)

// Gain is what an analyst alone gains who knows some rows and which images are theirs.
// Errors are ‖guess − truth‖_F / ‖truth‖_F over rows that the attacker does not know,
// the median over the repeats (at Knows = l the expected error of least squares is
// infinite). Columns of large scale rule them: standardise first.
type Gain struct {
	// Knows is the number k of rows that the attacker knows, with their images.
	Knows int
	// Error is that of the guessed rows x, by the best of the three decoders.
	Error float64
	// Trivial is that of guessing the mean of all rows for every row.
	Trivial float64
	// Left is ‖x − xFF⁺‖_F / ‖x‖_F: what is missing from the image of a row, whatever
	// is known of F. An Error below it comes from correlations between features.
	Left float64
	// Plain is the error of the decoder x ≈ z B of least squares against the
	// projection xFF⁺ in place of x, in units of ‖xFF⁺‖_F.
	Plain float64
	// Basis is ‖F̂ − F‖_F / ‖F‖_F for the basis that the attacker finds by least
	// squares. It is of the order of rounding as soon as the known rows span all rows,
	// so from k = m independent rows at the latest.
	Basis float64
}

// KnownRows runs the attack of an analyst who knows k rows of x (n × m) and which rows
// of the images z = xF (n × l) are theirs, for every k in ks, and says how well the
// other rows are then read from their images. It is against the analyst alone, who is
// given neither F nor the anchor; under NRI the images are permuted, and the known
// rows must first be linked (see [LinkDistances]). It measures
// three linear decoders; it does not bound what others could do.
//
// With the known pairs (X_k, Z_k) the decoders are
//
//	x̂ = z (X_k⁺Z_k)⁺                                   the basis by least squares
//	x̂ = z Z_k⁺X_k                                      least squares, least norm
//	x̂ = x̄_k + (z − z̄_k)(ZᵀZ + λ)⁻¹ZᵀX, Z, X centred    ridge, λ by leave-one-out
//
// The first works from k = m on, the second from k = l on (docs/methods.md section 7.1);
// ridge regression [hoerl1970] helps below and
// around k = l, where the second is unstable. The best of the three is reported, a
// choice made knowing the truth, so in the attacker's favour.
//
// F is taken as X⁺Z, which is F on the span of the rows; under a lift, x is the lifted
// matrix. A k above n − 1 is clipped, since at least one row is judged. Of many
// rows a random sample of max(4096, 2m, 2 max k) plays the part of all, and at most 1000
// unknown rows are judged. Each k is tried with repeats draws of known rows from src.
//
// The cost is O(m² max(4096, 2m)) for F, and O(k(m + l) min(k, m) + 1000 m l + m l²)
// for a draw. n × m numbers are read once.
func KnownRows(x, z *mat.Dense, ks []int, repeats int, src rand.Source) ([]Gain, error) {
	n, m, _, err := pairedShapes(x, z)
	if err != nil {
		return nil, err
	}
	if n < 2 {
		return nil, fmt.Errorf("privacy: %d rows, known rows need at least 2", n)
	}
	if repeats < 1 {
		return nil, fmt.Errorf("privacy: repeats is %d, must be at least 1", repeats)
	}
	if len(ks) == 0 {
		return nil, fmt.Errorf("privacy: no number of known rows is given")
	}
	most := 0
	for _, k := range ks {
		if k < 1 {
			return nil, fmt.Errorf("privacy: number of known rows is %d, must be at least 1", k)
		}
		most = max(most, min(k, n-1))
	}
	rng := rand.New(src)
	if pool := max(knownPool, 2*m, 2*most); pool < n {
		at := rng.Perm(n)[:pool]
		x, z = linalg.TakeRows(x, at), linalg.TakeRows(z, at)
		n = pool
	}
	if linalg.SumSquares(x) == 0 || linalg.SumSquares(z) == 0 {
		return nil, fmt.Errorf("privacy: rows or their images are zero throughout, so errors have no scale")
	}
	f, _, err := linalg.LeastSquares(x, z, 0)
	if err != nil {
		return nil, fmt.Errorf("privacy: basis of the known rows: %w", err)
	}
	back, _, err := linalg.Pinv(f, 0)
	if err != nil {
		return nil, fmt.Errorf("privacy: inverse of the basis: %w", err)
	}
	mean := linalg.ColumnMeans(x)

	gains := make([]Gain, len(ks))
	for i, k := range ks {
		k = min(k, n-1)
		var errs, trivial, left, plain, basis []float64
		for range repeats {
			order := rng.Perm(n)
			known, other := order[:k], order[k:min(n, k+knownJudged)]
			xk, zk, truth, image := linalg.TakeRows(x, known), linalg.TakeRows(z, known), linalg.TakeRows(x, other), linalg.TakeRows(z, other)
			size := math.Sqrt(linalg.SumSquares(truth))
			if size == 0 {
				continue
			}
			d, err := decodeKnown(xk, zk, image)
			if err != nil {
				return nil, err
			}
			var projection mat.Dense
			projection.Mul(image, back)
			best := math.Inf(1)
			for _, guess := range []*mat.Dense{d.basis, d.plain, d.ridge} {
				best = min(best, frobenius(guess, truth)/size)
			}
			errs = append(errs, best)
			trivial = append(trivial, frobenius(repeatRow(mean, len(other)), truth)/size)
			left = append(left, frobenius(&projection, truth)/size)
			if p := math.Sqrt(linalg.SumSquares(&projection)); p > 0 {
				plain = append(plain, frobenius(d.plain, &projection)/p)
			}
			basis = append(basis, frobenius(d.f, f)/math.Sqrt(linalg.SumSquares(f)))
		}
		gains[i] = Gain{Knows: k, Error: medianOf(errs), Trivial: medianOf(trivial), Left: medianOf(left), Plain: medianOf(plain), Basis: medianOf(basis)}
	}
	return gains, nil
}

// known are the guessed rows of the three decoders of KnownRows, and the basis found.
type known struct {
	basis, plain, ridge *mat.Dense
	f                   *mat.Dense // m × l
}

// decodeKnown fits the decoders to k known pairs and applies them to images (r × l).
func decodeKnown(xk, zk, images *mat.Dense) (known, error) {
	var d known
	f, _, err := linalg.LeastSquares(xk, zk, 0)
	if err != nil {
		return d, fmt.Errorf("privacy: basis of the known rows: %w", err)
	}
	back, _, err := linalg.Pinv(f, 0)
	if err != nil {
		return d, fmt.Errorf("privacy: inverse of the basis found: %w", err)
	}
	plain, _, err := linalg.LeastSquares(zk, xk, 0)
	if err != nil {
		return d, fmt.Errorf("privacy: decoder of the known rows: %w", err)
	}
	ridge, err := ridgeDecode(xk, zk, images)
	if err != nil {
		return d, err
	}
	d.f, d.ridge = f, ridge
	d.basis, d.plain = new(mat.Dense), new(mat.Dense)
	d.basis.Mul(images, back)
	d.plain.Mul(images, plain)
	return d, nil
}

// ridgeDecode is ridge regression of xk on zk with an intercept that is not penalised.
// With Z = U diag(s) Vᵀ the leave-one-out residual of row i is that of the fit over
//
//	1 − 1/k − Σⱼ u²ᵢⱼ s²ⱼ/(s²ⱼ + λ)
//
// ([golub1979], section 1). λ goes from s²₁ down in tens to 1e-14 s²₁, where
// it is below rounding; a λ at which a row decides its own fit is passed over.
func ridgeDecode(xk, zk, images *mat.Dense) (*mat.Dense, error) {
	k, m := xk.Dims()
	xMean, zMean := linalg.ColumnMeans(xk), linalg.ColumnMeans(zk)
	x, z, at := linalg.Centred(xk, xMean), linalg.Centred(zk, zMean), linalg.Centred(images, zMean)
	rows, _ := images.Dims()
	u, s, v, err := linalg.SVD(z)
	if err != nil {
		return nil, fmt.Errorf("privacy: ridge decoder of the known rows: %w", err)
	}
	guess := repeatRow(xMean, rows)
	r := linalg.NumericalRank(s, k, len(s), 0)
	if r == 0 {
		return guess, nil
	}
	u = u.Slice(0, k, 0, r).(*mat.Dense)
	c, scaled, fit := mat.NewDense(r, m, nil), mat.NewDense(r, m, nil), mat.NewDense(k, m, nil)
	c.Mul(u.T(), x)
	best, chosen := math.Inf(1), s[0]*s[0]
	for step := 0; step <= 14; step++ {
		lambda := s[0] * s[0] * math.Pow10(-step)
		for j := range r {
			scaleInto(scaled.RawRowView(j), c.RawRowView(j), s[j]*s[j]/(s[j]*s[j]+lambda))
		}
		fit.Mul(u, scaled)
		sum := 0.0
		for i := range k {
			free := 1 - 1/float64(k)
			for j, e := range u.RawRowView(i) {
				free -= e * e * s[j] * s[j] / (s[j]*s[j] + lambda)
			}
			// Below this the residual over free is rounding over rounding.
			if free < 1e-8 {
				sum = math.Inf(1)
				break
			}
			a, b := x.RawRowView(i), fit.RawRowView(i)
			part := 0.0
			for j := range a {
				part += (a[j] - b[j]) * (a[j] - b[j])
			}
			sum += part / (free * free)
		}
		if sum < best {
			best, chosen = sum, lambda
		}
	}
	for j := range r {
		scaleInto(scaled.RawRowView(j), c.RawRowView(j), s[j]/(s[j]*s[j]+chosen))
	}
	var b, part mat.Dense
	b.Mul(v.Slice(0, len(zMean), 0, r), scaled)
	part.Mul(at, &b)
	guess.Add(guess, &part)
	return guess, nil
}

// pairedShapes returns n, m and l of rows x (n × m) with images z (n × l), and an error
// if they do not belong together or are not finite.
func pairedShapes(x, z *mat.Dense) (n, m, l int, err error) {
	n, m = x.Dims()
	images, l := z.Dims()
	switch {
	case n == 0 || l == 0:
		return 0, 0, 0, fmt.Errorf("privacy: rows are %d × %d and images %d × %d, none may be empty", n, m, images, l)
	case images != n:
		return 0, 0, 0, fmt.Errorf("privacy: %d images of %d rows, must be as many", images, n)
	}
	if err := moderate("rows", x); err != nil {
		return 0, 0, 0, err
	}
	return n, m, l, moderate("images", z)
}

// moderate wants elements whose squares neither overflow nor, added up, lose all others:
// finite and at most 1e100.
func moderate(what string, a *mat.Dense) error {
	if err := linalg.CheckFinite(a); err != nil {
		return fmt.Errorf("privacy: %s: %w", what, err)
	}
	n, _ := a.Dims()
	for i := range n {
		for j, v := range a.RawRowView(i) {
			if math.Abs(v) > 1e100 {
				return fmt.Errorf("privacy: %s: element at row %d, column %d is beyond 1e100: scale the data", what, i+1, j+1)
			}
		}
	}
	return nil
}

// repeatRow is a matrix of n rows that all equal row.
func repeatRow(row []float64, n int) *mat.Dense {
	b := mat.NewDense(n, len(row), nil)
	for i := range n {
		copy(b.RawRowView(i), row)
	}
	return b
}

// frobenius is ‖a − b‖_F.
func frobenius(a, b *mat.Dense) float64 {
	n, _ := a.Dims()
	sum := 0.0
	for i := range n {
		r := b.RawRowView(i)
		for j, v := range a.RawRowView(i) {
			sum += (v - r[j]) * (v - r[j])
		}
	}
	return math.Sqrt(sum)
}

// scaleInto puts f times src in dst.
func scaleInto(dst, src []float64, f float64) {
	for i, v := range src {
		dst[i] = f * v
	}
}

// medianOf is the middle of v, or the mean of the two middle ones; 0 of none.
func medianOf(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	v = slices.Sorted(slices.Values(v))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}
