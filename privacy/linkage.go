package privacy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// Link says how often the nearest true row to a guess is that of the right person.
type Link struct {
	// Rate is the share of guesses whose nearest true row is the right one, from 0 to
	// 1. A guess whose right row is one of k nearest counts 1/k.
	Rate float64
	// Chance is the rate of a guess that knows nothing: 1/n, or with people who have
	// several rows the mean share of rows that are the right person's.
	Chance float64
	// Median is the median, over the guesses, of the place of the right row when all
	// true rows are sorted by nearness: 1 is the nearest, (n+1)/2 is chance. Rows as
	// near as the right one share the mean of their places.
	Median float64
	// Guesses is how many guesses were looked at, Rows among how many true rows.
	Guesses, Rows int
}

// guessRows is how many guesses are compared with a block of true rows at once. Their
// distances are 2 MB for a core.
const guessRows = 512

// Linkage links guesses of rows to true rows by the nearest neighbour: row i of guess
// (n × m) belongs to the person of row i of truth (n × m). Distances are Euclidean
// with every feature divided by its deviation in truth; features that are constant
// there tell nobody apart and count nothing.
//
// It speaks against an attacker who holds guesses, for example those of
// [Reconstruct], and a list of the true rows, and looks for whose they are. Persons
// whose true rows are equal cannot be told apart by their rows: a guess nearest to a
// row that k of them share counts 1/k, as for somebody who picks one of them.
// Distances that differ by no more than rounding are equal.
//
// At most rows guesses, at least 1, are looked at: all if n is not more, and else as
// many drawn by src without replacement. Each is compared with all n true rows. The
// standard deviation of Rate by that choice is at most 1/(2√rows).
//
// The cost is O(n m rows) in time, by matrix products and on all cores, and up to
// ten times that without them if nearly all rows are equal. There is no copy of the
// arguments.
func Linkage(truth, guess *mat.Dense, rows int, src rand.Source) (Link, error) {
	return LinkagePeople(truth, guess, nil, rows, src)
}

// LinkagePeople is [Linkage] where people may have several rows: people has a number
// for each row, the same for rows of one person, or is nil for a row a person. A guess
// is linked if the nearest true row is any of the right person's; their other rows
// stand in nobody's way. Without that, two visits of one patient that are nearly alike
// hide each other, and the rate is too low by half.
func LinkagePeople(truth, guess *mat.Dense, people []int, rows int, src rand.Source) (Link, error) {
	if err := checkShapes("truth", truth, "guess", guess); err != nil {
		return Link{}, err
	}
	n, _ := truth.Dims()
	if people != nil && len(people) != n {
		return Link{}, fmt.Errorf("privacy: %d numbers of people for %d rows", len(people), n)
	}
	if rows < 1 {
		return Link{}, fmt.Errorf("privacy: rows is %d, must be at least 1 guess", rows)
	}
	var chosen []int
	if rows < n {
		if src == nil {
			return Link{}, fmt.Errorf("privacy: %d of %d guesses need a source to draw them", rows, n)
		}
		chosen = rand.New(src).Perm(n)[:rows]
		slices.Sort(chosen)
	} else {
		for i := range n {
			chosen = append(chosen, i)
		}
	}
	s := momentsOf(truth)
	link := Link{Chance: 1 / float64(n), Guesses: len(chosen), Rows: n}
	var own map[int][]int // rows of each person
	if people != nil {
		own = make(map[int][]int, n)
		for i, who := range people {
			own[who] = append(own[who], i)
		}
		link.Chance = 0
		for _, i := range chosen {
			link.Chance += float64(len(own[people[i]])) / float64(n) / float64(len(chosen))
		}
	}
	places := make([]float64, 0, len(chosen))
	for some := range slices.Chunk(chosen, guessRows) {
		closer, tied := s.nearer(truth, guess, some, people, own)
		for g := range some {
			if closer[g] == 0 {
				link.Rate += 1 / float64(tied[g])
			}
			places = append(places, float64(closer[g])+float64(tied[g]+1)/2)
		}
	}
	link.Rate /= float64(len(chosen))
	link.Median = sortingMedian(places)
	return link, nil
}

// nearer counts, for each guess of the rows in which, how many true rows are closer to
// it than the right one, and how many are as close, the right one included. With people,
// the right one is the nearest of that person's rows, and the others do not count.
func (s moments) nearer(truth, guess *mat.Dense, which, people []int, rowsOf map[int][]int) (closer, tied []int) {
	n, m := truth.Dims()
	k := len(which)
	// Both sums of m + 8 operations or so have errors below this times their terms.
	rounding := 4 * float64(m+8) * linalg.Eps
	g, own := mat.NewDense(k, m, nil), make([]float64, k)
	size, slack := make([]float64, k), make([]float64, k)
	right := mat.NewDense(1, m, nil)
	closer, tied = make([]int, k), make([]int, k)
	for c, i := range which {
		s.standard(mat.NewDense(1, m, g.RawRowView(c)), guess, i, i+1)
		s.standard(right, truth, i, i+1)
		row := g.RawRowView(c)
		for j, v := range row {
			// So far away from everybody that squares of more would overflow.
			row[j] = max(-1e100, min(1e100, v))
		}
		own[c], size[c], tied[c] = squaredDistance(row, right.RawRowView(0)), sumSquares(row), 1
		if people != nil {
			for _, other := range rowsOf[people[i]] {
				s.standard(right, truth, other, other+1)
				own[c] = min(own[c], squaredDistance(row, right.RawRowView(0)))
			}
		}
		slack[c] = rounding * (own[c] + size[c])
	}
	var mutex sync.Mutex
	eachBlock(n, func(_, from, to int) {
		t := mat.NewDense(to-from, m, nil)
		s.standard(t, truth, from, to)
		var dots mat.Dense
		dots.Mul(t, g.T())
		less, same := make([]int, k), make([]int, k)
		for i := range to - from {
			row := t.RawRowView(i)
			length := sumSquares(row)
			for c, dot := range dots.RawRowView(i) {
				// ‖t − g‖² − ‖t' − g‖² for the right row t'.
				more := length + size[c] - 2*dot - own[c]
				if more > slack[c]+rounding*length {
					continue
				}
				if more < -slack[c]-rounding*length {
					less[c]++
					continue
				}
				// The products leave rounding behind: this one is measured again.
				if from+i == which[c] || people != nil && people[from+i] == people[which[c]] {
					continue
				}
				switch more := squaredDistance(g.RawRowView(c), row) - own[c]; {
				case more < -rounding*own[c]:
					less[c]++
				case more <= rounding*own[c]:
					same[c]++
				}
			}
		}
		mutex.Lock()
		defer mutex.Unlock()
		for c := range k {
			closer[c] += less[c]
			tied[c] += same[c]
		}
	})
	return closer, tied
}

// squaredDistance is ‖a − b‖².
func squaredDistance(a, b []float64) float64 {
	var s float64
	for j, v := range a {
		d := v - b[j]
		s += d * d
	}
	return s
}

// sortingMedian is the median of x, which it sorts and which is not empty.
func sortingMedian(x []float64) float64 {
	slices.Sort(x)
	n := len(x)
	return (x[(n-1)/2] + x[n/2]) / 2
}
