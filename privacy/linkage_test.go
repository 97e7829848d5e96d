package privacy_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
	"concord/privacy"
)

func TestLinkageKnown(t *testing.T) {
	k := readKnown(t)
	got, err := privacy.Linkage(matrix(k.X), matrix(k.Guess), 200, nil)
	if err != nil {
		t.Fatal(err)
	}
	// 200 terms of 1, 1/2 and 1/3.
	if math.Abs(got.Rate-k.Linkage.Rate) > 1e-12 || got.Median != k.Linkage.Median {
		t.Errorf("rate %v, median place %v; want %v, %v", got.Rate, got.Median, k.Linkage.Rate, k.Linkage.Median)
	}
	if got.Chance != 1/200. || got.Guesses != 200 || got.Rows != 200 {
		t.Errorf("chance %v, %d guesses, %d rows", got.Chance, got.Guesses, got.Rows)
	}
}

// TestLinkageExact: the true rows as guesses are linked, up to persons who are equal.
func TestLinkageExact(t *testing.T) {
	src := rand.NewPCG(21, 22)
	const n, m = 1200, 7 // more than two blocks of rows and of guesses
	x := people(n, m, src)
	for i := range n {
		x.Set(i, 3, 4.5) // constant
	}
	all, err := privacy.Linkage(x, x, n, nil)
	if err != nil {
		t.Fatal(err)
	}
	if all.Rate != 1 || all.Median != 1 || all.Guesses != n {
		t.Errorf("distinct rows: %+v", all)
	}
	// Four persons of every row: 1/4 each, although the products that measure
	// distances round differently at different places of a block.
	four := mat.NewDense(n, m, nil)
	for i := range n {
		four.SetRow(i, x.RawRowView(i%(n/4)))
	}
	quarter, err := privacy.Linkage(four, four, n, nil)
	if err != nil {
		t.Fatal(err)
	}
	if quarter.Rate != 0.25 || quarter.Median != 2.5 {
		t.Errorf("four of each: %+v, want a rate of exactly 1/4", quarter)
	}
	// Units and constant shifts change nothing.
	moved := mat.DenseCopyOf(x)
	for i := range n {
		for j := range m {
			moved.Set(i, j, x.At(i, j)*math.Pow(10, float64(30*j-90))+math.Pow(10, float64(30*j-90)))
		}
	}
	if link, err := privacy.Linkage(moved, moved, n, nil); err != nil || link.Rate != 1 {
		t.Errorf("other units: %+v, %v", link, err)
	}
}

// TestLinkageChance: guesses that know nothing are right as often as chance.
func TestLinkageChance(t *testing.T) {
	src := rand.NewPCG(23, 24)
	const n, m = 1000, 5
	x := people(n, m, src)
	mean := mat.NewDense(n, m, nil)
	for j := range m {
		v := mat.Sum(x.ColView(j)) / n
		for i := range n {
			mean.Set(i, j, v)
		}
	}
	link, err := privacy.Linkage(x, mean, n, nil)
	if err != nil {
		t.Fatal(err)
	}
	// All guesses are one: exactly one of n is right.
	if math.Abs(link.Rate-link.Chance) > 1e-12 || math.Abs(link.Median-(n+1)/2.) > 1 {
		t.Errorf("the mean: %+v", link)
	}
	same := mat.NewDense(n, m, nil)
	if link, err := privacy.Linkage(same, x, n, nil); err != nil || math.Abs(link.Rate-1./n) > 1e-12 || link.Median != (n+1)/2. {
		t.Errorf("rows that are all equal: %+v, %v", link, err)
	}
	far := mat.NewDense(n, m, nil)
	for i := range n {
		far.Set(i, 0, math.MaxFloat64)
	}
	if link, err := privacy.Linkage(x, far, n, nil); err != nil || !(link.Rate <= 0.01) {
		t.Errorf("guesses far away: %+v, %v", link, err)
	}
	// Rows out of their order: at 1000 guesses the number of right ones has a mean of
	// 1 and is 10 or more with a probability of 1e-7.
	other := linalg.Normal(n, m, src)
	if link, err := privacy.Linkage(x, other, n, nil); err != nil || link.Rate > 10./n {
		t.Errorf("other rows: %+v, %v", link, err)
	}
}

