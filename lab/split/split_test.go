package split_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	_ "concord/internal/repeatable" // the same cases every time
	"concord/lab/split"
	"concord/learn"
)

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// labelled are counts[k] rows of class k, mixed.
func labelled(counts ...int) learn.Target {
	var y learn.Target
	for k, n := range counts {
		y.Classes = append(y.Classes, fmt.Sprint("class ", k))
		y.Labels = append(y.Labels, slices.Repeat([]int{k}, n)...)
	}
	random(99).Shuffle(len(y.Labels), func(i, j int) { y.Labels[i], y.Labels[j] = y.Labels[j], y.Labels[i] })
	return y
}

func upTo(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// count are the rows of each class in a set.
func count(y learn.Target, rows []int) []int {
	n := make([]int, len(y.Classes))
	for _, i := range rows {
		n[y.Labels[i]]++
	}
	return n
}

// covered wants parts and rest to be a partition of from.
func covered(parts [][]int, rest, from []int) error {
	all := slices.Clone(rest)
	for _, p := range parts {
		all = append(all, p...)
	}
	slices.Sort(all)
	want := slices.Sorted(slices.Values(from))
	if !slices.Equal(all, want) {
		return fmt.Errorf("parts and rest hold %d rows %v, want each of %d once", len(all), all, len(want))
	}
	return nil
}

type divider struct {
	name  string
	sized bool // parts have the sizes that are asked for
	run   func(y learn.Target, from []int, sizes []int, rnd *rand.Rand) ([][]int, []int, error)
}

var dividers = []divider{
	{"random", true, func(_ learn.Target, from []int, sizes []int, rnd *rand.Rand) ([][]int, []int, error) {
		return split.Random(from, sizes, rnd)
	}},
	{"stratified", true, split.Stratified},
	{"sorted", true, split.Sorted},
	{"dirichlet", true, func(y learn.Target, from []int, sizes []int, rnd *rand.Rand) ([][]int, []int, error) {
		return split.Dirichlet(y, from, sizes, 0.3, rnd)
	}},
	{"classes", false, func(y learn.Target, from []int, _ []int, rnd *rand.Rand) ([][]int, []int, error) {
		return split.Classes(y, from, len(y.Classes), 0, rnd)
	}},
	{"by", false, func(y learn.Target, from []int, _ []int, rnd *rand.Rand) ([][]int, []int, error) {
		return split.By(y.Labels, len(y.Classes), from, 0, 0, rnd)
	}},
}

// TestPartition holds what all have in common: every row once, the sizes asked for,
// from unchanged, the same again for the same randomness and others for other.
func TestPartition(t *testing.T) {
	for _, d := range dividers {
		t.Run(d.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				y := labelled(rapid.IntRange(3, 20).Draw(t, "a"), rapid.IntRange(3, 20).Draw(t, "b"), rapid.IntRange(3, 20).Draw(t, "c"))
				// Every second row or so, but enough of each class.
				from := slices.DeleteFunc(upTo(len(y.Labels)), func(i int) bool { return i%5 == 4 && count(y, upTo(i))[y.Labels[i]] > 1 })
				sizes := rapid.SliceOfN(rapid.IntRange(1, 3), 1, 3).Draw(t, "sizes")
				seed := rapid.Uint64().Draw(t, "seed")
				before := slices.Clone(from)
				parts, rest, err := d.run(y, from, sizes, random(seed))
				if err != nil {
					t.Fatal(err)
				}
				if err := covered(parts, rest, from); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(from, before) {
					t.Fatal("from was changed")
				}
				for i, p := range parts {
					if d.sized && len(p) != sizes[i] {
						t.Fatalf("part %d has %d rows, want %d", i+1, len(p), sizes[i])
					}
				}
				again, restAgain, err := d.run(y, from, sizes, random(seed))
				if err != nil || !slices.EqualFunc(parts, again, slices.Equal) || !slices.Equal(rest, restAgain) {
					t.Fatalf("another result for the same randomness (%v)", err)
				}
			})
			y := labelled(50, 50)
			one, _, err := d.run(y, upTo(100), []int{40, 40}, random(1))
			if err != nil {
				t.Fatal(err)
			}
			two, _, err := d.run(y, upTo(100), []int{40, 40}, random(2))
			if err != nil || slices.EqualFunc(one, two, slices.Equal) {
				t.Errorf("the same parts for other randomness (%v)", err)
			}
			for i, p := range one {
				if slices.IsSorted(p) {
					t.Errorf("part %d is in the rows' order", i+1)
				}
			}
		})
	}
}

