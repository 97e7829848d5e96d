package reviewpage_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/contract"
	"concord/internal/reviewpage"
)

// pixels is a contract of m features of one range, but the last.
func pixels(m int, last float64) *contract.Contract {
	c := &contract.Contract{}
	for j := range m {
		c.Features = append(c.Features, contract.Feature{Name: fmt.Sprint(j), Range: &contract.Range{Min: 0, Max: 16}})
	}
	c.Features[m-1].Range.Max = last
	return c
}

func TestSide(t *testing.T) {
	for _, tc := range []struct {
		c    *contract.Contract
		want int
	}{{pixels(64, 16), 8}, {pixels(784, 16), 28}, {pixels(49, 16), 0}, {pixels(65, 16), 0}, {pixels(64, 17), 0}} {
		if got := reviewpage.Side(tc.c); got != tc.want {
			t.Errorf("%d features have the side %d, want %d", tc.c.M(), got, tc.want)
		}
	}
	none := pixels(64, 16)
	none.Features[5].Range = nil
	if reviewpage.Side(none) != 0 {
		t.Error("a feature without range is a pixel")
	}
}

// TestPictures: a basis that keeps the first half of the pixels shows that half, and
// the mean in the other where colluders put it.
func TestPictures(t *testing.T) {
	c := pixels(64, 16)
	x, f := mat.NewDense(10, 64, nil), mat.NewDense(64, 32, nil)
	for i := range 10 {
		for j := range 64 {
			x.Set(i, j, float64(i%2)*2-1) // rows of all white or all black
			if j >= 32 {
				x.Set(i, j, 0.5)
			}
		}
	}
	for j := range 32 {
		f.Set(j, j, 1)
	}
	pictures, err := reviewpage.Pictures(c, x, f, mat.DenseCopyOf(f.T()))
	if err != nil {
		t.Fatal(err)
	}
	if len(pictures) != 6 {
		t.Fatalf("%d pictures, want 6", len(pictures))
	}
	p := pictures[0] // row 1 is black above
	for _, tc := range []struct {
		name         string
		pixels       []float64
		above, below float64
	}{{"row", p.Row, -1, 0.5}, {"kept", p.Kept, -1, 0}, {"around", p.Around, -1, 0.5}} {
		// The mean of ten rows is off by a rounding.
		if a, b := tc.pixels[8+3], tc.pixels[6*8+3]; math.Abs(a-tc.above) > 1e-12 || math.Abs(b-tc.below) > 1e-12 {
			t.Errorf("%s: %v above and %v below, want %v and %v", tc.name, a, b, tc.above, tc.below)
		}
	}
	if _, err := reviewpage.Pictures(pixels(65, 16), mat.NewDense(1, 65, nil), mat.NewDense(65, 1, nil), mat.NewDense(1, 65, nil)); err == nil {
		t.Error("65 pixels make a square")
	}
}

// TestPicturesOnThePage: the figure has all three of each row, as data in the page, and the
// page says what it holds.
func TestPicturesOnThePage(t *testing.T) {
	page, _ := sample(t, "dc", nil)
	hasNot(t, render(t, page), "data:image")
	for range 2 {
		page.Pictures = append(page.Pictures, reviewpage.Picture{Row: make([]float64, 64), Kept: make([]float64, 64), Around: make([]float64, 64)})
	}
	html := render(t, page)
	has(t, html, "img-src data:", "This page holds raw rows of this site", "row 2 of the sample")
	if n := strings.Count(html, `href="data:image/png;base64,`); n != 6 {
		t.Errorf("%d pictures, want 6", n)
	}
}
