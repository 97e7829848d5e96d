package concord

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"concord/anchor"
	"concord/audit"
	"concord/basis"
	"concord/bundle"
	"concord/internal/cli"
	"concord/party"
	"concord/table"
	"concord/wire"
)

// pieceMember is the matrix of a setup bundle that is this site's piece of a data-like
// anchor.
const pieceMember = "piece"

func (p *program) pieceCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "piece",
		Short: "This site's piece of an anchor that is made of rows (low-rank, smote)",
		Long: `Some contracts have an anchor that looks like data: every party gives a piece made
of its own rows, which shows near-raw rows to every other party. So it is prepared,
reviewed and approved like a contribution, by a person:

  concord piece prepare data.csv
  concord piece review
  concord piece approve
  concord sync                         sends it, sealed to the other parties only

The analyst gets no piece.`,
	}
	var key string
	approve := &cobra.Command{
		Use:   "approve [MANIFEST]",
		Short: "Say yes to exactly what piece review shows",
		Long: `Signs the manifest that piece review shows. Asks for a yes, unless the first 12 or
more digits of the manifest are given. No policy approves a piece: a person does.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return p.approvePiece(strings.Join(args, ""), key) },
	}
	approve.Flags().StringVar(&key, "key", "", "the approver's private key, where this site joined with an approver")
	prepare := &cobra.Command{
		Use:   "prepare DATA",
		Short: "Make the piece; nothing is sent",
		Args:  cobra.ExactArgs(1),
	}
	prepare.RunE = withData(addDataFlags(prepare), p.preparePiece)
	cmd.AddCommand(
		prepare,
		&cobra.Command{
			Use:   "review",
			Short: "Show what the piece is, and how near it is to true rows",
			Args:  cobra.NoArgs,
			RunE:  func(*cobra.Command, []string) error { return p.reviewPiece() },
		},
		approve,
	)
	return cmd
}

// needsPiece refuses where the contract's anchor is not made of pieces.
func (v *visit) needsPiece() error {
	if !v.contract.Anchor.Pieces() {
		return cli.Usagef("the anchor of this study is %s, which is not made of pieces", v.contract.Anchor.Kind)
	}
	return nil
}

func (p *program) preparePiece(path string, opt table.Options) error {
	v, unlock, err := p.changeConfirmed()
	if err != nil {
		return err
	}
	defer unlock()
	if err := v.needsPiece(); err != nil {
		return err
	}
	if v.site.Sent(bundle.KindSetup) || v.site.Has("outbox", bundle.KindSetup+".bundle") {
		return errors.New("this site's piece is sealed and may have left; it cannot be prepared anew")
	}
	floors, err := v.floors()
	if err != nil {
		return err
	}
	from, t, err := readRows(path, v.contract, opt)
	if err != nil {
		return err
	}
	defer t.Erase()
	if err := from.unchanged(v.prepareAgain(bundle.KindSetup)); err != nil {
		return err
	}
	piece, report, err := party.Piece(v.contract, t, floors, basis.NewSource())
	if err != nil {
		return err
	}
	defer piece.Erase()
	entropy := make([]byte, anchor.EntropySize)
	rand.Read(entropy)
	m, err := v.putDraft(bundle.Draft{
		Header:  v.header(bundle.KindSetup, v.others()),
		Members: append([]bundle.Source{bundle.FromBytes(entropyMember, entropy)}, bundle.FromMatrix(pieceMember, piece.Reveal())...),
	}, nil, func(dir string, m *bundle.Manifest) error {
		b, err := json.MarshalIndent(report, "", "  ")
		if err != nil {
			return err
		}
		if err := errors.Join(os.WriteFile(filepath.Join(dir, reportFile), append(b, '\n'), draftPerm), from.write(dir)); err != nil {
			return err
		}
		return v.writePrepared(dir, m)
	})
	if err != nil {
		return err
	}
	p.printReport(v, report)
	p.printFindings(report, true)
	p.printf("prepared a piece of the anchor, %d bytes in %s; nothing has left\nnext: concord piece review\n", m.Bytes(), v.site.Leaves(bundle.KindSetup))
	return nil
}

func (p *program) reviewPiece() error {
	v, err := p.open()
	if err != nil {
		return err
	}
	if err := v.needRoster(); err != nil {
		return err
	}
	if err := v.needsPiece(); err != nil {
		return err
	}
	m, _, err := v.loadPiece()
	if err != nil {
		return err
	}
	if err := v.checkPrepared(bundle.KindSetup, m); err != nil {
		return err
	}
	r, err := v.report(bundle.KindSetup)
	if err != nil {
		return err
	}
	p.printDraft(v, m)
	p.printReport(v, r)
	p.printFindings(r, true)
	what := "your rows, of which only the largest directions are kept, with a little noise"
	if v.contract.Anchor.Kind == "smote" {
		what = "rows that lie between one of yours and one of its nearest neighbours"
	}
	p.printf(`
What this means:
- %s are %s.
  Every other party gets them, and can read them: they are near-raw rows. So does a
  party that comes later, if those whom the contract names admit it (%s).
- %s is 32 random bytes, this site's share of the anchor's seed.
- The analyst gets neither. Together with any one party it has both.
- The files are in %s; numpy.load opens the piece.
`, pieceMember+".npy", what, v.contract.Admission.Describe(), entropyMember, v.site.Leaves(bundle.KindSetup))
	if err := p.printSpent(v, m); err != nil {
		return err
	}
	switch approved, err := v.pieceApproved(m); {
	case v.site.Sent(bundle.KindSetup):
		p.printf("\nthis has left\n")
	case err != nil:
		return err
	case v.site.Has("outbox", bundle.KindSetup+".bundle"):
		p.printf("\napproved and sealed, and may have left; next: concord sync\n")
	case approved:
		p.printf("\napproved; next: concord sync\n")
	default:
		p.printf("\nnothing has left; next: concord piece approve\n")
	}
	return nil
}

func (p *program) approvePiece(digits, keyFile string) error {
	v, unlock, err := p.changeConfirmed()
	if err != nil {
		return err
	}
	defer unlock()
	if err := v.needsPiece(); err != nil {
		return err
	}
	m, _, err := v.loadPiece()
	if err != nil {
		return err
	}
	if v.site.Sent(bundle.KindSetup) {
		p.printf("this piece was approved, and has left\n")
		return nil
	}
	if err := v.stillHolds(bundle.KindSetup, m); err != nil {
		return err
	}
	key, err := v.approverKey(keyFile)
	if err != nil {
		return err
	}
	if err := p.askFor(v, m, digits); err != nil {
		return err
	}
	if err := v.approveDraft(bundle.KindSetup, m, key, bundle.PolicyPerson); err != nil {
		return err
	}
	p.printf("approved %s\nnext: concord sync\n", m.Hash().Short())
	return nil
}

// askFor wants a yes to a manifest: its digits, or yes when asked.
func (p *program) askFor(v *visit, m *bundle.Manifest, digits string) error {
	switch {
	case digits != "" && len(digits) < 12:
		return cli.Usagef("give at least 12 digits of the manifest, or none")
	case digits != "" && !strings.HasPrefix(m.Hash().String(), digits):
		return fmt.Errorf("what is prepared is not %s; it is %s: review it again", digits, m.Hash().Short())
	case digits == "":
		p.printDraft(v, m)
		p.printf("type yes to approve that these files leave: ")
		answer, _ := p.in.ReadString('\n')
		if strings.ToLower(strings.TrimSpace(answer)) != "yes" {
			return errors.New("not approved; nothing has left")
		}
	}
	return nil
}

// loadPiece is the draft of this site's piece for this roster.
func (v *visit) loadPiece() (*bundle.Manifest, []bundle.Source, error) {
	if !v.site.Has(bundle.KindSetup) {
		return nil, nil, wire.WithHint(errors.New("no piece is prepared"), "run concord piece prepare data.csv")
	}
	m, sources, err := v.loadDraft(bundle.KindSetup)
	if err != nil {
		return nil, nil, err
	}
	if _, ok := m.Member(pieceMember + ".npy"); !ok || v.statementIn(m.Epoch) == nil || m.Study != v.study {
		return nil, nil, wire.WithHint(errors.New("what is prepared is no piece of this study and roster"), "run concord piece prepare again")
	}
	return m, sources, nil
}

// pieceApproved says whether a person has said yes to this very piece. Another approval,
// one by a policy included, is an error.
func (v *visit) pieceApproved(m *bundle.Manifest) (bool, error) {
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
func (v *visit) pieceWaits() (string, error) {
	if v.setupSent() || v.site.Has("outbox", bundle.KindSetup+".bundle") {
		return "", nil
	}
	if !v.site.Has(bundle.KindSetup) {
		return "concord piece prepare data.csv", nil
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
	return "concord piece review, then concord piece approve", nil
}

// sealPiece counts this site's piece and seals it to the other parties, unless that was
// done.
func (v *visit) sealPiece() error {
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

// publicCommand keeps the study's public file.
func (p *program) publicCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "public FILE.csv",
		Short: "Keep the public file that this study's anchor is made of",
		Long: `Compares the file's SHA-256 with the contract's and keeps a copy in this site's
folder, where prepare and receive find it. Nothing leaves.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			v, unlock, err := p.change()
			if err != nil {
				return err
			}
			defer unlock()
			want, ok := v.contract.PublicFile()
			if !ok {
				return cli.Usagef("the anchor of this study is %s, which needs no public file", v.contract.Anchor.Kind)
			}
			b, err := os.ReadFile(args[0])
			if err != nil {
				return err
			}
			if got := wire.HashOf(b); got != want {
				return wire.WithHint(fmt.Errorf("%s has the SHA-256 %s, the contract's public file has %s", args[0], got.Short(), want.Short()), "ask the analyst for the file that the contract means")
			}
			if _, err := v.readPublic(args[0]); err != nil {
				return err
			}
			if err := v.noteOnce(audit.Event{Kind: audit.Received, File: want, Note: "the public file that the anchor is made of"}); err != nil {
				return err
			}
			if err := v.site.PutPublic(b); err != nil {
				return err
			}
			p.printf("kept a copy of the public file\n")
			return nil
		},
	}
}
