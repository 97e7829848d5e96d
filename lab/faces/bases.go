package faces

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"concord/anchor"
	anchorspec "concord/anchor/spec"
	"concord/basis"
	basisspec "concord/basis/spec"
	"concord/lab"
	"concord/linalg"
	"concord/privacy"
	"concord/secret"
)

// made is a basis of the attacked party.
type made struct {
	basis string
	f     *mat.Dense // F, m × l
	found *mat.Dense // A⁺(A F)
}

// bases adds the rows of every basis: what leaves, what is kept, what collusion gives.
func (s *scene) bases(ctx context.Context) error {
	var all []made
	for _, one := range []struct {
		name string
		rows *mat.Dense
	}{
		// The span that parties would agree by masked sums of their second moments
		// (docs/methods.md section 9.3).
		{Common, s.all},
		{Own, s.x},
	} {
		fs, err := s.haar(one.name, one.rows)
		if err != nil {
			return err
		}
		for _, f := range fs {
			all = append(all, made{basis: one.name, f: f})
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.recover(all); err != nil {
		return err
	}
	mean := linalg.ColumnMeans(s.other)
	for _, b := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.attack(b, mean); err != nil {
			return err
		}
	}
	return nil
}

// haar makes F = V E for every dimension that was asked for, V the leading right
// singular vectors of rows, E Haar ([nosaka2025], eq. (1)).
func (s *scene) haar(name string, rows *mat.Dense) ([]*mat.Dense, error) {
	x := secret.NewMatrix(rows)
	_, report, err := basis.Directions(basisspec.SVD, x, 1, 0, lab.Stream(s.Seed, "faces", "rank"))
	if err != nil {
		return nil, err
	}
	most := min(s.Asked[len(s.Asked)-1], report.Rank)
	directions, _, err := basis.Directions(basisspec.SVD, x, most, 0, lab.Stream(s.Seed, "faces", "directions"))
	if err != nil {
		return nil, err
	}
	v := directions.Reveal()
	n, m := rows.Dims()
	var out []*mat.Dense
	last := 0
	for _, l := range s.Asked {
		if l > most {
			s.Notes = append(s.Notes, fmt.Sprintf("%s span: dimension %d is cut to %d, all that the %d pictures it is made of span.", name, l, most, n))
			l = most
		}
		if l == last {
			continue
		}
		last = l
		f, err := basis.Mixed(secret.NewMatrix(mat.DenseCopyOf(v.Slice(0, m, 0, l))), basisspec.Haar, lab.Stream(s.Seed, "faces", "mix", name, l))
		if err != nil {
			return nil, err
		}
		out = append(out, f.Matrix().Reveal())
	}
	return out, nil
}

// recover is the attack of the analyst, who holds the images A F, and a party, who
// holds A. The images of all bases are solved for at once, which gives each what it
// would get alone.
func (s *scene) recover(all []made) error {
	var key [anchor.SeedSize]byte
	src := lab.Stream(s.Seed, "faces", "anchor")
	for i := range key {
		key[i] = byte(src.Uint64())
	}
	seed, err := anchor.SeedFromBytes(secret.NewBytes(key[:]))
	if err != nil {
		return err
	}
	generated, err := anchor.Generate(anchor.Spec{Kind: anchorspec.Uniform, Rows: s.AnchorRows}, seed, s.Features)
	if err != nil {
		return err
	}
	a := generated.Reveal()
	width := 0
	for _, b := range all {
		_, l := b.f.Dims()
		width += l
	}
	images, at := mat.NewDense(s.AnchorRows, width, nil), 0
	for _, b := range all {
		_, l := b.f.Dims()
		images.Slice(0, s.AnchorRows, at, at+l).(*mat.Dense).Mul(a, b.f)
		at += l
	}
	found, err := privacy.RecoverBasis(a, images)
	if err != nil {
		return err
	}
	at = 0
	for i, b := range all {
		_, l := b.f.Dims()
		all[i].found = mat.DenseCopyOf(found.Slice(0, s.Features, at, at+l))
		at += l
	}
	return nil
}

// attack adds the rows of one basis. mean is what the colluding party knows of all
// pictures: the mean of its own.
func (s *scene) attack(b made, mean []float64) error {
	_, l := b.f.Dims()
	z := new(mat.Dense)
	z.Mul(s.x, b.f)
	row := func(kind, name, knows string) Row {
		return Row{Kind: kind, Basis: b.basis, Dim: l, Name: fmt.Sprintf("%s, %s span, l = %d", name, b.basis, l), Knows: knows}
	}
	leaves := row(Leaves, "what leaves", "the analyst, and nobody else")
	leaves.cells = s.squares(z)
	s.Rows = append(s.Rows, leaves)

	kept, err := privacy.Reconstruct(z, b.f)
	if err != nil {
		return err
	}
	if err := s.guess(row(Projected, "kept", "the party itself: it takes the secret basis F"), kept); err != nil {
		return err
	}
	same, err := privacy.Reconstruct(z, b.found)
	if err != nil {
		return err
	}
	if err := s.guess(row(Collusion, "collusion", "the analyst with any one party: the image A F of the one, the anchor A of the other"), same); err != nil {
		return err
	}
	around, err := privacy.ReconstructAround(z, b.found, mean)
	if err != nil {
		return err
	}
	return s.guess(row(Around, "collusion and mean", "the same, with the mean of the colluding party's own pictures"), around)
}

// squares draws the numbers of the chosen rows of z as squares, row by row, from the
// smallest of all (black) to the largest (white).
func (s *scene) squares(z *mat.Dense) [][]float64 {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, k := range s.shown {
		for _, v := range z.RawRowView(k) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	var out [][]float64
	for _, k := range s.shown {
		out = append(out, tiles(z.RawRowView(k), lo, hi, s.Width, s.Height))
	}
	return out
}

// tiles is one such picture. What l does not fill is white.
func tiles(z []float64, lo, hi float64, width, height int) []float64 {
	// With l ≤ width·height, neither side has more squares than pixels.
	across := min(int(math.Ceil(math.Sqrt(float64(len(z))*float64(width)/float64(height)))), width)
	down := (len(z) + across - 1) / across
	across = (len(z) + down - 1) / down // no empty column
	cell := make([]float64, width*height)
	for i := range cell {
		k := i/width*down/height*across + i%width*across/width
		switch {
		case k >= len(z):
			cell[i] = 1
		case hi > lo:
			cell[i] = (z[k] - lo) / (hi - lo)
		}
	}
	return cell
}