// TestStratified holds that every set is within one row of the classes' shares, and
// exact where the shares are whole.
func TestStratified(t *testing.T) {
	y := labelled(60, 30, 10)
	parts, rest, err := split.Stratified(y, upTo(100), []int{50, 20, 10}, random(1))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]int{{30, 15, 5}, {12, 6, 2}, {6, 3, 1}} {
		if got := count(y, parts[i]); !slices.Equal(got, want) {
			t.Errorf("part %d has %v of the classes, want %v", i+1, got, want)
		}
	}
	if got := count(y, rest); !slices.Equal(got, []int{12, 6, 2}) {
		t.Errorf("the rest has %v", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		y := labelled(rapid.SliceOfN(rapid.IntRange(0, 30), 1, 6).Draw(t, "counts")...)
		n := len(y.Labels)
		if n == 0 {
			return
		}
		size := rapid.IntRange(1, n).Draw(t, "size")
		parts, _, err := split.Stratified(y, upTo(n), []int{size}, random(rapid.Uint64().Draw(t, "seed")))
		if err != nil {
			t.Fatal(err)
		}
		all := count(y, upTo(n))
		for k, got := range count(y, parts[0]) {
			if share := float64(size*all[k]) / float64(n); math.Abs(float64(got)-share) >= 1 {
				t.Fatalf("%d rows of class %d, its share is %.2f", got, k, share)
			}
		}
	})
	// Numbers have no classes: at random.
	numbers := learn.Target{Values: mat.NewDense(10, 1, []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})}
	if parts, _, err := split.Stratified(numbers, upTo(10), []int{4, 4}, random(1)); err != nil || len(parts[0]) != 4 || len(parts[1]) != 4 {
		t.Errorf("numbers: %v, %v", parts, err)
	}
}

// TestSorted: ten parties of sorted rows of ten equal classes hold one each, and of
// fewer parties each holds neighbouring ones.
func TestSorted(t *testing.T) {
	y := labelled(slices.Repeat([]int{8}, 10)...)
	parts, _, err := split.Sorted(y, upTo(80), slices.Repeat([]int{8}, 10), random(1))
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range parts {
		if count(y, p)[i] != 8 {
			t.Errorf("party %d holds %v of the classes, want class %d only", i+1, count(y, p), i)
		}
	}
	// 40 of 80 rows are drawn in shares first: 4 of each class.
	parts, rest, err := split.Sorted(y, upTo(80), []int{10, 30}, random(1))
	if err != nil || len(rest) != 40 {
		t.Fatalf("%d rows are left, %v", len(rest), err)
	}
	for i, want := range [][]int{{4, 4, 2, 0, 0, 0, 0, 0, 0, 0}, {0, 0, 2, 4, 4, 4, 4, 4, 4, 4}} {
		if got := count(y, parts[i]); !slices.Equal(got, want) {
			t.Errorf("party %d holds %v of the classes, want %v", i+1, got, want)
		}
	}
	values := mat.NewDense(30, 1, nil)
	for i := range 30 {
		values.Set(i, 0, float64(i*7%30))
	}
	parts, _, err = split.Sorted(learn.Target{Values: values}, upTo(30), []int{10, 20}, random(1))
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range parts[0] {
		if values.At(i, 0) >= 10 {
			t.Errorf("the first of sorted numbers hold %g, want 0 to 9", values.At(i, 0))
		}
	}
}

