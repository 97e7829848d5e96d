package partycli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"concord/audit"
	"concord/internal/api"
	"concord/internal/cli"
	"concord/internal/post"
	"concord/study"
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
	v, err := p.open()
	if err != nil {
		return err
	}
	roster := v.roster
	if roster == nil {
		if roster, err = v.fetchRoster(ctx); err != nil {
			return err
		}
	}
	p.printRoster(v, roster)
	p.printf("phrase: %s\n", strings.Join(study.Phrase(roster.Epoch(v.study)), " "))
	if v.roster == nil {
		p.printf("next: compare the phrase with the other parties by telephone, then concord roster confirm\n")
	} else {
		p.printf("confirmed here\n")
	}
	return nil
}

func (p *program) printRoster(v *visit, roster *study.Roster) {
	p.printf("%s, contract %s\n", v.contract.Name, v.study.Short())
	for _, m := range roster.Members {
		note := ""
		if m.Fingerprint() == v.own() {
			note = "  (this site)"
		}
		if ascii := fmt.Sprintf("%+q", m.Name); ascii != fmt.Sprintf("%q", m.Name) {
			note += "  spelled " + ascii // two letters may look the same
		}
		p.printf("  %-8s %-40q %s%s\n", m.Role, m.Name, m.Fingerprint().Short(), note)
	}
}

// fetchRoster gets the closed roster from the server and checks what a program
// can: the signatures, this site's own entry, the analyst of the invite. Whether
// the names are right only people can tell.
func (v *visit) fetchRoster(ctx context.Context) (*study.Roster, error) {
	c, err := v.dial()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	roster, _, err := v.fetchRosterFrom(ctx, c)
	return roster, err
}

func (v *visit) fetchRosterFrom(ctx context.Context, c post.Post) (*study.Roster, api.Roster, error) {
	answer, err := c.Roster(ctx)
	if err != nil {
		return nil, answer, err
	}
	if !answer.Closed {
		return nil, answer, &cli.Waiting{For: fmt.Sprintf("%d of %d parties to join%s", v.contract.Parties-(len(answer.Statements)-1), v.contract.Parties, asking(answer))}
	}
	if answer.Number != 1 {
		return nil, answer, fmt.Errorf("the server's roster has number %d; this program knows the first roster of a study only", answer.Number)
	}
	var members []*study.Statement
	for _, b := range answer.Statements {
		m, err := study.DecodeStatement(b)
		if err != nil {
			return nil, answer, fmt.Errorf("the server's roster: %w", err)
		}
		members = append(members, m)
	}
	roster, err := study.NewRoster(v.contract, answer.Number, members)
	if err != nil {
		return nil, answer, fmt.Errorf("the server's roster: %w", err)
	}
	if _, err := roster.Member(v.own()); err != nil {
		return nil, answer, cli.WithHint(errors.New("the server's roster does not hold this site's own identity"), "do not go on: tell the other parties and the analyst")
	}
	if roster.Analyst().Fingerprint() != v.analyst.Fingerprint() {
		return nil, answer, cli.WithHint(errors.New("the server's roster names another analyst than the invite"), "do not go on: tell the other parties and the analyst")
	}
	if err := v.checkAnalyst(roster, answer); err != nil {
		return nil, answer, err
	}
	return roster, answer, nil
}

// checkAnalyst makes sure that the analyst too has signed contract and roster.
func (v *visit) checkAnalyst(roster *study.Roster, answer api.Roster) error {
	if answer.Analyst == nil {
		return cli.WithHint(errors.New("the analyst has not signed this contract and roster"), "ask the analyst for the present version of concordd, which signs them")
	}
	c, err := study.DecodeConfirmation(answer.Analyst)
	if err == nil && c.Party != v.analyst.Fingerprint() {
		err = errors.New("it is another's")
	}
	if err == nil {
		err = c.Check(roster, v.study)
	}
	if err != nil {
		return cli.WithHint(fmt.Errorf("the analyst's signature over contract and roster: %w", err), "do not go on: tell the other parties and the analyst")
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
	if v.roster != nil {
		p.printf("the roster was confirmed here already\n")
		return v.sendConfirmation(ctx)
	}
	key, err := v.approverKey(keyFile)
	if err != nil {
		return err
	}
	roster, err := v.fetchRoster(ctx)
	if err != nil {
		return err
	}
	epoch := roster.Epoch(v.study)
	p.printRoster(v, roster)
	if typed == "" {
		p.printf("type the phrase as the other parties read it out: ")
		if typed, err = p.in.ReadString('\n'); err != nil && typed == "" {
			return cli.Usagef("no phrase was typed; type it when asked, or give it with --phrase")
		}
	}
	if !study.SamePhrase(study.Phrase(epoch), typed) {
		return cli.WithHint(errors.New("the phrase is not this roster's; nothing was confirmed"),
			"if it was typed as the others read it out, they see another roster or contract: tell them, and the analyst")
	}
	v.roster, v.epoch = roster, epoch
	pieces := v.contract.Anchor.Pieces()
	if !pieces { // a piece is approved by itself, later
		if err := p.draftSetup(v, key); err != nil {
			return err
		}
	}
	err = v.noteOnce(audit.Event{Kind: audit.Confirmed, Epoch: epoch, Note: "people here compared the phrase, recognise every name and agree to the contract"})
	if err != nil {
		return err
	}
	if err := v.site.PutRoster(roster, study.Confirm(v.id, v.study, epoch)); err != nil {
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
		p.printf("next: %s\n", giveNext)
	} else {
		p.printf("next: concord sync\n")
	}
	return nil
}

// sendConfirmation sends the stored confirmation; the server takes it any
// number of times.
func (v *visit) sendConfirmation(ctx context.Context) error {
	_, confirmation, err := v.site.Roster()
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
