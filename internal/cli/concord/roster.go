package concord

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"concord/audit"
	"concord/internal/api"
	"concord/internal/cli"
	"concord/member"
	"concord/wire"
)

func (p *program) rosterCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "roster",
		Short: "Show who takes part and the phrase to compare",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return p.showRoster(cmd.Context()) },
	}
	var phrase, keyFile string
	confirm := &cobra.Command{
		Use:   "confirm",
		Short: "Confirm the roster and the contract after comparing the phrase",
		Long: `Signs that people here recognise every name, have compared the phrase with the
other parties over a channel they trust, and agree to the contract. With it goes
the approval of what setup sends: 32 random bytes, this site's share of the
anchor seed, sealed to the other parties. They say nothing about any data.

The phrase is typed as the others read it out: case does not matter and four
letters of a word are enough.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.confirmRoster(cmd.Context(), phrase, keyFile) },
	}
	confirm.Flags().StringVar(&phrase, "phrase", "", "the 12 words, instead of typing them when asked")
	confirm.Flags().StringVar(&keyFile, "key", "", "the approver's private key, where this site joined with an approver")
	confirm.Example = `  concord roster confirm --phrase "twelve words as they were read out ..."`
	cmd.AddCommand(p.byFile(confirm, true))
	return p.byFile(cmd, false)
}

func (p *program) showRoster(ctx context.Context) error {
	v, unlock, err := p.change()
	if err != nil {
		return err
	}
	defer unlock()
	c, err := v.dial()
	if err != nil {
		return err
	}
	defer c.Close()
	answer, err := c.Roster(ctx)
	if err != nil {
		if v.roster != nil {
			p.printf("as this site's folder has it:\n")
			p.printConfirmed(v)
		}
		return err
	}
	switch {
	case v.roster != nil && answer.Number > v.chain.Root().Number && !v.contributed():
		// A new roster before setup was complete: people look at it as at the first.
	case v.roster != nil:
		if err := p.followAnswer(v, answer); err != nil {
			return err
		}
		if add, err := v.pendingAdd(v.chain, answer); err != nil {
			return err
		} else if add != nil {
			p.printAdd(v, add)
			return nil
		}
		p.printConfirmed(v)
		return nil
	case v.namedIn(answer):
		add, _, err := v.ownAdd(answer)
		if err != nil {
			return err
		}
		p.printAdd(v, add)
		return nil
	}
	roster, err := v.newRoster(answer)
	if err != nil {
		return err
	}
	p.printRoster(v, roster)
	if err := v.enoughOfViews(roster); err != nil {
		return err
	}
	p.printf("phrase: %s\n", strings.Join(member.Phrase(roster.Epoch(v.study)), " "))
	p.printf("next: compare the phrase with the other parties by telephone, then concord roster confirm\n")
	return nil
}

// printConfirmed shows the present roster and how it came from what people confirmed.
func (p *program) printConfirmed(v *visit) {
	p.printRoster(v, v.roster)
	p.printf("phrase: %s\n", strings.Join(member.Phrase(v.chain.Setup()), " "))
	if n := len(v.chain.Steps()); n > 0 {
		lead := "1 signed amendment since leads"
		if n > 1 {
			lead = fmt.Sprintf("%d signed amendments since lead", n)
		}
		p.printf("confirmed here as roster %d; %s to this one, roster %d\n", v.chain.Root().Number, lead, v.roster.Number)
	} else {
		p.printf("confirmed here\n")
	}
}

func (p *program) printRoster(v *visit, roster *member.Roster) {
	p.printf("%s, contract %s\n", v.contract.Name, v.study.Short())
	for _, m := range roster.Members {
		note := ""
		if m.View != "" {
			note = fmt.Sprintf("  view %q", m.View)
		}
		if m.Fingerprint() == v.own() {
			note += "  (this site)"
		}
		if ascii := fmt.Sprintf("%+q", m.Name); ascii != fmt.Sprintf("%q", m.Name) {
			note += "  spelled " + ascii // two letters may look the same
		}
		p.printf("  %-8s %-40q %s%s\n", m.Role, m.Name, m.Fingerprint().Short(), note)
	}
}

// enoughOfViews refuses a roster over which figures cannot be pooled without showing those
// of a few.
func (v *visit) enoughOfViews(roster *member.Roster) error {
	if err := v.whole.CheckHoldings(roster.Parties()); err != nil {
		return wire.WithHint(err, "ask the analyst to change who takes part (concordd remove, invite, admit) before anybody confirms, or for another contract")
	}
	return nil
}

// newRoster is the closed roster that the server offers, after what a program can check:
// the signatures, this site's own entry, the analyst of the invite. Whether the names are
// right only people can tell.
func (v *visit) newRoster(answer api.Roster) (*member.Roster, error) {
	if !answer.Closed {
		return nil, &wire.Waiting{For: fmt.Sprintf("%d of %d parties to join%s", v.contract.Parties-(len(answer.Statements)-1), v.contract.Parties, asking(answer))}
	}
	roster, err := v.rosterOf(answer)
	if err != nil {
		return nil, err
	}
	if _, err := roster.Member(v.own()); err != nil {
		return nil, wire.WithHint(errors.New("the server's roster does not hold this site's own identity"), "do not go on: tell the other parties and the analyst")
	}
	if len(answer.Amendments) > 0 {
		return nil, wire.WithHint(fmt.Errorf("the server's roster %d has been amended %d times, and nobody here has confirmed it", answer.Number, len(answer.Amendments)),
			"ask the analyst to remove this site, and join anew")
	}
	return roster, nil
}

// checkAnalyst makes sure that the analyst too has signed contract and roster.
func (v *visit) checkAnalyst(roster *member.Roster, answer api.Roster) error {
	if answer.Analyst == nil {
		return wire.WithHint(errors.New("the analyst has not signed this contract and roster"), "ask the analyst for the present version of concordd, which signs them")
	}
	c, err := member.DecodeConfirmation(answer.Analyst)
	if err == nil && c.Party != v.analyst.Fingerprint() {
		err = errors.New("it is another's")
	}
	if err == nil {
		err = c.Check(roster, v.study)
	}
	if err != nil {
		return wire.WithHint(fmt.Errorf("the analyst's signature over contract and roster: %w", err), "do not go on: tell the other parties and the analyst")
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

func (p *program) confirmRoster(ctx context.Context, typed, keyFile string) error {
	v, unlock, err := p.change()
	if err != nil {
		return err
	}
	defer unlock()
	c, err := v.dial()
	if err != nil {
		return err
	}
	defer c.Close()
	answer, err := c.Roster(ctx)
	if err != nil {
		return err
	}
	switch {
	case v.roster != nil && answer.Number > v.chain.Root().Number && !v.contributed():
		// A new roster before setup was complete.
	case v.roster != nil:
		if err := p.followAnswer(v, answer); err != nil {
			return err
		}
		add, err := v.pendingAdd(v.chain, answer)
		if err != nil {
			return err
		}
		if add != nil {
			return p.confirmAdd(ctx, v, c, add, typed)
		}
		p.printf("the roster was confirmed here already\n")
		return v.sendConfirmation(ctx)
	case v.namedIn(answer):
		return p.confirmOwn(ctx, v, c, answer, typed)
	}
	key, err := v.approverKey(keyFile)
	if err != nil {
		return err
	}
	roster, err := v.newRoster(answer)
	if err != nil {
		return err
	}
	epoch := roster.Epoch(v.study)
	p.printRoster(v, roster)
	if err := v.enoughOfViews(roster); err != nil {
		return err
	}
	if err := p.comparePhrase(epoch, typed); err != nil {
		return err
	}
	if v.roster != nil {
		if err := v.site.ResetSetup(); err != nil {
			return err
		}
		p.printf("what was agreed under roster %d is forgotten: this site's share, the others', the anchor\n", v.chain.Root().Number)
	}
	v.chain = member.NewChain(v.contract, v.study, roster)
	v.roster, v.epoch = roster, epoch
	pieces := v.contract.Anchor.Pieces()
	if !pieces { // a piece is approved by itself, later
		if err := p.draftSetup(v, key); err != nil {
			return err
		}
	}
	if err := v.noteOnce(audit.Event{Kind: audit.Confirmed, Epoch: epoch, Note: "people here compared the phrase, recognise every name and agree to the contract"}); err != nil {
		return err
	}
	if err := v.site.PutRoster(roster, member.Confirm(v.id, v.study, epoch)); err != nil {
		return err
	}
	if err := v.sendConfirmation(ctx); err != nil {
		return err
	}
	if pieces {
		p.printf("confirmed: every name, and the contract\nnext: concord piece prepare data.csv: this study's anchor is made of pieces of everybody's rows\n")
		return nil
	}
	p.printf("confirmed: every name, the contract, and what setup sends (32 random bytes, sealed to the other %d parties)\n", len(v.others()))
	if v.files {
		p.printGiveNext()
	} else {
		p.printf("next: concord sync\n")
	}
	return nil
}

// comparePhrase wants the phrase of an epoch, as the others read it out.
func (p *program) comparePhrase(epoch wire.Hash, typed string) error {
	if typed == "" {
		p.printf("type the phrase as the other parties read it out: ")
		var err error
		if typed, err = p.in.ReadString('\n'); err != nil && typed == "" {
			return cli.Usagef("no phrase was typed; type it when asked, or give it with --phrase")
		}
	}
	if !member.SamePhrase(member.Phrase(epoch), typed) {
		return wire.WithHint(errors.New("the phrase is not this roster's; nothing was confirmed"),
			"if it was typed as the others read it out, they see another roster or contract: tell them, and the analyst")
	}
	return nil
}

// sendConfirmation sends the stored confirmation; the server takes it any
// number of times.
func (v *visit) sendConfirmation(ctx context.Context) error {
	_, confirmation, err := v.site.Chain()
	if err != nil {
		return err
	}
	c, err := v.dial()
	if err != nil {
		return err
	}
	defer c.Close()
	return c.Confirm(ctx, confirmation)
}
