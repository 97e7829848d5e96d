package linalg_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// shape is one input of the property tests.
type shape struct {
	name string
	a    *mat.Dense
	rank int
}

// shapes returns matrices of every kind: empty, 1 × 1, a row, a column,
// square, tall, wide, very tall and very wide (other paths in LAPACK), rank
// deficient, zero, badly scaled, a view with a stride.
func shapes() []shape {
	src := rand.NewChaCha8([32]byte{1})
	normal := func(r, c int) *mat.Dense { return linalg.Normal(r, c, src) }
	low := func(r, k, c int) *mat.Dense {
		var m mat.Dense
		m.Mul(normal(r, k), normal(k, c))
		return &m
	}
	scaled := func(f float64, m *mat.Dense) *mat.Dense {
		m.Scale(f, m)
		return m
	}
	view := normal(9, 9).Slice(2, 8, 3, 7).(*mat.Dense)
	return []shape{
		{"empty", &mat.Dense{}, 0},
		{"nil", nil, 0},
		{"1x1", mat.NewDense(1, 1, []float64{-3}), 1},
		{"row", normal(1, 6), 1},
		{"column", normal(6, 1), 1},
		{"square", normal(6, 6), 6},
		{"tall", normal(7, 5), 5},
		{"wide", normal(5, 7), 5},
		{"very tall", normal(200, 4), 4},
		{"very wide", normal(4, 200), 4},
		{"blocked", normal(90, 70), 70},
		{"rank 3 square", low(8, 3, 8), 3},
		{"rank 2 tall", low(60, 2, 6), 2},
		{"rank 2 wide", low(6, 2, 60), 2},
		{"rank 1", low(5, 1, 5), 1},
		{"zero", mat.NewDense(4, 3, nil), 0},
		{"zero wide", mat.NewDense(2, 9, nil), 0},
		{"identity", linalg.Haar(4, src), 4},
		{"huge", scaled(1e200, normal(6, 3)), 3},
		{"tiny", scaled(1e-200, normal(6, 3)), 3},
		{"view", view, 4},
	}
}

// tol is the backward error allowed in the property tests, relative to the
// norm of the input: 8·(m + n)·2⁻⁵², the bound that LAPACK's own tests use
// with a factor of 30 in place of 8.
func tol(a *mat.Dense) float64 {
	r, c := size(a)
	return 8 * float64(r+c) * linalg.Eps
}

func size(a *mat.Dense) (int, int) {
	if a == nil || a.IsEmpty() {
		return 0, 0
	}
	return a.Dims()
}

// distance is the largest difference of two matrices relative to the largest
// element of want, infinite if the shapes differ.
func distance(got, want *mat.Dense) float64 {
	gr, gc := size(got)
	wr, wc := size(want)
	if gr != wr || gc != wc {
		return math.Inf(1)
	}
	worst, scale := 0.0, 0.0
	for i := range wr {
		for j := range wc {
			worst = max(worst, math.Abs(got.At(i, j)-want.At(i, j)))
			scale = max(scale, math.Abs(want.At(i, j)))
		}
	}
	if worst == 0 {
		return 0
	}
	return worst / scale
}

func product(f ...mat.Matrix) *mat.Dense {
	p := mat.DenseCopyOf(f[0])
	for _, m := range f[1:] {
		var next mat.Dense
		next.Mul(p, m)
		p = &next
	}
	return p
}

func identity(n int) *mat.Dense {
	d := mat.NewDense(n, n, nil)
	for i := range n {
		d.Set(i, i, 1)
	}
	return d
}

// orthonormalColumns is the largest element of |QᵀQ − I|.
func orthonormalColumns(q *mat.Dense) float64 {
	_, c := q.Dims()
	return distance(product(q.T(), q), identity(c))
}

