package party_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/basis"
	"concord/linalg"
	"concord/party"
	"concord/secret"
	"concord/study"
)

func dataLike(t *testing.T, anchor string) *study.Contract {
	t.Helper()
	c, err := study.ParseYAML([]byte(strings.NewReplacer("basis: {kind: %s, dim: 2}", "basis: {dim: 2}", "anchor: {kind: %s}", "anchor: "+anchor).Replace(yaml)))
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
			if !strings.Contains(names, "piece-distance") || strings.Contains(names, "piece-linkage") != (c.Anchor.Kind == "low-rank") {
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
			!strings.Contains(err.Error(), "1 pieces of the anchor, the contract has 2 parties") {
			t.Errorf("%s: a missing piece: %v", kind, err)
		}
		narrow := []secret.Matrix{pieces[0], secret.NewMatrix(mat.NewDense(60, 3, nil))}
		if _, err := party.Prepare(c, tab, party.EffectiveFloors(c, nil), party.Agreed{Seed: seed(t), Pieces: narrow}, basis.NewSource()); err == nil ||
			!strings.Contains(err.Error(), "piece 2 of the anchor has 3 columns for 4 features") {
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
	if _, _, err := party.Piece(c, tab, party.EffectiveFloors(c, &study.Policy{Linkage: 0.5}), basis.NewSource()); err == nil || !strings.Contains(err.Error(), "this site allows 50 %") {
		t.Errorf("a floor of linkage: %v", err)
	}
	if _, _, err := party.Piece(c, tab, party.EffectiveFloors(c, &study.Policy{Rows: 61}), basis.NewSource()); err == nil || !strings.Contains(err.Error(), "floor of this site is 61") {
		t.Errorf("a floor of rows: %v", err)
	}
	if _, _, err := party.Piece(contract(t, "pca", "uniform"), tab, party.Floors{}, basis.NewSource()); err == nil {
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
