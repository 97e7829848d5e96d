package faces_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"concord/lab/dataset"
	"concord/lab/faces"
	"concord/learn"
)

// Sizes of the simulated pictures.
const (
	width, height = 12, 9
	people, each  = 10, 8
)

// simulated are pictures that stand in for faces: a person is a sum of smooth waves,
// and pictures of one person differ a little.
func simulated() *dataset.Data {
	rnd := rand.New(rand.NewPCG(5, 6))
	m := width * height
	x := mat.NewDense(people*each, m, nil)
	d := &dataset.Data{Name: "simulated", Positive: -1, Width: width, Height: height}
	for p := range people {
		d.Y.Classes = append(d.Y.Classes, fmt.Sprint(p))
		var waves [24]float64
		for k := range waves {
			waves[k] = rnd.NormFloat64() / float64(1+k)
		}
		for e := range each {
			d.Y.Labels = append(d.Y.Labels, p)
			row := x.RawRowView(p*each + e)
			for i := range row {
				v := 0.5 + 0.02*rnd.NormFloat64()
				for k, w := range waves {
					u, t := float64(i%width)/width, float64(i/width)/height
					v += 0.15 * w * math.Cos(math.Pi*(float64(k%6)*u+float64(k/6)*t))
				}
				row[i] = min(max(v, 0), 1)
			}
		}
	}
	d.X = dataset.Dense(x)
	d.Y = learn.Target{Classes: d.Y.Classes, Labels: d.Y.Labels}
	return d
}

