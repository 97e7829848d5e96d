package concord

import (
	"github.com/spf13/cobra"

	"concord/internal/visit"
)

func (p *program) approverCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "approver",
		Short: "Make the key of a person who approves and runs nothing else",
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "new FILE",
		Short: "Write a private key to FILE, which the approver keeps, and print the public one",
		Long: `Writes a private key to FILE, which is made and must not exist, and prints the
public one for concord join --approver. Whoever has the file approves for the
site: keep it where the site's operators cannot read it, on a USB stick for
example. Only what its holder approved is sent.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			public, err := visit.NewApprover(args[0])
			if err == nil {
				p.printf("%s\n", public)
			}
			return err
		},
	})
	return cmd
}
