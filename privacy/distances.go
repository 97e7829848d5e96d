package privacy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// Limits of [LinkDistances]: its cost is that of distances between all pairs, so the
// attack is run on a pool of this size, and is no stronger with more known rows than
// about the seeds that pin a row down in l dimensions.
const (
	distancePool  = 1000 // images among which the known rows are looked for
	distanceKnown = 100  // known rows
	distanceSeeds = 32   // links by which the others are checked
	distanceSteps = 12   // rounds of checking
)

// DistanceOptions are the choices of [LinkDistances].
type DistanceOptions struct {
	// Knows is the number of rows that the attacker knows. At least 3; at most 100 and
	// n are used. Zero means 50.
	Knows int
	// Repeats is the number of draws of known rows. Zero means 3.
	Repeats int
	// Whiten compares distances between scores on the first min(l, m, Knows − 1)
	// principal axes, each divided by its deviation, on either side. They are kept by a basis
	// that is not orthonormal too, as long as it keeps the axes' span, but the attacker has to
	// estimate the axes from the known rows.
	Whiten bool
}

// DistanceLink says how well known rows are linked with their images by distances.
type DistanceLink struct {
	// Knows is the number of rows known, after clipping; nothing else is known, neither
	// F nor which images are theirs, nor any other row.
	Knows int
	// Pool is the number of images among which each is looked for, those of the known
	// rows among them.
	Pool int
	// Linked is the share of known rows that are linked to the right image, the mean over
	// the repeats; Chance is 1/Pool.
	Linked, Chance float64
	// Stress is what the attacker sees of the quality: the mean difference between the
	// distances of two known rows and of the images linked to them, the better
	// half of them for every row, in units of the mean distance. It tells right links
	// from wrong ones without the truth.
	Stress float64
}

// LinkDistances runs the attack of an analyst who knows some rows of x (n × m), not
// which images z = xF (n × l) are theirs, and looks for them by distances, which an
// orthonormal F of many columns keeps nearly:
//
//	‖xᵢ − xⱼ‖ ≈ c ‖zᵢ − zⱼ‖,  ‖xᵢ‖ ≈ c ‖zᵢ‖
//
// It is against the analyst alone, also where rows are permuted as under NRI: the
// links are what makes known rows usable there (see [KnownRows]). A low rate says that
// this attack fails, not that none works.
//
// First links are made by lengths, with c = 1 and with c from the mean lengths, and by
// the quantiles of the distances from a row to the other known rows and from an image to
// all images. Then the links that agree best among themselves are the seeds, and
// every known row is given the image whose distances to the seeds' images fit its own,
// one to one at the least sum (seeded graph matching: [fishkind2019], with the sum
// linear in the seeds), until nothing changes. The start with the least stress counts.
//
// At most 1000 images drawn by src are searched: among more the rate is lower, as
// Chance is. Of equal rows one is as good as another, and links among them are right by
// chance only. The cost is O(pool² l + knows pool (seeds + knows)) for a round.
func LinkDistances(x, z *mat.Dense, opt DistanceOptions, src rand.Source) (DistanceLink, error) {
	n, m, l, err := pairedShapes(x, z)
	if err != nil {
		return DistanceLink{}, err
	}
	if opt.Knows == 0 {
		opt.Knows = 50
	}
	if opt.Repeats == 0 {
		opt.Repeats = 3
	}
	switch {
	case n < 3:
		return DistanceLink{}, fmt.Errorf("privacy: %d rows, distances need at least 3", n)
	case opt.Knows < 3:
		return DistanceLink{}, fmt.Errorf("privacy: number of known rows is %d, must be at least 3", opt.Knows)
	case opt.Repeats < 0:
		return DistanceLink{}, fmt.Errorf("privacy: repeats is %d, must not be negative", opt.Repeats)
	}
	rng := rand.New(src)
	pool, k := min(n, distancePool), min(opt.Knows, n, distanceKnown)
	out := DistanceLink{Knows: k, Pool: pool, Chance: 1 / float64(pool)}
	right := 0
	for range opt.Repeats {
		rows := rng.Perm(n)[:pool]
		// Images stand in an order of their own: a tie must not favour the right one.
		place := rng.Perm(pool)
		images := make([]int, pool)
		for i, p := range place {
			images[p] = rows[i]
		}
		known, image := linalg.TakeRows(x, rows[:k]), linalg.TakeRows(z, images)
		if opt.Whiten {
			r := min(l, m, k-1)
			if known, err = whitened(known, r, src); err != nil {
				return DistanceLink{}, fmt.Errorf("privacy: axes of the known rows: %w", err)
			}
			_, r = known.Dims()
			if image, err = whitened(image, r, src); err != nil {
				return DistanceLink{}, fmt.Errorf("privacy: axes of the images: %w", err)
			}
		}
		links, stress := linkByDistances(known, image)
		for i, j := range links {
			if j == place[i] {
				right++
			}
		}
		out.Stress += stress / float64(opt.Repeats)
	}
	out.Linked = float64(right) / float64(k*opt.Repeats)
	return out, nil
}

// whitened are the scores of a on its first r principal axes, in deviations and about 0;
// a column of zeros if it has none.
func whitened(a *mat.Dense, r int, src rand.Source) (*mat.Dense, error) {
	p, err := principalAxes(a, r, src)
	if err != nil {
		return nil, err
	}
	if len(p.dev) == 0 {
		n, _ := a.Dims()
		return mat.NewDense(n, 1, nil), nil
	}
	for j := range p.first {
		p.first[j] = -p.first[j]
	}
	return linalg.Centred(p.score, p.first), nil
}

