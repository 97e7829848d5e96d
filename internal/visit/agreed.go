package visit

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"

	"gonum.org/v1/gonum/mat"

	anchorspec "concord/anchor/spec"
	"concord/bundle"
	"concord/contract"
	"concord/npy"
	"concord/party"
	"concord/pooled"
	"concord/secret"
	"concord/table"
	"concord/wire"
)

// agreed is what this site has in common with the other parties: the anchor's seed, and
// what else the contract's kind of anchor is made of.
func (v *Visit) agreed() (party.Agreed, error) {
	var g party.Agreed
	seed, ok, err := v.site.Seed()
	if err != nil {
		return g, err
	}
	if !ok {
		return g, wire.WithHint(errors.New("the anchor is not agreed yet"), "run concord sync")
	}
	if err := v.checkSeed(seed); err != nil {
		return g, wire.WithHint(err,
			"restore the site's folder from a copy; an anchor that somebody chose would undo the projection for them")
	}
	g.Seed = seed
	if v.pools() {
		pool, err := v.allPooled()
		if err != nil {
			return g, err
		}
		agreePooled(&g, pool)
	}
	switch a := v.Contract.Anchor; {
	case a.Kind == "public":
		if !v.site.Has(v.site.PublicName()) {
			return g, wire.WithHint(errors.New("the public file that the anchor is made of is not here"),
				"run concord public FILE.csv with the file that has SHA-256 "+a.SHA256)
		}
		g.Public, err = v.publicRows(v.site.Path(v.site.PublicName()), g.Figures)
	case a.Pieces():
		g.Pieces, err = v.pieces()
	}
	return g, err
}

// allPooled is the pool of a study that pools figures, if all stages have their sums.
func (v *Visit) allPooled() (*pooled.Pool, error) {
	pool, err := v.pooledSoFar()
	if err != nil {
		return nil, err
	}
	if !pool.Done() {
		return nil, wire.WithHint(errNotPooled, "run concord sync; concord pool --help says how it goes")
	}
	return pool, nil
}

// agreePooled adds what is pooled to what the parties have in common.
func agreePooled(g *party.Agreed, pool *pooled.Pool) {
	g.Figures, g.Directions = pool.Figures(), pool.V()
	if moments, ok := pool.Moments(); ok {
		g.Moments = secret.NewMatrix(mat.DenseCopyOf(moments))
	}
}

// publicRows are those of the public file, prepared as the parties' rows are.
func (v *Visit) publicRows(path string, figures *contract.Figures) (*mat.Dense, error) {
	t, err := v.readPublic(path)
	if err != nil {
		return nil, err
	}
	prep, err := v.Whole.Preparation(figures)
	if err != nil {
		return nil, err
	}
	return t.Prepared(prep).Reveal(), nil
}

// readPublic reads the public file: the contract's features, other columns aside.
func (v *Visit) readPublic(path string) (*table.Table, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	want, _ := v.Contract.PublicFile()
	if got := wire.HashOf(b); got != want {
		return nil, fmt.Errorf("%s has the SHA-256 %s, the contract's public file has %s", path, got.Short(),
			want.Short())
	}
	return table.ReadCSV(bytes.NewReader(b), path, v.Whole,
		table.Options{Label: table.Ignored, AllowExtra: true, AllowOutOfRange: true, MaxRows: anchorspec.MaxRows})
}

// pieces are those of all parties, by their signing keys.
func (v *Visit) pieces() ([]secret.Matrix, error) {
	if v.late() {
		return v.admittedPieces()
	}
	type piece struct {
		key  []byte
		rows secret.Matrix
	}
	own, _, err := v.loadPiece() // compares it with what was sealed
	if err != nil {
		return nil, err
	}
	f, err := os.Open(v.site.Leaves(bundle.KindSetup, PieceMember+".npy"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := npy.ReadMatrix(f, v.pieceLimits())
	if err != nil {
		return nil, fmt.Errorf("this site's piece, of manifest %s: %w", own.Hash().Short(), err)
	}
	all := []piece{{v.statementIn(v.Chain.Setup()).SigningKey, secret.NewMatrix(rows)}}
	for _, s := range v.othersIn(v.Chain.Root()) {
		r, closeFile, err := v.openInbox(bundle.KindSetup, s)
		if err != nil {
			return nil, fmt.Errorf("the piece of %q: %w", s.Name, err)
		}
		rows, _, err := v.theirPiece(r)
		if err := errors.Join(err, closeFile()); err != nil {
			return nil, fmt.Errorf("the piece of %q: %w", s.Name, err)
		}
		all = append(all, piece{s.SigningKey, rows})
	}
	slices.SortFunc(all, func(a, b piece) int { return bytes.Compare(a.key, b.key) })
	out := make([]secret.Matrix, len(all))
	for i, p := range all {
		out[i] = p.rows
	}
	return out, nil
}

func (v *Visit) pieceLimits() npy.Limits {
	return npy.Limits{Rows: v.Contract.Anchor.Rows, Cols: v.Contract.M()}
}

// theirPiece reads another party's piece and looks at it: refused is what no piece under
// this contract is, and one that no person there approved.
func (v *Visit) theirPiece(r *bundle.Reader) (secret.Matrix, party.TheirPiece, error) {
	if r.Approval == nil || r.Approval.Policy != bundle.PolicyPerson {
		return secret.Matrix{}, party.TheirPiece{}, errors.New("it was not approved by a person")
	}
	rows, err := r.Matrix(PieceMember, v.pieceLimits())
	if err != nil {
		return secret.Matrix{}, party.TheirPiece{}, err
	}
	look, err := party.LookAtPiece(v.Contract, rows)
	if err != nil {
		rows.Zero()
	}
	return secret.NewMatrix(rows), look, err
}
