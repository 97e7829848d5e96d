package visit

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"concord/audit"
	"concord/identity"
	"concord/internal/api"
	"concord/internal/visit/event"
	"concord/member"
	"concord/wire"
)

// enoughOfViews refuses a roster over which figures cannot be pooled without showing those
// of a few.
func (v *Visit) enoughOfViews(roster *member.Roster) error {
	if err := v.Whole.CheckHoldings(roster.Parties()); err != nil {
		return wire.WithHint(err,
			"ask the analyst to change who takes part (concordd remove, invite, admit) before anybody confirms, or for "+
				"another contract")
	}
	return nil
}

// newRoster is the closed roster that the server offers, after what a program can check:
// the signatures, this site's own entry, the analyst of the invite. Whether the names are
// right only people can tell.
func (v *Visit) newRoster(answer api.Roster) (*member.Roster, error) {
	if !answer.Closed {
		return nil, &wire.Waiting{For: fmt.Sprintf("%d of %d parties to join%s",
			v.Contract.Parties-(len(answer.Statements)-1), v.Contract.Parties, asking(answer))}
	}
	roster, err := v.rosterOf(answer)
	if err != nil {
		return nil, err
	}
	if _, err := roster.Member(v.Own()); err != nil {
		return nil, wire.WithHint(errors.New("the server's roster does not hold this site's own identity"),
			stopAndTell)
	}
	if len(answer.Amendments) > 0 {
		return nil, wire.WithHint(fmt.Errorf("the server's roster %d has been amended %d times, and nobody here has "+
			"confirmed it", answer.Number, len(answer.Amendments)),
			"ask the analyst to remove this site, and join anew")
	}
	return roster, nil
}

// checkAnalyst makes sure that the analyst too has signed contract and roster.
func (v *Visit) checkAnalyst(roster *member.Roster, answer api.Roster) error {
	if answer.Analyst == nil {
		return wire.WithHint(errors.New("the analyst has not signed this contract and roster"),
			"ask the analyst for the present version of concordd, which signs them")
	}
	c, err := member.DecodeConfirmation(answer.Analyst)
	if err == nil && c.Party != v.analyst.Fingerprint() {
		err = errors.New("it is another's")
	}
	if err == nil {
		err = c.Check(roster, v.Study)
	}
	if err != nil {
		return wire.WithHint(fmt.Errorf("the analyst's signature over contract and roster: %w", err),
			stopAndTell)
	}
	return nil
}

// asking names who has joined and awaits the analyst's word.
func asking(answer api.Roster) string {
	if len(answer.Asking) == 0 {
		return ""
	}
	var names []string
	for _, a := range answer.Asking {
		names = append(names, fmt.Sprintf("%q (%s)", a.Name, a.Fingerprint.Short()))
	}
	return ", and the analyst to admit " + strings.Join(names, ", ")
}

// sendConfirmation sends the stored confirmation; the server takes it any
// number of times.
func (v *Visit) sendConfirmation(ctx context.Context) error {
	_, yes, err := v.site.Chain()
	if err != nil {
		return err
	}
	c, err := v.connect()
	if err != nil {
		return err
	}
	return c.Confirm(ctx, yes)
}

// Seen is a roster as people look at it.
type Seen struct {
	Roster *member.Roster
	epoch  wire.Hash // whose phrase people compare
	// Confirmed says that people here have confirmed it, or what it came from; folder that
	// the server was not asked.
	Confirmed, Folder bool
	// Add is a party that is to come after setup, nil if there is none.
	Add *Addition
	// Refused says why nobody can confirm it, nil if people can.
	Refused error
}

// Phrase is what people read out to each other.
func (s Seen) Phrase() string { return strings.Join(member.Phrase(s.epoch), " ") }

// Look shows who takes part: what people confirmed and what it has become, or what there
// is to confirm. A roster beside an error is to be shown too.
func (v *Visit) Look(ctx context.Context) (Seen, error) {
	c, err := v.connect()
	if err != nil {
		return Seen{}, err
	}
	answer, err := c.Roster(ctx)
	if err != nil {
		if v.roster != nil {
			s := v.seenHere()
			s.Folder = true
			return s, err
		}
		return Seen{}, err
	}
	switch {
	case v.newBeforeSetup(answer):
		// A new roster before setup was complete: people look at it as at the first.
	case v.roster != nil:
		if err := v.followAnswer(answer); err != nil {
			return Seen{}, err
		}
		add, err := v.pendingAdd(v.Chain, answer)
		if err != nil {
			return Seen{}, err
		}
		if add != nil {
			return Seen{Roster: add.roster, epoch: add.Told.To, Add: add}, nil
		}
		return v.seenHere(), nil
	case v.namedIn(answer):
		add, _, err := v.ownAdd(answer)
		if err != nil {
			return Seen{}, err
		}
		return Seen{Roster: add.roster, epoch: add.Told.To, Add: add}, nil
	}
	roster, err := v.newRoster(answer)
	if err != nil {
		return Seen{}, err
	}
	return Seen{Roster: roster, epoch: roster.Epoch(v.Study)}, v.enoughOfViews(roster)
}

