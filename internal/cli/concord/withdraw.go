package concord

import (
	"github.com/spf13/cobra"

	"concord/internal/visit"
)

func (p *program) withdrawCommand() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "withdraw",
		Short: "Leave the study, and have deleted what this site sent",
		Long: `Signs that this site withdraws. The analyst's program deletes its contribution,
uploads and result, and whatever of the models made with its rows nobody has
fetched; the others get a new model, made of their rows alone. What was deleted, and
what remains and why, comes back signed, is printed, and stays in withdrawn.txt.

Asks for the study's name. It cannot be undone.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.visit(visit.Changing, func(v *visit.Visit) error {
				w, err := v.Withdraw(cmd.Context(), func() string {
					if name == "" {
						p.printf("withdrawing from %q cannot be undone; type the study's name: ", v.Contract.Name)
						name, _ = p.in.ReadString('\n')
					}
					return name
				})
				if w.Already || err == nil {
					p.tellWithdrawal(w)
				}
				return err
			})
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "the study's name, instead of typing it when asked")
	return p.byFile(cmd, true)
}

// tellWithdrawal says what was deleted and what remains.
func (p *program) tellWithdrawal(w visit.Withdrawal) {
	switch {
	case w.Already:
		p.printf("%s", w.Text)
	case w.Later:
		p.printf("the withdrawal is signed and goes with the next parcel; concord take takes the analyst's receipt\n")
	default:
		p.printf("%sthe same stands in %s; the analyst's signed receipt in %s\n", w.Text, w.Remains, w.Receipt)
	}
}
