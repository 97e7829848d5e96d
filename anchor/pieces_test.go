package anchor_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"concord/anchor"
	"concord/anchor/spec"
	_ "concord/internal/repeatable" // the same cases every time
	"concord/linalg"
	"concord/secret"
)

func source(seed byte) *rand.ChaCha8 { return rand.NewChaCha8([32]byte{seed}) }

// rowsOf are the rows of x as slices.
func rowsOf(x *mat.Dense) [][]float64 {
	n, _ := x.Dims()
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = x.RawRowView(i)
	}
	return rows
}

// indexOf is the row of x that equals v, or −1.
func indexOf(x *mat.Dense, v []float64) int {
	return slices.IndexFunc(rowsOf(x), func(r []float64) bool { return slices.Equal(r, v) })
}

// TestMix holds the definition with R = linalg.Normal / √p, the shape, the rank, the scale, and that no public row is in A.
func TestMix(t *testing.T) {
	public := linalg.Normal(30, 6, source(1))
	for i := range 30 { // a column of another scale and one that repeats another
		public.Set(i, 1, 100*public.At(i, 1))
		public.Set(i, 5, public.At(i, 0))
	}
	before := mat.DenseCopyOf(public)
	a, err := anchor.Mix(public, 4000, source(2))
	if err != nil {
		t.Fatal(err)
	}
	again, err := anchor.Mix(public, 4000, source(2))
	if err != nil || !mat.Equal(a.Reveal(), again.Reveal()) || !mat.Equal(public, before) {
		t.Errorf("not repeatable, or the public rows changed (%v)", err)
	}
	if n, m := a.Dims(); n != 4000 || m != 6 {
		t.Fatalf("shape %d × %d", n, m)
	}
	r := linalg.Normal(4000, 30, source(2))
	var want mat.Dense
	want.Mul(r, public)
	want.Scale(1/math.Sqrt(30), &want)
	// Sums of 30 products of up to 400, scaled before or after.
	if !mat.EqualApprox(a.Reveal(), &want, 1e-10) {
		t.Error("A is not R P")
	}
	if rank, err := linalg.Rank(a.Reveal(), 0); err != nil || rank != 5 {
		t.Errorf("rank %d, %v, want that of the public rows, 5", rank, err)
	}
	// ‖column‖² is Σ over 4000 rows of a normal number's square with the public
	// column's mean square: relative deviation √(2/4000) = 0.022, five of them.
	for j := range 6 {
		have := mat.Norm(a.Reveal().ColView(j), 2) / math.Sqrt(4000)
		want := mat.Norm(public.ColView(j), 2) / math.Sqrt(30)
		if math.Abs(have*have/(want*want)-1) > 0.11 {
			t.Errorf("column %d has the scale %g, public rows have %g", j+1, have, want)
		}
	}
	for i := range 30 {
		if indexOf(a.Reveal(), public.RawRowView(i)) >= 0 {
			t.Errorf("public row %d is in the anchor", i+1)
		}
	}
	few, err := anchor.Mix(public, 3, source(2))
	if err != nil {
		t.Fatal(err)
	}
	// Blocked products of another size may sum in another order.
	if head := a.Reveal().Slice(0, 3, 0, 6); !mat.EqualApprox(few.Reveal(), head, 1e-12*mat.Norm(head, 2)) {
		t.Error("a larger anchor does not begin with the rows of a smaller one")
	}
}

func TestSample(t *testing.T) {
	public := linalg.Normal(12, 3, source(1))
	for _, rows := range []int{1, 5, 12} {
		a, err := anchor.Sample(public, rows, source(2))
		if err != nil {
			t.Fatal(err)
		}
		seen := map[int]bool{}
		for _, r := range rowsOf(a.Reveal()) {
			seen[indexOf(public, r)] = true
		}
		if n, _ := a.Dims(); n != rows || len(seen) != rows || seen[-1] {
			t.Errorf("%d rows, %d different public ones, want %d", n, len(seen), rows)
		}
	}
	a, _ := anchor.Sample(public, 12, source(2))
	b, _ := anchor.Sample(public, 12, source(3))
	if mat.Equal(a.Reveal(), b.Reveal()) {
		t.Error("another source draws the same order")
	}
}

// delta is δ of [imakura2023].
const delta = 0.05

