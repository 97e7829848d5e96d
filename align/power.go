package align

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// The generalised Procrustes problems, [GOPP] and [Consensus], are one: over
// G_i (l_i × d) with orthonormal rows, minimise
//
//	Σ_i ‖A_i G_i − Z‖²,  best for  Z = mean_i A_i G_i
//
// Since ‖A_i G_i‖ = ‖A_i‖ does not depend on G_i, this is to maximise the convex
//
//	f(G) = ‖Σ_i A_i G_i‖² = tr(GᵀKG),   objective = Σ_i ‖A_i‖² − f/c
//
// and the alternation G_i = polar(A_iᵀZ), Z = mean A_iG_i is the generalised
// power method ([journee2010]; [ling2023])
//
//	M = K G,  G_i = polar(M_i)
//
// in which f never falls.
//
// Acceleration is Anderson's ([anderson1965]; [walker2011]) on the fixed-point map
// M → K polar(M): the next M is the combination of the last window + 1 images
// whose combined change M' − M is smallest. It costs no product and no polar
// factor beyond those of the map. Should f fall, the step is taken back, the
// last image is used as it stands, and the window starts anew: so f rises from
// step to step as in the plain alternation.

const (
	window   = 6 // images kept beyond the last
	patience = 3 // iterations without progress that end the search
)

// powered is the end of one run of the power method.
type powered struct {
	g          *mat.Dense // stacked, L × d
	f          float64
	iterations int
	converged  bool
	infos      []linalg.PolarInfo // of M_i that gave G_i
}

// power maximises f from the start m (L × d, overwritten), where G_i = polar(M_i)
// is the first point. total is Σ‖A_i‖². It ends when the objective
// total − f/c has fallen by less than tol times itself, or than the rounding of
// total, in each of three iterations.
func power(in *input, q quadratic, m *mat.Dense, total, tol float64, maxIter int, plain bool) (*powered, error) {
	rows, d := m.Dims()
	p := &powered{infos: make([]linalg.PolarInfo, len(in.a)), g: mat.NewDense(rows, d, nil)}
	image := mat.NewDense(rows, d, nil)
	g := mat.NewDense(rows, d, nil)
	infos := make([]linalg.PolarInfo, len(in.a))
	var mix anderson
	best, fallback, still := math.Inf(-1), (*mat.Dense)(nil), 0
	c := float64(len(in.a))
	for p.iterations < maxIter {
		p.iterations++
		if err := polars(in, g, m, infos); err != nil {
			return nil, err
		}
		q.apply(image, g)
		f := dot(g.RawMatrix().Data, image.RawMatrix().Data)
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, finiteFigures(f)
		}
		if fallback != nil && f < best {
			// The accelerated step fell: from the image of the best point f rises.
			m.Copy(fallback)
			fallback = nil
			mix = anderson{}
			continue
		}
		gain := f - best
		floor := math.Max(tol*(total-f/c), 4*linalg.Eps*total) // where f falls any floor will do
		if gain/c <= floor {
			still++
		} else {
			still = 0
		}
		if f >= best {
			best = f
			p.g, g = g, p.g
			p.infos, infos = infos, p.infos
		}
		p.f = best
		if still >= patience {
			p.converged = true
			break
		}
		if plain {
			m, image = image, m
			continue
		}
		if fallback == nil {
			fallback = mat.NewDense(rows, d, nil)
		}
		fallback.Copy(image)
		mix.next(m, image)
	}
	return p, nil
}

// polars overwrites the blocks of g with the polar factors of those of m.
func polars(in *input, g, m *mat.Dense, infos []linalg.PolarInfo) error {
	return in.each(func(i int) error {
		x, info, err := linalg.PolarWith(mat.DenseCopyOf(in.block(m, i)), linalg.PolarOptions{Estimate: true})
		if err != nil {
			return fmt.Errorf("align: A_%dᵀZ: %v", i+1, err)
		}
		in.block(g, i).Copy(x)
		infos[i] = info
		return nil
	})
}

// anderson accelerates a fixed-point map. The zero value has no history.
type anderson struct {
	change, image   []float64   // of the last step
	dChange, dImage [][]float64 // differences between steps, oldest first
}

// next overwrites m with the next point, given that the map took m to image:
//
//	M ← M' − ΔM' γ,  γ = argmin ‖r − Δr γ‖,  r = M' − M
func (s *anderson) next(m, image *mat.Dense) {
	x, y := m.RawMatrix().Data, image.RawMatrix().Data
	r := make([]float64, len(x))
	for i := range x {
		r[i] = y[i] - x[i]
	}
	if s.change != nil {
		dr, dy := s.change, s.image // reused: the old values are not needed again
		for i := range r {
			dr[i] = r[i] - dr[i]
			dy[i] = y[i] - dy[i]
		}
		s.dChange, s.dImage = append(s.dChange, dr), append(s.dImage, dy)
		if len(s.dChange) > window {
			s.dChange, s.dImage = s.dChange[1:], s.dImage[1:]
		}
	}
	s.change = r
	s.image = append([]float64(nil), y...)
	copy(x, y)
	n := len(s.dChange)
	if n == 0 {
		return
	}
	normal := mat.NewDense(n, n, nil)
	b := mat.NewDense(n, 1, nil)
	top := 0.0
	for i := range n {
		for j := i; j < n; j++ {
			normal.Set(i, j, dot(s.dChange[i], s.dChange[j]))
		}
		top = math.Max(top, normal.At(i, i))
		b.Set(i, 0, dot(s.dChange[i], r))
	}
	for i := range n {
		// Nearly dependent columns: a little damping in place of a rank decision.
		normal.Set(i, i, normal.At(i, i)*(1+1e-12)+1e-14*top)
	}
	f, ok := cholesky(normal, 1/linalg.Eps)
	if !ok {
		s.dChange, s.dImage = nil, nil
		return
	}
	lapack64.Potrs(f.r, b.RawMatrix())
	for k := range n {
		add(x, -b.At(k, 0), s.dImage[k])
	}
}
