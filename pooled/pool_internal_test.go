package pooled

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"concord/anchor"
	"concord/contract"
	"concord/secret"
	"concord/wire"
)

func seedOf(t interface{ Fatal(...any) }, b byte) anchor.Seed {
	seed, err := anchor.SeedFromBytes(secret.NewBytes(slices.Repeat([]byte{b}, anchor.SeedSize)))
	if err != nil {
		t.Fatal(err)
	}
	return seed
}

// mixedContract has a feature of each type.
func mixedContract(t interface{ Fatal(...any) }, more string) *contract.Contract {
	return contractOf(t, more,
		"{name: age, range: [18, 100]}", "{name: lactate, range: [0, 20], missing: mean}",
		"{name: ward, type: category, levels: [A, B, C], missing: common}",
		"{name: stage, type: ordinal, levels: [I, II, III]}",
		"{name: smokes, type: boolean}")
}

// mixedRows are raw rows of that contract.
func mixedRows(n int, rnd *rand.Rand) *mat.Dense {
	x := mat.NewDense(n, 5, nil)
	for i := range n {
		age := min(max(60+12*rnd.NormFloat64(), 18), 100)
		lactate := min(math.Exp(0.5*rnd.NormFloat64())+age/100, 20)
		if rnd.Float64() < 0.2 {
			lactate = math.NaN()
		}
		ward := float64(rnd.IntN(3))
		if rnd.Float64() < 0.1 {
			ward = math.NaN()
		}
		x.SetRow(i, []float64{age, lactate, ward, float64(rnd.IntN(3)), float64(rnd.IntN(2))})
	}
	return x
}

// play runs all stages over the parties' rows, sums in the clear, and returns every
// party's pool, directions taken.
func play(t failer, c *contract.Contract, parts []*mat.Dense) []*Pool {
	t.Helper()
	pools := begun(t, c, len(parts))
	for {
		stage, more := pools[0].Next()
		if !more {
			break
		}
		var sum []Word
		for i, p := range pools {
			statistics, err := p.Statistics(stage)
			if err != nil {
				t.Fatal(err)
			}
			words, err := p.words(stage, MatrixRows(parts[i]))
			if err != nil {
				t.Fatal(err)
			}
			if len(words) != statistics.N {
				t.Fatal("as many words as statistics are wanted: ", len(words), statistics.N)
			}
			if sum == nil {
				sum = make([]Word, len(words))
			}
			for j, w := range words {
				abs, _ := magnitude(w)
				if floatOf(abs, masked64) > statistics.Bound {
					t.Fatal("a word of ", statistics.Name(j), " is beyond its bound")
				}
				sum[j] = sum[j].Add(w)
			}
		}
		for _, p := range pools {
			if err := p.take(stage, sum, len(parts)); err != nil {
				t.Fatal(err)
			}
		}
	}
	takeDirections(t, c, pools)
	return pools
}

// begun is a new pool for each of n parties.
func begun(t failer, c *contract.Contract, n int) []*Pool {
	t.Helper()
	pools := make([]*Pool, n)
	for i := range pools {
		var err error
		if pools[i], err = New(c, seedOf(t, 9)); err != nil {
			t.Fatal(err)
		}
	}
	return pools
}

// takeDirections gives all parties the directions of the first, where the basis is common.
func takeDirections(t failer, c *contract.Contract, pools []*Pool) {
	t.Helper()
	if c.Basis.Kind != "common" {
		return
	}
	v, _, err := pools[0].Directions()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pools {
		if _, err := p.TakeDirections(v); err != nil {
			t.Fatal(err)
		}
	}
}

// masked64 are the fraction bits that a bound of package masked is in units of.
const masked64 = 64

// stacked prepares all rows and puts them on each other.
func stacked(p *Pool, parts []*mat.Dense) *mat.Dense {
	var rows []float64
	n := 0
	for _, x := range parts {
		p.prepared(MatrixRows(x))(func(z []float64) error {
			rows = append(rows, z...)
			n++
			return nil
		})
	}
	return mat.NewDense(n, len(rows)/n, rows)
}