// TestLowRankPiece holds that a piece is the truncation up to δ in every element,
// and that the noise fills [−δ, δ] and the rank.
func TestLowRankPiece(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, m := rapid.IntRange(1, 20).Draw(t, "n"), rapid.IntRange(1, 8).Draw(t, "m")
		rank := rapid.IntRange(1, min(n, m)).Draw(t, "rank")
		x := linalg.Normal(n, m, source(rapid.Byte().Draw(t, "seed")))
		u, s, v, err := linalg.SVD(x)
		if err != nil {
			t.Fatal(err)
		}
		want := mat.NewDense(n, m, nil)
		for k := range rank {
			want.RankOne(want, s[k], u.ColView(k), v.ColView(k))
		}
		before := mat.DenseCopyOf(x)
		bare, err := anchor.LowRankPiece(secret.NewMatrix(x), rank, 0, source(1))
		if err != nil {
			t.Fatal(err)
		}
		// Sums of rank products with norms up to s₁, each exact to eps.
		tol := 8 * float64(n+m) * linalg.Eps * s[0]
		if !mat.EqualApprox(bare.Reveal(), want, tol) || !mat.Equal(x, before) {
			t.Fatal("without noise the piece is not the truncation, or the rows changed")
		}
		piece, err := anchor.LowRankPiece(secret.NewMatrix(x), rank, delta, source(1))
		if err != nil {
			t.Fatal(err)
		}
		var e mat.Dense
		e.Sub(piece.Reveal(), bare.Reveal())
		if mat.Max(&e) > delta+tol || mat.Min(&e) < -delta-tol {
			t.Fatal("noise above δ")
		}
		if r, err := linalg.Rank(piece.Reveal(), 0); err != nil || r != min(n, m) {
			t.Fatalf("rank %d of %d × %d with noise (%v)", r, n, m, err)
		}
	})
	piece, err := anchor.LowRankPiece(secret.NewMatrix(mat.NewDense(200, 50, nil)), 1, 0.5, source(4))
	if err != nil {
		t.Fatal(err)
	}
	// Of 10⁴ uniform numbers the mean has the deviation 0.0029, and the largest is
	// below 0.499 with probability e⁻¹⁰.
	sum := mat.Sum(piece.Reveal()) / 1e4
	if p := piece.Reveal(); math.Abs(sum) > 0.015 || mat.Max(p) < 0.499 || mat.Min(p) > -0.499 {
		t.Errorf("noise has the mean %g and lies in [%g, %g], want 0 and ±0.5", sum, mat.Min(p), mat.Max(p))
	}
}

// TestSMOTEPiece finds for every new row a pair on whose line it lies: a row and
// one of its k nearest.
func TestSMOTEPiece(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 12).Draw(t, "n")
		k := rapid.IntRange(1, n-1).Draw(t, "k")
		rows := rapid.IntRange(1, 30).Draw(t, "rows")
		x := linalg.Normal(n, 3, source(rapid.Byte().Draw(t, "seed")))
		piece, err := anchor.SMOTEPiece(secret.NewMatrix(x), rows, k, source(9))
		if err != nil {
			t.Fatal(err)
		}
		if r, m := piece.Dims(); r != rows || m != 3 {
			t.Fatalf("shape %d × %d", r, m)
		}
		for _, z := range rowsOf(piece.Reveal()) {
			found := false
			for i := range n {
				found = found || on(x, z, i, k)
			}
			if !found {
				t.Fatal("a row lies on no line from a row to one of its nearest")
			}
		}
	})
}

// TestSMOTENeighbours: a row goes with each of its k nearest, as often with one as with
// another, and lies anywhere between. With the nearest alone the piece would show little
// but a walk between pairs of rows.
func TestSMOTENeighbours(t *testing.T) {
	const n, k, rows = 6, 3, 18000
	x := linalg.Normal(n, 2, source(3))
	piece, between, err := anchor.SMOTEPieceOf(secret.NewMatrix(x), rows, k, source(4))
	if err != nil {
		t.Fatal(err)
	}
	count, sum := map[[2]int]int{}, 0.0
	for i, pair := range between {
		count[pair]++
		a, b, z := x.RawRowView(pair[0]), x.RawRowView(pair[1]), piece.Reveal().RawRowView(i)
		if pair[0] == pair[1] || !on(x, z, pair[0], k) {
			t.Fatalf("row %d does not lie between rows %v", i, pair)
		}
		sum += (z[0] - a[0]) / (b[0] - a[0])
	}
	if len(count) != n*k {
		t.Errorf("%d pairs of a row and a neighbour, want %d", len(count), n*k)
	}
	// Each is expected 1000 times with a deviation of 31: with another seed one of 18 would
	// be off by 5 deviations with probability 1e-5.
	for pair, c := range count {
		if c < 845 || c > 1155 {
			t.Errorf("pair %v comes %d times of %d, want about %d", pair, c, rows, rows/n/k)
		}
	}
	// The mean of 18,000 uniform numbers has the deviation 0.0022.
	if mean := sum / rows; !(math.Abs(mean-0.5) < 0.011) {
		t.Errorf("rows lie at %g of the way in the mean, want a half", mean)
	}
}

