package concord

import (
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"concord/internal/visit"
	"concord/wire"
)

func (p *program) poolFlagCommand() *cobra.Command {
	var key string
	var yes bool
	cmd := p.byFile(&cobra.Command{
		Use:   "flag FEATURE",
		Short: "Tell the other parties that a unit seems to differ, by the exchange",
		Long: `Sends all other parties a note of one sentence, sealed to them: to compare the unit and
the coding of a feature with the contract's. It names the feature, and neither a site nor a
figure. concord check says which features seem to differ. The others read the note with
concord sync and concord status. The analyst, who passes it on, cannot read it, and sees
that something was sent. A site can send eight.

Asks for a yes, unless --yes is given.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.visit(visit.Confirmed, func(v *visit.Visit) error {
				return v.SendNote(cmd.Context(), args[0], key, func(to, sentence string) bool {
					p.printf("a note to %s, sealed to them:\n  %s\n", to, wrapped(sentence, 2, 100))
					return yes || p.yes("type yes to send it: ")
				})
			})
		},
	}, true)
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().StringVar(&key, "key", "", "the approver's private key, where this site joined with an approver")
	return cmd
}

// quoted is a name as it is typed in a shell.
func quoted(name string) string {
	if strings.IndexFunc(name, func(r rune) bool {
		return !(r == '_' || r == '-' || r == '.' || unicode.IsLetter(r) || unicode.IsDigit(r))
	}) < 0 && name != "" {
		return name
	}
	return "'" + strings.ReplaceAll(wire.Printable(name), "'", `'\''`) + "'"
}
