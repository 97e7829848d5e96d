package concord

import (
	"errors"

	"github.com/spf13/cobra"

	"concord/internal/auditlog"
	"concord/internal/visit"
	"concord/wire"
)

func (p *program) auditCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Show this site's audit log",
		Long: `Shows what happened here, an entry a line: when, what, with whom, of which bundle.
No entry holds data. With --json the lines are printed as they are signed; give
that file to whoever compares logs.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return p.visit(visit.Looking, func(v *visit.Visit) error {
				l, err := v.AuditLog()
				switch {
				case err != nil:
					return err
				case asJSON:
					return l.Copy(p.out)
				}
				return l.Show(p.out)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the lines as they are signed")
	cmd.AddCommand(p.auditVerifyCommand())
	return cmd
}

func (p *program) auditVerifyCommand() *cobra.Command {
	var asJSON, ask bool
	var with []string
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Find any change in this site's audit log that can be found",
		Long: `Checks that the log is one chain of entries that this site signed, and that every
head of it which others hold is in it: in the analyst's receipts, in results and in
the analyst's own word. Checks too that what was heard of the others' logs never
went back and never had two versions.

Any edit, deletion, reordering or removal from the end is found up to the newest head
that somebody else holds; the answer says which entry that is, and since when nothing
is vouched for. --ask first tells the analyst this log's head and takes its word on
it. --with compares with another participant's log, which they printed with
concordd audit --json or concord audit --json. Exit status 1: something is wrong.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if ask {
				if err := p.visit(visit.Changing, func(v *visit.Visit) error { return v.AskHeads(cmd.Context()) }); err != nil {
					return err
				}
			}
			return p.visit(visit.Looking, func(v *visit.Visit) error {
				res, err := v.VerifyLog(with)
				if err != nil {
					return err
				}
				if asJSON {
					if err := auditlog.WriteJSON(p.out, res); err != nil {
						return err
					}
				} else {
					res.Write(p.out)
				}
				if !res.OK {
					return wire.WithHint(errors.New("the audit log is not what it was"),
						"keep the folder as it is, and tell whoever answers for this site and the analyst")
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&ask, "ask", false, "exchange heads with the analyst first")
	cmd.Flags().StringArrayVar(&with, "with", nil, "another participant's log to compare with; may be repeated")
	return cmd
}
