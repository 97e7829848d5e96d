package dataset_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"concord/lab/dataset"
	"concord/learn"
)

func TestRows(t *testing.T) {
	for _, tt := range []struct {
		name string
		rows dataset.Rows
		want [][]float64
	}{
		{"dense", dataset.Dense(mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 6})), [][]float64{{1, 2, 3}, {4, 5, 6}}},
		{"bytes", dataset.Bytes(2, 2, []byte{0, 255, 51, 102}), [][]float64{{0, 1}, {0.2, 0.4}}},
		// numpy.packbits([[1,0,0,0,0,0,0,1,0,1], [0,1,1,0,0,0,0,0,1,1]], axis=1),
		// with the padding of the last byte set as well.
		{"bits", dataset.Bits(2, 10, []byte{0x81, 0x7f, 0x60, 0xff}),
			[][]float64{{1, 0, 0, 0, 0, 0, 0, 1, 0, 1}, {0, 1, 1, 0, 0, 0, 0, 0, 1, 1}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n, m := tt.rows.Dims()
			if n != 2 || m != len(tt.want[0]) {
				t.Fatalf("%d × %d", n, m)
			}
			x := tt.rows.Take([]int{1, 0, 1})
			for i, r := range []int{1, 0, 1} {
				if diff := cmp.Diff(tt.want[r], x.RawRowView(i)); diff != "" {
					t.Errorf("row %d (-want +got):\n%s", i, diff)
				}
			}
			x.Set(0, 0, 99)
			if again := tt.rows.Take([]int{1}); again.At(0, 0) != tt.want[1][0] {
				t.Error("what was taken is not a copy")
			}
		})
	}
}

func TestTake(t *testing.T) {
	d := &dataset.Data{
		X: dataset.Dense(mat.NewDense(3, 1, []float64{1, 2, 3})),
		Y: learn.Target{Classes: []string{"a", "b", "c"}, Labels: []int{0, 2, 0}},
	}
	_, y := d.Take([]int{2, 1})
	if diff := cmp.Diff(learn.Target{Classes: []string{"a", "b", "c"}, Labels: []int{0, 2}}, y); diff != "" {
		t.Error(diff)
	}
	d.Y = learn.Target{Values: mat.NewDense(3, 1, []float64{7, 8, 9})}
	if _, y = d.Take([]int{2, 1}); y.Values.At(0, 0) != 9 || y.Values.At(1, 0) != 8 {
		t.Errorf("%v", y.Values)
	}
}

func TestSimulatedRepeats(t *testing.T) {
	for _, name := range []string{"hospital", "credit"} {
		a, err := dataset.Load("", name)
		if err != nil {
			t.Fatal(err)
		}
		b, err := dataset.Load("", name)
		if err != nil {
			t.Fatal(err)
		}
		n, _ := a.X.Dims()
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		xa, ya := a.Take(all)
		xb, yb := b.Take(all)
		if !mat.Equal(xa, xb) || !cmp.Equal(ya.Labels, yb.Labels) {
			t.Errorf("%s: two loads differ", name)
		}
		if a.StandIn == "" {
			t.Errorf("%s does not say what it stands in for", name)
		}
	}
}
