package concord

import (
	"github.com/spf13/cobra"

	"concord/internal/visit"
)

func (p *program) sendCommand() *cobra.Command {
	return p.byFile(&cobra.Command{
		Use:   "send",
		Short: "Seal and send what was approved",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.visit(visit.Confirmed, func(v *visit.Visit) error {
				already, err := v.Send(cmd.Context())
				if already && err == nil {
					p.printf("sent already, and acknowledged\nnext: concord receive, when everybody has sent\n")
				}
				return err
			})
		},
	}, true)
}
