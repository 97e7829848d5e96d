package faces

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"concord/lab"
	"concord/linalg"
	"concord/privacy"
)

// noise adds the rows of Gaussian noise: as it is, and as somebody cleans it who has
// seen other pictures of the kind.
func (s *scene) noise(ctx context.Context) error {
	clean, err := newCleaner(s.other)
	if err != nil {
		return err
	}
	for _, eps := range s.epsilons {
		if err := ctx.Err(); err != nil {
			return err
		}
		sigma, err := privacy.Sigma(eps, Delta, Sensitivity)
		if err != nil {
			return err
		}
		noised := privacy.Gaussian(s.x, sigma, lab.Stream(s.Seed, "faces", "noise", eps))
		row := Row{Kind: Noised, Epsilon: eps, Sigma: sigma, Name: fmt.Sprintf("noise, ε = %g a pixel", eps), Knows: "whoever gets the rows"}
		if err := s.guess(row, noised); err != nil {
			return err
		}
		row.Kind, row.Name, row.Knows = Denoised, fmt.Sprintf("noise, ε = %g, cleaned", eps), "whoever gets the rows and has such pictures: here those of the colluding party"
		if err := s.guess(row, clean.guess(noised, sigma)); err != nil {
			return err
		}
	}
	return nil
}

// cleaner guesses pictures under noise from the mean and the covariance Σ of others:
// the linear guess of least mean square, which is the one to be expected for normal
// rows [wiener1949],
//
//	x̂ = μ + Σ(Σ + σ²I)⁻¹(y − μ) = μ + V diag(λ/(λ + σ²)) Vᵀ(y − μ),  Σ = V diag(λ) Vᵀ
//
// With fewer pictures than pixels it stays within their span.
type cleaner struct {
	mean   []float64
	v      *mat.Dense // m × k
	lambda []float64  // k
}

// newCleaner learns from x (n × m, n at least 2), by divisor n − 1. It costs O(n² m).
func newCleaner(x *mat.Dense) (*cleaner, error) {
	n, _ := x.Dims()
	c := &cleaner{mean: linalg.ColumnMeans(x)}
	centred := mat.DenseCopyOf(x)
	shift(centred, c.mean, -1)
	s, v, err := linalg.SVDRight(centred)
	if err != nil {
		return nil, err
	}
	c.v = v
	for _, s := range s {
		c.lambda = append(c.lambda, s*s/float64(n-1))
	}
	return c, nil
}

// guess cleans y (n × m) of noise of deviation sigma.
func (c *cleaner) guess(y *mat.Dense, sigma float64) *mat.Dense {
	centred := mat.DenseCopyOf(y)
	shift(centred, c.mean, -1)
	var scores mat.Dense
	scores.Mul(centred, c.v)
	n, _ := scores.Dims()
	for i := range n {
		row := scores.RawRowView(i)
		for k, lambda := range c.lambda {
			row[k] *= lambda / (lambda + math.Pow(sigma, 2))
		}
	}
	centred.Mul(&scores, c.v.T())
	shift(centred, c.mean, 1)
	return centred
}

// shift adds by times the row mean to every row of x.
func shift(x *mat.Dense, mean []float64, by float64) {
	n, _ := x.Dims()
	for i := range n {
		row := x.RawRowView(i)
		for j, v := range mean {
			row[j] += by * v
		}
	}
}
