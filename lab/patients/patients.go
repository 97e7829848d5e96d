// Package patients looks at the twenty patients that [imakura2023] prints (tables 1 to 3) the
// way an attacker would: the paper reports that features and shared columns correlate by less
// than 0.4, which holds row by row of its tables, after the permutation; matched by person,
// weight is in one column almost as it is, and sorting by it tells who is who (docs/methods.md
// section 7.4). [Run] measures both, and what standardising or whitening before the projection
// does to it.
package patients

import (
	"bytes"
	_ "embed" // the tables
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"concord/basis"
	basisspec "concord/basis/spec"
	"concord/linalg"
	"concord/privacy"
	"concord/secret"
)

//go:embed nri.csv
var tables []byte

// Features are the columns of table 1.
var Features = []string{"sex", "age", "weight", "smoke"}

const (
	perParty = 10
	shared   = 3 // columns of tables 2 and 3
)

// Party is one of the paper's two parties, in the order of its persons.
type Party struct {
	Rows    *mat.Dense // table 1 (10 × 4)
	Shared  *mat.Dense // table 2 (10 × 3)
	Aligned *mat.Dense // table 3 (10 × 3)
	// Printed is where tables 2 and 3 have each person, from 0.
	Printed []int
}

// Load returns the two parties.
func Load() ([]Party, error) {
	r := csv.NewReader(bytes.NewReader(tables))
	r.Comment = '#'
	lines, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("patients: %w", err)
	}
	parties := make([]Party, 2)
	for i := range parties {
		parties[i] = Party{mat.NewDense(perParty, len(Features), nil), mat.NewDense(perParty, shared, nil), mat.NewDense(perParty, shared, nil), make([]int, perParty)}
	}
	for _, line := range lines[1:] {
		v := make([]float64, len(line))
		for j, s := range line {
			if v[j], err = strconv.ParseFloat(s, 64); err != nil {
				return nil, fmt.Errorf("patients: %w", err)
			}
		}
		p, i := &parties[int(v[0])-1], int(v[1])-1
		p.Rows.SetRow(i, v[2:6])
		p.Printed[i] = int(v[6]) - 1
		p.Shared.SetRow(i, v[7:10])
		p.Aligned.SetRow(i, v[10:13])
	}
	return parties, nil
}

// printed puts the rows of a in the order in which the paper prints them.
func (p Party) printed(a *mat.Dense) *mat.Dense {
	n, m := a.Dims()
	out := mat.NewDense(n, m, nil)
	for i, at := range p.Printed {
		out.SetRow(at, a.RawRowView(i))
	}
	return out
}

// Published is what the paper's own tables show of one party.
type Published struct {
	Party int `json:"party"`
	// ByPosition and ByPerson are the largest |correlation| of a feature with a shared
	// column, row by row as printed and person by person; Feature is that of ByPerson.
	ByPosition float64 `json:"by_position"`
	ByPerson   float64 `json:"by_person"`
	Feature    string  `json:"feature"`
	// Collated is the share of persons found by sorting both by that feature; Chance is
	// that of an order of no meaning.
	Collated float64 `json:"collated"`
	Chance   float64 `json:"chance"`
}

// Scaled is what a scrambled basis of our own shows of weight in both parties' rows,
// scaled so before: means over draws of the largest |correlation| with a column or
// component, and of the share of persons found by sorting.
type Scaled struct {
	Scaling  string  `json:"scaling"`
	ByPerson float64 `json:"by_person"`
	Collated float64 `json:"collated"`
	Repeats  int     `json:"repeats"`
}

// weight is the feature that stands out in the raw rows.
const weight = 2

// Result is all that Run found.
type Result struct {
	Published []Published `json:"published"`
	Scaled    []Scaled    `json:"scaled"`
}

// Scalings before the projection, in the order of Result.
var scalings = []struct {
	name  string
	apply func(*mat.Dense) (*mat.Dense, error)
}{{"raw", same}, {"standardised", standardise}, {"whitened", whiten}}

