package align_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"concord/align"
	"concord/anchor"
	"concord/basis"
	"concord/linalg"
	"concord/secret"
)

// worldSize is the size of a made-up study: c parties, m features, l columns,
// a anchor rows of a kind.
type worldSize struct {
	c, m, l, a int
	kind       string
}

func sizes() []worldSize {
	return []worldSize{
		{1, 3, 2, 0, "orthonormal"},
		{2, 1, 1, 0, "orthonormal"},
		{2, 1, 1, 5, "uniform"},
		{3, 8, 3, 0, "orthonormal"},
		{3, 8, 3, 40, "uniform"},
		{4, 8, 8, 8, "normal"},
		{5, 12, 1, 12, "uniform"},
		{6, 30, 8, 0, "uniform"},
		{20, 10, 4, 30, "normal"},
	}
}

// world is a study with everything in view: A, F_i = V R_i of one span and
// A_i = A F_i.
type world struct {
	worldSize
	name   string
	anchor *mat.Dense
	bases  []*mat.Dense
	turns  []*mat.Dense // R_i, l × l
	reps   []*mat.Dense
}

// newWorld makes a study under SameSpan-Orth (R_i Haar) or SameSpan (R_i
// normal), as [nosaka2025], section V-C, names them. V is the basis that party 1 makes from its
// rows.
func newWorld(t *testing.T, sz worldSize, orthogonal bool) world {
	t.Helper()
	seed, err := anchor.DeriveSeed([32]byte{1}, []anchor.Share{
		{Key: make([]byte, 32), Entropy: secret.NewBytes([]byte(strings.Repeat("a", 32)))},
		{Key: []byte(strings.Repeat("k", 32)), Entropy: secret.NewBytes([]byte(strings.Repeat("b", 32)))},
	})
	if err != nil {
		t.Fatal(err)
	}
	a, err := anchor.Generate(anchor.Spec{Kind: sz.kind, Rows: sz.a}, seed, sz.m)
	if err != nil {
		t.Fatal(err)
	}
	src := source(11)
	b, _, err := basis.New(basis.Spec{Kind: "svd", Dim: sz.l}, secret.NewMatrix(linalg.Normal(2*sz.m, sz.m, src)), basis.Shared{}, src)
	if err != nil {
		t.Fatal(err)
	}
	w := world{worldSize: sz, name: fmt.Sprintf("c %d, m %d, l %d, %s", sz.c, sz.m, sz.l, sz.kind), anchor: a.Reveal()}
	for range sz.c {
		r := linalg.Haar(sz.l, src)
		if !orthogonal {
			r = linalg.Normal(sz.l, sz.l, src)
		}
		f := mul(b.Matrix().Reveal(), r)
		w.turns = append(w.turns, r)
		w.bases = append(w.bases, f)
		w.reps = append(w.reps, mul(w.anchor, f))
	}
	return w
}

// tolerance bounds the relative error of F_i G_i: eps times the number of terms
// of the sums, times the condition numbers that the two steps see, that of
// what the method inverts and those of A and F_i, with a factor of 8 for the
// constants.
func (w world) tolerance(t *testing.T, r *align.Result) float64 {
	t.Helper()
	cond := func(m *mat.Dense) float64 {
		s, err := linalg.SingularValues(m)
		if err != nil {
			t.Fatal(err)
		}
		return s[0] / s[len(s)-1]
	}
	worst := 0.0
	for i := range w.bases {
		worst = math.Max(worst, cond(w.bases[i])*r.Conds[i])
	}
	for _, g := range r.G {
		worst = math.Max(worst, cond(g))
	}
	rows, _ := w.anchor.Dims()
	return 8 * float64(rows+w.c*w.l) * linalg.Eps * cond(w.anchor) * worst
}

// TestODCConcordance checks [nosaka2025], theorem IV.3: under SameSpan-Orth all F_i G_i
// are equal for every O, and G_i = R_iᵀ R_1 O.
func TestODCConcordance(t *testing.T) {
	for _, sz := range sizes() {
		w := newWorld(t, sz, true)
		for seed := range byte(4) {
			opt, o := align.Options{}, eye(sz.l)
			if seed > 0 {
				opt = align.Options{Target: align.Random, Source: source(seed)}
				o = linalg.Haar(sz.l, source(seed))
			}
			r := run(t, "odc", w.reps, opt)
			tol := w.tolerance(t, r)
			for i := range w.bases {
				if e := difference(mul(w.bases[i], r.G[i]), mul(w.bases[0], r.G[0])); e > tol {
					t.Errorf("%s, O %d: F_%d G_%d differs from F_1 G_1 by %g, bound %g", w.name, seed, i+1, i+1, e, tol)
				}
				if e := difference(r.G[i], mul(w.turns[i].T(), w.turns[0], o)); e > tol {
					t.Errorf("%s, O %d: G_%d differs from R_%dᵀ R_1 O by %g, bound %g", w.name, seed, i+1, i+1, e, tol)
				}
				if math.Abs(r.Overlap[i]-1) > tol {
					t.Errorf("%s: overlap of party %d is %g, want 1 for equal spans", w.name, i+1, r.Overlap[i])
				}
			}
			if scale := math.Pow(mat.Norm(w.reps[0], 2), 2); r.Residual > tol*tol*scale*float64(sz.c) {
				t.Errorf("%s, O %d: residual %g of %g for concordant G", w.name, seed, r.Residual, scale)
			}
			if len(r.Warnings) != 0 {
				t.Errorf("%s: warnings %q", w.name, r.Warnings)
			}
		}
	}
}