// TestDirichlet compares the mean share of a party's most frequent class with its
// expectation: near 1 for small alpha, near 1/k for large.
func TestDirichlet(t *testing.T) {
	y := labelled(slices.Repeat([]int{2000}, 5)...)
	for _, c := range []struct{ alpha, want, deviation float64 }{
		{1e-12, 1, 0}, // one gamma number is beyond all others
		// Mean and deviation of 10⁵ draws with NumPy, 50 rows each.
		{0.01, 0.974, 0.082},
		{1, 0.469, 0.124},
		{1e6, 0.276, 0.034},
	} {
		parts, _, err := split.Dirichlet(y, upTo(10000), slices.Repeat([]int{50}, 40), c.alpha, random(1))
		if err != nil {
			t.Fatal(err)
		}
		mean := 0.0
		for _, p := range parts {
			mean += float64(slices.Max(count(y, p))) / 50 / 40
		}
		// Four standard errors of 40 parties, passed once in 16,000; a sum of 40 rounds.
		if math.Abs(mean-c.want) > 4*c.deviation/math.Sqrt(40)+1e-12 {
			t.Errorf("alpha %g: a party's most frequent class has the share %.3f, want %.3f", c.alpha, mean, c.want)
		}
	}
	// All rows can be taken: classes that are used up are replaced.
	small := labelled(1, 2, 30)
	parts, rest, err := split.Dirichlet(small, upTo(33), []int{11, 11, 11}, 0.1, random(1))
	if err != nil || len(rest) != 0 {
		t.Fatalf("rest %v, %v", rest, err)
	}
	if err := covered(parts, rest, upTo(33)); err != nil {
		t.Error(err)
	}
}

// TestClasses: four parties of two classes hold one each, in equal parts.
func TestClasses(t *testing.T) {
	y := labelled(21, 10)
	parts, rest, err := split.Classes(y, upTo(31), 4, 0, random(1))
	if err != nil || len(rest) != 0 {
		t.Fatalf("rest %v, %v", rest, err)
	}
	for i, want := range [][]int{{10, 0}, {0, 5}, {11, 0}, {0, 5}} {
		if got := count(y, parts[i]); !slices.Equal(got, want) {
			t.Errorf("party %d holds %v, want %v", i+1, got, want)
		}
	}
	parts, rest, err = split.Classes(y, upTo(31), 3, 7, random(1))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]int{{7, 0}, {0, 7}, {7, 0}} {
		if got := count(y, parts[i]); !slices.Equal(got, want) {
			t.Errorf("party %d of 7 rows holds %v, want %v", i+1, got, want)
		}
	}
	if err := covered(parts, rest, upTo(31)); err != nil {
		t.Error(err)
	}
}

func TestBy(t *testing.T) {
	group := slices.Concat(slices.Repeat([]int{0}, 4), slices.Repeat([]int{1}, 9), slices.Repeat([]int{3}, 5), slices.Repeat([]int{4}, 2))
	of := func(part []int) string {
		in := map[int]int{}
		for _, i := range part {
			in[group[i]]++
		}
		return fmt.Sprint(in)
	}
	for _, c := range []struct {
		parties, size int
		want          []string
	}{
		{0, 0, []string{"map[0:4]", "map[1:9]", "map[3:5]", "map[4:2]"}}, // group 2 has no rows
		{4, 0, []string{"map[0:4]", "map[1:9]", "map[3:5]", "map[4:2]"}},
		{2, 0, []string{"map[1:9 4:2]", "map[0:4 3:5]"}}, // 9 | 5, 5+4, 9+2
		{1, 0, []string{"map[0:4 1:9 3:5 4:2]"}},
		{0, 3, []string{"map[0:3]", "map[1:3]", "map[3:3]", "map[4:2]"}},
	} {
		parts, rest, err := split.By(group, 5, upTo(20), c.parties, c.size, random(1))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range parts {
			got = append(got, of(p))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%d parties of %d rows hold %v, want %v", c.parties, c.size, got, c.want)
		}
		if err := covered(parts, rest, upTo(20)); err != nil {
			t.Error(err)
		}
	}
}

