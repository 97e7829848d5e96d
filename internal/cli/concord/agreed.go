package concord

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"

	"gonum.org/v1/gonum/mat"

	"concord/anchor"
	anchorspec "concord/anchor/spec"
	"concord/bundle"
	"concord/contract"
	"concord/identity"
	"concord/npy"
	"concord/party"
	"concord/pooled"
	"concord/secret"
	"concord/table"
	"concord/wire"
)

// agreed is what this site has in common with the other parties: the anchor's seed, and
// what else the contract's kind of anchor is made of.
func (v *visit) agreed() (party.Agreed, error) {
	var g party.Agreed
	seed, ok, err := v.site.Seed()
	if err != nil {
		return g, err
	}
	if !ok {
		return g, wire.WithHint(errors.New("the anchor is not agreed yet"), "run concord sync")
	}
	if err := v.checkSeed(seed); err != nil {
		return g, wire.WithHint(err, "restore the site's folder from a copy; an anchor that somebody chose would undo the projection for them")
	}
	g.Seed = seed
	if v.pools() {
		pool, err := v.allPooled()
		if err != nil {
			return g, err
		}
		agreePooled(&g, pool)
	}
	switch a := v.contract.Anchor; {
	case a.Kind == "public":
		if !v.site.Has(v.site.PublicName()) {
			return g, wire.WithHint(errors.New("the public file that the anchor is made of is not here"), "run concord public FILE.csv with the file that has SHA-256 "+a.SHA256)
		}
		g.Public, err = v.publicRows(v.site.Path(v.site.PublicName()), g.Figures)
	case a.Pieces():
		g.Pieces, err = v.pieces()
	}
	return g, err
}

// allPooled is the pool of a study that pools figures, if all stages have their sums.
func (v *visit) allPooled() (*pooled.Pool, error) {
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

// checkSeed derives the seed once more from the shares that all parties sealed and
// signed: another seed in its place may be one that somebody outside knows.
func (v *visit) checkSeed(seed anchor.Seed) error {
	if v.late() {
		return v.checkAdmission(seed)
	}
	m, _, err := v.loadDraft(bundle.KindSetup)
	if err != nil {
		return err
	}
	if _, err := v.loadApproval(bundle.KindSetup, m); err != nil {
		return fmt.Errorf("this site's own share of the anchor seed: %w", err)
	}
	own, err := os.ReadFile(v.site.Leaves(bundle.KindSetup, entropyMember))
	if err != nil {
		return err
	}
	shares := []anchor.Share{{Key: v.statementIn(v.chain.Setup()).SigningKey, Entropy: secret.NewBytes(own)}}
	for _, s := range v.othersIn(v.chain.Root()) {
		r, closeFile, err := v.openInbox(bundle.KindSetup, s)
		if err != nil {
			return fmt.Errorf("the setup bundle of %q: %w", s.Name, err)
		}
		b, err := r.Bytes(entropyMember, anchor.EntropySize)
		if err := errors.Join(err, closeFile()); err != nil {
			return fmt.Errorf("the setup bundle of %q: %w", s.Name, err)
		}
		shares = append(shares, anchor.Share{Key: s.SigningKey, Entropy: secret.NewBytes(b)})
	}
	again, err := anchor.DeriveSeed(v.chain.Setup(), shares)
	if err != nil {
		return err
	}
	if again.ID() != seed.ID() {
		return fmt.Errorf("the anchor seed in %s is not the one that the parties agreed", v.site.Dir)
	}
	return nil
}

// publicRows are those of the public file, prepared as the parties' rows are.
func (v *visit) publicRows(path string, figures *contract.Figures) (*mat.Dense, error) {
	t, err := v.readPublic(path)
	if err != nil {
		return nil, err
	}
	prep, err := v.whole.Preparation(figures)
	if err != nil {
		return nil, err
	}
	return t.Prepared(prep).Reveal(), nil
}

// readPublic reads the public file: the contract's features, other columns aside.
func (v *visit) readPublic(path string) (*table.Table, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	want, _ := v.contract.PublicFile()
	if got := wire.HashOf(b); got != want {
		return nil, fmt.Errorf("%s has the SHA-256 %s, the contract's public file has %s", path, got.Short(), want.Short())
	}
	return table.ReadCSV(bytes.NewReader(b), path, v.whole, table.Options{Label: table.Ignored, AllowExtra: true, AllowOutOfRange: true, MaxRows: anchorspec.MaxRows})
}

// pieces are those of all parties, by their signing keys.
func (v *visit) pieces() ([]secret.Matrix, error) {
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
	f, err := os.Open(v.site.Leaves(bundle.KindSetup, pieceMember+".npy"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := npy.ReadMatrix(f, v.pieceLimits())
	if err != nil {
		return nil, fmt.Errorf("this site's piece, of manifest %s: %w", own.Hash().Short(), err)
	}
	all := []piece{{v.statementIn(v.chain.Setup()).SigningKey, secret.NewMatrix(rows)}}
	for _, s := range v.othersIn(v.chain.Root()) {
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

func (v *visit) pieceLimits() npy.Limits {
	return npy.Limits{Rows: v.contract.Anchor.Rows, Cols: v.contract.M()}
}

// theirPiece reads another party's piece and looks at it: refused is what no piece under
// this contract is, and one that no person there approved.
func (v *visit) theirPiece(r *bundle.Reader) (secret.Matrix, party.TheirPiece, error) {
	if r.Approval == nil || r.Approval.Policy != bundle.PolicyPerson {
		return secret.Matrix{}, party.TheirPiece{}, errors.New("it was not approved by a person")
	}
	rows, err := r.Matrix(pieceMember, v.pieceLimits())
	if err != nil {
		return secret.Matrix{}, party.TheirPiece{}, err
	}
	look, err := party.LookAtPiece(v.contract, rows)
	if err != nil {
		rows.Zero()
	}
	return secret.NewMatrix(rows), look, err
}

// printTheirPiece says what another party's piece is like.
func (p *program) printTheirPiece(from *identity.Statement, look party.TheirPiece) {
	p.printf("the piece of %q: %d rows, %d of them different, in %d directions; the largest number is %.3g\n",
		from.Name, look.Rows, look.Different, look.Rank, look.Largest)
	if look.Odd != "" {
		p.printf("! %s: ask them before you prepare; the anchor is made of it\n", look.Odd)
	}
}