func run(t *testing.T, opt faces.Options) *faces.Report {
	t.Helper()
	r, err := faces.Run(t.Context(), simulated(), opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// of are the rows of a kind and basis, in their order.
func of(r *faces.Report, kind, basis string) []faces.Row {
	var rows []faces.Row
	for _, row := range r.Rows {
		if row.Kind == kind && row.Basis == basis {
			rows = append(rows, row)
		}
	}
	return rows
}

// checkOrder is what must hold of any pictures: the original is exact, what is kept
// grows with l, collusion finds it, and noise of ε = 0.5 is worse as it is.
func checkOrder(t *testing.T, r *faces.Report) {
	t.Helper()
	first := r.Rows[0]
	if first.Kind != faces.Original || first.Guess.Unexplained != 0 || first.Guess.Linked != 1 {
		t.Errorf("the original is %+v with %+v", first, first.Guess)
	}
	noise := of(r, faces.Noised, "")
	if len(noise) == 0 || noise[0].Epsilon != 0.5 {
		t.Fatalf("no noise of ε = 0.5 comes first: %+v", noise)
	}
	for _, basis := range []string{faces.Common, faces.Own} {
		kept, found := of(r, faces.Projected, basis), of(r, faces.Collusion, basis)
		around, leaves := of(r, faces.Around, basis), of(r, faces.Leaves, basis)
		if len(kept) < 2 || len(found) != len(kept) || len(around) != len(kept) || len(leaves) != len(kept) {
			t.Fatalf("%s: %d, %d, %d and %d rows", basis, len(leaves), len(kept), len(found), len(around))
		}
		for i := range kept {
			k, f := kept[i], found[i]
			if leaves[i].Guess != nil {
				t.Errorf("%s: what leaves is judged as if it were pixels", leaves[i].Name)
			}
			if i > 0 && k.Guess.Unexplained >= kept[i-1].Guess.Unexplained {
				t.Errorf("%s: %g unexplained, not below %g of %s", k.Name, k.Guess.Unexplained, kept[i-1].Guess.Unexplained, kept[i-1].Name)
			}
			// The anchor's condition number is some 1e3, times the square root of
			// the pixels' number for uniform ones: F is found to 1e-11 of its size,
			// so guesses agree to that, and their R² to as much.
			if d := math.Abs(f.Guess.Unexplained - k.Guess.Unexplained); d > 1e-9 {
				t.Errorf("%s: %g unexplained, the projection leaves %g", f.Name, f.Guess.Unexplained, k.Guess.Unexplained)
			}
			for _, row := range []faces.Row{k, f, around[i]} {
				if row.Guess.Unexplained >= noise[0].Guess.Unexplained {
					t.Errorf("%s leaves %g unexplained, not below %g of %s", row.Name, row.Guess.Unexplained, noise[0].Guess.Unexplained, noise[0].Name)
				}
			}
		}
	}
	clean := of(r, faces.Denoised, "")
	for i := range noise {
		if i > 0 && noise[i].Guess.Unexplained >= noise[i-1].Guess.Unexplained {
			t.Errorf("%s is not better than %s", noise[i].Name, noise[i-1].Name)
		}
		if clean[i].Guess.Unexplained >= noise[i].Guess.Unexplained {
			t.Errorf("%s is not better than %s", clean[i].Name, noise[i].Name)
		}
	}
}

func TestOrder(t *testing.T) {
	r := run(t, faces.Options{Seed: 1, Dims: []int{3, 8, 15}})
	if r.PartyRows != people*each/4 || r.Chance != 1/float64(r.PartyRows) || r.PictureSensitivity != math.Sqrt(width*height) {
		t.Errorf("resolved as %+v", r)
	}
	checkOrder(t, r)
	if len(r.Notes) > 0 {
		t.Errorf("notes: %q", r.Notes)
	}
}

// TestNoiseIsAsCalibrated: σ for ε = 0.5, 2, 8 and δ = 10⁻³ is that of docs/methods.md section 7.8,
// and a noised pixel's error is its deviation.
func TestNoiseIsAsCalibrated(t *testing.T) {
	r := run(t, faces.Options{Seed: 2, Parties: 2, Dims: []int{3}})
	noise := of(r, faces.Noised, "")
	for i, want := range []struct{ sigma, within float64 }{{4.61, 0.005}, {1.445, 0.0005}, {0.480, 0.0005}} { // its digits
		if math.Abs(noise[i].Sigma-want.sigma) > want.within {
			t.Errorf("%s: σ = %g, want %g", noise[i].Name, noise[i].Sigma, want.sigma)
		}
	}
	// (1 − R²)/σ² is Σw·e²/Σ1 over pixels, w one over a pixel's variance and e² the mean
	// of n squared normal errors, whose variance is 2/n. It has the same law for every
	// ε, and a relative deviation of √(2/n)·√Σw²/Σw. Two differ by six times √2 of that
	// with a probability below 1e-8; the weights are taken from all rows.
	d := simulated()
	var sum, squares float64
	for j := range width * height {
		var column []float64
		for i := range people * each {
			x, _ := d.Take([]int{i})
			column = append(column, x.At(0, j))
		}
		w := 1 / stat.Variance(column, nil)
		sum, squares = sum+w, squares+w*w
	}
	within := 6 * math.Sqrt2 * math.Sqrt(2/float64(r.PartyRows)) * math.Sqrt(squares) / sum
	ratio := func(row faces.Row) float64 { return row.Guess.Unexplained / (row.Sigma * row.Sigma) }
	for _, row := range noise[1:] {
		if q := ratio(row) / ratio(noise[0]); math.Abs(q-1) > within {
			t.Errorf("%s: error over σ² is %g times that of %s, within %g is right", row.Name, q, noise[0].Name, within)
		}
	}
}

// TestOwnRowsComeBack: a basis of all that a party's rows span keeps them whole, and
// collusion gets them, although l is far below the pixels' number.
func TestOwnRowsComeBack(t *testing.T) {
	r := run(t, faces.Options{Seed: 3, Rows: 12, Dims: []int{5, 40, 30}})
	own := of(r, faces.Collusion, faces.Own)
	if len(own) != 2 || own[0].Dim != 5 || own[1].Dim != 12 {
		t.Fatalf("own bases: %+v", own)
	}
	// Squares of errors of the size of rounding times the anchor's condition number.
	if g := own[1].Guess; g.Unexplained > 1e-18 || g.Linked != 1 {
		t.Errorf("all that 12 rows span leaves %+v", g)
	}
	if len(r.Notes) != 2 || !strings.Contains(r.Notes[0], "dimension 30 is cut to 12") || !strings.Contains(r.Notes[1], "dimension 40 is cut to 12") {
		t.Errorf("notes: %q", r.Notes)
	}
	common := of(r, faces.Collusion, faces.Common)
	if len(common) != 3 || common[2].Dim != 40 || common[2].Guess.Unexplained < 1e-9 {
		t.Errorf("common bases: %+v", common)
	}
}

func TestFigure(t *testing.T) {
	r := run(t, faces.Options{Seed: 1, Dims: []int{3, 10}})
	c := r.Figure()
	if len(c.Columns) != 6 || c.Width != width || c.Height != height || len(c.Rows) != len(r.Rows)-len(of(r, faces.Collusion, faces.Common))-len(of(r, faces.Collusion, faces.Own)) {
		t.Fatalf("%d columns, %d rows of %d", len(c.Columns), len(c.Rows), len(r.Rows))
	}
	// The first row are six pictures of the data, of six people.
	d := simulated()
	seen := map[int]bool{}
	for _, cell := range c.Cells[0] {
		for i, label := range d.Y.Labels {
			if x, _ := d.Take([]int{i}); slices.Equal(x.RawRowView(0), cell) {
				seen[label] = true
			}
		}
	}
	if len(seen) != 6 {
		t.Errorf("the originals are of %d people, want 6", len(seen))
	}
	// What leaves is l squares from black to white, and white.
	for k, name := range c.Rows {
		if !strings.HasPrefix(name, "what leaves") {
			continue
		}
		l := 3
		if strings.HasSuffix(name, "10") {
			l = 10
		}
		var all []float64
		for _, cell := range c.Cells[k] {
			levels := slices.Compact(slices.Sorted(slices.Values(cell)))
			if len(levels) > l+1 || len(levels) < l-1 {
				t.Errorf("%s: %d grey levels of %d numbers", name, len(levels), l)
			}
			all = append(all, cell...)
		}
		if slices.Min(all) != 0 || slices.Max(all) != 1 {
			t.Errorf("%s: from %g to %g", name, slices.Min(all), slices.Max(all))
		}
	}
	if r = run(t, faces.Options{Rows: 4, Dims: []int{3}}); len(r.Figure().Columns) != 4 {
		t.Errorf("%d pictures of a party of 4", len(r.Figure().Columns))
	}
}

func TestSameSeedSameFiles(t *testing.T) {
	files := func(seed uint64) []byte {
		r := run(t, faces.Options{Seed: seed, Dims: []int{3, 10}})
		r.Command = "concord-lab faces"
		var b bytes.Buffer
		for _, err := range []error{r.JSON(&b), r.Markdown(&b), r.HTML(&b)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		return b.Bytes()
	}
	one := files(7)
	if !bytes.Equal(one, files(7)) {
		t.Error("the same seed gives other files")
	}
	if bytes.Equal(one, files(8)) {
		t.Error("another seed gives the same files")
	}
}

// TestPageSaysWhatTheNoiseIsNot: a per-pixel guarantee must not pass for one of pictures.
func TestPageSaysWhatTheNoiseIsNot(t *testing.T) {
	r := run(t, faces.Options{Seed: 1, Dims: []int{3, 100}})
	r.Command = "concord-lab faces --seed 1"
	var md, html bytes.Buffer
	if err := r.Markdown(&md); err != nil {
		t.Fatal(err)
	}
	if err := r.HTML(&html); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"of a pixel and not of a picture", "not differential privacy of a picture", "√m = 10.39", "not differentially private at all", "concord-lab faces --seed 1", "is cut to"} {
		if !strings.Contains(md.String(), want) {
			t.Errorf("the Markdown lacks %q", want)
		}
		if !strings.Contains(html.String(), want) {
			t.Errorf("the HTML lacks %q", want)
		}
	}
	if !strings.Contains(md.String(), "](faces.svg)") || !strings.Contains(html.String(), "<svg") {
		t.Error("the figure is missing")
	}
	for _, row := range r.Rows {
		if !strings.Contains(md.String(), "| "+row.Name+" | "+row.Knows+" |") {
			t.Errorf("the table lacks %s", row.Name)
		}
	}
}

func TestErrors(t *testing.T) {
	flat := simulated()
	flat.Width, flat.Height = 0, 0
	for name, c := range map[string]struct {
		d    *dataset.Data
		opt  faces.Options
		want string
	}{
		"no pictures":    {flat, faces.Options{}, "no grey pictures"},
		"one party":      {simulated(), faces.Options{Parties: 1}, "1 parties, at least 2"},
		"too many":       {simulated(), faces.Options{Parties: 60}, "1 pictures for each of 60 parties"},
		"too many rows":  {simulated(), faces.Options{Rows: 21}, "20 for each at most"},
		"negative rows":  {simulated(), faces.Options{Rows: -3}, "-3 pictures a party"},
		"no dimension":   {simulated(), faces.Options{Dims: []int{4, 0}}, "dimension 0, must be at least 1"},
		"more than m":    {simulated(), faces.Options{Dims: []int{109}}, "at most the 108 pixels"},
		"epsilon 0":      {simulated(), faces.Options{Epsilons: []float64{0}}, "epsilon"},
		"huge rows":      {simulated(), faces.Options{Rows: math.MaxInt}, "20 for each at most"},
		"parties by far": {simulated(), faces.Options{Parties: math.MaxInt}, "at least 2 are needed"},
	} {
		_, err := faces.Run(t.Context(), c.d, c.opt)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := faces.Run(ctx, simulated(), faces.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