// Run measures the published tables, and repeats draws of a scrambled basis ([imakura2023], section 6.1:
// principal components times a matrix of normal numbers) for each scaling.
func Run(repeats int, seed uint64) (*Result, error) {
	if repeats < 1 || repeats > 1_000_000 {
		return nil, fmt.Errorf("patients: repeats is %d, must be from 1 to 1000000", repeats)
	}
	parties, err := Load()
	if err != nil {
		return nil, err
	}
	out := new(Result)
	for i, p := range parties {
		person, feature, collated, err := exposed(p.Rows, p.Shared)
		if err != nil {
			return nil, err
		}
		position, err := privacy.Correlations(p.Rows, p.printed(p.Shared))
		if err != nil {
			return nil, err
		}
		out.Published = append(out.Published, Published{i + 1, mat.Max(position), person, Features[feature], collated, 1. / perParty})
	}
	for _, s := range scalings {
		got := Scaled{Scaling: s.name, Repeats: repeats}
		rnd := rand.NewPCG(seed, 1)
		for range repeats {
			for _, p := range parties {
				x, err := s.apply(p.Rows)
				if err != nil {
					return nil, err
				}
				v, _, err := basis.Directions(basisspec.PCA, secret.NewMatrix(x), shared, 0, rnd)
				if err != nil {
					return nil, err
				}
				f, err := basis.Mixed(v, basisspec.Normal, rnd)
				if err != nil {
					return nil, err
				}
				matches, err := privacy.RankMatching(p.Rows, f.Project(secret.NewMatrix(x)))
				if err != nil {
					return nil, err
				}
				n, m := float64(2*repeats), matches[weight]
				got.ByPerson, got.Collated = got.ByPerson+math.Abs(m.Correlation)/n, got.Collated+m.Exact/n
			}
		}
		out.Scaled = append(out.Scaled, got)
	}
	return out, nil
}

// exposed is the largest |correlation| of a feature with a column or component of what is
// shared, which feature, and the share of persons that sorting by it finds.
func exposed(x, z *mat.Dense) (correlation float64, feature int, collated float64, err error) {
	matches, err := privacy.RankMatching(x, z)
	if err != nil {
		return 0, 0, 0, err
	}
	for j, m := range matches {
		if r := math.Abs(m.Correlation); r > correlation {
			correlation, feature = r, j
		}
		collated = max(collated, m.Exact)
	}
	return correlation, feature, collated, nil
}

func same(x *mat.Dense) (*mat.Dense, error) { return x, nil }

// standardise gives every column mean 0 and deviation 1.
func standardise(x *mat.Dense) (*mat.Dense, error) {
	out := mat.DenseCopyOf(x)
	n, m := x.Dims()
	for j := range m {
		var sum, squares float64
		for i := range n {
			sum += x.At(i, j)
		}
		for i := range n {
			d := x.At(i, j) - sum/float64(n)
			squares += d * d
			out.Set(i, j, d)
		}
		for i := range n {
			out.Set(i, j, out.At(i, j)/math.Sqrt(squares/float64(n)))
		}
	}
	return out, nil
}

// whiten gives the rows equal deviation in all directions, by the inverse square root of
// their covariance.
func whiten(x *mat.Dense) (*mat.Dense, error) {
	z, err := standardise(x)
	if err != nil {
		return nil, err
	}
	u, s, v, err := linalg.SVD(z)
	if err != nil {
		return nil, fmt.Errorf("patients: %w", err)
	}
	n, _ := x.Dims()
	if linalg.NumericalRank(s, n, len(s), 0) < len(s) {
		return nil, fmt.Errorf("patients: the rows do not span their features")
	}
	var out mat.Dense
	out.Mul(u, v.T())
	out.Scale(math.Sqrt(float64(n)), &out)
	return &out, nil
}
