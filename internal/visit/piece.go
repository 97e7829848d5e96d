package visit

import (
	"crypto/rand"
	"errors"
	"fmt"

	"concord/anchor"
	"concord/basis"
	"concord/bundle"
	"concord/party"
	"concord/table"
	"concord/wire"
)

// PieceMember is the matrix of a setup bundle that is this site's piece of a data-like
// anchor.
const PieceMember = "piece"

// needsPiece refuses where the contract's anchor is not made of pieces.
func (v *Visit) needsPiece() error {
	if !v.Contract.Anchor.Pieces() {
		return misusef("the anchor of this study is %s, which is not made of pieces", v.Contract.Anchor.Kind)
	}
	return nil
}

// loadPiece is the draft of this site's piece for this roster.
func (v *Visit) loadPiece() (*bundle.Manifest, []bundle.Source, error) {
	if !v.site.Has(bundle.KindSetup) {
		return nil, nil, wire.WithHint(errors.New("no piece is prepared"), "run concord piece prepare data.csv")
	}
	m, sources, err := v.loadDraft(bundle.KindSetup)
	if err != nil {
		return nil, nil, err
	}
	if _, ok := m.Member(PieceMember + ".npy"); !ok || v.statementIn(m.Epoch) == nil || m.Study != v.Study {
		return nil, nil, wire.WithHint(errors.New("what is prepared is no piece of this study and roster"),
			"run concord piece prepare again")
	}
	return m, sources, nil
}

// pieceApproved says whether a person has said yes to this very piece. Another approval,
// one by a policy included, is an error.
func (v *Visit) pieceApproved(m *bundle.Manifest) (bool, error) {
	if !v.site.Has(bundle.KindSetup, "leaves", approvalFile) {
		return false, nil
	}
	approval, err := v.loadApproval(bundle.KindSetup, m)
	if err == nil && approval.Policy != bundle.PolicyPerson {
		err = fmt.Errorf("the piece was approved by policy %q; only a person approves a piece", approval.Policy)
	}
	if err != nil {
		return false, wire.WithHint(err, "run concord piece review, then concord piece approve")
	}
	return true, nil
}

// pieceWaits says what a person has to do before this site's piece can leave; "" if it
// is approved, holds and can be sealed, or was sealed already.
func (v *Visit) pieceWaits() (Step, error) {
	if v.setupSent() || v.site.Has("outbox", bundle.KindSetup+".bundle") {
		return "", nil
	}
	if !v.site.Has(bundle.KindSetup) {
		return StepPiecePrepare, nil
	}
	m, _, err := v.loadPiece()
	if err != nil {
		return "", err
	}
	if err := v.stillHolds(bundle.KindSetup, m); err != nil {
		return "", err
	}
	approved, err := v.pieceApproved(m)
	if err != nil || approved {
		return "", err
	}
	return StepPieceReview, nil
}

// sealPiece counts this site's piece and seals it to the other parties, unless that was
// done.
func (v *Visit) sealPiece() error {
	if v.site.Has("outbox", bundle.KindSetup+".bundle") {
		return nil
	}
	m, _, err := v.loadPiece()
	if err != nil {
		return err
	}
	if err := v.stillHolds(bundle.KindSetup, m); err != nil {
		return err
	}
	if approved, err := v.pieceApproved(m); err != nil || !approved {
		return errors.Join(err, errors.New("the piece is not approved; nothing was sent"))
	}
	if err := v.spend(m); err != nil {
		return err
	}
	return v.sealDraft(bundle.KindSetup)
}

// PreparePiece makes this site's piece of the anchor of its rows. Nothing is sent.
func (v *Visit) PreparePiece(path string, opt table.Options) (Draft, error) {
	var none Draft
	if err := v.needsPiece(); err != nil {
		return none, err
	}
	if v.site.Sent(bundle.KindSetup) || v.site.Has("outbox", bundle.KindSetup+".bundle") {
		return none, errors.New("this site's piece is sealed and may have left; it cannot be prepared again")
	}
	floors, err := v.floors()
	if err != nil {
		return none, err
	}
	from, t, err := readRows(path, v.Contract, opt)
	if err != nil {
		return none, err
	}
	defer t.Erase()
	if err := from.unchanged(v.prepareAgain(bundle.KindSetup)); err != nil {
		return none, err
	}
	piece, report, err := party.Piece(v.Contract, t, floors, basis.NewSource())
	if err != nil {
		return none, err
	}
	defer piece.Erase()
	entropy := make([]byte, anchor.EntropySize)
	rand.Read(entropy)
	m, err := v.putDraft(bundle.Draft{
		Header: v.header(bundle.KindSetup, v.Others()),
		Members: append([]bundle.Source{bundle.FromBytes(EntropyMember, entropy)},
			bundle.FromMatrix(PieceMember, piece.Reveal())...),
	}, nil, func(dir string, m *bundle.Manifest) error { return v.putReport(dir, report, from, m) })
	return Draft{Manifest: m, Report: report, Folder: v.site.Leaves(bundle.KindSetup)}, err
}

// ReviewPiece gathers what a person looks at before the piece leaves.
func (v *Visit) ReviewPiece() (Review, error) {
	var w Review
	if err := v.needRoster(); err != nil {
		return w, err
	}
	if err := v.needsPiece(); err != nil {
		return w, err
	}
	m, _, err := v.loadPiece()
	if err != nil {
		return w, err
	}
	if err := v.checkPrepared(bundle.KindSetup, m); err != nil {
		return w, err
	}
	w.Manifest, w.Folder = m, v.site.Leaves(bundle.KindSetup)
	if w.Report, err = v.report(bundle.KindSetup); err != nil {
		return w, err
	}
	if w.Spent, err = v.spentBefore(m); err != nil {
		return w, err
	}
	w.Left, w.Sealed = v.site.Sent(bundle.KindSetup), v.site.Has("outbox", bundle.KindSetup+".bundle")
	if w.Approved, err = v.pieceApproved(m); w.Left {
		err = nil
	}
	return w, err
}

// ApprovePiece says a person's yes to the piece. The manifest is nil where it has left.
func (v *Visit) ApprovePiece(keyFile string, yes func(*bundle.Manifest) error) (*bundle.Manifest, error) {
	if err := v.needsPiece(); err != nil {
		return nil, err
	}
	m, _, err := v.loadPiece()
	if err != nil {
		return nil, err
	}
	if v.site.Sent(bundle.KindSetup) {
		return nil, nil
	}
	return m, v.sayYes(bundle.KindSetup, m, keyFile, func() error { return yes(m) })
}
