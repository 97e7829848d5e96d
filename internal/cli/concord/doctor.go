package concord

import (
	"runtime"

	"github.com/spf13/cobra"

	"concord/internal/build"
	"concord/internal/cli"
	"concord/internal/doctor"
	"concord/internal/visit"
	"concord/member"
)

func (p *program) doctorCommand() *cobra.Command {
	var asJSON bool
	var trusted string
	cmd := &cobra.Command{
		Use:   "doctor [INVITE]",
		Short: "Look for what would stop a study, and say what helps",
		Long: `Goes the way to the server step by step: the proxy that is used and why, the name,
the connection, TLS with what was expected and what was seen, the analyst's answer,
the version, the clock. Looks at this site's folder: permissions, keys, contract,
room on the disk, a command at work, what an interrupted one left. A site that
exchanges files goes no way to the server. With an invite it
looks at the way only, before this site joins; nothing is kept and the invite is not
used.

Each line begins with ok, warning or FAILED. Exit status 1 if a check failed.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r := new(doctor.Report)
			r.OK("program", "concord %s, %s/%s", build.Program(), runtime.GOOS, runtime.GOARCH)
			if len(args) == 0 {
				visit.Examine(cmd.Context(), r, p.dir, p.options())
				return r.Write(p.out, asJSON)
			}
			invite, err := member.ParseInvite(args[0])
			if err != nil {
				return &cli.UsageError{Err: err}
			}
			var roots []byte
			if trusted != "" {
				if roots, err = visit.ReadRoots(trusted); err != nil {
					return err
				}
			}
			if err := visit.ExamineInvite(cmd.Context(), r, invite, roots); err != nil {
				return err
			}
			return r.Write(p.out, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&trusted, "ca", "",
		"with an invite: a file of certificates in PEM to trust besides the system's")
	return cmd
}
