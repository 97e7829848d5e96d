package pooled

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/contract"
	"concord/masked"
)

// splitContract has two views that share a number and a category.
func splitContract(t interface{ Fatal(...any) }, more string) *contract.Contract {
	text := `
name: Split
parties: 9
max_rows: 1000
features:
  - {name: age, range: [18, 100]}
  - {name: lactate, range: [0, 1.0e+4], missing: mean}
  - {name: ward, type: category, levels: [A, B, C], missing: common}
  - {name: crp, range: [0, 500], missing: mean}
  - {name: stage, type: ordinal, levels: [I, II, III], missing: common}
  - {name: far, range: [0, 1.0e+9]}
views:
  - {name: bedside, features: [age, lactate, ward], dim: 2}
  - {name: laboratory, features: [age, ward, crp, stage, far], dim: 3}
label: {name: y, levels: ["0", "1"], positive: "1"}
anchor: {kind: gaussian, rows: 100}
` + more
	c, err := contract.ParseYAML([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// splitRows are rows of all features, of which a party keeps those of its view. The mean of
// the two kinds of sites differs.
func splitRows(n int, shift float64, rnd *rand.Rand) *mat.Dense {
	x := mat.NewDense(n, 6, nil)
	gap := func(v float64) float64 {
		if rnd.Float64() < 0.15 {
			return math.NaN()
		}
		return v
	}
	for i := range n {
		hidden := rnd.NormFloat64()
		x.SetRow(i, []float64{
			min(100, max(18, 60+shift+10*hidden+5*rnd.NormFloat64())), gap(min(1e4, math.Exp(2*hidden+rnd.NormFloat64()))),
			gap(float64(rnd.IntN(3))), gap(min(500, 40*math.Exp(hidden))), gap(float64(rnd.IntN(3))), 999_999_000 + 10*(hidden+rnd.Float64()),
		})
	}
	return x
}

// seen are the columns of a view, by features.
func seen(t interface{ Fatal(...any) }, c *contract.Contract, view string, x *mat.Dense) *mat.Dense {
	v, err := c.Through(view)
	if err != nil {
		t.Fatal(err)
	}
	n, _ := x.Dims()
	out := mat.NewDense(n, len(v.Features), nil)
	for k, name := range v.FeatureNames() {
		j := slices.Index(c.FeatureNames(), name)
		for i := range n {
			out.Set(i, k, x.At(i, j))
		}
	}
	return out
}

// TestMaskedViews holds that pooled figures of parties with different views are those of the
// rows that have the feature, to 1e-9 relative, and second moments those of the rows that have
// both columns, through the real messages; that what comes through them is what is summed in
// the clear, to the last bit; and that a pair that nobody has is 0.
func TestMaskedViews(t *testing.T) {
	for number, more := range []string{"standardise: pooled\n", "standardise: range\n"} {
		c := splitContract(t, more)
		rnd := rand.New(source(byte(30 + number)))
		views := strings.Fields("bedside laboratory bedside laboratory laboratory bedside laboratory bedside laboratory")
		holders := []masked.Holders{{Name: "bedside"}, {Name: "laboratory"}}
		var whole, own []*mat.Dense
		var open []Rows
		var pools []*Pool
		for i, view := range views {
			shift := 0.0
			if view == "laboratory" {
				shift = 8
			}
			x := splitRows(10+17*i, shift, rnd)
			whole, own = append(whole, x), append(own, seen(t, c, view, x))
			open = append(open, MatrixRows(own[i]))
			through, err := c.Through(view)
			if err != nil {
				t.Fatal(err)
			}
			p, err := New(through, seedOf(t, 9))
			if err != nil {
				t.Fatal(err)
			}
			pools = append(pools, p)
			k := slices.Index(c.ViewNames(), view)
			holders[k].Parties = append(holders[k].Parties, identities()[i].Statement.Fingerprint())
		}
		playStages(t, c, pools, open, holders...)
		lab, err := InClear(c, seedOf(t, 9), open, views...)
		if err != nil {
			t.Fatal(err)
		}
		figures := pools[0].Figures()
		moments, ok := pools[0].Moments()
		if !ok {
			t.Fatal("no moments")
		}
		for _, p := range append(pools, lab) {
			a, _ := figures.Hash()
			b, _ := p.Figures().Hash()
			if m, _ := p.Moments(); a != b || !mat.Equal(m, moments) {
				t.Fatal("a party, or the sums in the clear, have other figures or moments")
			}
		}
		checkHeld(t, c, figures, views, whole)
		checkTogether(t, c, figures, moments, views, own)
	}
}

// checkHeld compares figures with those of the rows that have each feature.
func checkHeld(t *testing.T, c *contract.Contract, figures *contract.Figures, views []string, whole []*mat.Dense) {
	t.Helper()
	for j, f := range c.Features {
		var have []*mat.Dense
		rows := 0
		for i, x := range whole {
			if slices.Contains(c.Views[slices.Index(c.ViewNames(), views[i])].Features, f.Name) {
				have = append(have, x)
				rows += x.RawMatrix().Rows
			}
		}
		g := figures.Features[j]
		mean, variance, n := exactMoments(have, j)
		gotMean, gotVariance := g.Moments()
		if int(g.Count) != n || int(g.Count+g.Missing) != rows || math.Abs(gotMean-mean) > 1e-9*math.Abs(mean) || math.Abs(gotVariance-variance) > 1e-9*variance {
			t.Errorf("%s: %d values of %d rows, must be %d of %d; the mean is off by %.2g, the variance by %.2g", f.Name, g.Count, g.Count+g.Missing, n, rows, gotMean-mean, gotVariance-variance)
		}
		for k := range g.Levels {
			count := 0
			for _, x := range have {
				for i := range x.RawMatrix().Rows {
					if x.At(i, j) == float64(k) {
						count++
					}
				}
			}
			if int(g.Levels[k]) != count {
				t.Errorf("%s: level %d has %d rows, must have %d", f.Name, k, g.Levels[k], count)
			}
		}
	}
}

// checkTogether compares second moments with means of products over the rows that have
// both columns, each less its pooled mean.
func checkTogether(t *testing.T, c *contract.Contract, figures *contract.Figures, moments *mat.SymDense, views []string, own []*mat.Dense) {
	t.Helper()
	m := c.M()
	sum, squares, count := mat.NewDense(m, m, nil), mat.NewDense(m, m, nil), mat.NewDense(m, m, nil)
	for i, x := range own {
		v, err := c.Through(views[i])
		if err != nil {
			t.Fatal(err)
		}
		prep, err := v.Centred(figures)
		if err != nil {
			t.Fatal(err)
		}
		z := make([]float64, v.M())
		for r := range x.RawMatrix().Rows {
			prep.Row(z, x.RawRowView(r))
			for a, i := range v.ViewColumns() {
				for b, j := range v.ViewColumns() {
					sum.Set(i, j, sum.At(i, j)+z[a]*z[b])
					squares.Set(i, j, squares.At(i, j)+math.Abs(z[a]*z[b]))
					count.Set(i, j, count.At(i, j)+1)
				}
			}
		}
	}
	nobody := 0
	for i := range m {
		for j := range m {
			if count.At(i, j) == 0 {
				nobody++
				if moments.At(i, j) != 0 {
					t.Errorf("columns %d and %d, which nobody has together, have a moment", i+1, j+1)
				}
				continue
			}
			if d := moments.At(i, j) - sum.At(i, j)/count.At(i, j); math.Abs(d) > 1e-9*squares.At(i, j)/count.At(i, j) {
				t.Errorf("columns %d and %d: the moment is off by %g", i+1, j+1, d)
			}
		}
	}
	if nobody != 2*1*3 { // lactate with crp, stage and far
		t.Errorf("%d pairs of columns are nobody's", nobody)
	}
}

// TestViewRefusals: rows without a view, of another view, and sums that no rows have.
func TestViewRefusals(t *testing.T) {
	c := splitContract(t, "standardise: pooled\n")
	rnd := rand.New(source(2))
	views := strings.Fields("bedside laboratory bedside laboratory")
	var open []Rows
	for _, view := range views {
		open = append(open, MatrixRows(seen(t, c, view, splitRows(30, 0, rnd))))
	}
	figures := c.Stages()[0]
	p, err := New(c, seedOf(t, 9))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Local(figures, open[0]); err == nil || !strings.Contains(err.Error(), "not said which one") {
		t.Errorf("rows of no view: %v", err)
	}
	bedside, err := c.Through("bedside")
	if err != nil {
		t.Fatal(err)
	}
	if p, err = New(bedside, seedOf(t, 9)); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Local(figures, open[1]); err == nil || !strings.Contains(err.Error(), "a row has 5 values, the contract has 3 features") {
		t.Errorf("rows of another view: %v", err)
	}
	if _, err := InClear(c, seedOf(t, 9), open, "bedside"); err == nil {
		t.Error("parties without a view are pooled")
	}
	done, err := InClear(c, seedOf(t, 9), open, views...)
	if err != nil {
		t.Fatal(err)
	}
	// A fresh pool of the same figures, to which false moments are given.
	spoilt := func(spoil func(sum []Word)) error {
		p, err := InClear(c, seedOf(t, 9), open, views...)
		if err != nil {
			t.Fatal(err)
		}
		k := p.known()
		k.taken = 1
		stage := p.Stages()[1]
		var sum []Word
		for i, view := range views {
			if p.own, err = c.Through(view); err != nil {
				t.Fatal(err)
			}
			if _, k.columns, err = p.multiplied(k.figures, k.prepare); err != nil {
				t.Fatal(err)
			}
			words, err := p.words(stage, open[i])
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
		spoil(sum)
		return p.take(stage, sum, len(views))
	}
	if err := spoilt(func([]Word) {}); err != nil {
		t.Fatal(err)
	}
	f := done.fraction(c.Stages()[1])
	m := c.M()
	at := func(i, j int) int { return len(c.Views) + i*m - i*(i-1)/2 + j - i }
	for name, test := range map[string]struct {
		spoil func(sum []Word)
		want  string
	}{
		"a negative square":           {func(s []Word) { s[at(0, 0)] = wordOf(-1, f) }, "(age, "},
		"a square of too many rows":   {func(s []Word) { s[at(1, 1)] = wordOf(61, f) }, "(lactate)"},
		"a product beyond its bounds": {func(s []Word) { s[at(0, 1)] = wordOf(100, f) }, "age × lactate"},
		"a pair that nobody has":      {func(s []Word) { s[at(1, 5)] = Word{Lo: 1} }, "lactate × crp"},
		"half a row of a view":        {func(s []Word) { s[0] = s[0].Add(wordOf(0.5, f)) }, "rows of view bedside"},
		"too few":                     {func(s []Word) { s[1] = Word{} }, "second moments cannot be those of any rows"},
	} {
		if err := spoilt(test.spoil); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

// TestViewsAlike holds that the rows of views with the same features are summed as one number,
// through the real messages: one site may be the only one with its width.
func TestViewsAlike(t *testing.T) {
	c := splitContract(t, "standardise: pooled\n")
	c.Views = append(c.Views, contract.View{Name: "narrow", Features: c.Views[1].Features, Dim: 1})
	rnd := rand.New(source(3))
	views := strings.Fields("bedside laboratory bedside laboratory narrow bedside laboratory bedside laboratory")
	holders := []masked.Holders{{Name: "bedside"}, {Name: "laboratory"}}
	var open []Rows
	var pools []*Pool
	rows := []int64{0, 0}
	for i, view := range views {
		n := 10 + 17*i
		open = append(open, MatrixRows(seen(t, c, view, splitRows(n, 0, rnd))))
		through, err := c.Through(view)
		if err != nil {
			t.Fatal(err)
		}
		p, err := New(through, seedOf(t, 9))
		if err != nil {
			t.Fatal(err)
		}
		pools = append(pools, p)
		k := min(1, slices.Index(c.ViewNames(), view))
		holders[k].Parties = append(holders[k].Parties, identities()[i].Statement.Fingerprint())
		rows[k] += int64(n)
	}
	names := figureNames(c)[:4]
	if want := []string{"rows", "rows of view bedside", `rows of views "laboratory", "narrow"`, "age: missing"}; !slices.Equal(names, want) {
		t.Errorf("summed are %q, want %q", names, want)
	}
	playStages(t, c, pools, open, holders...)
	lab, err := InClear(c, seedOf(t, 9), open, views...)
	if err != nil {
		t.Fatal(err)
	}
	moments, ok := pools[0].Moments()
	clear, _ := lab.Moments()
	if !ok || !slices.Equal(pools[0].Figures().Views, rows) || !mat.Equal(moments, clear) {
		t.Errorf("rows of views are %v, want %v, or moments differ from those in the clear", pools[0].Figures().Views, rows)
	}
}

// TestUnfillable: a feature that nobody's rows have cannot be filled by their mean, and is
// named; one that is filled by a constant is told to be the same everywhere.
func TestUnfillable(t *testing.T) {
	for _, test := range []struct{ missing, want string }{
		{"missing: mean", `the feature "empty" is missing in all rows of all parties`},
		{"missing: constant, fill: 3", ""},
	} {
		c := contractOf(t, basisYAML, "{name: full, range: [0, 1]}", "{name: other, range: [0, 1]}", "{name: empty, range: [0, 9], "+test.missing+"}")
		x := MatrixRows(mat.NewDense(3, 3, []float64{0, 1, math.NaN(), 1, 0, math.NaN(), 0.5, 1, math.NaN()}))
		p, err := InClear(c, seedOf(t, 9), []Rows{x, x, x, x})
		if test.want != "" {
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: %v", test.missing, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if told := strings.Join(Told(c, p.Figures()), "\n"); !strings.Contains(told, "empty: the same in all parties' rows") {
			t.Errorf("%s: %q", test.missing, told)
		}
	}
}

// TestImpossibleMoments: without views too, moments that no rows have are refused.
func TestImpossibleMoments(t *testing.T) {
	for weights, most := range map[string]float64{"rows": 10_000, "equal": 1} { // max_rows of one party
		c := contractOf(t, "basis: {kind: common, dim: 1}\npooling: {weights: "+weights+"}\n", "{name: a, range: [0, 1]}", "{name: b, range: [0, 1]}")
		x := MatrixRows(mat.NewDense(4, 2, []float64{0, 1, 1, 0, 0.5, 1, 0.25, 0}))
		for _, test := range []struct {
			v    []float64 // a², ab, b² in units of the bounds
			want string
		}{
			{[]float64{1, 0.5, 1}, ""},
			{[]float64{1, -1, 1}, ""},
			{[]float64{-0.001, 0, 1}, "(a"},
			{[]float64{1, 1.001, 1}, "a × b"},
			{[]float64{0, 0.001, 1}, "a × b"},
			{[]float64{1, 0.5, 1.01 * most}, "(b"},
		} {
			p, err := New(c, seedOf(t, 9))
			if err != nil {
				t.Fatal(err)
			}
			first, err := p.words(p.Stages()[0], x)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.take(p.Stages()[0], first, 1); err != nil {
				t.Fatal(err)
			}
			f := p.fraction(p.Stages()[1])
			var sum []Word
			for _, v := range test.v {
				sum = append(sum, wordOf(v, f))
			}
			if err := p.take(p.Stages()[1], sum, 1); (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("weights %s, %v: %v, want %q", weights, test.v, err, test.want)
			}
		}
	}
}