func TestHalves(t *testing.T) {
	for m := 2; m < 9; m++ {
		first, second, err := split.Halves(m, random(1))
		if err != nil || len(first) != (m+1)/2 {
			t.Fatalf("%d columns: %v, %v", m, first, err)
		}
		if err := covered([][]int{first, second}, nil, upTo(m)); err != nil {
			t.Error(err)
		}
	}
}

func TestErrors(t *testing.T) {
	y := labelled(5, 3)
	numbers := learn.Target{Values: mat.NewDense(8, 1, nil)}
	call := func(f func() ([][]int, []int, error)) error { _, _, err := f(); return err }
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"random": {call(func() ([][]int, []int, error) { return split.Random(upTo(8), []int{5, 4}, random(1)) }), "part 2 of 2 is to have 4 rows, 3 of 8 are left"},
		"overflow": {call(func() ([][]int, []int, error) {
			return split.Random(upTo(8), slices.Repeat([]int{1 << 62}, 4), random(1))
		}), "part 1 of 4 is to have 4611686018427387904 rows, 8 of 8 are left"},
		"sorted overflow": {call(func() ([][]int, []int, error) {
			return split.Sorted(y, upTo(8), slices.Repeat([]int{1 << 62}, 4), random(1))
		}), "part 1 of 4"},
		"stratified":      {call(func() ([][]int, []int, error) { return split.Stratified(y, upTo(8), []int{5, 0}, random(1)) }), "part 2 has 0 rows, must have at least 1"},
		"sorted":          {call(func() ([][]int, []int, error) { return split.Sorted(y, upTo(8), []int{9}, random(1)) }), "part 1 of 1 is to have 9 rows, 8 of 8 are left"},
		"dirichlet":       {call(func() ([][]int, []int, error) { return split.Dirichlet(y, upTo(8), []int{9}, 1, random(1)) }), "part 1 of 1 is to have 9 rows, 8 of 8 are left"},
		"alpha":           {call(func() ([][]int, []int, error) { return split.Dirichlet(y, upTo(8), []int{1}, 0, random(1)) }), "alpha is 0"},
		"alpha NaN":       {call(func() ([][]int, []int, error) { return split.Dirichlet(y, upTo(8), []int{1}, math.NaN(), random(1)) }), "alpha is NaN"},
		"alpha Inf":       {call(func() ([][]int, []int, error) { return split.Dirichlet(y, upTo(8), []int{1}, math.Inf(1), random(1)) }), "alpha is +Inf"},
		"numbers":         {call(func() ([][]int, []int, error) { return split.Dirichlet(numbers, upTo(8), []int{1}, 1, random(1)) }), "needs classes"},
		"classes numbers": {call(func() ([][]int, []int, error) { return split.Classes(numbers, upTo(8), 2, 0, random(1)) }), "needs classes"},
		"few parties":     {call(func() ([][]int, []int, error) { return split.Classes(y, upTo(8), 1, 0, random(1)) }), "1 parties cannot hold one of 2 classes each"},
		"few rows":        {call(func() ([][]int, []int, error) { return split.Classes(y, upTo(8), 2, 4, random(1)) }), "party 2 gets 3 rows of its class, wants 4"},
		"no group":        {call(func() ([][]int, []int, error) { return split.By(nil, 0, upTo(8), 0, 0, random(1)) }), "no column"},
		"few groups":      {call(func() ([][]int, []int, error) { return split.By(y.Labels, 2, upTo(8), 3, 0, random(1)) }), "has 2 values with rows, too few for 3 parties"},
		"negative":        {call(func() ([][]int, []int, error) { return split.By(y.Labels, 2, upTo(8), -1, 0, random(1)) }), "-1 parties"},
		"halves":          {call(func() ([][]int, []int, error) { _, _, err := split.Halves(1, random(1)); return nil, nil, err }), "1 columns cannot be halved"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) || !strings.HasPrefix(c.err.Error(), "split: ") {
			t.Errorf("%s: error %v, want one with %q", name, c.err, c.want)
		}
	}
}
