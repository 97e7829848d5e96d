package pooled

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// Spectrum is what a person is told of the common directions.
type Spectrum struct {
	// Dim is l, Columns is m.
	Dim, Columns int
	// Energy is the share of the pooled sum of squares ‖Z‖² that the directions keep,
	// 0 to 1; of a sketch a lower bound.
	Energy float64
	// Gap is 1 − λ_{l+1}/λ_l: how much weaker the first direction is that is left out than
	// the last that is kept. 1 if none is left out.
	Gap float64
	// Sketched says that the eigenvectors are a sketch's, not those of all second moments.
	Sketched bool
}

// smallGap is the relative gap below which people are told that rounding decides which of
// two directions is kept.
const smallGap = 1e-6

// Warnings are what a person should know before the directions are used, or nil.
func (s Spectrum) Warnings() []string {
	if s.Gap >= smallGap {
		return nil
	}
	return []string{fmt.Sprintf("direction %d of the pooled rows is as strong as direction %d to %.1g: which of them is kept hangs on rounding at the first party, whose choice all share; "+
		"a basis.dim a little smaller or larger has no such tie", s.Dim, s.Dim+1, s.Gap)}
}

// String is one line for people.
func (s Spectrum) String() string {
	least := ""
	if s.Sketched {
		least = "at least "
	}
	return fmt.Sprintf("%d common directions of %d columns keep %s%.1f %% of the pooled sum of squares; the next direction is %.2g %% weaker than the last one kept",
		s.Dim, s.Columns, least, 100*s.Energy, 100*s.Gap)
}

// moments are symmetric positive semidefinite pooled second moments of which directions
// are made: all of them, or what a sketch knows of them.
type moments interface {
	// apply is S V (m × l).
	apply(v *mat.Dense) *mat.Dense
	// leading are the k largest eigenvalues, decreasing, 0 beyond the rank, and, if
	// vectors are wanted, eigenvectors of those (m × k).
	leading(k int, vectors bool) ([]float64, *mat.Dense, error)
	// trace is that of all second moments.
	trace() float64
	columns() int
	sketched() bool
}

// dense are all second moments S (m × m).
type dense struct{ s *mat.SymDense }

func (d dense) apply(v *mat.Dense) *mat.Dense {
	var out mat.Dense
	out.Mul(d.s, v)
	return &out
}

func (d dense) columns() int   { return d.s.SymmetricDim() }
func (d dense) sketched() bool { return false }
func (d dense) trace() float64 { return mat.Trace(d.s) }

func (d dense) leading(k int, vectors bool) ([]float64, *mat.Dense, error) {
	m := d.columns()
	k = min(k, m)
	var w []float64
	v := &mat.Dense{}
	var err error
	if vectors {
		w, v, err = linalg.EigSymRange(d.s, m-k, m)
	} else if w, err = linalg.EigSymValues(d.s); err == nil {
		w = w[m-k:]
	}
	if err != nil {
		return nil, nil, err
	}
	return reversed(w), mirrored(v), nil
}

// nystrom is the approximation E Eᵀ = Y (QᵀY)⁺ Yᵀ of S that Q (m × k) and Y = S Q give
// [tropp2017]: at most S in the order of semidefinite
// matrices, so that what it says that directions keep is at most what they do keep.
type nystrom struct {
	e     *mat.Dense // m × r, empty if nothing was summed
	m     int
	whole float64
}

