package privacy

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// Lifted is what colluders know of random Fourier features in front of a basis:
//
//	y(x) = √(2/D) cos(x W + b) F
type Lifted struct {
	W *mat.Dense // m × D
	B []float64  // D
	F *mat.Dense // D × l
}

// y fills in the image of one row, and sines for its derivative.
func (k Lifted) y(x, phase, cosines, out []float64) {
	m, dim := k.W.Dims()
	copy(phase, k.B)
	for j := range m {
		for d, w := range k.W.RawRowView(j) {
			phase[d] += x[j] * w
		}
	}
	scale := math.Sqrt(2 / float64(dim))
	for d, p := range phase {
		cosines[d] = scale * math.Cos(p)
	}
	clear(out)
	for d, c := range cosines {
		for a, f := range k.F.RawRowView(d) {
			out[a] += c * f
		}
	}
}

const (
	// unliftDraws is how many rows are made up for the linear decoder.
	unliftDraws = 2000
	// unliftSteps bounds the steps from a start.
	unliftSteps = 40
	// unliftWork bounds the multiplications of all steps.
	unliftWork = 2e10
	// unliftPrior is the weight of the prior relative to what the images say, small: the
	// images decide wherever they say anything.
	unliftPrior = 1e-6
)

// Unlift reconstructs rows from their images z (n × l), as the analyst can together with one
// party, who knows the lift and the anchor and so the basis. Where the lift and the basis
// leave a row open, the guess is near mean, whose deviations are given too (m each): other
// samples and textbooks have both.
//
// First a linear decoder, least squares from the images of made-up rows of independent normal
// features; then Levenberg and Marquardt's steps from there and from the mean on
//
//	min ‖y(x) − z_i‖² + λ Σ_j ((x_j − mean_j)/deviation_j)²
//
// and the better end counts. As many of the rows are done as 2e10 multiplications allow, the
// first ones; of 5 at least. The guesses are returned for those. It is against the analyst
// together with a party (docs/methods.md sections 7.2 and 9.5). Cost O(m D l) a step, at most
// 40 steps from each of two starts a row.
func Unlift(z *mat.Dense, k Lifted, mean, deviation []float64, src rand.Source) (*mat.Dense, error) {
	n, l := z.Dims()
	m, dim := k.W.Dims()
	fd, fl := k.F.Dims()
	if len(k.B) != dim || fd != dim || fl != l || len(mean) != m || len(deviation) != m {
		return nil, fmt.Errorf("privacy: images of %d columns, a lift of %d columns to %d with %d shifts, a basis of %d × %d, %d means and %d deviations do not fit each other",
			l, m, dim, len(k.B), fd, fl, len(mean), len(deviation))
	}
	for _, x := range []*mat.Dense{z, k.W, k.F} {
		if err := linalg.CheckFinite(x); err != nil {
			return nil, fmt.Errorf("privacy: %w", err)
		}
	}
	spread := make([]float64, m)
	for j, v := range deviation {
		spread[j] = v
		if !(v > 0) {
			spread[j] = 1e-6 // constant
		}
	}
	work := float64(m) * float64(dim) * float64(l)
	count := int(min(float64(n), max(5, unliftWork/(2*unliftSteps*work))))
	starts, err := k.decoded(z.Slice(0, count, 0, l).(*mat.Dense), mean, spread, src)
	if err != nil {
		return nil, err
	}
	defer starts.Zero()
	out := mat.NewDense(count, m, nil)
	linalg.Parallel(count, func(i int) {
		best := math.Inf(1)
		for _, start := range [][]float64{starts.RawRowView(i), mean} {
			x, value := k.descend(z.RawRowView(i), start, mean, spread)
			if value < best {
				best = value
				out.SetRow(i, x)
			}
		}
	})
	return out, nil
}

