package concord

import (
	"errors"
	"fmt"
	"strings"

	"concord/bundle"
	"concord/internal/cli"
	"concord/internal/visit"
	"concord/internal/visit/event"
	"concord/member"
	"concord/release"
	"concord/wire"
)

// tell says in words what happened during a visit.
func (p *program) tell(e event.Event) {
	switch e := e.(type) {
	case event.RosterFollowed:
		p.tellRoster(e)
	case event.MemberProposed:
		p.printf("the analyst proposes roster %d, with %q; still to confirm: %s\n", e.Roster.Number, e.Party.Name,
			strings.Join(e.Missing, "; "))
		if e.Asks {
			p.printf("next: %s\n", visit.StepRoster)
		}
	case event.TookPart:
		p.printf("this site takes part as of roster %d\n", e.Roster)
	case event.SetupForgotten:
		p.printf("what was agreed under roster %d is forgotten: this site's share, the others', the anchor\n", e.Roster)
	case event.AnchorAgreed:
		p.printf("the anchor is agreed among %d parties, id %s; the analyst cannot compute it\n", e.Parties, e.ID.Short())
	case event.AnchorGiven:
		p.printf("%q has given this site the anchor, id %s, which is the one that the members confirmed\n", e.From.Name,
			e.ID.Short())
	case event.ShareSent:
		done, what := "sent", ""
		if e.Later {
			done = "sealed for the next parcel"
		}
		if e.Piece {
			what = " and its piece of the anchor"
		}
		p.printf("%s this site's share of the anchor seed%s: %d bytes, sealed to the other %d parties\n", done, what,
			e.Bytes, e.Others)
	case event.PieceCame:
		p.tellPiece(e)
	case event.ContributionSent:
		if e.Later {
			p.printf("sealed %d bytes to the analyst, for the next parcel\n", e.Bytes)
			p.printGiveNext()
			return
		}
		p.printf("sent %d bytes, sealed to the analyst; the receipt is in %s\n", e.Bytes, e.Receipts)
		p.printf("next: concord receive, when everybody has sent\n")
	case event.ModelHere, event.ModelReplaced, event.ModelReceived:
		p.tellModel(e)
	case event.HeadsKept:
		fmt.Fprintf(p.err, "concord: note: the heads of the audit logs were not exchanged: %s; concord audit verify "+
			"--ask tries again\n", wire.Printable(e.Why.Error()))
	case event.ViewChosen:
		p.printf("view %q, %s: %d of the contract's %d features\n", e.View, e.How, len(e.Contract.Features),
			len(e.Contract.Whole().Features))
		if e.Idle != nil {
			p.printf("not read, since this view does not have them: %s\n", strings.Join(e.Idle, ", "))
		}
	default:
		if !p.tellPool(e) && !p.tellParcel(e) {
			panic(fmt.Sprintf("concord: no words for %T", e))
		}
	}
}

// tellRoster says what an amendment changed, and what it asks of people.
func (p *program) tellRoster(e event.RosterFollowed) {
	a := e.Step.Amendment
	name, number := a.Party.Short(), e.Step.Roster.Number
	if e.Party != nil {
		name = fmt.Sprintf("%q", e.Party.Name)
	}
	switch a.Kind {
	case member.AmendRekey:
		p.printf("roster %d: %s has new keys, fingerprint %s instead of %s, signed by the old ones; nothing is asked of "+
			"you\n",
			number, name, wire.HashOf(a.Statement).Short(), a.Party.Short())
	case member.AmendAdd:
		p.printf("roster %d: %s, fingerprint %s, takes part from now on; %d members confirmed it\n", number, name,
			a.Party.Short(), len(e.Step.Confirmations)-1)
	case member.AmendWithdraw:
		how := "by its own signature"
		if !a.SignedBy(a.Party) {
			how = "on paper, by the analyst's word"
		}
		p.printf("roster %d: %s has withdrawn, %s; the analyst deletes what it sent, and trains anew where a model was "+
			"made of it\n", number, name, how)
	default:
		reason := ""
		if a.Reason != "" {
			reason = ": " + a.Reason
		}
		p.printf("roster %d: the analyst has removed %s%s; it knows the anchor still\n", number, name, reason)
	}
}

// tellPiece says what another party's piece is like.
func (p *program) tellPiece(e event.PieceCame) {
	p.printf("the piece of %q: %d rows, %d of them different, in %d directions; the largest number is %.3g\n",
		e.From.Name, e.Look.Rows, e.Look.Different, e.Look.Rank, e.Look.Largest)
	if e.Look.Odd != "" {
		p.printf("! %s: ask them before you prepare; the anchor is made of it\n", e.Look.Odd)
	}
}

// tellModel says which model this site has.
func (p *program) tellModel(e event.Event) {
	switch e := e.(type) {
	case event.ModelHere:
		p.printf("the model is here: %s\n", e.Path)
	case event.ModelReplaced:
		p.printf("a new model, round %d, takes the place of the one here, which stays as %s: rows went into it of a "+
			"party that has left, or it lacks those of one that came\n",
			e.Round, e.Old)
		p.printf("delete that file when nothing needs it any more\n")
	case event.ModelReceived:
		trainers := ""
		if e.Parties > 0 {
			trainers = fmt.Sprintf(" of %d parties", e.Parties)
		}
		if e.Fit == nil {
			p.printf("received a model that %d rows%s trained\n", e.Outcome.Rows, trainers)
		} else {
			p.printf("received %s answers for the anchor's %d rows, of a model that %d rows%s trained\n", e.Answers,
				e.AnchorRows, e.Outcome.Rows, trainers)
		}
		for _, m := range e.Outcome.Metrics {
			p.printf("  %s %.4f, cross-validated by the analyst\n", wire.Printable(m.Name), m.Value)
		}
		for _, note := range e.Outcome.Notes {
			p.printf("  note: %s\n", wire.Printable(note))
		}
		if e.Fit == nil {
			p.printf("this site's model is %s; keep it here: it holds the secret basis\n", e.Path)
			return
		}
		if !e.Fit.Good() {
			p.printf("  note: the fit of this site's own model ended with status %s after %d iterations\n", e.Fit.Status,
				e.Fit.Iterations)
		}
		p.printf("this site's own model is %s; it holds no basis, only what answers taught it\n", e.Path)
	}
}