// TestLinkageNoise: the rate falls as the guesses get worse, from 1 to chance.
func TestLinkageNoise(t *testing.T) {
	src := rand.NewPCG(25, 26)
	x, noise := linalg.Normal(800, 6, src), linalg.Normal(800, 6, src)
	last := 1.1
	for _, s := range []float64{1e-6, 0.3, 1, 3, 100} {
		var guess mat.Dense
		guess.Scale(s, noise)
		guess.Add(&guess, x)
		link, err := privacy.Linkage(x, &guess, 800, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !(link.Rate < last) || s < 1e-5 && link.Rate != 1 {
			t.Errorf("noise %g: rate %v after %v", s, link.Rate, last)
		}
		last = link.Rate
	}
	if last > 0.02 {
		t.Errorf("rate under noise of 100: %v", last)
	}
}

func TestLinkageSample(t *testing.T) {
	src := rand.NewPCG(27, 28)
	x, noise := linalg.Normal(3000, 6, src), linalg.Normal(3000, 6, src)
	noise.Scale(0.4, noise)
	noise.Add(noise, x)
	all, err := privacy.Linkage(x, noise, 3000, nil)
	if err != nil {
		t.Fatal(err)
	}
	some, err := privacy.Linkage(x, noise, 700, rand.NewPCG(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	// Five deviations of at most 1/(2√700); the draw is fixed.
	if math.Abs(some.Rate-all.Rate) > 5/(2*math.Sqrt(700)) || some.Guesses != 700 || some.Rows != 3000 {
		t.Errorf("700 guesses: %+v, all: %+v", some, all)
	}
	again, err := privacy.Linkage(x, noise, 700, rand.NewPCG(1, 1))
	if err != nil || again != some {
		t.Errorf("the same seed: %+v, %v, want %+v", again, err, some)
	}
	if other, err := privacy.Linkage(x, noise, 700, rand.NewPCG(2, 1)); err != nil || other == some {
		t.Errorf("another seed: %+v, %v", other, err)
	}
}

func TestLinkageRefuses(t *testing.T) {
	x := linalg.Normal(5, 3, rand.NewPCG(1, 1))
	bad := mat.DenseCopyOf(x)
	bad.Set(0, 1, math.NaN())
	for _, c := range []struct {
		err  error
		want string
	}{
		{second(privacy.Linkage(x, bad, 5, nil)), "guess: linalg"},
		{second(privacy.Linkage(bad, x, 5, nil)), "truth: linalg"},
		{second(privacy.Linkage(x, x, 0, nil)), "rows is 0"},
		{second(privacy.Linkage(x, x, 4, nil)), "source"},
		{second(privacy.Linkage(x, linalg.Normal(4, 3, rand.NewPCG(1, 1)), 5, nil)), "4"},
		{second(privacy.Linkage(x, linalg.Normal(5, 2, rand.NewPCG(1, 1)), 5, nil)), "guess has 2"},
		{second(privacy.Linkage(nil, x, 5, nil)), "truth is empty"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", c.err, c.want)
		}
	}
}

// TestLinkagePeople: people with several rows are found by any of them. Two visits of
// one person that are nearly alike hide each other from who counts rows.
func TestLinkagePeople(t *testing.T) {
	src := rand.NewPCG(31, 32)
	const n, m = 1200, 6
	x := linalg.Normal(n, m, src)
	who := make([]int, n)
	for i := range n {
		who[i] = i / 2
		if i%2 == 1 { // a second visit
			for j := range m {
				x.Set(i, j, x.At(i-1, j)+1e-3*x.At(i, j))
			}
		}
	}
	guess := linalg.Normal(n, m, src)
	guess.Scale(0.01, guess)
	guess.Add(guess, x)
	rows, err := privacy.Linkage(x, guess, n, nil)
	if err != nil {
		t.Fatal(err)
	}
	people, err := privacy.LinkagePeople(x, guess, who, n, nil)
	if err != nil {
		t.Fatal(err)
	}
	if rows.Rate > 0.6 || people.Rate < 0.999 || people.Median != 1 {
		t.Errorf("by rows %+v, by people %+v", rows, people)
	}
	if math.Abs(people.Chance-2./n) > 1e-15 {
		t.Errorf("chance %g", people.Chance)
	}
	// A person a row is the same as no people.
	for i := range who {
		who[i] = n - i
	}
	if same, err := privacy.LinkagePeople(x, guess, who, n, nil); err != nil || math.Abs(same.Rate-rows.Rate) > 1e-12 || same.Median != rows.Median || math.Abs(same.Chance-rows.Chance) > 1e-15 {
		t.Errorf("a person a row: %+v, want %+v (%v)", same, rows, err)
	}
	// Equal rows of other people still share.
	equal := mat.NewDense(4, 1, []float64{1, 1, 1, 2})
	got, err := privacy.LinkagePeople(equal, equal, []int{0, 0, 1, 2}, 4, nil)
	if err != nil || math.Abs(got.Rate-(0.5+0.5+1./3+1)/4) > 1e-15 {
		t.Errorf("equal rows: %+v, %v", got, err)
	}
	if _, err := privacy.LinkagePeople(x, guess, who[1:], n, nil); err == nil {
		t.Error("a person is missing")
	}
}
