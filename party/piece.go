package party

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"concord/anchor"
	"concord/contract"
	"concord/linalg"
	"concord/privacy"
	"concord/secret"
	"concord/table"
)

// againstParties are who gets a piece: the other parties, each of them alone.
const againstParties = "every other party, alone"

// Piece makes this party's piece of a data-like anchor from a table that keeps the
// floors: near-raw rows, in random order, for the other parties and not for the
// analyst. The report says how near. Where there is a floor of eps, rows of the piece
// that lie nearer to a true row than that share of its length are left out, as a
// contribution's rows are ([nosaka2024mm], section 2.3). src must be seeded by the operating system's
// entropy.
//
// Cost: O(n m min(n, m)) for low-rank, O(n² m) for smote, and as much for the report as
// distances between all rows of the piece and all true rows.
func Piece(c *contract.Contract, t *table.Table, floors Floors, src rand.Source) (secret.Matrix, Report, error) {
	report, err := Check(c, t, floors)
	if err != nil {
		return secret.Matrix{}, report, err
	}
	prep, err := c.Preparation(nil) // pieces come before anything is pooled
	if err != nil {
		return secret.Matrix{}, report, fmt.Errorf("party: %w", err)
	}
	rows := prepared(t, prep, nil)
	rows.shuffle(rows.all(), rand.New(src))
	defer rows.erase()
	made, err := makePiece(c, rows, src)
	if err != nil {
		return secret.Matrix{}, report, fmt.Errorf("party: %w", err)
	}
	tooNear := made.keepAway(floors.Eps)
	if made.count() == 0 {
		made.rows.Erase()
		return secret.Matrix{}, report, &FloorError{[]string{fmt.Sprintf("every row of the piece lies within %g of a true row's length of that row, the floor of eps", floors.Eps)}}
	}
	if err := report.nearness(c, made, tooNear); err != nil {
		made.rows.Erase()
		return secret.Matrix{}, report, fmt.Errorf("party: %w", err)
	}
	if err := report.Keeps(c, floors); err != nil {
		made.rows.Erase()
		return secret.Matrix{}, report, err
	}
	report.round(floors)
	return made.rows, report, nil
}

// piece is one in the making, with what only its maker knows.
type piece struct {
	rows secret.Matrix // k × m
	of   [][2]int      // the rows of x that each row is made of
	x    *mat.Dense    // true rows (n × m)
	// people says whose the true rows are, or is nil for a row a person.
	people []int
	// nearest is the true row nearest to each row of the piece, one of those that it is
	// made of where several are as near, and distance how far that is.
	nearest  []int
	distance []float64
}

func makePiece(c *contract.Contract, from siteRows, src rand.Source) (*piece, error) {
	x := from.rows
	n, _ := x.Dims()
	p := &piece{x: x.Reveal(), people: from.people}
	most := min(n, c.Anchor.Rows) // no more than the whole anchor has
	var err error
	switch c.Anchor.Kind {
	case "low-rank":
		if p.rows, err = anchor.LowRankPiece(x, min(c.Anchor.Rank, n), c.Anchor.Delta, src); err != nil {
			return nil, err
		}
		for i := range n {
			p.of = append(p.of, [2]int{i, i})
		}
		if most < n {
			p.keep(most, func(i int) bool { return i < most })
		}
	case "smote":
		if p.rows, p.of, err = anchor.SMOTEPieceOf(x, most, min(c.Anchor.Neighbours, n-1), src); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("an anchor of kind %s is not made of pieces", c.Anchor.Kind)
	}
	p.measure()
	return p, nil
}

func (p *piece) count() int { return len(p.of) }

// keep drops the rows that are not wanted; count of them are.
func (p *piece) keep(count int, want func(i int) bool) {
	_, m := p.x.Dims()
	old := p.rows
	defer old.Erase()
	if count == 0 {
		p.rows, p.of, p.nearest, p.distance = secret.Matrix{}, nil, nil, nil
		return
	}
	kept := &piece{rows: secret.NewMatrix(mat.NewDense(count, m, nil)), x: p.x, people: p.people}
	for i := range p.of {
		if !want(i) {
			continue
		}
		kept.rows.Reveal().SetRow(len(kept.of), old.Reveal().RawRowView(i))
		kept.of = append(kept.of, p.of[i])
		if p.nearest != nil {
			kept.nearest, kept.distance = append(kept.nearest, p.nearest[i]), append(kept.distance, p.distance[i])
		}
	}
	*p = *kept
}

// measure finds the nearest true row of each row of the piece.
func (p *piece) measure() {
	k, raw := p.count(), p.rows.Reveal()
	n, _ := p.x.Dims()
	p.nearest, p.distance = make([]int, k), make([]float64, k)
	linalg.Parallel(k, func(i int) {
		row := raw.RawRowView(i)
		// Those that it is made of come first, so that they win where others are as near.
		at, best := p.of[i][0], squared(row, p.x.RawRowView(p.of[i][0]), math.Inf(1))
		if d := squared(row, p.x.RawRowView(p.of[i][1]), math.Inf(1)); d < best {
			at, best = p.of[i][1], d
		}
		for r := range n {
			if d := squared(row, p.x.RawRowView(r), best); d < best*(1-1e-12) {
				at, best = r, d
			}
		}
		p.nearest[i], p.distance[i] = at, math.Sqrt(best)
	})
}