// newNystrom makes E = Y P D^(-1/2) of the eigenvalues D and eigenvectors P of QᵀY, those
// below 10 m·2⁻⁵² of the largest excepted, which are rounding. Cost O(m k²).
func newNystrom(q, y *mat.Dense, trace float64) (nystrom, error) {
	m, k := q.Dims()
	var b mat.Dense
	b.Mul(q.T(), y)
	sym := mat.NewSymDense(k, nil)
	for i := range k {
		for j := i; j < k; j++ {
			sym.SetSym(i, j, b.At(i, j)/2+b.At(j, i)/2)
		}
	}
	d, p, err := linalg.EigSym(sym)
	if err != nil {
		return nystrom{}, err
	}
	first := 0
	for first < k && !(d[first] > 10*float64(m)*linalg.Eps*d[k-1]) {
		first++
	}
	if first == k {
		return nystrom{&mat.Dense{}, m, trace}, nil
	}
	root := mat.NewDense(k, k-first, nil)
	for j := first; j < k; j++ {
		for i := range k {
			root.Set(i, j-first, p.At(i, j)/math.Sqrt(d[j]))
		}
	}
	e := new(mat.Dense)
	e.Mul(y, root)
	return nystrom{e, m, trace}, nil
}

func (n nystrom) apply(v *mat.Dense) *mat.Dense {
	var inner, out mat.Dense
	inner.Mul(n.e.T(), v)
	out.Mul(n.e, &inner)
	return &out
}

func (n nystrom) columns() int   { return n.m }
func (n nystrom) sketched() bool { return true }
func (n nystrom) trace() float64 { return n.whole }

func (n nystrom) leading(k int, _ bool) ([]float64, *mat.Dense, error) {
	w := make([]float64, k)
	if n.e.IsEmpty() {
		return w, mat.NewDense(n.m, k, nil), nil
	}
	u, s, err := linalg.SVDLeft(n.e)
	if err != nil {
		return nil, nil, err
	}
	m, r := u.Dims()
	for i := range min(k, r) {
		w[i] = s[i] * s[i]
	}
	if k > r {
		wide := mat.NewDense(m, k, nil) // no vectors beyond the rank: the caller refuses
		wide.Slice(0, m, 0, r).(*mat.Dense).Copy(u)
		return w, wide, nil
	}
	return w, mat.DenseCopyOf(u.Slice(0, m, 0, k)), nil
}

// spanning finds that S has l eigenvalues above rounding, and returns the l + 1 largest
// (l if there are no more columns).
func spanning(s moments, l int, vectors bool) (w []float64, v *mat.Dense, err error) {
	m := s.columns()
	if l < 1 || l > m {
		return nil, nil, fmt.Errorf("pooled: dimension %d of %d columns: choose 1 to %d", l, m, m)
	}
	w, v, err = s.leading(min(l+1, m), vectors)
	if err != nil {
		return nil, nil, fmt.Errorf("pooled: second moments: %v", err)
	}
	rank := 0
	for rank < len(w) && w[rank] > float64(m)*linalg.Eps*w[0] {
		rank++
	}
	if rank < l {
		return nil, nil, &RankError{l, rank}
	}
	return w, v, nil
}

// RankError says that the rows of all parties together span fewer directions than are
// asked for.
type RankError struct{ Dim, Rank int }

// Error names the dimension that the rows allow.
func (e *RankError) Error() string {
	return fmt.Sprintf("pooled: basis.dim is %d, but the rows of all parties together span %d directions: a contract with a basis.dim of at most %d is needed, or more rows", e.Dim, e.Rank, e.Rank)
}

// principal returns V (m × l), the l leading eigenvectors of S, the strongest first.
func principal(s moments, l int) (*mat.Dense, Spectrum, error) {
	w, v, err := spanning(s, l, true)
	if err != nil {
		return nil, Spectrum{}, err
	}
	m, _ := v.Dims()
	return mat.DenseCopyOf(v.Slice(0, m, 0, l)), spectrum(s, w, l), nil
}

func spectrum(s moments, w []float64, l int) Spectrum {
	out := Spectrum{Dim: l, Columns: s.columns(), Gap: 1, Sketched: s.sketched()}
	kept := 0.0
	for _, v := range w[:l] {
		kept += v
	}
	out.Energy = min(kept/s.trace(), 1)
	if len(w) > l {
		out.Gap = max(0, 1-w[l]/w[l-1])
	}
	return out
}