func TestSVD(t *testing.T) {
	for _, c := range shapes() {
		t.Run(c.name, func(t *testing.T) {
			var before *mat.Dense
			if r, _ := size(c.a); r > 0 {
				before = mat.DenseCopyOf(c.a)
			}
			u, s, v, err := linalg.SVD(c.a)
			if err != nil {
				t.Fatal(err)
			}
			r, n := size(c.a)
			if len(s) != min(r, n) {
				t.Fatalf("%d singular values of a %d × %d matrix", len(s), r, n)
			}
			if r == 0 {
				return
			}
			if distance(c.a, before) != 0 {
				t.Error("the argument was changed")
			}
			for i := range s {
				if s[i] < 0 || i > 0 && s[i] > s[i-1] {
					t.Errorf("singular values not decreasing and non-negative: %g", s)
				}
			}
			if e := max(orthonormalColumns(u), orthonormalColumns(v)); e > tol(c.a) {
				t.Errorf("singular vectors are orthonormal to %g only", e)
			}
			if e := distance(product(u, mat.NewDiagDense(len(s), s), v.T()), c.a); e > tol(c.a) {
				t.Errorf("U diag(s) Vᵀ differs from A by %g", e)
			}
			for j := range s {
				if lead(v.ColView(j)) < 0 {
					t.Errorf("leading element of right singular vector %d is negative", j)
				}
			}
			if rank := linalg.NumericalRank(s, r, n, 0); rank != c.rank {
				t.Errorf("rank %d, want %d", rank, c.rank)
			}
			if rank, err := linalg.Rank(c.a, 0); err != nil || rank != c.rank {
				t.Errorf("Rank = %d, %v, want %d", rank, err, c.rank)
			}
		})
	}
}

// lead is the first element within one millionth of the largest magnitude.
func lead(v mat.Vector) float64 {
	top := 0.0
	for i := range v.Len() {
		top = max(top, math.Abs(v.AtVec(i)))
	}
	for i := range v.Len() {
		if math.Abs(v.AtVec(i)) >= top*(1-1e-6) {
			return v.AtVec(i)
		}
	}
	return 0
}

// TestOneSided checks the decompositions that leave one side out by their
// defining properties, since they take other paths through LAPACK.
func TestOneSided(t *testing.T) {
	for _, c := range shapes() {
		t.Run(c.name, func(t *testing.T) {
			u, su, errU := linalg.SVDLeft(c.a)
			sv, v, errV := linalg.SVDRight(c.a)
			s, errS := linalg.SingularValues(c.a)
			if errU != nil || errV != nil || errS != nil {
				t.Fatal(errU, errV, errS)
			}
			if r, _ := size(c.a); r == 0 {
				if len(su)+len(sv)+len(s) != 0 {
					t.Error("singular values of the empty matrix")
				}
				return
			}
			for i := range s {
				// Singular values are found to a small multiple of eps times the largest.
				if d := max(math.Abs(su[i]-s[i]), math.Abs(sv[i]-s[i])); d > tol(c.a)*s[0] {
					t.Errorf("singular value %d differs by %g between the three", i, d)
				}
			}
			if e := max(orthonormalColumns(u), orthonormalColumns(v)); e > tol(c.a) {
				t.Errorf("singular vectors are orthonormal to %g only", e)
			}
			// A = U Uᵀ A = A V Vᵀ, and the rows of Uᵀ A have the norms s.
			if e := max(distance(product(u, u.T(), c.a), c.a), distance(product(c.a, v, v.T()), c.a)); e > tol(c.a) {
				t.Errorf("projection on the singular vectors changes A by %g", e)
			}
			for j := range s {
				left := mat.Norm(product(c.a.T(), u.ColView(j)), 2)
				right := mat.Norm(product(c.a, v.ColView(j)), 2)
				if d := max(math.Abs(left-s[j]), math.Abs(right-s[j])); d > tol(c.a)*s[0] {
					t.Errorf("singular vector %d does not belong to its value: off by %g", j, d)
				}
				if lead(u.ColView(j)) < 0 || lead(v.ColView(j)) < 0 {
					t.Errorf("leading element of singular vector %d is negative", j)
				}
			}
		})
	}
}

// TestPinv checks the four conditions of Moore and Penrose.
func TestPinv(t *testing.T) {
	for _, c := range shapes() {
		t.Run(c.name, func(t *testing.T) {
			p, rank, err := linalg.Pinv(c.a, 0)
			if err != nil {
				t.Fatal(err)
			}
			if rank != c.rank {
				t.Errorf("rank %d, want %d", rank, c.rank)
			}
			r, n := size(c.a)
			pr, pn := size(p)
			if pr != n || pn != r {
				t.Fatalf("shape %d × %d, want %d × %d", pr, pn, n, r)
			}
			if r == 0 {
				return
			}
			s, err := linalg.SingularValues(c.a)
			if err != nil {
				t.Fatal(err)
			}
			cond := 1.0
			if rank > 0 {
				cond = s[0] / s[rank-1]
			}
			bound := tol(c.a) * cond // the pseudo-inverse is exact to eps times the condition
			ap, pa := product(c.a, p), product(p, c.a)
			if e := distance(product(ap, c.a), c.a); e > bound {
				t.Errorf("A A⁺ A differs from A by %g, bound %g", e, bound)
			}
			if e := distance(product(pa, p), p); e > bound {
				t.Errorf("A⁺ A A⁺ differs from A⁺ by %g, bound %g", e, bound)
			}
			if e := max(distance(ap, mat.DenseCopyOf(ap.T())), distance(pa, mat.DenseCopyOf(pa.T()))); e > bound {
				t.Errorf("A A⁺ or A⁺ A is not symmetric: %g, bound %g", e, bound)
			}
		})
	}
}

