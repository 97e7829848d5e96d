package concord

import (
	"github.com/spf13/cobra"

	"concord/internal/visit"
)

// publicCommand keeps the study's public file.
func (p *program) publicCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "public FILE.csv",
		Short: "Keep the public file that this study's anchor is made of",
		Long: `Compares the file's SHA-256 with the contract's and keeps a copy in this site's
folder, where prepare and receive find it. Nothing leaves.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return p.visit(visit.Changing, func(v *visit.Visit) error {
				err := v.KeepPublic(args[0])
				if err == nil {
					p.printf("kept a copy of the public file\n")
				}
				return err
			})
		},
	}
}