// TestPool plays whole poolings, every kind of feature, both weights, all moments and
// sketches: prepared columns have the pooled mean 0 and variance 1, V are the leading
// eigenvectors of the stacked rows' second moments (of a sketch: keeps no more), and all
// parties know the same.
func TestPool(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SampledFrom([]string{"rows", "equal"}).Draw(t, "weights")
		sketch := rapid.SampledFrom([]string{"", ", sketch: 6, power: 0", ", sketch: 5, power: 2"}).Draw(t, "sketch")
		c := mixedContract(t, fmt.Sprintf("basis: {kind: common, dim: 3}\npooling: {weights: %s%s}\n", weights, sketch))
		rnd := rand.New(source(rapid.Byte().Draw(t, "seed")))
		var parts []*mat.Dense
		for range 4 {
			parts = append(parts, mixedRows(rapid.IntRange(1, 80).Draw(t, "rows")+10, rnd))
		}
		pools := play(t, c, parts)
		z := stacked(pools[0], parts)
		n, m := z.Dims()
		if m != c.M() {
			t.Fatalf("%d columns, want %d", m, c.M())
		}
		for j := range m {
			var sum, squares float64
			for i := range n {
				sum += z.At(i, j)
				squares += z.At(i, j) * z.At(i, j)
			}
			// n values of some size, exact to a few eps each.
			if mean, variance := sum/float64(n), squares/float64(n); math.Abs(mean) > 1e-12 || math.Abs(variance-1) > 1e-12 {
				t.Fatalf("%s has mean %g and variance %g after preparing", c.ColumnNames()[j], mean, variance)
			}
		}
		s := mat.NewSymDense(m, nil)
		at := 0
		for _, x := range parts {
			rows, _ := x.Dims()
			by := 1.0
			if weights == "equal" {
				by /= float64(rows)
			}
			s.SymRankK(s, by, z.Slice(at, at+rows, 0, m).T())
			at += rows
		}
		exact, about, err := principal(dense{s}, 3)
		if err != nil {
			t.Fatal(err)
		}
		v := pools[0].V().Reveal()
		switch got := kept(s, v); {
		case sketch == "" && math.Abs(got-about.Energy) > 1e-12:
			t.Fatalf("V keeps %g, the leading eigenvectors %g", got, about.Energy)
		case got > about.Energy+1e-12:
			t.Fatalf("a sketch keeps %g, the leading eigenvectors %g", got, about.Energy)
		}
		if sketch == "" && about.Gap > 0.05 && difference(outer(v), outer(exact)) > 1e-9 {
			t.Fatal("V has another span than the leading eigenvectors")
		}
		for _, p := range pools[1:] {
			if !mat.Equal(p.V().Reveal(), v) || !p.Done() {
				t.Fatal("parties have different directions")
			}
			a, _ := p.Figures().Hash()
			if b, _ := pools[0].Figures().Hash(); a != b {
				t.Fatal("parties have different figures")
			}
		}
		if cov, ok := pools[0].Moments(); ok != (sketch == "" && weights == "rows") {
			t.Fatalf("covariance: %t", ok)
		} else if ok {
			for j := range m {
				if math.Abs(cov.At(j, j)-1) > 1e-12 {
					t.Fatalf("variance of column %d is %g", j+1, cov.At(j, j))
				}
			}
		}
	})
}

func outer(v *mat.Dense) *mat.Dense {
	var p mat.Dense
	p.Mul(v, v.T())
	return &p
}