func TestPinvCutoff(t *testing.T) {
	a := mat.NewDense(3, 3, []float64{4, 0, 0, 0, 2, 0, 0, 0, 1})
	for _, c := range []struct {
		rcond float64
		rank  int
	}{{0, 3}, {0.2, 3}, {0.25, 2}, {0.4, 2}, {0.6, 1}} {
		p, rank, err := linalg.Pinv(a, c.rcond)
		if err != nil || rank != c.rank {
			t.Errorf("rcond %g: rank %d, %v, want %d", c.rcond, rank, err, c.rank)
		}
		for i := range 3 {
			want := 0.0
			if i < c.rank {
				want = 1 / a.At(i, i)
			}
			if got := p.At(i, i); math.Abs(got-want) > 4*linalg.Eps {
				t.Errorf("rcond %g: element %d is %g, want %g", c.rcond, i, got, want)
			}
		}
	}
}

func TestLeastSquares(t *testing.T) {
	src := rand.NewChaCha8([32]byte{2})
	for _, c := range shapes() {
		r, _ := size(c.a)
		if r == 0 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			b := linalg.Normal(r, 3, src)
			x, fit, err := linalg.LeastSquares(c.a, b, 0)
			if err != nil {
				t.Fatal(err)
			}
			p, rank, err := linalg.Pinv(c.a, 0)
			if err != nil {
				t.Fatal(err)
			}
			if fit.Rank != rank || fit.Rank != c.rank {
				t.Errorf("rank %d, Pinv says %d, want %d", fit.Rank, rank, c.rank)
			}
			if e := distance(x, product(p, b)); e > tol(c.a)*max(1, fit.Cond) {
				t.Errorf("differs from A⁺B by %g at condition %g", e, fit.Cond)
			}
		})
	}
	if x, fit, err := linalg.LeastSquares(&mat.Dense{}, &mat.Dense{}, 0); err != nil || !x.IsEmpty() || fit.Rank != 0 {
		t.Errorf("empty problem: %v, %v, %v", x, fit, err)
	}
	if _, _, err := linalg.LeastSquares(mat.NewDense(3, 1, nil), mat.NewDense(2, 1, nil), 0); err == nil ||
		!strings.Contains(err.Error(), "right-hand side has 2 rows, the matrix has 3") {
		t.Errorf("different numbers of rows: %v", err)
	}
}

// TestPolar checks that the factor is orthogonal and that QᵀM is symmetric
// and positive semidefinite, which makes it the polar factor.
func TestPolar(t *testing.T) {
	for _, c := range shapes() {
		t.Run(c.name, func(t *testing.T) {
			q, info, err := linalg.Polar(c.a)
			if err != nil {
				t.Fatal(err)
			}
			if info.Rank != c.rank {
				t.Errorf("rank %d, want %d", info.Rank, c.rank)
			}
			if (info.Cond >= 1) != (c.rank > 0) || info.Rank == min(size(c.a)) && c.rank > 0 &&
				info.Cond != info.Largest/info.Smallest {
				t.Errorf("condition number %g at rank %d", info.Cond, c.rank)
			}
			r, n := size(c.a)
			if qr, qn := size(q); qr != r || qn != n {
				t.Fatalf("shape %d × %d, want %d × %d", qr, qn, r, n)
			}
			if r == 0 {
				return
			}
			a, o := c.a, q
			if r < n { // a wide matrix has orthonormal rows
				a, o = mat.DenseCopyOf(c.a.T()), mat.DenseCopyOf(q.T())
			}
			if e := orthonormalColumns(o); e > tol(a) {
				t.Errorf("orthonormal to %g only", e)
			}
			h := product(o.T(), a)
			if e := distance(h, mat.DenseCopyOf(h.T())); e > tol(a) {
				t.Errorf("QᵀM is not symmetric: %g", e)
			}
			k, _ := h.Dims()
			sym := mat.NewSymDense(k, nil)
			unit := max(info.Largest, math.SmallestNonzeroFloat64) // gonum's Dsterf panics on tiny matrices
			for i := range k {
				for j := i; j < k; j++ {
					sym.SetSym(i, j, (h.At(i, j)/unit+h.At(j, i)/unit)/2)
				}
			}
			var eig mat.EigenSym
			if !eig.Factorize(sym, false) {
				t.Fatal("eigenvalues did not converge")
			}
			ev := eig.Values(nil)
			if ev[0] < -tol(a) {
				t.Errorf("QᵀM has the eigenvalue %g: not positive semidefinite", ev[0])
			}
			if d := max(math.Abs(ev[0]-info.Smallest/unit), math.Abs(ev[k-1]-info.Largest/unit)); d > tol(a) {
				t.Errorf("singular values reported as %g and %g, off by %g of the largest", info.Smallest, info.Largest, d)
			}
		})
	}
}

