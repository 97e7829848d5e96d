package concord

import (
	"fmt"

	"github.com/spf13/cobra"

	"concord/internal/visit"
	"concord/table"
	"concord/table/draft"
)

// studyCommand holds what is done before there is a study.
func (p *program) studyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "study",
		Short: "Before there is a study",
	}
	cmd.AddCommand(p.studyDraftCommand())
	return cmd
}

func (p *program) studyDraftCommand() *cobra.Command {
	var opt draft.Options
	cmd := &cobra.Command{
		Use:   "draft DATA",
		Short: "Write a first study.yaml from a file's shape, without its values",
		Long: `Reads the file once and prints a first study.yaml: which columns there are and what
kind of values they hold. It needs no site's folder and connects to nobody.

No value of the file is written. Ranges, units and levels are left as FILL IN, and
concordd takes no contract in which that still stands: the people of the sites agree on
them. Only what is known without the file is spelled out, such as 0 and 1, yes and no,
and the usual marks of missing values. --levels writes the levels of categories and the
classes of the label, which are values: look at them before you pass the file on.

  concord study draft patients.csv --label outcome --subject patient_id > study.yaml`,
		Args: cobra.ExactArgs(1),
	}
	data := addDataFlags(cmd)
	cmd.Flags().StringVar(&opt.Label, "label", "", "the column that is to be predicted")
	cmd.Flags().StringVar(&opt.Subject, "subject", "", "the column that says whose row it is")
	cmd.Flags().BoolVar(&opt.Levels, "levels", false, "write the levels of categories, which are values of the file")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		to, err := data.options()
		if err != nil {
			return err
		}
		opt.DecimalComma = to.DecimalComma
		return p.studyDraft(args[0], to, opt)
	}
	return cmd
}

func (p *program) studyDraft(path string, to table.Options, opt draft.Options) error {
	d, err := visit.DraftStudy(path, to, opt)
	if err != nil {
		return err
	}
	if err := d.Draft.YAML(p.out); err != nil {
		return err
	}
	levels := ""
	if opt.Levels {
		levels = " but the levels that --levels asked for"
	}
	fmt.Fprintf(p.err, "concord: read %d rows and %d columns of %s; no value of it was written%s\n", d.Draft.Rows(),
		d.Columns, d.Path, levels)
	if d.Bad > 0 {
		was := "were"
		if d.Bad == 1 {
			was = "was"
		}
		fmt.Fprintf(p.err, "concord: %s of it could not be read and %s left aside%s\n", visit.Counted(d.Bad, "row"), was,
			d.Where)
	}
	return nil
}
