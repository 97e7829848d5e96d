// Package split divides rows among simulated parties: evenly, by class, by a column,
// or unevenly by chance.
//
// Every function draws from the given randomness alone, returns disjoint sets of row
// indexes, one for each party, and the rest, and says with numbers when there are too
// few rows. Rows of a set are in random order, where a set holds several groups of
// [By] group by group. from is not changed; its rows must differ. Start with [Random]
// or [Stratified].
package split

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"concord/learn"
)

// Stratified draws disjoint sets of the given sizes from the rows in from, each with
// the classes in the shares that from has, by largest remainders; rest is what
// remains. With numbers as labels it draws at random.
func Stratified(y learn.Target, from []int, sizes []int, rnd *rand.Rand) (parts [][]int, rest []int, err error) {
	if err := enough(from, sizes); err != nil {
		return nil, nil, err
	}
	if !y.Classification() {
		return Random(from, sizes, rnd)
	}
	classes := make([][]int, len(y.Classes))
	for _, i := range shuffled(from, rnd) {
		classes[y.Labels[i]] = append(classes[y.Labels[i]], i)
	}
	left := len(from)
	for _, size := range sizes {
		var part []int
		for k, take := range apportion(classes, size, left) {
			part = append(part, classes[k][:take]...)
			classes[k] = classes[k][take:]
		}
		left -= size
		parts = append(parts, shuffled(part, rnd))
	}
	return parts, shuffled(slices.Concat(classes...), rnd), nil
}

// apportion divides size over classes in proportion to their rows, of which there
// are left in all, by largest remainders; ties go to the lower class.
func apportion(classes [][]int, size, left int) []int {
	take := make([]int, len(classes))
	remainder := make([]float64, len(classes))
	missing := size
	for k, rows := range classes {
		share := float64(size) * float64(len(rows)) / float64(max(left, 1))
		take[k] = int(share)
		remainder[k] = share - float64(take[k])
		missing -= take[k]
	}
	for ; missing > 0; missing-- {
		best := -1
		for k := range classes {
			if take[k] < len(classes[k]) && (best < 0 || remainder[k] > remainder[best]) {
				best = k
			}
		}
		take[best]++
		remainder[best]--
	}
	return take
}

// Random draws disjoint sets of the given sizes from the rows in from; rest is what
// remains.
func Random(from []int, sizes []int, rnd *rand.Rand) (parts [][]int, rest []int, err error) {
	if err := enough(from, sizes); err != nil {
		return nil, nil, err
	}
	order := shuffled(from, rnd)
	for _, size := range sizes {
		parts = append(parts, order[:size:size])
		order = order[size:]
	}
	return parts, order, nil
}

// Sorted cuts the rows, ordered by class and at random within a class (numbers: by
// value), into sets of the given sizes: parties that each see one class or a few.
// If there are more rows than the sizes need, they are drawn at random first.
func Sorted(y learn.Target, from []int, sizes []int, rnd *rand.Rand) (parts [][]int, rest []int, err error) {
	if err := enough(from, sizes); err != nil {
		return nil, nil, err
	}
	total := 0
	for _, s := range sizes {
		total += s
	}
	drawn, rest, err := Stratified(y, from, []int{total}, rnd)
	if err != nil {
		return nil, nil, err
	}
	order := drawn[0]
	slices.SortStableFunc(order, func(a, b int) int {
		if y.Classification() {
			return y.Labels[a] - y.Labels[b]
		}
		return cmp.Compare(y.Values.At(a, 0), y.Values.At(b, 0))
	})
	for _, size := range sizes {
		parts = append(parts, shuffled(order[:size], rnd))
		order = order[size:]
	}
	return parts, rest, nil
}

// Dirichlet gives every party the classes in shares drawn from a symmetric Dirichlet
// distribution of concentration alpha [hsu2019]:
// small alpha, few classes a party. A class that is used up is replaced by those that
// remain, in their shares.
func Dirichlet(y learn.Target, from []int, sizes []int, alpha float64, rnd *rand.Rand) (parts [][]int, rest []int, err error) {
	if err := enough(from, sizes); err != nil {
		return nil, nil, err
	}
	if !y.Classification() {
		return nil, nil, fmt.Errorf("split: dirichlet needs classes, the label is a number")
	}
	if !(alpha > 0) || math.IsInf(alpha, 0) {
		return nil, nil, fmt.Errorf("split: alpha is %v, must be positive and finite", alpha)
	}
	classes := make([][]int, len(y.Classes))
	for _, i := range shuffled(from, rnd) {
		classes[y.Labels[i]] = append(classes[y.Labels[i]], i)
	}
	for _, size := range sizes {
		// Relative to the largest: for small alpha all of them would underflow.
		shares := make([]float64, len(classes))
		for k := range shares {
			shares[k] = logGamma(alpha, rnd)
		}
		top := slices.Max(shares)
		for k := range shares {
			shares[k] = math.Exp(shares[k] - top)
		}
		var part []int
		for range size {
			k := draw(shares, classes, rnd)
			part = append(part, classes[k][0])
			classes[k] = classes[k][1:]
		}
		parts = append(parts, part)
	}
	return parts, shuffled(slices.Concat(classes...), rnd), nil
}