// on tells whether z lies between row i of x and one of its k nearest.
func on(x *mat.Dense, z []float64, i, k int) bool {
	n, m := x.Dims()
	type other struct {
		at       int
		distance float64
	}
	var others []other
	for j := range n {
		if j != i {
			var d mat.VecDense
			d.SubVec(x.RowView(j), x.RowView(i))
			others = append(others, other{j, mat.Norm(&d, 2)})
		}
	}
	slices.SortFunc(others, func(a, b other) int {
		if a.distance < b.distance {
			return -1
		}
		return 1
	})
	for _, o := range others[:k] {
		u := (z[0] - x.At(i, 0)) / (x.At(o.at, 0) - x.At(i, 0))
		worst := 0.0
		for j := range m {
			worst = max(worst, math.Abs(x.At(i, j)+u*(x.At(o.at, j)-x.At(i, j))-z[j]))
		}
		// u is exact to eps over the difference of the rows, which is above 1e-4 here.
		if u > -1e-9 && u < 1+1e-9 && worst < 1e-9 {
			return true
		}
	}
	return false
}

// TestFromPieces holds that rows are drawn without replacement, and that what
// exceeds the pool has its span and its mean square.
func TestFromPieces(t *testing.T) {
	pieces := []secret.Matrix{
		secret.NewMatrix(linalg.Normal(4, 3, source(1))),
		secret.NewMatrix(linalg.Normal(1, 3, source(2))),
		secret.NewMatrix(linalg.Normal(5, 3, source(3))),
	}
	pool := mat.NewDense(10, 3, nil)
	at := 0
	for _, p := range pieces {
		for _, r := range rowsOf(p.Reveal()) {
			pool.SetRow(at, r)
			at++
		}
	}
	for _, rows := range []int{1, 6, 10, 11, 40} {
		a, err := anchor.FromPieces(pieces, rows, source(4))
		if err != nil {
			t.Fatal(err)
		}
		if n, m := a.Dims(); n != rows || m != 3 {
			t.Fatalf("shape %d × %d, want %d × 3", n, m, rows)
		}
		again, err := anchor.FromPieces(pieces, rows, source(4))
		if err != nil || !mat.Equal(a.Reveal(), again.Reveal()) {
			t.Errorf("%d rows: not repeatable (%v)", rows, err)
		}
		seen := map[int]bool{}
		for i, r := range rowsOf(a.Reveal()) {
			if i < 10 {
				seen[indexOf(pool, r)] = true
			}
		}
		if len(seen) != min(rows, 10) || seen[-1] {
			t.Errorf("%d rows: %d different pooled rows, want %d", rows, len(seen), min(rows, 10))
		}
	}
}

func TestFromPiecesCombines(t *testing.T) {
	pool := mat.NewDense(20, 4, nil)
	pool.Mul(linalg.Normal(20, 2, source(1)), linalg.Normal(2, 4, source(2)))
	a, err := anchor.FromPieces([]secret.Matrix{secret.NewMatrix(pool)}, 5020, source(3))
	if err != nil {
		t.Fatal(err)
	}
	if rank, err := linalg.Rank(a.Reveal(), 0); err != nil || rank != 2 {
		t.Errorf("rank %d, %v, want the pieces' 2", rank, err)
	}
	// Squares of 5000 normal numbers: relative deviation √(2/5000) = 0.02, five of them.
	for j := range 4 {
		have := mat.Norm(a.Reveal().Slice(20, 5020, j, j+1), 2) / math.Sqrt(5000)
		want := mat.Norm(pool.ColView(j), 2) / math.Sqrt(20)
		if math.Abs(have*have/(want*want)-1) > 0.1 {
			t.Errorf("column %d of the combinations has the scale %g, the pieces have %g", j+1, have, want)
		}
	}
}

