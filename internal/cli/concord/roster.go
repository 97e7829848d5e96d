package concord

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"concord/internal/cli"
	"concord/internal/visit"
	"concord/member"
)

func (p *program) rosterCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "roster",
		Short: "Show who takes part and the phrase to compare",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.visit(visit.Changing, func(v *visit.Visit) error {
				s, err := v.Look(cmd.Context())
				p.showRoster(v, s, err)
				return err
			})
		},
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
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.visit(visit.Changing, func(v *visit.Visit) error {
				done, err := v.Confirm(cmd.Context(), keyFile, func(s visit.Seen) (string, error) {
					p.printRoster(v, s.Roster)
					if s.Add != nil {
						p.warnOfPieces(v, s.Add)
					}
					if s.Refused != nil {
						return "", s.Refused
					}
					return p.typed(phrase)
				})
				if err != nil && !done.Already {
					return err
				}
				p.tellConfirmed(v, done)
				return err
			})
		},
	}
	confirm.Flags().StringVar(&phrase, "phrase", "", "the 12 words, instead of typing them when asked")
	confirm.Flags().StringVar(&keyFile, "key", "", "the approver's private key, where this site joined with an approver")
	confirm.Example = `  concord roster confirm --phrase "twelve words as they were read out ..."`
	cmd.AddCommand(p.byFile(confirm, true))
	return p.byFile(cmd, false)
}

// showRoster shows who takes part; err is why no more is known.
func (p *program) showRoster(v *visit.Visit, s visit.Seen, err error) {
	switch {
	case s.Roster == nil:
	case s.Add != nil:
		p.printAdd(v, s)
	case s.Confirmed:
		if s.Folder {
			p.printf("as this site's folder has it:\n")
		}
		p.printConfirmed(v, s)
	default:
		p.printRoster(v, s.Roster)
		if err == nil {
			p.printf("phrase: %s\n", s.Phrase())
			p.printf("next: compare the phrase with the other parties by telephone, then concord roster confirm\n")
		}
	}
}

// printConfirmed shows the present roster and how it came from what people confirmed.
func (p *program) printConfirmed(v *visit.Visit, s visit.Seen) {
	p.printRoster(v, s.Roster)
	p.printf("phrase: %s\n", s.Phrase())
	if n := len(v.Chain.Steps()); n > 0 {
		lead := "1 signed amendment since leads"
		if n > 1 {
			lead = fmt.Sprintf("%d signed amendments since lead", n)
		}
		p.printf("confirmed here as roster %d; %s to this one, roster %d\n", v.Chain.Root().Number, lead, s.Roster.Number)
	} else {
		p.printf("confirmed here\n")
	}
}

func (p *program) printRoster(v *visit.Visit, roster *member.Roster) {
	p.printf("%s, contract %s\n", v.Contract.Name, v.Study.Short())
	for _, m := range roster.Members {
		note := ""
		if m.View != "" {
			note = fmt.Sprintf("  view %q", m.View)
		}
		if m.Fingerprint() == v.Own() {
			note += "  (this site)"
		}
		if ascii := fmt.Sprintf("%+q", m.Name); ascii != fmt.Sprintf("%q", m.Name) {
			note += "  spelled " + ascii // two letters may look the same
		}
		p.printf("  %-8s %-40q %s%s\n", m.Role, m.Name, m.Fingerprint().Short(), note)
	}
}

// printAdd shows a roster with a party that is to come.
func (p *program) printAdd(v *visit.Visit, s visit.Seen) {
	a := s.Add
	p.printf("roster %d, with %q, fingerprint %s, who comes after setup:\n", s.Roster.Number, a.Statement.Name,
		a.Told.Party.Short())
	p.printRoster(v, s.Roster)
	p.warnOfPieces(v, a)
	p.printf("phrase: %s\n", s.Phrase())
	if len(a.Missing) > 0 {
		p.printf("still to confirm: %s\n", strings.Join(a.Missing, "; "))
	}
	if v.MustConfirm(a) {
		p.printf("next: compare the phrase with the other members and the newcomer by telephone, then concord roster " +
			"confirm\n")
	}
}

// warnOfPieces says what of this site a newcomer gets with the anchor.
func (p *program) warnOfPieces(v *visit.Visit, a *visit.Addition) {
	if v.Contract.Anchor.Pieces() && a.Told.Party != v.Own() {
		p.printf("! %q then gets the piece of the anchor that every site gave: near-raw rows of this site's people too\n",
			a.Statement.Name)
	}
}

// typed is the phrase that was given, or is typed when asked.
func (p *program) typed(given string) (string, error) {
	if given != "" {
		return given, nil
	}
	p.printf("type the phrase as the other parties read it out: ")
	typed, err := p.in.ReadString('\n')
	if err != nil && typed == "" {
		return "", cli.Usagef("no phrase was typed; type it when asked, or give it with --phrase")
	}
	return typed, nil
}

// tellConfirmed says what was confirmed and what comes next.
func (p *program) tellConfirmed(v *visit.Visit, done visit.Confirmation) {
	next := "concord sync"
	switch {
	case done.Already:
		p.printf("the roster was confirmed here already\n")
		return
	case done.Newcomer != nil:
		p.printf("confirmed: %q takes part, with the anchor that this site has\n", done.Newcomer.Name)
		next = fmt.Sprintf("when all have confirmed, one member runs concord admit %q", done.Newcomer.Name)
	case done.Own:
		p.printf("confirmed: every name, and the contract\n")
		next = string(visit.StepSyncLater)
	case done.Pieces:
		p.printf("confirmed: every name, and the contract\nnext: %s: this study's anchor is made of pieces of "+
			"everybody's rows\n", visit.StepPiecePrepare)
		return
	default:
		p.printf("confirmed: every name, the contract, and what setup sends (32 random bytes, sealed to the other %d "+
			"parties)\n", len(v.Others()))
	}
	if v.Files {
		p.printGiveNext()
		return
	}
	p.printf("next: %s\n", next)
}
