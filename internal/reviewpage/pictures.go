package reviewpage

import (
	"fmt"
	"html/template"
	"math"

	"gonum.org/v1/gonum/mat"

	"concord/contract"
	"concord/internal/chart"
	"concord/linalg"
)

// Picture is one row where features are the pixels of a square: the row itself, what the
// basis keeps of it, which is what colluders reconstruct, and the same around the mean of
// all rows, which they can guess ([nosaka2025], Fig. 2). Pixels run from −1, black, to 1, white.
type Picture struct{ Row, Kept, Around []float64 }

// leastSide is the side of the smallest square that counts as a picture.
const leastSide = 8

// Side is the side of the square that the contract's features are the pixels of; 0 if
// their number is no square of 64 or more, their ranges differ, or ranges do not scale them.
func Side(c *contract.Contract) int {
	side := int(math.Sqrt(float64(c.M())))
	if side < leastSide || side*side != c.M() || len(c.Features) != c.M() || c.Standardise == "pooled" {
		return 0
	}
	for _, f := range c.Features {
		if f.Range == nil || *f.Range != *c.Features[0].Range {
			return 0
		}
	}
	return side
}

// Pictures draws up to six rows of x (n × m, standardised), evenly over all, through the
// basis f (m × l) and back: x F F⁺ with back = F⁺ (l × m). A page with them holds raw rows.
// c must have a Side. Standardised pixels run from −1 to 1.
func Pictures(c *contract.Contract, x, f, back *mat.Dense) ([]Picture, error) {
	const most = 6
	side := Side(c)
	if side == 0 {
		return nil, fmt.Errorf("reviewpage: the contract's %d features are no pixels of a square", c.M())
	}
	n, m := x.Dims()
	mean := linalg.ColumnMeans(x)
	through := func(v []float64) []float64 {
		var image, again mat.Dense
		image.Mul(mat.NewDense(1, m, v), f)
		again.Mul(&image, back)
		return again.RawRowView(0)
	}
	keptMean := through(mean)
	var out []Picture
	for k := range min(n, most) {
		row := x.RawRowView(k * n / min(n, most))
		kept := through(row)
		around := make([]float64, m)
		for j := range around {
			around[j] = kept[j] + mean[j] - keptMean[j]
		}
		out = append(out, Picture{row, kept, around})
	}
	return out, nil
}

// drawn is the figure of pictures, a row each.
func drawn(pictures []Picture) (template.HTML, error) {
	side := int(math.Sqrt(float64(len(pictures[0].Row))))
	c := chart.Images{Title: "Rows as pictures", Columns: []string{"row", "kept by the basis", "around the mean"}, Width: side, Height: side}
	for i, p := range pictures {
		c.Rows = append(c.Rows, fmt.Sprintf("row %d of the sample", i+1))
		var cells [][]float64
		for _, values := range [][]float64{p.Row, p.Kept, p.Around} {
			cell := make([]float64, len(values))
			for j, v := range values {
				cell[j] = (v + 1) / 2
			}
			cells = append(cells, cell)
		}
		c.Cells = append(c.Cells, cells)
	}
	return chart.SVG(c)
}
