package lab_test

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/align"
	"concord/learn"
	"concord/linalg"
	"concord/privacy"
)

// TestModelsThatCarryRows is why a contract of protocol dc refuses kernel machines and
// nearest neighbours: a party alone turns the support vectors of such a model back into
// the rows of others with its own F₁G₁, since F₁G₁ = F₂G₂ where alignment worked.
func TestModelsThatCarryRows(t *testing.T) {
	const n, m, l = 120, 10, 9
	src := rand.NewPCG(7, 1)
	v, a := linalg.Stiefel(m, l, src), linalg.Normal(60, m, src)
	var x, f, images, anchors []*mat.Dense
	y := learn.Target{Classes: []string{"no", "yes"}}
	for range 2 {
		rows := linalg.Normal(n, m, src)
		var basis, z, image mat.Dense
		basis.Mul(v, linalg.Haar(l, src))
		z.Mul(rows, &basis)
		image.Mul(a, &basis)
		x, f, images, anchors = append(x, rows), append(f, &basis), append(images, &z), append(anchors, &image)
		for i := range n {
			label := 0
			if rows.At(i, 0)+rows.At(i, 1)*rows.At(i, 2)+0.3*rand.New(src).NormFloat64() > 0 {
				label = 1
			}
			y.Labels = append(y.Labels, label)
		}
	}
	g, err := align.Run("odc", anchors, align.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var stacked mat.Dense
	var first, second mat.Dense
	first.Mul(images[0], g.G[0])
	second.Mul(images[1], g.G[1])
	stacked.Stack(&first, &second)
	model, err := learn.SVM{}.Fit(t.Context(), &stacked, y)
	if err != nil {
		t.Fatal(err)
	}
	if !(learn.SVM{}).CarriesRows() {
		t.Fatal("a kernel machine does not say that it carries rows")
	}

	// Party 1 knows F₁ and G₁, and the vectors in its model.
	var own mat.Dense
	own.Mul(f[0], g.G[0])
	guess, err := privacy.Reconstruct(model.(*learn.KernelMachine).Vectors, &own)
	if err != nil {
		t.Fatal(err)
	}
	// Which of them are party 2's, and whose: the nearest of all true rows.
	vectors, _ := guess.Dims()
	foreign, right := 0, 0
	for i := range vectors {
		whose, at := nearest(model.(*learn.KernelMachine).Vectors.RowView(i), []*mat.Dense{&first, &second})
		if whose == 1 {
			foreign++
			if party, row := nearest(guess.RowView(i), x); party == 1 && row == at {
				right++
			}
		}
	}
	if foreign < 30 || float64(right) < 0.9*float64(foreign) {
		t.Errorf("party 1 links %d of party 2's %d support vectors", right, foreign)
	}
}

// nearest says in which matrix and at which row the row nearest to v stands.
func nearest(v mat.Vector, in []*mat.Dense) (which, row int) {
	best := -1.0
	for k, a := range in {
		n, _ := a.Dims()
		for i := range n {
			var d mat.VecDense
			d.SubVec(v, a.RowView(i))
			if r := mat.Norm(&d, 2); best < 0 || r < best {
				best, which, row = r, k, i
			}
		}
	}
	return which, row
}