func TestRowsErrors(t *testing.T) {
	x := linalg.Normal(6, 3, source(1))
	nan := mat.DenseCopyOf(x)
	nan.Set(2, 1, math.NaN())
	huge := mat.NewDense(3, 2, []float64{1e308, 1e308, 1e308, 1e308, 1e308, 1e308})
	s := secret.NewMatrix
	mix := func(p *mat.Dense, rows int) func() error {
		return func() error { _, err := anchor.Mix(p, rows, source(1)); return err }
	}
	sample := func(p *mat.Dense, rows int) func() error {
		return func() error { _, err := anchor.Sample(p, rows, source(1)); return err }
	}
	low := func(x *mat.Dense, rank int, delta float64) func() error {
		return func() error { _, err := anchor.LowRankPiece(s(x), rank, delta, source(1)); return err }
	}
	smote := func(x *mat.Dense, rows, k int) func() error {
		return func() error { _, err := anchor.SMOTEPiece(s(x), rows, k, source(1)); return err }
	}
	pool := func(rows int, pieces ...*mat.Dense) func() error {
		return func() error {
			var p []secret.Matrix
			for _, x := range pieces {
				p = append(p, s(x))
			}
			_, err := anchor.FromPieces(p, rows, source(1))
			return err
		}
	}
	for _, c := range []struct {
		name string
		call func() error
		want string
	}{
		{"mix none", mix(nil, 3), "public rows: none"},
		{"mix NaN", mix(nan, 3), "public rows: linalg: element at row 3, column 2 is not a finite number"},
		{"mix no rows", mix(x, 0), "0 rows, want at least 1"},
		{"mix too many", mix(x, spec.MaxElements), "exceed the limit"},
		{"mix of too many", mix(mat.NewDense(20000, 1, nil), 20000), "20000 mixtures of 20000 rows exceed the limit"},
		{"mix overflow", mix(huge, 400), "overflow: scale the rows down"},
		{"sample none", sample(nil, 3), "public rows: none"},
		{"sample NaN", sample(nan, 3), "row 3, column 2"},
		{"sample too many", sample(x, 7), "7 rows of 6 public ones: choose at most 6"},
		{"sample zero", sample(x, 0), "0 rows, want at least 1"},
		{"low-rank none", low(nil, 1, 0), "rows: none"},
		{"low-rank NaN", low(nan, 1, 0), "row 3, column 2"},
		{"low-rank 0", low(x, 0, 0), "rank 0 of 6 × 3 rows: choose 1 to 3"},
		{"low-rank 4", low(x, 4, 0), "rank 4 of 6 × 3 rows: choose 1 to 3"},
		{"low-rank negative", low(x, 2, -1), "delta is -1"},
		{"low-rank NaN noise", low(x, 2, math.NaN()), "delta is NaN"},
		{"low-rank infinite noise", low(x, 2, math.Inf(1)), "delta is +Inf"},
		{"smote none", smote(nil, 1, 1), "rows: none"},
		{"smote NaN", smote(nan, 1, 1), "row 3, column 2"},
		{"smote one", smote(linalg.Normal(1, 3, source(1)), 1, 1), "1 neighbours among 1 rows"},
		{"smote rows", smote(x, 0, 1), "0 rows, want at least 1"},
		{"smote too many", smote(x, spec.MaxElements, 1), "exceed the limit"},
		{"smote k", smote(x, 1, 6), "6 neighbours among 6 rows: choose 1 to 5, or add rows"},
		{"smote negative k", smote(x, 1, -1), "-1 neighbours"},
		{"pieces none", pool(3), "no pieces"},
		{"pieces empty", pool(3, x, nil), "piece 2: none"},
		{"pieces NaN", pool(3, x, nan), "piece 2: linalg: element at row 3, column 2"},
		{"pieces columns", pool(3, x, linalg.Normal(2, 4, source(1))), "piece 2 has 4 columns, piece 1 has 3"},
		{"pieces rows", pool(-1, x), "-1 rows, want at least 1"},
		{"pieces too many", pool(spec.MaxElements, x), "exceed the limit"},
	} {
		if err := c.call(); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "anchor: ") {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
	for name, call := range map[string]func(){
		"mix":      func() { anchor.Mix(x, 1, nil) },
		"sample":   func() { anchor.Sample(x, 1, nil) },
		"low-rank": func() { anchor.LowRankPiece(s(x), 1, 0, nil) },
		"smote":    func() { anchor.SMOTEPiece(s(x), 1, 1, nil) },
		"pieces":   func() { anchor.FromPieces([]secret.Matrix{s(x)}, 1, nil) },
	} {
		func() {
			defer func() {
				if r, ok := recover().(string); !ok || r != "anchor: nil source" {
					t.Errorf("%s without a source: %v", name, r)
				}
			}()
			call()
		}()
	}
}
