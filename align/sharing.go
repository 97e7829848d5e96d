package align

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// Sharing says how much two groups of parties see of each other: the principal angles
// between the spans of their anchor images. With bases over different features nothing
// else makes an alignment: where no direction is shared, every G_i is as good as any
// other, and the one that is found fits the anchor's noise (docs/methods.md section 9.1).
type Sharing struct {
	// First and Second are indices into the groups, First < Second.
	First, Second int
	// Ranks are the dimensions of the two spans.
	Ranks [2]int
	// Cosines are those of the principal angles, decreasing: 1 for a direction that is
	// in both spans, 0 for one that the other lacks altogether.
	Cosines []float64
	// Chance is the largest cosine that spans with nothing in common have, all but once
	// in a thousand times; 1 if the anchor has too few rows to tell.
	Chance float64
	// Seen is how many cosines are beyond Chance.
	Seen int
}

// Between compares the spans of groups of anchor images, pair by pair. The span of a
// group is that of all its A_i together; all have the anchor's rows.
//
// exact says that the columns of the anchor itself are orthonormal: features that two
// groups do not share then have images at right angles, but for rounding. Otherwise
// the anchor's rows are taken as independent draws of one law, and images of
// independent features have the small angles of random subspaces: with s = N − 1 and the
// ranks p ≤ q the largest of θ = cos² has ([johnstone2008], theorem 1, canonical
// correlations)
//
//	log(θ/(1−θ)) ≈ μ + σ W₁,  μ = 2 log tan((φ+γ)/2),  σ³ = 16 / (s² sin²(φ+γ) sin φ sin γ)
//	sin²(γ/2) = (p − ½)/s,  sin²(φ/2) = (q − ½)/s
//
// with W₁ of Tracy and Widom's law [tracy1996], whose 0.999 quantile is 3.27 [bejan2005]. Columns
// are centred, and N is one less than the rows, so that a mean that all columns have does
// not count as a direction. Cost: O(a L min(a, L)) a group, O(a p q) a pair.
func Between(groups [][]*mat.Dense, exact bool) ([]Sharing, error) {
	spans := make([]*mat.Dense, len(groups))
	rows := 0
	for k, group := range groups {
		in, err := newInput(group, Options{})
		if err != nil {
			return nil, err
		}
		if k > 0 && in.rows != rows {
			return nil, fmt.Errorf("align: the images of group %d have %d rows and those of group 1 have %d: all must come from one anchor", k+1, in.rows, rows)
		}
		rows = in.rows
		if _, err := in.squares(); err != nil {
			return nil, err
		}
		w := in.hstack()
		if !exact {
			centre(w)
		}
		u, s, err := linalg.SVDLeft(w)
		if err != nil {
			return nil, fmt.Errorf("align: the images of group %d: %w", k+1, err)
		}
		rank := linalg.NumericalRank(s, in.rows, in.sum, 0)
		if rank == 0 {
			return nil, fmt.Errorf("align: the images of group %d are zero", k+1)
		}
		spans[k] = mat.DenseCopyOf(u.Slice(0, in.rows, 0, rank))
	}
	var out []Sharing
	for i := range spans {
		for j := i + 1; j < len(spans); j++ {
			var m mat.Dense
			m.Mul(spans[i].T(), spans[j])
			s, err := linalg.SingularValues(&m)
			if err != nil {
				return nil, fmt.Errorf("align: the spans of groups %d and %d: %w", i+1, j+1, err)
			}
			_, p := spans[i].Dims()
			_, q := spans[j].Dims()
			sh := Sharing{First: i, Second: j, Ranks: [2]int{p, q}, Cosines: s}
			if exact {
				sh.Chance = math.Sqrt(linalg.Eps) * math.Sqrt(float64(rows))
			} else {
				sh.Chance = chanceCosine(p, q, rows-1)
			}
			for k, v := range s {
				s[k] = min(v, 1) // 1 + rounding
				if s[k] > sh.Chance {
					sh.Seen++
				}
			}
			out = append(out, sh)
		}
	}
	return out, nil
}

// tracyWidom is the 0.999 quantile of the law of order 1.
const tracyWidom = 3.2724

// chanceCosine is Chance for ranks p and q of n centred rows.
func chanceCosine(p, q, n int) float64 {
	if p+q >= n {
		return 1 // such spans meet whatever they are
	}
	p, q = min(p, q), max(p, q)
	s := float64(n - 1)
	gamma := 2 * math.Asin(math.Sqrt((float64(p)-0.5)/s))
	phi := 2 * math.Asin(math.Sqrt((float64(q)-0.5)/s))
	sum := math.Sin(phi + gamma)
	mu := 2 * math.Log(math.Tan((phi+gamma)/2))
	sigma := math.Cbrt(16 / (s * s * sum * sum * math.Sin(phi) * math.Sin(gamma)))
	w := mu + sigma*tracyWidom
	return math.Sqrt(1 / (1 + math.Exp(-w)))
}

// centre takes the mean off every column.
func centre(m *mat.Dense) {
	n, cols := m.Dims()
	mean := make([]float64, cols)
	for i := range n {
		for j, v := range m.RawRowView(i) {
			mean[j] += v / float64(n)
		}
	}
	for i := range n {
		row := m.RawRowView(i)
		for j := range row {
			row[j] -= mean[j]
		}
	}
}