// How exact V must be: columns orthonormal to orthoTol·m, eigenvectors and eigenvalues to
// eigenTol·m of the largest eigenvalue. Decompositions of any backend are exact to some
// m·2⁻⁵², so that these have a thousandfold room, and leave who makes V no choice but of
// signs, and of directions inside of eigenspaces that coincide to as much.
const (
	orthoTol = 1e-12
	eigenTol = 0x1p-42
)

// verify checks that v (m × l) are the leading eigenvectors of S, the strongest first:
//
//	VᵀV = I,  S V = V Θ with Θ diagonal,  θ_j = λ_j(S)
//
// with eigenvalues λ that it computes itself: that V's columns are eigenvectors does not
// make them the leading ones. The errors say which of that v is not.
//
// Cost O(m³ + m² l), of a sketch O(m k²).
func verify(s moments, l int, v *mat.Dense) (Spectrum, error) {
	w, _, err := spanning(s, l, false)
	if err != nil {
		return Spectrum{}, err
	}
	m := s.columns()
	wrong := func(format string, args ...any) (Spectrum, error) {
		return Spectrum{}, &DirectionsError{fmt.Sprintf(format, args...)}
	}
	if rows, cols := v.Dims(); rows != m || cols != l {
		return wrong("they are %d × %d, must be %d × %d", rows, cols, m, l)
	}
	if linalg.CheckFinite(v) != nil {
		return wrong("they hold what is not a finite number")
	}
	var gram mat.Dense
	gram.Mul(v.T(), v)
	for i := range l {
		gram.Set(i, i, gram.At(i, i)-1)
	}
	if off := most(&gram); off > orthoTol*float64(m) {
		return wrong("VᵀV differs from I by %.2g, must be at most %.2g", off, orthoTol*float64(m))
	}
	tol := eigenTol * float64(m) * w[0]
	image := s.apply(v)
	for j := range l {
		theta := 0.0
		for i := range m {
			theta += v.At(i, j) * image.At(i, j)
		}
		if off := math.Abs(theta - w[j]); off > tol {
			return wrong("direction %d keeps %.6g of the strongest direction's sum of squares, the leading eigenvector number %d of the pooled moments keeps %.6g", j+1, theta/w[0], j+1, w[j]/w[0])
		}
		square := 0.0
		for i := range m {
			d := image.At(i, j) - theta*v.At(i, j)
			square += d * d
		}
		if off := math.Sqrt(square); off > tol {
			return wrong("direction %d is no eigenvector of the pooled moments: its residual is %.2g of the largest eigenvalue, must be at most %.2g", j+1, off/w[0], tol/w[0])
		}
	}
	return spectrum(s, w, l), nil
}

// DirectionsError says why the common directions that came are refused: the party that
// made them had other pooled moments, or lies.
type DirectionsError struct{ Problem string }

// Error says what is wrong with the directions.
func (e *DirectionsError) Error() string {
	return "pooled: the common directions that came are not the leading eigenvectors of the pooled moments: " + e.Problem
}

// Hint says what to do.
func (e *DirectionsError) Hint() string {
	return "they are not used; ask the party that sent them for its pooled figures' hash, and compare it with yours"
}

// most is the largest element of |a|.
func most(a *mat.Dense) float64 { return math.Max(mat.Max(a), -mat.Min(a)) }

func reversed(w []float64) []float64 {
	out := make([]float64, len(w))
	for i, v := range w {
		out[len(w)-1-i] = v
	}
	return out
}

// mirrored has the columns of v in the other order.
func mirrored(v *mat.Dense) *mat.Dense {
	if v.IsEmpty() {
		return v
	}
	m, k := v.Dims()
	out := mat.NewDense(m, k, nil)
	for i := range m {
		for j, x := range v.RawRowView(i) {
			out.Set(i, k-1-j, x)
		}
	}
	return out
}