// seenHere is what people here confirmed, and what has become of it.
func (v *Visit) seenHere() Seen {
	return Seen{Roster: v.roster, epoch: v.Chain.Setup(), Confirmed: true}
}

// newBeforeSetup reports whether the analyst has made a new roster before setup was complete,
// which people confirm as they did the first.
func (v *Visit) newBeforeSetup(answer api.Roster) bool {
	return v.roster != nil && answer.Number > v.Chain.Root().Number && !v.contributed()
}

// Confirmation is what was confirmed.
type Confirmation struct {
	// Already says that it was confirmed before.
	Already bool
	// Newcomer is the party that comes after setup; own that it is this site.
	Newcomer *identity.Statement
	Own      bool
	// Pieces says that a piece of the anchor is to be prepared before setup can go on.
	Pieces bool
}

// Confirm signs that people here recognise every name, have compared the phrase and agree to
// the contract. compare shows what is to be confirmed and returns the phrase that the
// others read out; with it goes the approval of what setup sends, by the key in keyFile
// where another person approves here.
func (v *Visit) Confirm(ctx context.Context, keyFile string, compare func(Seen) (string, error)) (Confirmation, error) {
	var none Confirmation
	c, err := v.connect()
	if err != nil {
		return none, err
	}
	answer, err := c.Roster(ctx)
	if err != nil {
		return none, err
	}
	switch {
	case v.newBeforeSetup(answer):
	case v.roster != nil:
		if err := v.followAnswer(answer); err != nil {
			return none, err
		}
		add, err := v.pendingAdd(v.Chain, answer)
		if err != nil {
			return none, err
		}
		if add != nil {
			return v.confirmAdd(ctx, c, add, compare)
		}
		return Confirmation{Already: true}, v.sendConfirmation(ctx)
	case v.namedIn(answer):
		return v.confirmOwn(ctx, c, answer, compare)
	}
	key, err := v.approverKey(keyFile)
	if err != nil {
		return none, err
	}
	roster, err := v.newRoster(answer)
	if err != nil {
		return none, err
	}
	epoch := roster.Epoch(v.Study)
	if err := samePhrase(Seen{Roster: roster, epoch: epoch, Refused: v.enoughOfViews(roster)}, compare); err != nil {
		return none, err
	}
	if v.roster != nil {
		if err := v.site.ResetSetup(); err != nil {
			return none, err
		}
		v.tell(event.SetupForgotten{Roster: v.Chain.Root().Number})
	}
	v.Chain = member.NewChain(v.Contract, v.Study, roster)
	v.roster, v.epoch = roster, epoch
	done := Confirmation{Pieces: v.Contract.Anchor.Pieces()}
	if !done.Pieces { // a piece is approved by itself, later
		if err := v.draftSetup(key); err != nil {
			return none, err
		}
	}
	if err := v.noteOnce(audit.Event{Kind: audit.Confirmed, Epoch: epoch,
		Note: "people here compared the phrase, recognise every name and agree to the contract"}); err != nil {
		return none, err
	}
	if err := v.site.PutRoster(roster, member.Confirm(v.ID, v.Study, epoch)); err != nil {
		return none, err
	}
	return done, v.sendConfirmation(ctx)
}

// samePhrase wants the phrase of what is to be confirmed, as the others read it out.
func samePhrase(s Seen, compare func(Seen) (string, error)) error {
	typed, err := compare(s)
	if err == nil {
		err = s.Refused
	}
	if err != nil {
		return err
	}
	if !member.SamePhrase(member.Phrase(s.epoch), typed) {
		return wire.WithHint(errors.New("the phrase is not this roster's; nothing was confirmed"),
			"if it was typed as the others read it out, they see another roster or contract: tell them, and the analyst")
	}
	return nil
}
