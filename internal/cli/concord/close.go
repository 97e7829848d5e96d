package concord

import (
	"fmt"

	"github.com/spf13/cobra"

	"concord/internal/visit"
)

// closeCommand ends the study at this site.
func (p *program) closeCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "close",
		Short: "End the study at this site: forget the anchor",
		Long: `Deletes the anchor's seed and all that it was made of: together with the analyst
it undoes every party's projection. The model stays. Afterwards this site can admit
nobody, and under nri take part in no new round, after another party's withdrawal for
example. It cannot be undone, so a yes is asked for.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return p.visit(visit.Confirmed, func(v *visit.Visit) error {
				err := v.CloseStudy(func() bool {
					if yes {
						return true
					}
					p.printf("%s\n", wrapped("deletes what the parties agreed in secret; the model stays. Afterwards this site "+
						"can admit nobody, and where answers are of one's own model (nri) take part in no new round. It cannot be "+
						"undone", 0, 100))
					return p.yes(fmt.Sprintf("type yes to close %q: ", v.Contract.Name))
				})
				if err == nil {
					p.printf("the anchor is deleted here; the model stays\n")
				}
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}
