package smo

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestRBF compares rows with squared differences: of points about the origin, of
// some of which two are as good as equal, and of points so far away that products
// would leave no digit.
func TestRBF(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 2))
	for _, offset := range []float64{0, 1, 1e6, 1e9} {
		const n, d = 40, 3
		x := mat.NewDense(n, d, nil)
		for i := range n {
			for j := range d {
				x.Set(i, j, offset+float64(src.IntN(64))/16) // exact for every offset
			}
		}
		x.Set(1, 0, math.Nextafter(x.At(0, 0), 0))
		k := NewRBF(x, 0.3, 0, false)
		if exact := offset > 1e4; k.exact != exact {
			t.Errorf("offset %g: squared differences %t, want %t", offset, k.exact, exact)
		}
		for i := range n {
			row := k.Row(i)
			if row[i] != 1 || k.Diagonal(i) != 1 {
				t.Errorf("offset %g: diagonal %d is %g", offset, i, row[i])
			}
			for j, v := range row {
				want := math.Exp(-0.3 * apart(x.RawRowView(i), x.RawRowView(j)))
				// Loss of the distance, and half a unit in the last place.
				if math.Abs(float64(v)-want) > 0x1p-24+0x1p-25 || v > 1 || v < 0 {
					t.Errorf("offset %g: element %d, %d is %g, want %g", offset, i, j, v, want)
				}
			}
		}
	}
}

// TestRBFCache: no more rows are kept than there is room for, the row used
// longest ago goes first, and a row is valid until the row after the next.
func TestRBFCache(t *testing.T) {
	src := rand.New(rand.NewPCG(3, 4))
	const n = 50
	x := mat.NewDense(n, 2, nil)
	for i := range n {
		x.SetRow(i, []float64{src.NormFloat64(), src.NormFloat64()})
	}
	all := NewRBF(x, 1, 1<<20, false)
	for _, c := range []struct{ bytes, rows int }{{0, 3}, {4 * n * 3, 3}, {4*n*8 + 5, 8}, {1 << 20, n}} {
		k := NewRBF(x, 1, c.bytes, false)
		if k.most != c.rows {
			t.Errorf("%d bytes hold %d rows, want %d", c.bytes, k.most, c.rows)
		}
		var recent []int // last first
		var before []float32
		at := -1
		for range 500 {
			i := src.IntN(n)
			row := k.Row(i)
			for j := range row {
				if row[j] != all.Row(i)[j] {
					t.Fatalf("%d bytes: row %d differs at %d", c.bytes, i, j)
				}
				if before != nil && before[j] != all.Row(at)[j] {
					t.Fatalf("%d bytes: row %d changed when the next was asked for", c.bytes, at)
				}
			}
			before, at = row, i
			kept := []int{i}
			for _, r := range recent {
				if r != i && len(kept) < c.rows {
					kept = append(kept, r)
				}
			}
			recent = kept
			count := 0
			for _, r := range k.rows {
				if r != nil {
					count++
				}
			}
			if count != len(recent) {
				t.Fatalf("%d bytes: %d rows are kept, want %d", c.bytes, count, len(recent))
			}
			for _, r := range recent {
				if k.rows[r] == nil {
					t.Fatalf("%d bytes: row %d, used lately, is gone", c.bytes, r)
				}
			}
		}
	}
}

// TestDoubled: both halves are the row, and two rows are valid at a time.
func TestDoubled(t *testing.T) {
	x := mat.NewDense(3, 1, []float64{0, 1, 3})
	k := NewDoubled(NewRBF(x, 1, 0, false), 3)
	a, b := k.Row(1), k.Row(5)
	for j := range 6 {
		for i, row := range map[int][]float32{1: a, 2: b} {
			want := math.Exp(-apart(x.RawRowView(i), x.RawRowView(j%3)))
			if math.Abs(float64(row[j])-want) > 0x1p-24 {
				t.Errorf("element %d, %d is %g, want %g", i, j, row[j], want)
			}
		}
		if k.Diagonal(j) != 1 {
			t.Errorf("diagonal %d is %g", j, k.Diagonal(j))
		}
	}
}
