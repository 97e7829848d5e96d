package privacy

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// directionComponents is how many principal axes [IndependentDirections] turns.
const directionComponents = 64

// IndependentDirections returns directions D (l × r) along which the rows of a (n × l)
// have scores a D that are as independent and as far from normal as FastICA finds
// [hyvarinen1999], and whether it converged. It is what somebody does who has nothing
// but a. Of rows z = xF with independent features it finds directions near those of single
// features, named by nobody; of the image of an anchor with independent elements that are
// not normal, uniform ones say, it finds directions near the columns of F⁺, so that z D is
// near the features too, whatever x is. The smaller l/m, the farther: a feature whose axis
// has length c within F's span is followed with a correlation of about c.
//
// No direction is special in an anchor whose law no rotation changes (independent normal
// elements, or √a times Haar-orthonormal columns): the law of AF depends on FᵀF alone.
//
// At most 4000 rows, 64 principal axes and 120 steps are used; rows and start are drawn by
// src. The errors name what is not a number. Two rows at least. Cost O(n l min(n, l)) and
// O(r² + 20 r) per row and step.
func IndependentDirections(a *mat.Dense, src rand.Source) (d *mat.Dense, converged bool, err error) {
	if src == nil {
		panic("privacy: nil source")
	}
	if err := checkMatrix("rows", a); err != nil {
		return nil, false, err
	}
	n, l := a.Dims()
	if n < 2 {
		return nil, false, fmt.Errorf("privacy: %d row, directions need at least 2", n)
	}
	if err := moderate("rows", a); err != nil {
		return nil, false, err
	}
	some, _ := someRows(n, icaRows, rand.New(src), a, nil)
	axes, err := principalAxes(some, min(l, directionComponents), src)
	if err != nil {
		return nil, false, fmt.Errorf("privacy: axes of the rows: %w", err)
	}
	r := len(axes.dev)
	if r == 0 {
		return nil, false, nil // all rows are the same
	}
	ica, err := independent(axes.score, linalg.Haar(r, src), icaTol, icaSteps)
	if err != nil {
		return nil, false, err
	}
	d = mat.NewDense(l, r, nil)
	for k := range r {
		for j := range r {
			w := ica.w.At(k, j) / axes.dev[j]
			for i := range l {
				d.Set(i, k, d.At(i, k)+w*axes.v.At(i, j))
			}
		}
	}
	return d, ica.converged, nil
}