// linkByDistances gives each of k known rows an image of its own among N, and the stress
// of the links.
func linkByDistances(known, image *mat.Dense) (links []int, stress float64) {
	k, _ := known.Dims()
	n, _ := image.Dims()
	dx, dz := pairDistances(known), pairDistances(image)
	lx, lz := rowLengths(known), rowLengths(image)
	unit := meanOf(dx.RawMatrix().Data) // of stress; k(k−1) of the k² are not zero
	if unit == 0 {
		unit = 1
	}
	// Pairs of rows, and so mean squares, are comparable as both are random samples.
	ratio := 1.0
	if s := linalg.SumSquares(dz) / float64(n*(n-1)); s > 0 {
		ratio = math.Sqrt(linalg.SumSquares(dx) / float64(k*(k-1)) / s)
	}
	stress = math.Inf(1)
	for start := range 3 {
		cost := mat.NewDense(k, n, nil)
		for i := range k {
			for j := range n {
				switch start {
				case 0:
					cost.Set(i, j, math.Abs(lx[i]-lz[j]))
				case 1:
					cost.Set(i, j, math.Abs(lx[i]-ratio*lz[j]))
				}
			}
		}
		if start == 2 {
			profileCosts(cost, dx, dz, ratio)
		}
		at, s := refineLinks(assign(cost), dx, dz, lx, lz)
		if s/unit < stress {
			links, stress = at, s/unit
		}
	}
	return links, stress
}

// profileCosts puts the difference between the distance quantiles of row i and ratio times
// those of image j in cost.
func profileCosts(cost, dx, dz *mat.Dense, ratio float64) {
	k, n := cost.Dims()
	profile := func(d *mat.Dense, i int) []float64 {
		row := slices.Clone(d.RawRowView(i))
		return quantiles(slices.Delete(row, i, i+1))
	}
	of := make([][]float64, n)
	for j := range n {
		of[j] = profile(dz, j)
		scaleInto(of[j], of[j], ratio)
	}
	for i := range k {
		p := profile(dx, i)
		for j := range n {
			cost.Set(i, j, quantileGap(p, of[j], 1))
		}
	}
}

// refineLinks checks links against the best of them until they stay, and returns those of
// the least stress, in the units of dx.
func refineLinks(links []int, dx, dz *mat.Dense, lx, lz []float64) ([]int, float64) {
	k, n := len(links), len(lz)
	var best []int
	least := math.Inf(1)
	fit, order, residual := make([]float64, k), make([]int, k), make([]float64, 0, k)
	for range distanceSteps {
		var up, down float64
		for i := range k {
			for s := range i {
				d := dz.At(links[i], links[s])
				up += dx.At(i, s) * d
				down += d * d
			}
		}
		c := 1.0
		if down > 0 {
			c = up / down
		}
		stress := 0.0
		for i := range k {
			residual = residual[:0]
			for s := range k {
				if s != i {
					residual = append(residual, math.Abs(dx.At(i, s)-c*dz.At(links[i], links[s])))
				}
			}
			slices.Sort(residual)
			fit[i], order[i] = meanOf(residual[:(k+1)/2]), i
			stress += fit[i] / float64(k)
		}
		if stress < least {
			least, best = stress, slices.Clone(links)
		}
		slices.SortStableFunc(order, func(a, b int) int {
			switch {
			case fit[a] < fit[b]:
				return -1
			case fit[a] > fit[b]:
				return 1
			}
			return 0
		})
		seeds := order[:min(k, distanceSeeds, max(4, k/2))]
		cost := mat.NewDense(k, n, nil)
		linalg.Parallel(k, func(i int) {
			row, used := cost.RawRowView(i), 1
			for j := range row {
				row[j] = math.Abs(lx[i] - c*lz[j])
			}
			for _, s := range seeds {
				if s == i {
					continue
				}
				used++
				d, to := dx.At(i, s), dz.RawRowView(links[s])
				for j := range row {
					row[j] += math.Abs(d - c*to[j])
				}
			}
			scaleInto(row, row, 1/float64(used))
		})
		next := assign(cost)
		if slices.Equal(next, links) {
			break
		}
		links = next
	}
	return best, least
}

// pairDistances are the Euclidean distances between all rows of a (n × n), to about
// √ε of the rows' lengths.
func pairDistances(a *mat.Dense) *mat.Dense {
	n, _ := a.Dims()
	d := mat.NewDense(n, n, nil)
	d.Mul(a, a.T())
	square := make([]float64, n)
	for i := range n {
		square[i] = d.At(i, i)
	}
	for i := range n {
		row := d.RawRowView(i)
		for j := range row {
			row[j] = math.Sqrt(max(0, square[i]+square[j]-2*row[j]))
		}
		row[i] = 0
	}
	return d
}

// rowLengths are the Euclidean lengths of the rows of a.
func rowLengths(a *mat.Dense) []float64 {
	n, _ := a.Dims()
	out := make([]float64, n)
	for i := range n {
		out[i] = mat.Norm(a.RowView(i), 2)
	}
	return out
}

// meanOf is the mean of v, 0 of none.
func meanOf(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x / float64(len(v))
	}
	return sum
}
