package concord

import (
	"github.com/spf13/cobra"

	"concord/internal/visit"
)

func (p *program) syncCommand() *cobra.Command {
	return p.byFile(&cobra.Command{
		Use:   "sync",
		Short: "Do every due step that needs no decision",
		Long: `Sends the setup share that roster confirm approved, collects the other parties'
shares and derives the anchor seed from all of them; sends an approved
contribution; fetches the result when it is there. What needs a decision is
named and left to you.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.visit(visit.Changing, func(v *visit.Visit) error { return p.next(v.Advance(cmd.Context())) })
		},
	}, true)
}
