package reviewpage_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image/png"
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
	at := func(url string, px, py int) uint8 {
		raw, ok := strings.CutPrefix(url, "data:image/png;base64,")
		b, err := base64.StdEncoding.DecodeString(raw)
		if err != nil || !ok {
			t.Fatalf("%.40s is no PNG as data (%v)", url, err)
		}
		img, err := png.Decode(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		grey, _, _, _ := img.At(px, py).RGBA()
		return uint8(grey >> 8)
	}
	p := pictures[0] // row 1 is black above
	for _, tc := range []struct {
		name         string
		url          string
		above, below uint8
	}{{"row", string(p.Row), 0, 191}, {"kept", string(p.Kept), 0, 128}, {"around", string(p.Around), 0, 191}} {
		if a, b := at(tc.url, 3, 1), at(tc.url, 3, 6); a != tc.above || b != tc.below {
			t.Errorf("%s: grey %d above and %d below, want %d and %d", tc.name, a, b, tc.above, tc.below)
		}
	}
	if _, err := reviewpage.Pictures(pixels(65, 16), mat.NewDense(1, 65, nil), mat.NewDense(65, 1, nil), mat.NewDense(1, 65, nil)); err == nil {
		t.Error("65 pixels make a square")
	}
}