// TestStatistics holds that names are different from each other and between parties that
// do not know the same, that stages come in their order, and that bounds pass what masked
// sums check.
func TestStatistics(t *testing.T) {
	c := mixedContract(t, "basis: {kind: common, dim: 2}\npooling: {sketch: 4, power: 1}\n")
	rnd := rand.New(source(1))
	parts := []*mat.Dense{mixedRows(50, rnd), mixedRows(50, rnd)}
	p, err := New(c, seedOf(t, 9))
	if err != nil {
		t.Fatal(err)
	}
	var hashes []wire.Hash
	for _, stage := range p.Stages() {
		for _, other := range p.Stages() {
			if _, err := p.Statistics(other); (err == nil) != (other == stage) {
				t.Errorf("at %s, statistics of %s: %v", stage, other, err)
			}
		}
		s, err := p.Statistics(stage)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Check(c.Parties); err != nil {
			t.Error(err)
		}
		if got := c.StageNumbers(stage); got != int64(s.N) {
			t.Errorf("the contract expects %d numbers at %s, there are %d", got, stage, s.N)
		}
		seen := map[string]bool{}
		for i := range s.N {
			if seen[s.Name(i)] {
				t.Errorf("%s: two statistics are called %q", stage, s.Name(i))
			}
			seen[s.Name(i)] = true
		}
		hashes = append(hashes, s.Hash())
		var sum []Word
		for _, x := range parts {
			words, err := p.words(stage, MatrixRows(x))
			if err != nil {
				t.Fatal(err)
			}
			if sum == nil {
				sum = make([]Word, len(words))
			}
			for j, w := range words {
				sum[j] = sum[j].Add(w)
			}
		}
		if err := p.take(stage, sum, 2); err != nil {
			t.Fatal(err)
		}
	}
	slices.SortFunc(hashes, func(a, b wire.Hash) int { return strings.Compare(a.String(), b.String()) })
	if len(slices.Compact(hashes)) != 3 {
		t.Error("two stages have statistics of one hash")
	}
	if _, err := p.Statistics(p.Stages()[0]); err == nil {
		t.Error("figures can be summed twice")
	}
	if _, _, err := p.Directions(); err != nil {
		t.Error(err)
	}
}

// TestMomentNames compares the triangle's names with a plain loop.
func TestMomentNames(t *testing.T) {
	c := mixedContract(t, "basis: {kind: common, dim: 2}\n")
	p, _ := New(c, seedOf(t, 9))
	words, err := p.words(p.Stages()[0], MatrixRows(mixedRows(40, rand.New(source(2)))))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.take(p.Stages()[0], words, 1); err != nil {
		t.Fatal(err)
	}
	s, err := p.Statistics(p.Stages()[1])
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for i, a := range c.ColumnNames() {
		for _, b := range c.ColumnNames()[i:] {
			if got := s.Name(at); !strings.HasSuffix(got, a+" × "+b) || at > 0 && got != a+" × "+b {
				t.Fatalf("number %d is called %q, want %s × %s", at, got, a, b)
			}
			at++
		}
	}
	if at != s.N {
		t.Errorf("%d names of %d", at, s.N)
	}
}

// TestOtherRows holds that rows which the pooled figures do not bound are refused: those
// of another contract's range, say.
func TestOtherRows(t *testing.T) {
	c := mixedContract(t, "basis: {kind: common, dim: 2}\n")
	rnd := rand.New(source(3))
	p := play(t, c, []*mat.Dense{mixedRows(40, rnd), mixedRows(40, rnd)})[0]
	fresh, _ := New(c, seedOf(t, 9))
	words, _ := fresh.words(fresh.Stages()[0], MatrixRows(mixedRows(40, rnd)))
	if err := fresh.take(fresh.Stages()[0], words, 1); err != nil {
		t.Fatal(err)
	}
	bad := mixedRows(20, rnd)
	bad.Set(7, 0, 500)
	if _, err := fresh.words(fresh.Stages()[1], MatrixRows(bad)); err == nil || !strings.Contains(err.Error(), `"age"`) {
		t.Error(err)
	}
	bad.Set(7, 0, math.NaN()) // refused by the contract, not filled
	if _, err := fresh.words(fresh.Stages()[1], MatrixRows(bad)); err == nil || !strings.Contains(err.Error(), `"age"`) {
		t.Error(err)
	}
	if _, err := fresh.words(fresh.Stages()[1], MatrixRows(&mat.Dense{})); err == nil || !strings.Contains(err.Error(), "0 rows") {
		t.Error(err)
	}
	_ = p
}