// tellPool says what happened in masked sums; false if it is something else.
func (p *program) tellPool(e event.Event) bool {
	switch e := e.(type) {
	case event.MessageSent:
		if e.Later {
			p.printf("sealed %s (%s), %d bytes, for the next parcel\n", visit.Named(e.Name), e.What, e.Bytes)
		} else {
			p.printf("sent %s (%s): %d bytes, sealed to the other parties\n", visit.Named(e.Name), e.What, e.Bytes)
		}
	case event.NoteKept:
		p.printf("! %s did not leave: %s\n", visit.Named(e.Name), wire.Printable(e.Why.Error()))
	case event.NoteUseless:
		p.printf("! a note of %q is of no use: %s\n", e.From.Name, wire.Printable(e.Why.Error()))
	case event.NoteCame:
		p.printf("! %s\n", noteInWords(e.From, e.Sentence))
	case event.MessageLate:
		p.printf("! message %d of %q came after the others had gone on without it: refused, and not used\n", e.Number,
			e.From.Name)
	case event.MessageUseless:
		p.printf("! message %d of stage %d from %q is of no use: %s\n", e.Number, e.Stage, e.From.Name,
			wire.Printable(e.Why.Error()))
	case event.PoolProblem:
		p.printf("! %s\n", wire.Printable(e.Why.Error()))
	case event.StagePrepared:
		p.printf("prepared stage %d, %s, of the same file, and approved by policy %q, without a person\n", e.Stage,
			e.Name, e.Policy)
	case event.StageSummed:
		p.printf("stage %d of %d, %s, is summed over %d parties: %s\n", e.Stage, e.Of, e.Name, len(e.Set), e.Names)
	case event.OthersGoOn:
		p.printf("others want to go on without %s; concord pool without NAME says the same; concord pool reveal stays "+
			"with all, if all is here\n", e.Names)
	case event.GoesOnWithout:
		p.printf("signed that the message of %q for stage %d did not come, and that this site continues without it\n",
			e.Party.Name, e.Stage)
	case event.DirectionsFit:
		p.printf("the common directions fit the sums: %s\n", e.About)
		for _, warning := range e.About.Warnings() {
			p.printf("%s\n", wrapped("! "+warning, 2, 100))
		}
	default:
		return false
	}
	return true
}

// tellParcel says what a parcel brought; false if it is something else.
func (p *program) tellParcel(e event.Event) bool {
	switch e := e.(type) {
	case event.ContractCame:
		p.printf("%s\n\n", release.Describe(e.Contract))
	case event.UnknownItem:
		p.printf("note: the parcel also holds something of kind %s, which this version of concord does not know\n", e.Kind)
	case event.ParcelOlder:
		p.printf("this parcel, of %s, is older than one that was taken before; nothing changes\n", visit.NumberTime(e.Number))
	case event.ParcelTaken:
		p.printf("took the analyst's parcel of %s UTC\n", visit.NumberTime(e.Number))
	case event.ReceiptCame:
		p.printf("  the analyst has this site's %s\n", strings.TrimPrefix(visit.SealedName(e.Name), "the "))
	case event.KeysTaken:
		p.printf("this site has new keys, fingerprint %s\n", e.Fingerprint.Short())
	default:
		return false
	}
	return true
}

// next says what a person does next, where that is known, whatever else went wrong.
func (p *program) next(t visit.Turn, err error) error {
	if t.Do != "" {
		p.printf("next: %s%s\n", t.Do, ofStage(t))
	}
	return err
}

// ofStage says which stage is to be prepared.
func ofStage(t visit.Turn) string {
	if t.Do != visit.StepPoolPrepare || t.Pool == nil {
		return ""
	}
	return fmt.Sprintf(" (stage %d of %d, %s)", t.Pool.Stage, t.Pool.Of, t.Pool.Name)
}

// printGiveNext says what comes next after a command of a site that exchanges files, unless
// --to has the command write its parcel itself.
func (p *program) printGiveNext() {
	if !p.files {
		p.printf("next: %s\n", visit.StepGive)
	}
}

// approves wants a yes to a manifest: its digits, or yes when asked.
func (p *program) approves(v *visit.Visit, m *bundle.Manifest, digits, no string) error {
	switch {
	case digits != "" && len(digits) < 12:
		return cli.Usagef("give at least 12 digits of the manifest, or none")
	case digits != "" && !strings.HasPrefix(m.Hash().String(), digits):
		return fmt.Errorf("%s is not %s; it is %s: review it again", no, digits, m.Hash().Short())
	case digits == "":
		p.printDraft(v, m)
		if !p.yes("type yes to approve that these files leave: ") {
			return errNotApproved
		}
	}
	return nil
}

// errNotApproved is what a person's no comes to.
var errNotApproved = errors.New("not approved; nothing has left")

// noteInWords says who says what.
func noteInWords(from, sentence string) string {
	return wrapped(fmt.Sprintf("%q asks all sites: %s; concord check data.csv says how this site's figures lie to the "+
		"others'", from, sentence), 2, 100)
}