// squared is ‖a − b‖², or something above most if it is more.
func squared(a, b []float64, most float64) float64 {
	const step = 16 // between looks at most
	var sum float64
	for from := 0; from < len(a); from += step {
		to := min(from+step, len(a))
		for j, v := range a[from:to] {
			d := v - b[from+j]
			sum += d * d
		}
		if sum > most {
			return sum
		}
	}
	return sum
}

// off is how far row i of the piece is from the nearest true row, as a share of that
// row's length.
func (p *piece) off(i int) float64 {
	length := math.Sqrt(squared(p.x.RawRowView(p.nearest[i]), make([]float64, len(p.x.RawRowView(0))), math.Inf(1)))
	switch {
	case length > 0:
		return p.distance[i] / length
	case p.distance[i] > 0:
		return 1
	}
	return 0
}

// keepAway drops the rows whose distance is less than the floor, and says how many.
func (p *piece) keepAway(eps float64) int {
	far := 0
	for i := range p.of {
		if p.off(i) >= eps {
			far++
		}
	}
	near := p.count() - far
	if near > 0 {
		p.keep(far, func(i int) bool { return p.off(i) >= eps })
	}
	return near
}

// person is whose true row r is.
func (p *piece) person(r int) int {
	if p.people == nil {
		return r
	}
	return p.people[r]
}

// nearestWork bounds the products for distances between all true rows: of many rows only
// some are compared with all others.
const nearestWork = 2e9

// nearness says how far the rows of a piece are from the nearest true row, beside how
// far true rows are from their nearest neighbours, and of how many the nearest true row
// is one that they were made of; for low-rank pieces, of which each row is made of one,
// also what of each feature they show.
func (r *Report) nearness(c *contract.Contract, p *piece, dropped int) error {
	toTrue, among := median(slices.Clone(p.distance)), neighbours(p.x)
	ratio := 0.0
	if among > 0 {
		ratio = toTrue / among
	}
	least, linked, chance := math.Inf(1), 0, 0.0
	n, _ := p.x.Dims()
	rowsOf := map[int]int{}
	for i := range n {
		rowsOf[p.person(i)]++
	}
	for i, of := range p.of {
		least = min(least, p.off(i))
		who, a, b := p.person(p.nearest[i]), p.person(of[0]), p.person(of[1])
		if who == a || who == b {
			linked++
		}
		theirs := rowsOf[a]
		if a != b {
			theirs += rowsOf[b]
		}
		chance += float64(theirs) / float64(n) / float64(p.count())
	}
	r.Eps, r.Linked = least, float64(linked)/float64(p.count())
	without := ""
	if dropped > 0 {
		without = fmt.Sprintf("; %d rows of the piece that lay nearer than the floor of eps were left out", dropped)
	}
	r.Findings = append(r.Findings, Finding{"piece-distance", againstParties, ratio,
		fmt.Sprintf("half of the piece's rows lie within %.3g of a true row, in standardised units, where true rows have their nearest neighbour at %.3g; the nearest is off by %.3f of that row's length%s",
			toTrue, among, least, without), ratio < 1})
	made := "the person they are made of"
	if c.Anchor.Kind != "low-rank" {
		made = "one of the two people they are made of"
	} else {
		truth := mat.NewDense(p.count(), c.M(), nil)
		defer truth.Zero()
		for i, of := range p.of {
			truth.SetRow(i, p.x.RawRowView(of[0]))
		}
		errs, err := privacy.Compare(truth, p.rows.Reveal())
		if err != nil {
			return err
		}
		names := c.ColumnNames()
		for j, e := range errs.Features {
			if !e.Constant {
				r.Reconstructed = append(r.Reconstructed, FeatureRatio{names[j], e.Ratio})
			}
		}
		sortRatios(r.Reconstructed)
	}
	r.Findings = append(r.Findings, Finding{"piece-linkage", againstParties, r.Linked,
		fmt.Sprintf("%.1f %% of the piece's rows are nearest to %s, among %d rows (by chance %.2g %%)%s",
			100*r.Linked, made, n, 100*chance, bestKnown(r.Reconstructed)), r.Linked > warnLinked})
	return nil
}

// neighbours is the median distance of the rows of x to the nearest other row.
func neighbours(x *mat.Dense) float64 {
	n, m := x.Dims()
	step := max(1, int(float64(n)*float64(n)*float64(m)/nearestWork))
	all := make([]float64, (n+step-1)/step)
	linalg.Parallel(len(all), func(i int) {
		best := math.Inf(1)
		for k := range n {
			if k != i*step {
				best = min(best, squared(x.RawRowView(i*step), x.RawRowView(k), best))
			}
		}
		all[i] = math.Sqrt(best)
	})
	return median(all)
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}
