package lanes

import "math"

// Cholesky is RᵀR of a batch. Tiles on the diagonal are kept as their
// inverses.
type Cholesky struct {
	*Batch
	R   Matrix    // upper triangle of tiles; what lies below the diagonal is not used
	inv []float64 // tile × tile for every tile on the diagonal
	Bad [Max]bool
}

// NewCholesky is the workspace of a decomposition.
func (l *Batch) NewCholesky() *Cholesky {
	return &Cholesky{Batch: l, R: l.Matrix(), inv: make([]float64, l.Tiles()*l.tile*l.tile*l.Width)}
}

// inverse is the inverse of tile i on the diagonal of R, upper triangular.
func (f *Cholesky) inverse(i int) Matrix {
	size := f.tile * f.tile * f.Width
	return Matrix{f.inv[i*size:][:size], f.tile * f.Width, f.Width}
}

// Factor overwrites f.R, of which the upper triangle is read, with R. A lane
// that is not positive definite is marked in f.Bad; its numbers mean nothing, and
// are finite.
func (f *Cholesky) Factor() {
	f.Bad = [Max]bool{}
	for i := range f.Tiles() {
		i0, rows := f.Span(i)
		for j := i; i0 > 0 && j < f.Tiles(); j++ {
			j0, cols := f.Span(j)
			s := f.R.At(i0, j0)
			f.Multiply(rows, cols, i0, -1, f.R.At(0, i0).T(), f.R.At(0, j0), 1, s, s, Matrix{})
		}
		f.diagonal(i)
		for j := i + 1; j < f.Tiles(); j++ {
			j0, cols := f.Span(j)
			s := f.R.At(i0, j0)
			f.Multiply(rows, cols, rows, 1, f.inverse(i).T(), s, 0, Matrix{}, s, Matrix{})
		}
	}
}

// diagonal factors tile i on the diagonal and inverts it.
func (f *Cholesky) diagonal(i int) {
	i0, size := f.Span(i)
	var s, inv [maxTile][maxTile][Max]float64
	for p := range size {
		for q := p; q < size; q++ {
			copy(s[p][q][:], f.R.At(i0+p, i0+q).Data[:f.Width])
		}
	}
	var one [Max]float64 // 1 / R[p, p]
	for p := range size {
		for w := range f.Width {
			d := s[p][p][w]
			if !(d > 0) || math.IsInf(d, 0) {
				f.Bad[w] = true
				d = 1
			}
			d = math.Sqrt(d)
			s[p][p][w] = d
			one[w] = 1 / d
		}
		inv[p][p] = one
		for q := p + 1; q < size; q++ {
			times(&s[p][q], &one, &s[p][q])
		}
		for q := p + 1; q < size; q++ {
			for r := q; r < size; r++ {
				minus(&s[q][r], &s[p][q], &s[p][r])
			}
		}
	}
	for q := range size { // column q of the inverse, upwards
		for p := q - 1; p >= 0; p-- {
			var sum [Max]float64
			for r := p + 1; r <= q; r++ {
				minus(&sum, &s[p][r], &inv[r][q])
			}
			times(&inv[p][q], &sum, &inv[p][p])
		}
	}
	out := f.inverse(i)
	for p := range size {
		for q := range size {
			copy(out.At(p, q).Data[:f.Width], inv[p][q][:])
			if q >= p {
				copy(f.R.At(i0+p, i0+q).Data[:f.Width], s[p][q][:])
			}
		}
	}
}

func times(z, x, y *[Max]float64) {
	for w := range z {
		z[w] = x[w] * y[w]
	}
}

func minus(z, x, y *[Max]float64) {
	for w := range z {
		z[w] -= x[w] * y[w]
	}
}

// Solve sets, for S = RᵀR,
//
//	X ← β X + α X S⁻¹
//
// y and z are scratch.
func (f *Cholesky) Solve(alpha, beta float64, x, y, z Matrix) {
	none := Matrix{}
	for i := range f.Tiles() {
		i0, rows := f.Span(i)
		for j := range f.Tiles() { // Y R = α X
			j0, cols := f.Span(j)
			yij := y.At(i0, j0)
			f.Multiply(rows, cols, j0, -1, y.At(i0, 0), f.R.At(0, j0), alpha, x.At(i0, j0), yij, none)
			f.Multiply(rows, cols, cols, 1, yij, f.inverse(j), 0, none, yij, none)
		}
		for j := f.Tiles() - 1; j >= 0; j-- { // Z Rᵀ = Y
			j0, cols := f.Span(j)
			yij, zij := y.At(i0, j0), z.At(i0, j0)
			if next := j0 + cols; next < f.N {
				f.Multiply(rows, cols, f.N-next, -1, z.At(i0, next), f.R.At(j0, next).T(), 1, yij, yij, none)
			}
			f.Multiply(rows, cols, cols, 1, yij, f.inverse(j).T(), 0, none, zij, none)
			xij := x.At(i0, j0)
			f.Multiply(rows, cols, cols, 1, yij, f.inverse(j).T(), beta, xij, xij, none)
		}
	}
}

// Invert sets w to R⁻¹, upper triangular with zeros below; scratch is a tile.
func (f *Cholesky) Invert(w Matrix) {
	none := Matrix{}
	clear(w.Data)
	for j := range f.Tiles() {
		j0, cols := f.Span(j)
		inv := f.inverse(j)
		for p := range cols {
			for q := p; q < cols; q++ {
				copy(w.At(j0+p, j0+q).Data[:f.Width], inv.At(p, q).Data[:f.Width])
			}
		}
		for i := j - 1; i >= 0; i-- {
			i0, rows := f.Span(i)
			next := i0 + rows
			wij := w.At(i0, j0)
			f.Multiply(rows, cols, j0+cols-next, -1, f.R.At(i0, next), w.At(next, j0), 0, none, wij, none)
			f.Multiply(rows, cols, rows, 1, f.inverse(i), wij, 0, none, wij, none)
		}
	}
}