// TestPoolRefuses are steps out of their order, and contracts that pool nothing.
func TestPoolRefuses(t *testing.T) {
	plain, err := contract.ParseYAML([]byte("name: Plain\nparties: 4\nfeatures:\n  - {name: a, range: [0, 1]}\n  - {name: b, range: [0, 1]}\nlabel: {name: y, levels: [\"0\", \"1\"], positive: \"1\"}\nbasis: {kind: pca, dim: 1}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(plain, seedOf(t, 9)); err == nil {
		t.Error("a contract that pools nothing was taken")
	}
	c := mixedContract(t, "basis: {kind: common, dim: 2}\n")
	p, err := New(c, seedOf(t, 9))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.Directions(); err == nil || !strings.Contains(err.Error(), `before the sums of "figures"`) {
		t.Error(err)
	}
	if _, err := p.TakeDirections(secret.Matrix{}); err == nil {
		t.Error("directions were taken before the sums")
	}
	pca := mixedContract(t, basisYAML)
	done := play(t, pca, []*mat.Dense{mixedRows(30, rand.New(source(4)))})[0]
	if _, _, err := done.Directions(); err == nil || !done.Done() {
		t.Error("a contract without a common basis has directions")
	}
	common := play(t, c, []*mat.Dense{mixedRows(30, rand.New(source(4)))})[0]
	if _, err := common.TakeDirections(secret.Matrix{}); err == nil {
		t.Error("no directions were taken for directions")
	}
	var wrong *DirectionsError
	if _, err := common.TakeDirections(secret.NewMatrix(mat.NewDense(c.M(), 2, nil))); !errors.As(err, &wrong) || wrong.Hint() == "" {
		t.Error(err)
	}
}

// TestPoolPrintsNothing looks for figures in whatever prints a pool.
func TestPoolPrintsNothing(t *testing.T) {
	c := mixedContract(t, "basis: {kind: common, dim: 2}\n")
	p := play(t, c, []*mat.Dense{mixedRows(30, rand.New(source(5)))})[0]
	mean := fmt.Sprintf("%.4f", p.Figures().Features[0].Mean)
	for _, s := range []string{fmt.Sprint(p), fmt.Sprintf("%+v %#v %s %x", p, p, p, p), fmt.Sprint(struct{ P *Pool }{p}), fmt.Sprintf("%+v", *p), p.LogValue().String(), slog.AnyValue(p).String()} {
		if strings.Contains(s, mean) || len(s) > 300 {
			t.Errorf("prints %q", s)
		}
	}
	if _, err := json.Marshal(p); !errors.Is(err, secret.ErrEncode) {
		t.Error(err)
	}
}

// TestWarnings holds what people are told before sums leave, and of the sums.
func TestWarnings(t *testing.T) {
	c := mixedContract(t, "basis: {kind: common, dim: 2}\n")
	stages := c.Stages()
	levels := [][]int{nil, nil, {50, 0, 3}, {20, 20, 20}, {60, 0}}
	if got := Warnings(c, stages[0], 60, levels); len(got) != 1 || !strings.Contains(got[0], "ward C: fewer than 10 rows here") || strings.Contains(got[0], "ward B") {
		t.Error(got)
	}
	if got := Warnings(c, stages[1], 6, levels); len(got) != 1 || !strings.Contains(got[0], "6 rows have second moments of 7 columns") {
		t.Error(got)
	}
	if got := Warnings(c, stages[1], 7, levels); got != nil {
		t.Error(got)
	}
	p := play(t, c, []*mat.Dense{mixedRows(60, rand.New(source(8)))})[0]
	if told := Told(c, p.Figures()); told != nil {
		t.Error(told)
	}
	p.Figures().Features[2].Levels = []int64{60, 3, 0}
	if told := strings.Join(Told(c, p.Figures()), "; "); !strings.Contains(told, "ward B: fewer than 10") || !strings.Contains(told, "ward C: the same") {
		t.Error(told)
	}
}
