package concord

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"concord/bundle"
	"concord/identity"
	"concord/internal/build"
	"concord/internal/cli"
	"concord/internal/client"
	"concord/internal/doctor"
	"concord/internal/durable"
	"concord/internal/site"
	"concord/member"
	"concord/wire"
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
			var err error
			if len(args) == 1 {
				err = p.examineInvite(cmd.Context(), r, args[0], trusted)
			} else {
				p.examineSite(cmd.Context(), r)
			}
			if err != nil {
				return err
			}
			return r.Write(p.out, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&trusted, "ca", "", "with an invite: a file of certificates in PEM to trust besides the system's")
	return cmd
}

// examineInvite goes the way that an invite names, with keys that are forgotten.
func (p *program) examineInvite(ctx context.Context, r *doctor.Report, line, trusted string) error {
	invite, err := member.ParseInvite(line)
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	t := client.Invited(invite)
	if trusted != "" {
		if t.Roots, err = readTrusted(trusted); err != nil {
			return err
		}
	}
	id, err := identity.New(identity.RoleParty, "doctor", nil)
	if err != nil {
		return err
	}
	if c := doctor.Network(ctx, r, doctor.Server{Target: t, Study: invite.Contract, Fingerprint: invite.Analyst}, id); c != nil {
		c.Close()
	}
	return nil
}

// examineSite looks at everything.
func (p *program) examineSite(ctx context.Context, r *doctor.Report) {
	s, err := p.site()
	var waiting *wire.Waiting
	if errors.As(err, &waiting) {
		r.Warn("site", waiting.Error(), "bring the parcel that join wrote to the analyst; concord give FILE writes it again")
		return
	}
	if err != nil {
		r.Err("site", err, "")
		return
	}
	doctor.Folder(r, p.dir, secretFile)
	switch unlock, err := durable.Lock(s.Path("lock")); {
	case errors.Is(err, durable.ErrLocked):
		r.Warn("lock", "another concord command is at work in "+p.dir, "wait for it, or look for a process that hangs")
	case err != nil:
		r.Err("lock", err, "run the program as the user who owns the folder")
	default:
		unlock()
		r.OK("lock", "no other command is at work")
	}
	v, err := p.open()
	if err != nil {
		r.Err("site", err, "restore the folder from a copy")
		return
	}
	r.OK("site", "%q, fingerprint %s: %s", v.id.Statement.Name, v.own().Short(), v.done())
	examineDisk(r, v)
	if v.files {
		examineFiles(r, v)
		return
	}
	c := doctor.Network(ctx, r, doctor.Server{Target: v.target, Study: v.study, Fingerprint: v.analyst.Fingerprint(), Analyst: v.analyst}, v.id)
	if c == nil {
		r.OK("contract", "%q, hash %s, whole here; the server was not asked", v.contract.Name, v.study.Short())
		return
	}
	defer c.Close()
	examineMembership(ctx, r, v, c)
}

// examineFiles looks at what a site has that exchanges files; the way to the server is not
// its way.
func examineFiles(r *doctor.Report, v *visit) {
	switch taken, err := v.site.Taken(); {
	case err != nil:
		r.Err("files", err, "take the analyst's newest parcel again")
	case taken == nil:
		r.Warn("files", "this site exchanges files, and has taken none", "concord take FILE; or --online with a command to connect")
	default:
		r.OK("files", "this site exchanges files; the newest from the analyst is of %s UTC", numberTime(taken.Number))
	}
	r.OK("contract", "%q, hash %s, whole here; the server was not asked", v.contract.Name, v.study.Short())
}

// examineDisk compares the free room with what the contract lets this site need: the
// contribution as it was prepared and as it is sealed, and what comes back.
func examineDisk(r *doctor.Report, v *visit) {
	c := v.contract
	contribution := c.Expect.UpBytes + int64(c.MaxRows)*c.Expect.UpBytesPerRow
	what := fmt.Sprintf("a contribution of at most %d rows, prepared and sealed", c.MaxRows)
	if v.site.Has(site.ModelFile) {
		contribution, what = 0, "all is here"
	} else if sealed, err := os.Stat(v.site.Outbox(bundle.KindContribution)); err == nil {
		contribution, what = 0, fmt.Sprintf("the contribution is here, %s", doctor.Bytes(sealed.Size()))
	}
	doctor.Disk(r, v.site.Dir, 2*contribution+2*c.Expect.DownBytes+1<<20, what)
}

// examineMembership asks the server what it knows of this site and its study.
func examineMembership(ctx context.Context, r *doctor.Report, v *visit, c *client.Client) {
	st, err := c.Status(ctx)
	var waiting *wire.Waiting
	switch {
	case errors.As(err, &waiting):
		r.Warn("contract", fmt.Sprintf("%q, hash %s, whole here; the analyst has not admitted this site yet", v.contract.Name, v.study.Short()), "ask the analyst to run concordd admit")
	case err != nil:
		r.Err("contract", err, "ask the analyst")
	default:
		r.OK("contract", "%q, hash %s, whole here and known to the server: %s, %d of %d parties", v.contract.Name, v.study.Short(), st.State, st.Present, st.Expected)
		if st.Problem != "" {
			r.Warn("study", "the analyst could not train: "+st.Problem, "ask the analyst")
		}
	}
}

// secretFile reports whether a file in a site's folder holds what nobody else may
// read: keys, seeds, the basis, the model that holds it, and what says something of
// single rows.
func secretFile(name string) bool {
	base, first := path.Base(name), strings.SplitN(name, "/", 2)[0]
	switch {
	case strings.HasSuffix(base, ".secret"), base == site.ModelFile, base == "ledger.jsonl":
		return true
	case first == bundle.KindSetup || first == bundle.KindContribution:
		return true
	}
	return false
}
