package party

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"concord/basis"
	"concord/contract"
	"concord/privacy"
	"concord/secret"
)

// addNoise returns X̃ = clip(X) F + N. With a guarantee, F and the scaling of X do not
// look at the rows, F has orthonormal columns, and replacing one row moves X̃ by 2·clip
// at most: the Gaussian mechanism, for the features of one row (not its label, nor how
// many rows there are).
func (r *Report) addNoise(noise *contract.Noise, x secret.Matrix, people []int, f *basis.Basis, floors Floors, src rand.Source) (*mat.Dense, error) {
	sigma, err := noise.Deviation()
	if err != nil {
		return nil, fmt.Errorf("party: %w", err)
	}
	if sigma > largest || sigma < 1/largest {
		return nil, fmt.Errorf("party: the contract's noise has deviation %g, with which nothing can be computed; it must be %g to %g", sigma, 1/largest, largest)
	}
	rows := secret.NewMatrix(mat.DenseCopyOf(x.Reveal()))
	defer rows.Erase()
	clipped := 0
	if noise.Guarantees() {
		if floors.Eps > 0 {
			return nil, errors.New("party: this site's floor of eps drops rows by what they are, which the contract's noise does not cover; the site cannot have both")
		}
		if clipped, err = privacy.Clip(rows.Reveal(), noise.Clip); err != nil {
			return nil, fmt.Errorf("party: %w", err)
		}
	}
	z := f.Project(rows)
	if err := privacy.AddSecure(z, sigma, src); err != nil {
		return nil, fmt.Errorf("party: %w", err)
	}
	finding := Finding{"noise", againstReaders, sigma, fmt.Sprintf("noise of deviation %.3g is on every shared number, without a guarantee for anybody", sigma), false}
	if noise.Guarantees() {
		finding.Text = fmt.Sprintf("noise of deviation %.3g is on every shared number: (%g, %g)-differential privacy for the features of one row, against everybody, "+
			"colluders included; labels, their counts and the number of rows are not covered, and every further contribution of the same rows adds to it; "+
			"%d of %d rows were longer than %g and cut to that", sigma, noise.Epsilon, noise.Delta, clipped, r.Rows, noise.Clip)
		// The guarantee is a row's. For k rows of one person it is the k-fold composition's
		// at best, that of neighbours k rows apart.
		if most := mostRows(people); most > 1 {
			finding.Text += fmt.Sprintf("; people here have up to %d rows, and for all rows of such a person epsilon is %g, not %g", most, float64(most)*noise.Epsilon, noise.Epsilon)
		}
		finding.Warn = 2*clipped > r.Rows || noise.Epsilon*float64(mostRows(people)) > 10
	}
	r.Findings = append(r.Findings, finding)
	return z, nil
}

// mostRows is how many rows the person with most of them has; people is nil for a row a
// person.
func mostRows(people []int) int {
	most, rows := 1, map[int]int{}
	for _, who := range people {
		rows[who]++
		most = max(most, rows[who])
	}
	return most
}
