package party_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/basis"
	"concord/contract"
	"concord/linalg"
	"concord/party"
	"concord/secret"
)

func dataLike(t *testing.T, anchor string) *contract.Contract {
	t.Helper()
	c, err := contract.ParseYAML([]byte(strings.NewReplacer("basis: {kind: %s, dim: 2}", "basis: {dim: 2}", "anchor: {kind: %s}", "anchor: "+anchor).Replace(yaml)))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestPiece: both parties make the same anchor of two pieces, contributions follow from
// it, and the report says what a piece shows.
func TestPiece(t *testing.T) {
	for _, kind := range []string{"{kind: low-rank, rows: 90}", "{kind: low-rank, rows: 40}", "{kind: smote, rows: 30}"} {
		c := dataLike(t, kind)
		var pieces []secret.Matrix
		for i := range uint64(2) {
			tab := read(t, c, csv(60, rand.New(rand.NewPCG(1, i))))
			piece, report, err := party.Piece(c, tab, party.EffectiveFloors(c, nil), basis.NewSource())
			if err != nil {
				t.Fatal(err)
			}
			if n, m := piece.Dims(); n != min(60, c.Anchor.Rows) || m != 4 {
				t.Fatalf("%s: the piece is %d × %d", kind, n, m)
			}
			names := ""
			for _, f := range report.Findings {
				names += f.Name + " "
				if !strings.Contains(f.Against, "every other party") {
					t.Errorf("%s: %+v", kind, f)
				}
			}
			if !strings.Contains(names, "piece-distance") || !strings.Contains(names, "piece-linkage") || report.Linked == 0 || report.Eps <= 0 && c.Anchor.Kind == "low-rank" {
				t.Errorf("%s: findings %s", kind, names)
			}
			pieces = append(pieces, piece)
		}
		tab := read(t, c, csv(60, rand.New(rand.NewPCG(1, 0))))
		agreed := party.Agreed{Seed: seed(t), Pieces: pieces}
		one, err := party.Prepare(c, tab, party.EffectiveFloors(c, nil), agreed, basis.NewSource())
		if err != nil {
			t.Fatal(err)
		}
		two, err := party.Prepare(c, tab, party.EffectiveFloors(c, nil), agreed, basis.NewSource())
		if err != nil {
			t.Fatal(err)
		}
		// Bases of the same rows span the same two directions, so that images of one
		// anchor do too; those of two anchors span four.
		var both mat.Dense
		both.Augment(one.A, two.A)
		if rank, err := linalg.Rank(&both, 1e-9); err != nil || rank != 2 {
			t.Errorf("%s: the images of two bases span %d directions (%v), want 2", kind, rank, err)
		}
		if rows, l := one.A.Dims(); rows != c.Anchor.Rows || l != 2 {
			t.Errorf("%s: the anchor's image is %d × %d", kind, rows, l)
		}
		if _, err := party.Prepare(c, tab, party.EffectiveFloors(c, nil), party.Agreed{Seed: seed(t), Pieces: pieces[:1]}, basis.NewSource()); err == nil ||
			!strings.Contains(err.Error(), "1 pieces of the anchor; 2 parties at least give one") {
			t.Errorf("%s: a missing piece: %v", kind, err)
		}
		narrow := []secret.Matrix{pieces[0], secret.NewMatrix(mat.NewDense(60, 3, nil))}
		if _, err := party.Prepare(c, tab, party.EffectiveFloors(c, nil), party.Agreed{Seed: seed(t), Pieces: narrow}, basis.NewSource()); err == nil ||
			!strings.Contains(err.Error(), "piece 2 of the anchor has 3 columns, must have 4") {
			t.Errorf("%s: a narrow piece: %v", kind, err)
		}
	}
}

// TestPieceShows: a low-rank piece of all directions with hardly any noise is the rows,
// and the report and the floor say so.
func TestPieceShows(t *testing.T) {
	c := dataLike(t, "{kind: low-rank, rank: 4, delta: 0.0001}")
	tab := read(t, c, csv(60, rand.New(rand.NewPCG(1, 2))))
	_, report, err := party.Piece(c, tab, party.EffectiveFloors(c, nil), basis.NewSource())
	if err != nil {
		t.Fatal(err)
	}
	if report.Linked != 1 || report.Reconstructed[0].Ratio > 1e-3 || len(report.Findings) != 2 || !report.Findings[0].Warn || !report.Findings[1].Warn {
		t.Errorf("report %+v", report)
	}
	if _, _, err := party.Piece(c, tab, party.EffectiveFloors(c, &contract.Policy{Linkage: 0.5}), basis.NewSource()); err == nil || !strings.Contains(err.Error(), "this site allows 50 %") {
		t.Errorf("a floor of linkage: %v", err)
	}
	if _, _, err := party.Piece(c, tab, party.EffectiveFloors(c, &contract.Policy{Rows: 61}), basis.NewSource()); err == nil || !strings.Contains(err.Error(), "floor of this site is 61") {
		t.Errorf("a floor of rows: %v", err)
	}
	if _, _, err := party.Piece(newContract(t, "pca", "uniform"), tab, party.Floors{}, basis.NewSource()); err == nil {
		t.Error("a uniform anchor has a piece")
	}
}

// TestPublicAnchor: contributions of an anchor of public rows.
func TestPublicAnchor(t *testing.T) {
	c := dataLike(t, "{kind: public, rows: 50, sha256: "+strings.Repeat("0a", 32)+"}")
	tab := read(t, c, csv(60, rand.New(rand.NewPCG(1, 2))))
	public := linalg.Normal(25, 4, rand.NewPCG(5, 6))
	made, err := party.Prepare(c, tab, party.EffectiveFloors(c, nil), party.Agreed{Seed: seed(t), Public: public}, basis.NewSource())
	if err != nil {
		t.Fatal(err)
	}
	if rows, _ := made.A.Dims(); rows != 50 {
		t.Errorf("%d rows", rows)
	}
	if _, err := party.Prepare(c, tab, party.EffectiveFloors(c, nil), party.Agreed{Seed: seed(t)}, basis.NewSource()); err == nil || !strings.Contains(err.Error(), "there are no rows of it") {
		t.Errorf("without the file: %v", err)
	}
}

// TestPieceEps: rows of a piece that lie nearer to a true row than the floor of eps are
// left out, whatever the kind; a piece of which nothing is left is refused.
func TestPieceEps(t *testing.T) {
	const floor = 0.15
	for _, kind := range []string{"{kind: low-rank, rows: 50, rank: 2}", "{kind: smote, rows: 50}"} {
		c := dataLike(t, kind)
		tab := read(t, c, csv(60, rand.New(rand.NewPCG(1, 2))))
		free, report, err := party.Piece(c, tab, party.EffectiveFloors(c, nil), basis.NewSource())
		if err != nil {
			t.Fatal(err)
		}
		if before, _ := free.Dims(); report.Eps >= floor || before != 50 {
			t.Fatalf("%s: eps %g of %d rows without a floor", kind, report.Eps, before)
		}
		piece, report, err := party.Piece(c, tab, party.EffectiveFloors(c, &contract.Policy{Eps: floor}), basis.NewSource())
		if err != nil {
			t.Fatal(err)
		}
		rows, _ := piece.Dims()
		if rows >= 50 || rows < 2 || report.Eps < floor || !strings.Contains(report.Findings[0].Text, "left out") {
			t.Errorf("%s: %d rows, %+v", kind, rows, report)
		}
		x := tab.Standardised().Reveal()
		n, _ := x.Dims()
		for i := range rows {
			for k := range n {
				var d, length float64
				for j, v := range x.RawRowView(k) {
					length += v * v
					d += (v - piece.Reveal().At(i, j)) * (v - piece.Reveal().At(i, j))
				}
				// The nearest row counts; no other is nearer in distance.
				if d < floor*floor*length && d <= nearestSquared(x, piece.Reveal().RawRowView(i)) {
					t.Errorf("%s: row %d lies within %g of true row %d", kind, i, floor, k)
				}
			}
		}
	}
	c := dataLike(t, "{kind: low-rank, rank: 4, delta: 0.0001}")
	tab := read(t, c, csv(60, rand.New(rand.NewPCG(1, 2))))
	if _, _, err := party.Piece(c, tab, party.EffectiveFloors(c, &contract.Policy{Eps: floor}), basis.NewSource()); err == nil || !strings.Contains(err.Error(), "floor of eps") {
		t.Errorf("a floor that no row keeps: %v", err)
	}
}

func nearestSquared(x *mat.Dense, row []float64) float64 {
	n, _ := x.Dims()
	best := math.Inf(1)
	for k := range n {
		var d float64
		for j, v := range x.RawRowView(k) {
			d += (v - row[j]) * (v - row[j])
		}
		best = min(best, d)
	}
	return best
}

// TestPieceLinkageFloor: the floor of linkage holds for smote pieces too, of which each
// row lies between two people's.
func TestPieceLinkageFloor(t *testing.T) {
	c := dataLike(t, "{kind: smote, rows: 50}")
	tab := read(t, c, csv(60, rand.New(rand.NewPCG(1, 2))))
	_, report, err := party.Piece(c, tab, party.EffectiveFloors(c, nil), basis.NewSource())
	if err != nil {
		t.Fatal(err)
	}
	// Rows between a row and one of its 5 nearest are mostly nearest to one of the two.
	if report.Linked < 0.5 {
		t.Errorf("linked %g", report.Linked)
	}
	if _, _, err := party.Piece(c, tab, party.EffectiveFloors(c, &contract.Policy{Linkage: 0.2}), basis.NewSource()); err == nil || !strings.Contains(err.Error(), "this site allows 20 %") {
		t.Errorf("a floor of linkage: %v", err)
	}
}

// TestLookAtPiece: what another party's piece can be, and what no site's can be.
func TestLookAtPiece(t *testing.T) {
	src := rand.NewPCG(3, 4)
	for _, kind := range []string{"{kind: low-rank, rows: 50}", "{kind: smote, rows: 50}"} {
		c := dataLike(t, kind)
		tab := read(t, c, csv(60, rand.New(rand.NewPCG(1, 2))))
		honest, _, err := party.Piece(c, tab, party.EffectiveFloors(c, nil), basis.NewSource())
		if err != nil {
			t.Fatal(err)
		}
		if look, err := party.LookAtPiece(c, honest.Reveal()); err != nil || look.Odd != "" || look.Rows != 50 || look.Rank != 4 {
			t.Errorf("%s: an honest piece: %+v, %v", kind, look, err)
		}
		one := mat.NewDense(50, 4, nil)
		for i := range 50 {
			one.SetRow(i, []float64{0.1, 0.2, 0.3, 0.4})
		}
		twice := mat.DenseCopyOf(one)
		twice.SetRow(0, []float64{0.4, 0.3, 0.2, 0.1})
		absurd := mat.DenseCopyOf(honest.Reveal())
		absurd.Set(7, 2, 50)
		odd := mat.DenseCopyOf(honest.Reveal())
		odd.Set(7, 2, math.NaN())
		for _, bad := range []struct {
			rows *mat.Dense
			want string
		}{
			{one, "one row, 50 times"},
			{mat.DenseCopyOf(honest.Reveal().Slice(0, 1, 0, 4)), "one row, 1 times"},
			{absurd, "row 8, column 3 is beyond"},
			{odd, "row 8, column 3 is beyond"},
			{mat.DenseCopyOf(honest.Reveal().Slice(0, 50, 0, 3)), "must have 4 columns"},
			{linalg.Uniform(51, 4, src), "at most 50 rows"},
			{new(mat.Dense), "no rows"},
		} {
			if _, err := party.LookAtPiece(c, bad.rows); err == nil || !strings.Contains(err.Error(), bad.want) {
				t.Errorf("%s: %v, want %q", kind, err, bad.want)
			}
		}
		if look, err := party.LookAtPiece(c, twice); err != nil || look.Different != 2 || !strings.Contains(look.Odd, "several times") {
			t.Errorf("%s: two rows: %+v, %v", kind, look, err)
		}
		if look, err := party.LookAtPiece(c, mat.DenseCopyOf(honest.Reveal().Slice(0, 3, 0, 4))); err != nil || !strings.Contains(look.Odd, "it has 3 rows") {
			t.Errorf("%s: three rows: %+v, %v", kind, look, err)
		}
	}
}