// decoded are the linear decoder's guesses.
func (k Lifted) decoded(z *mat.Dense, mean, spread []float64, src rand.Source) (*mat.Dense, error) {
	count, l := z.Dims()
	m, dim := k.W.Dims()
	x := linalg.Normal(unliftDraws, m, src)
	for i := range unliftDraws {
		row := x.RawRowView(i)
		for j := range row {
			row[j] = mean[j] + spread[j]*row[j]
		}
	}
	var phase, y mat.Dense
	phase.Mul(x, k.W)
	scale := math.Sqrt(2 / float64(dim))
	for i := range unliftDraws {
		row := phase.RawRowView(i)
		for d := range row {
			row[d] = scale * math.Cos(row[d]+k.B[d])
		}
	}
	y.Mul(&phase, k.F)
	with := func(a *mat.Dense) *mat.Dense { // a column of ones
		n, _ := a.Dims()
		out := mat.NewDense(n, l+1, nil)
		for i := range n {
			out.Set(i, l, 1)
			copy(out.RawRowView(i), a.RawRowView(i))
		}
		return out
	}
	b, _, err := linalg.LeastSquares(with(&y), x, 0)
	if err != nil {
		return nil, fmt.Errorf("privacy: %w", err)
	}
	out := mat.NewDense(count, m, nil)
	out.Mul(with(z), b)
	return out, nil
}

// descend goes down from a start, and returns where it ends with the value there.
func (k Lifted) descend(z, start, mean, spread []float64) ([]float64, float64) {
	m, dim := k.W.Dims()
	l := len(z)
	x, phase, cosines, y := append([]float64(nil), start...), make([]float64, dim), make([]float64, dim), make([]float64, l)
	value := func(at []float64) float64 {
		k.y(at, phase, cosines, y)
		v := 0.0
		for a := range y {
			v += (y[a] - z[a]) * (y[a] - z[a])
		}
		for j := range at {
			d := (at[j] - mean[j]) / spread[j]
			v += unliftPrior * d * d
		}
		return v
	}
	now := value(x)
	damping := 1e-3
	scaled, jacobian := mat.NewDense(m, dim, nil), mat.NewDense(m, l, nil)
	gram, normal := mat.NewSymDense(m, nil), mat.NewSymDense(m, nil)
	scale := math.Sqrt(2 / float64(dim))
	next := make([]float64, m)
	for range unliftSteps {
		k.y(x, phase, cosines, y)
		for j := range m {
			to := scaled.RawRowView(j)
			for d, w := range k.W.RawRowView(j) {
				to[d] = -scale * math.Sin(phase[d]) * w
			}
		}
		jacobian.Mul(scaled, k.F)
		gram.SymOuterK(1, jacobian)
		gradient := mat.NewVecDense(m, nil)
		residual := mat.NewVecDense(l, nil)
		for a := range y {
			residual.SetVec(a, z[a]-y[a])
		}
		gradient.MulVec(jacobian, residual)
		largest := 0.0
		for j := range m {
			gradient.SetVec(j, gradient.AtVec(j)-unliftPrior*(x[j]-mean[j])/(spread[j]*spread[j]))
			gram.SetSym(j, j, gram.At(j, j)+unliftPrior/(spread[j]*spread[j]))
			largest = max(largest, gram.At(j, j))
		}
		better := false
		for range 8 {
			normal.CopySym(gram)
			for j := range m {
				normal.SetSym(j, j, gram.At(j, j)+damping*largest)
			}
			var chol mat.Cholesky
			var step mat.VecDense
			if chol.Factorize(normal) && chol.SolveVecTo(&step, gradient) == nil {
				for j := range m {
					next[j] = x[j] + step.AtVec(j)
				}
				if v := value(next); v < now {
					done := now-v < 1e-12*now
					copy(x, next)
					now, better = v, !done
					damping = max(damping/5, 1e-12)
					break
				}
			}
			damping *= 5
		}
		if !better {
			break
		}
	}
	return x, now
}
