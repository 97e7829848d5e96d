package party

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/contract"
	"concord/linalg"
)

// sample is what the attacks run on: n rows of m features with decaying variation,
// through a basis of l columns.
func sample(n, m, l int, seed uint64) measured {
	src := rand.NewPCG(seed, 1)
	x := linalg.Normal(n, m, src)
	for j := range m {
		for i := range n {
			x.Set(i, j, x.At(i, j)/math.Sqrt(1+float64(j)))
		}
	}
	q := measured{contract: &contract.Contract{Protocol: "dc"}, x: x, high: x, z: new(mat.Dense), f: linalg.Stiefel(m, l, src), a: linalg.Normal(2*m, m, src), image: new(mat.Dense), src: src}
	q.z.Mul(q.x, q.f)
	q.image.Mul(q.a, q.f)
	for range m {
		q.contract.Features = append(q.contract.Features, contract.Feature{Name: "x"})
	}
	return q
}

func finding(t *testing.T, r Report, name string) Finding {
	t.Helper()
	i := slices.IndexFunc(r.Findings, func(f Finding) bool { return f.Name == name })
	if i < 0 {
		t.Fatalf("no finding %s among %+v", name, r.Findings)
	}
	return r.Findings[i]
}

// TestAttackKnowsAll: where nothing is left out the colluders have every row, and the
// report says so in every figure.
func TestAttackKnowsAll(t *testing.T) {
	var r Report
	if err := sample(200, 6, 6, 1).attack(&r); err != nil {
		t.Fatal(err)
	}
	// A pseudo-inverse of a well-conditioned anchor: rounding.
	for name, most := range map[string]float64{"eps-dr": 1e-7, "reconstruction": 1e-12, "reconstruction-row": 1e-7} {
		if f := finding(t, r, name); !(f.Value <= most) || !f.Warn || f.Against != againstColluders {
			t.Errorf("%+v, want a warning and at most %g", f, most)
		}
	}
	if f := finding(t, r, "linkage"); f.Value != 1 || !f.Warn || r.Linked != 1 {
		t.Errorf("%+v, want everybody linked", f)
	}
	if f := finding(t, r, "dimension"); f.Value != 1 || !f.Warn {
		t.Errorf("%+v", f)
	}
	if len(r.Reconstructed) != 6 || r.Reconstructed[5].Ratio > 1e-6 {
		t.Errorf("features %+v", r.Reconstructed)
	}
}

// TestAttackKnowsLittle: one direction of twenty tells little.
func TestAttackKnowsLittle(t *testing.T) {
	var r Report
	q := sample(300, 20, 1, 2)
	for j := range 20 { // no direction matters more than another
		for i := range 300 {
			q.x.Set(i, j, q.x.At(i, j)*math.Sqrt(1+float64(j)))
		}
	}
	q.z.Mul(q.x, q.f)
	if err := q.attack(&r); err != nil {
		t.Fatal(err)
	}
	// A direction of twenty holds a twentieth of the variation.
	if f := finding(t, r, "reconstruction"); math.Abs(f.Value-0.95) > 0.03 || f.Warn {
		t.Errorf("%+v, want about .95 and no warning", f)
	}
	if f := finding(t, r, "eps-dr"); f.Value < 0.1 || f.Warn {
		t.Errorf("%+v", f)
	}
	if f := finding(t, r, "linkage"); f.Value > 0.2 || f.Warn {
		t.Errorf("%+v", f)
	}
}

// TestAttackAroundMeans: rows far from zero, as ranges in a contract leave them, are
// reconstructed around their means: an offset hides nobody.
func TestAttackAroundMeans(t *testing.T) {
	q := sample(200, 6, 4, 5)
	var plain, shifted Report
	if err := q.attack(&plain); err != nil {
		t.Fatal(err)
	}
	for j := range 6 {
		for i := range 200 {
			q.x.Set(i, j, q.x.At(i, j)+float64(20*(j-2)))
		}
	}
	q.z.Mul(q.x, q.f)
	if err := q.attack(&shifted); err != nil {
		t.Fatal(err)
	}
	a, b := finding(t, plain, "reconstruction"), finding(t, shifted, "reconstruction")
	// The same deviations come back, but for rounding of offsets of 80.
	if math.Abs(a.Value-b.Value) > 1e-9 || math.Abs(plain.Linked-shifted.Linked) > 1e-9 {
		t.Errorf("unexplained %g and linked %g, shifted %g and %g", a.Value, plain.Linked, b.Value, shifted.Linked)
	}
	if !(a.Value < 0.6 && plain.Linked > 0.2) {
		t.Errorf("the attack gains little: %+v, linked %g", a, plain.Linked)
	}
}

// BenchmarkReport is the report on 100,000 rows of 200 features, of which 160
// directions leave; people have three rows each.
func BenchmarkReport(b *testing.B) {
	q := sample(100_000, 200, 160, 3)
	q.people = make([]int, 100_000)
	for i := range q.people {
		q.people[i] = i / 3
	}
	for b.Loop() {
		var r Report
		if err := q.attack(&r); err != nil {
			b.Fatal(err)
		}
	}
}

// TestUniformAnchorShows: images of a uniform anchor tell the analyst directions of single
// features; the report says so, and nothing of the kind of a normal one.
func TestUniformAnchorShows(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	for _, kind := range []string{"uniform", "normal"} {
		q := sample(2000, 6, 5, 3)
		q.x = linalg.Normal(2000, 6, q.src)
		q.contract.Anchor.Kind = kind
		if kind == "uniform" {
			q.a = linalg.Uniform(2000, 6, q.src)
		} else {
			q.a = linalg.Normal(2000, 6, q.src)
		}
		q.z.Mul(q.x, q.f)
		q.image.Reset()
		q.image.Mul(q.a, q.f)
		var r Report
		if err := q.attack(&r); err != nil {
			t.Fatal(err)
		}
		shown := slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Name == "anchor-components" })
		if shown != (kind == "uniform") {
			t.Errorf("%s: shown %v", kind, shown)
		}
		if !shown {
			continue
		}
		if f := finding(t, r, "anchor-components"); f.Value < 0.85 || !f.Warn || f.Against != againstAnalyst {
			t.Errorf("%+v", f)
		}
		// Sorting by such a direction collates, where no principal one does.
		if f := finding(t, r, "collation"); f.Value < 0.85 {
			t.Errorf("%+v", f)
		}
	}
}