// draw takes a class that has rows left, in proportion to shares; if all shares of
// such classes are zero, in proportion to rows.
func draw(shares []float64, classes [][]int, rnd *rand.Rand) int {
	var total, rows float64
	for k, s := range shares {
		if len(classes[k]) > 0 {
			total += s
			rows += float64(len(classes[k]))
		}
	}
	weight := func(k int) float64 { return shares[k] }
	if total == 0 {
		total = rows
		weight = func(k int) float64 { return float64(len(classes[k])) }
	}
	at := rnd.Float64() * total
	last := -1
	for k := range shares {
		if len(classes[k]) == 0 {
			continue
		}
		last = k
		if at -= weight(k); at < 0 {
			break
		}
	}
	return last
}

// logGamma is the logarithm of a draw from the gamma distribution of shape alpha and
// scale 1 [marsaglia2000], below 1 by the power of a uniform number.
func logGamma(alpha float64, rnd *rand.Rand) float64 {
	if alpha < 1 {
		return logGamma(alpha+1, rnd) + math.Log(1-rnd.Float64())/alpha
	}
	d := alpha - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := rnd.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(1-rnd.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return math.Log(d * v)
		}
	}
}

// Classes gives every party rows of one class: party i those of class i mod k, so
// that a class with several parties is cut into equal parts. Zero as size means all
// rows that fall to a party.
func Classes(y learn.Target, from []int, parties, size int, rnd *rand.Rand) (parts [][]int, rest []int, err error) {
	k := len(y.Classes)
	if k == 0 {
		return nil, nil, fmt.Errorf("split: classes needs classes, the label is a number")
	}
	if parties < k {
		return nil, nil, fmt.Errorf("split: %d parties cannot hold one of %d classes each", parties, k)
	}
	classes := make([][]int, k)
	for _, i := range shuffled(from, rnd) {
		classes[y.Labels[i]] = append(classes[y.Labels[i]], i)
	}
	parts = make([][]int, parties)
	for i := range parts {
		holders := (parties - i%k + k - 1) / k // parties of class i mod k
		rows := classes[i%k]
		at := i / k
		part := rows[at*len(rows)/holders : (at+1)*len(rows)/holders]
		if len(part) < max(size, 1) {
			return nil, nil, fmt.Errorf("split: party %d gets %d rows of its class, wants %d", i+1, len(part), max(size, 1))
		}
		if size > 0 {
			rest = append(rest, part[size:]...)
			part = part[:size]
		}
		parts[i] = slices.Clone(part)
	}
	return parts, rest, nil
}

// By gives every party the rows of one group, or, with fewer parties than groups,
// of several: the largest groups first, each to the party with the fewest rows so
// far. Zero parties means one a group; zero as size all rows. Groups without rows in
// from are left out.
func By(group []int, groups int, from []int, parties, size int, rnd *rand.Rand) (parts [][]int, rest []int, err error) {
	if group == nil {
		return nil, nil, fmt.Errorf("split: no column to divide by was named")
	}
	if parties < 0 {
		return nil, nil, fmt.Errorf("split: %d parties, must not be negative", parties)
	}
	sets := make([][]int, groups)
	for _, i := range shuffled(from, rnd) {
		sets[group[i]] = append(sets[group[i]], i)
	}
	sets = slices.DeleteFunc(sets, func(s []int) bool { return len(s) == 0 })
	if parties == 0 {
		parties = len(sets)
	}
	if parties > len(sets) {
		return nil, nil, fmt.Errorf("split: the column has %d values with rows, too few for %d parties", len(sets), parties)
	}
	parts = make([][]int, parties)
	if parties == len(sets) {
		copy(parts, sets)
	} else {
		slices.SortStableFunc(sets, func(a, b []int) int { return len(b) - len(a) })
		for _, set := range sets {
			least := 0
			for i := range parts {
				if len(parts[i]) < len(parts[least]) {
					least = i
				}
			}
			parts[least] = append(parts[least], set...)
		}
	}
	for i, part := range parts {
		if size > 0 && len(part) > size {
			part = shuffled(part, rnd)
			rest = append(rest, part[size:]...)
			parts[i] = part[:size]
		}
	}
	return parts, rest, nil
}

// Halves are two sets of columns of m: the first ⌈m/2⌉ and the others, in the order
// of a permutation, so that a picture is not cut into an upper and a lower half.
func Halves(m int, rnd *rand.Rand) (first, second []int, err error) {
	if m < 2 {
		return nil, nil, fmt.Errorf("split: %d columns cannot be halved", m)
	}
	order := rnd.Perm(m)
	return order[:(m+1)/2], order[(m+1)/2:], nil
}

// enough rows for parts of at least one row each.
func enough(from []int, sizes []int) error {
	left := len(from) // not a sum of the sizes, which could overflow
	for i, size := range sizes {
		if size < 1 {
			return fmt.Errorf("split: part %d has %d rows, must have at least 1", i+1, size)
		}
		if size > left {
			return fmt.Errorf("split: part %d of %d is to have %d rows, %d of %d are left", i+1, len(sizes), size, left, len(from))
		}
		left -= size
	}
	return nil
}

func shuffled(rows []int, rnd *rand.Rand) []int {
	out := slices.Clone(rows)
	rnd.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}
