package analyst_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/analyst"
	"concord/contract"
	"concord/linalg"
	"concord/wire"
)

// TestAlignLate: a party that comes late, whose basis spans what the others' do, is put
// exactly where it would be with them, by every method; nobody else's change of basis is
// needed for it. Where the spans differ, a note says so.
func TestAlignLate(t *testing.T) {
	const rows, m, l, n = 60, 6, 3, 30
	rnd := rand.NewChaCha8([32]byte{5})
	a := linalg.Normal(rows, m, rnd)
	f := linalg.Stiefel(m, l, rnd)
	part := func(name string, basis *mat.Dense) analyst.Contribution {
		var ai mat.Dense
		ai.Mul(a, basis)
		labels := make([]int64, n)
		for i := range labels {
			labels[i] = int64(i % 2)
		}
		return analyst.Contribution{Party: name, X: linalg.Normal(n, l, rnd), A: &ai, Labels: labels, Anchor: wire.Hash{1}}
	}
	turned := func() *mat.Dense {
		var b mat.Dense
		b.Mul(f, linalg.Haar(l, rnd))
		return &b
	}
	for _, method := range []string{"odc", "ls", "gep", "opp", "gopp", "rdp"} {
		c, err := contract.ParseYAML([]byte("name: T\nparties: 3\nfeatures: [a, b, c, d, e, f]\nlabel: {name: y, levels: [n, p], positive: p}\n" +
			"anchor: {kind: uniform, rows: 60}\nbasis: {dim: 3}\nalignment: {method: " + method + "}\n"))
		if err != nil {
			t.Fatal(err)
		}
		parts := []analyst.Contribution{part("A", turned()), part("B", turned()), part("C", turned())}
		g, err := analyst.Align(c, wire.Hash{7}, parts)
		if err != nil {
			t.Fatalf("%s: %v", method, err)
		}
		z := analyst.Target(parts, g.G)
		late := part("D", turned())
		change, notes, err := analyst.AlignLate(c, z, late)
		if err != nil {
			t.Fatalf("%s: %v", method, err)
		}
		var image mat.Dense
		image.Mul(late.A, change)
		image.Sub(&image, z)
		// Spans are equal, so all aligned anchors agree up to how well the method ended.
		if off := mat.Norm(&image, 2) / mat.Norm(z, 2); off > 1e-6 || len(notes) > 0 {
			t.Errorf("%s: the late party is %.1e off the target, notes %q", method, off, notes)
		}
		if _, notes, err = analyst.AlignLate(c, z, part("E", linalg.Stiefel(m, l, rnd))); err != nil || len(notes) == 0 && method != "rdp" {
			t.Errorf("%s: another span: notes %q, %v", method, notes, err)
		}
		short := part("F", turned())
		short.A = mat.DenseCopyOf(short.A.Slice(0, rows-1, 0, l))
		if _, _, err := analyst.AlignLate(c, z, short); err == nil || !strings.Contains(err.Error(), "rows") {
			t.Errorf("%s: an anchor of %d rows: %v", method, rows-1, err)
		}
	}
}