func TestQR(t *testing.T) {
	for _, c := range shapes() {
		t.Run(c.name, func(t *testing.T) {
			q, r, err := linalg.QR(c.a)
			if err != nil {
				t.Fatal(err)
			}
			rows, cols := size(c.a)
			if rows == 0 {
				if !q.IsEmpty() || !r.IsEmpty() {
					t.Error("decomposition of the empty matrix is not empty")
				}
				return
			}
			if e := orthonormalColumns(q); e > tol(c.a) {
				t.Errorf("Q is orthonormal to %g only", e)
			}
			if e := distance(product(q, r), c.a); e > tol(c.a) {
				t.Errorf("Q R differs from A by %g", e)
			}
			for i := range min(rows, cols) {
				if r.At(i, i) < 0 {
					t.Errorf("R[%d,%d] is negative", i, i)
				}
				for j := range i {
					if r.At(i, j) != 0 {
						t.Errorf("R[%d,%d] is not zero", i, j)
					}
				}
			}
		})
	}
}

func TestNotFinite(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		a := mat.NewDense(3, 2, []float64{1, 2, 3, 4, 5, 6})
		a.Set(1, 1, bad)
		errs := map[string]error{"CheckFinite": linalg.CheckFinite(a)}
		_, _, _, errs["SVD"] = linalg.SVD(a)
		_, _, errs["SVDLeft"] = linalg.SVDLeft(a)
		_, _, errs["SVDRight"] = linalg.SVDRight(a)
		_, errs["SingularValues"] = linalg.SingularValues(a)
		_, errs["Rank"] = linalg.Rank(a, 0)
		_, _, errs["Pinv"] = linalg.Pinv(a, 0)
		_, _, errs["Polar"] = linalg.Polar(a)
		_, _, errs["QR"] = linalg.QR(a)
		_, _, errs["LeastSquares"] = linalg.LeastSquares(a, mat.NewDense(3, 1, nil), 0)
		_, _, errs["LeastSquares, right-hand side"] = linalg.LeastSquares(mat.NewDense(3, 1, nil), a, 0)
		for name, err := range errs {
			if err == nil || !strings.Contains(err.Error(), "row 2, column 2 is not a finite number") {
				t.Errorf("%s with %g: %v", name, bad, err)
			}
		}
	}
	if err := linalg.CheckFinite(nil); err != nil {
		t.Errorf("nil matrix: %v", err)
	}
}

// TestOverflow holds that a result beyond the range of float64 is an error and
// not a matrix of infinities.
func TestOverflow(t *testing.T) {
	small := mat.NewDense(1, 1, []float64{1e-310})
	if _, _, err := linalg.Pinv(small, 0); err == nil || !strings.Contains(err.Error(), "overflows") {
		t.Errorf("Pinv: %v", err)
	}
	if _, _, err := linalg.LeastSquares(small, mat.NewDense(1, 1, []float64{1}), 0); err == nil ||
		!strings.Contains(err.Error(), "overflows") {
		t.Errorf("LeastSquares: %v", err)
	}
	large := mat.NewDense(2, 1, []float64{math.MaxFloat64, math.MaxFloat64})
	if _, err := linalg.SingularValues(large); err == nil || !strings.Contains(err.Error(), "overflows") {
		t.Errorf("SingularValues: %v", err)
	}
}

func TestMisusePanics(t *testing.T) {
	src := rand.NewChaCha8([32]byte{})
	for name, f := range map[string]func(){
		"negative rcond": func() { linalg.NumericalRank([]float64{1}, 1, 1, -1) },
		"NaN rcond":      func() { linalg.NumericalRank([]float64{1}, 1, 1, math.NaN()) },
		"negative size":  func() { linalg.Uniform(-1, 2, src) },
		"wide Stiefel":   func() { linalg.Stiefel(2, 3, src) },
	} {
		func() {
			defer func() {
				if r := recover(); r == nil || !strings.HasPrefix(r.(string), "linalg: ") {
					t.Errorf("%s: recovered %v", name, r)
				}
			}()
			f()
		}()
	}
}
