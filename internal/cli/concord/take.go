package concord

import (
	"github.com/spf13/cobra"

	"concord/internal/visit"
)

func (p *program) takeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "take FILE",
		Short: "Take the file that the analyst gave for this site",
		Long: `Takes a parcel that concordd give wrote for this site: the contract, who takes
part, how far the study is, receipts, bundles sealed to this site. Nothing is
decided by it: concord roster, roster confirm, sync and receive go on from what it
brought, without a connection.

A parcel is checked whole before anything in it is used. One for another site or
study, from somebody else, cut off or changed on its way is refused; taking one
twice, or an older one after a newer one, changes nothing.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := visit.Take(cmd.Context(), p.dir, args[0], p.options())
			if t.Left != nil && err == nil {
				p.tellWithdrawal(*t.Left)
			}
			if err == nil && !t.Older {
				p.tellTaken(t)
			}
			return err
		},
	}
}

// tellTaken says how far the study is and what comes next.
func (p *program) tellTaken(t visit.Took) {
	if t.Shares > 0 {
		p.printf("  %d of the other parties' shares of the anchor\n", t.Shares)
	}
	if t.Messages > 0 {
		p.printf("  %d messages of masked sums\n", t.Messages)
	}
	if t.Result > 0 {
		p.printf("  this site's result\n")
	}
	switch st := t.Status; {
	case t.HasLeft:
	case st == nil:
		p.printf("the analyst has not let this site in yet; take a newer parcel\n")
	default:
		p.printf("the study is at %s, %d of %d parties have joined\n", st.State, st.Present, st.Expected)
		if st.Problem != "" {
			p.printf("problem: %s\n", st.Problem)
		}
		if t.Turn.Do != "" {
			p.printf("next: %s\n", t.Turn.Do)
		} else if t.Turn.WaitingFor != "" {
			p.printf("waiting for %s; then take a newer parcel\n", t.Turn.WaitingFor)
		}
	}
}