// TestODCOrthogonal checks on random shapes and ranks that every G_i is
// orthogonal, and that no random orthogonal matrix comes nearer to the target.
func TestODCOrthogonal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := rapid.IntRange(1, 8).Draw(t, "l")
		rows := rapid.IntRange(l, 20).Draw(t, "rows")
		src := source(rapid.Byte().Draw(t, "seed"))
		var a []*mat.Dense
		for range rapid.IntRange(1, 4).Draw(t, "parties") {
			x := mat.NewDense(rows, l, nil)
			if rank := rapid.IntRange(0, l).Draw(t, "rank"); rank > 0 {
				x.Mul(linalg.Normal(rows, rank, src), linalg.Normal(rank, l, src))
			}
			a = append(a, x)
		}
		r, err := align.ODC(a, align.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i, g := range r.G {
			// U and V are orthonormal to a few eps for each of l columns.
			if e := difference(mul(g.T(), g), eye(l)); e > 32*float64(l)*linalg.Eps {
				t.Fatalf("G_%d is orthogonal to %g only", i+1, e)
			}
			far := func(g *mat.Dense) float64 {
				var d mat.Dense
				d.Sub(mul(a[i], g), a[0])
				return mat.Norm(&d, 2)
			}
			// Distances are exact to eps for each of the rows·l terms.
			slack := 8 * float64(rows*l) * linalg.Eps * (mat.Norm(a[i], 2) + mat.Norm(a[0], 2))
			if rival := linalg.Haar(l, src); far(g) > far(rival)+slack {
				t.Fatalf("G_%d is at %g from the target, a random matrix at %g", i+1, far(g), far(rival))
			}
		}
	})
}

// TestODCInvariance checks what the order of the parties and turned bases
// change: nothing while party 1 stays, and with a turned A_1 all A_i G_i by
// the same turn.
func TestODCInvariance(t *testing.T) {
	src := source(9)
	for _, s := range shapes(t) {
		if s.deficient || !s.even() {
			continue
		}
		l := s.cols()[0]
		r := run(t, "odc", s.a, align.Options{})
		x := collaboration(s.a, r.G)
		// The polar factor moves by the change of A_iᵀA_1 over its smallest
		// singular value: eps times the terms of the sum, times the condition.
		rows, _ := s.a[0].Dims()
		worst, norm := 1.0, 0.0
		for i := range s.a {
			worst = math.Max(worst, r.Conds[i])
			norm = math.Max(norm, mat.Norm(s.a[i], 2))
		}
		tol := 8 * float64(rows+l) * linalg.Eps * worst * norm * math.Sqrt(float64(l))

		e := linalg.Haar(l, src)
		turned := []*mat.Dense{mul(s.a[0], e)}
		for i := len(s.a) - 1; i > 0; i-- { // the others in another order, each turned
			turned = append(turned, mul(s.a[i], linalg.Haar(l, src)))
		}
		y := collaboration(turned, run(t, "odc", turned, align.Options{}).G)
		for i := range x {
			j := 0
			if i > 0 {
				j = len(s.a) - i
			}
			if d := difference(mul(x[i], e), y[j]); d > tol {
				t.Errorf("%s: A_%d G_%d moves by %g beyond the turn of A_1, bound %g", s.name, i+1, i+1, d, tol)
			}
		}
	}
}

// TestODCOverlap checks the overlap against the angle between the spans for an
// orthonormal anchor, and the warnings where Procrustes is blind.
func TestODCOverlap(t *testing.T) {
	const m = 6
	a := linalg.Haar(m, source(1))
	a.Scale(math.Sqrt(m), a)
	first := mat.NewDense(m, 2, nil)
	first.Set(0, 0, 1)
	first.Set(1, 1, 1)
	for _, angle := range []float64{0, 0.3, 1, 1.5, 1.5605, 1.5655, math.Pi / 2} {
		f := mat.NewDense(m, 2, nil) // shares one direction, turns the other by angle
		f.Set(0, 0, 1)
		f.Set(1, 1, math.Cos(angle))
		f.Set(2, 1, math.Sin(angle))
		r := run(t, "odc", []*mat.Dense{mul(a, first), mul(a, mul(f, linalg.Haar(2, source(2))))}, align.Options{})
		// The entries of A_iᵀA_1 are sums of m products, of size m.
		if math.Abs(r.Overlap[1]-math.Cos(angle)) > 32*m*linalg.Eps {
			t.Errorf("overlap %g at angle %g, want %g", r.Overlap[1], angle, math.Cos(angle))
		}
		if warn := math.Cos(angle) < 0.01; warn != (len(r.Warnings) == 1) {
			t.Errorf("warnings %q at overlap %g", r.Warnings, r.Overlap[1])
		} else if warn && !strings.HasPrefix(r.Warnings[0], "party 2: ") {
			t.Errorf("warning %q does not name the party", r.Warnings[0])
		}
	}
	// Disjoint features: A_2ᵀA_1 is zero up to rounding. It is either of low
	// rank or all noise; both must be said.
	disjoint := mat.NewDense(m, 2, nil)
	disjoint.Set(3, 0, 1)
	disjoint.Set(4, 1, 1)
	r := run(t, "odc", []*mat.Dense{mul(a, first), mul(a, disjoint)}, align.Options{})
	if len(r.Warnings) != 1 || r.Overlap[1] > 32*m*linalg.Eps {
		t.Errorf("disjoint features: overlap %g, warnings %q", r.Overlap[1], r.Warnings)
	}
	zero := run(t, "odc", []*mat.Dense{mul(a, first), mat.NewDense(m, 2, nil)}, align.Options{})
	if zero.Ranks[1] != 0 || zero.Overlap[1] != 0 || len(zero.Warnings) != 1 || !strings.Contains(zero.Warnings[0], "has rank 0 of 2") {
		t.Errorf("zero A_2: %+v", zero)
	}
}
