package concord

import (
	"github.com/spf13/cobra"

	"concord/internal/visit"
)

func (p *program) receiveCommand() *cobra.Command {
	return p.byFile(&cobra.Command{
		Use:   "receive",
		Short: "Fetch the result and make this site's model.onnx",
		Long: `Fetches the sealed result, checks every signature and hash, and joins this site's
standardisation, its secret basis and what came back into one graph of
allow-listed operators, model.onnx. No foreign code runs here.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.visit(visit.Confirmed, func(v *visit.Visit) error { return p.next(v.Receive(cmd.Context())) })
		},
	}, false)
}
