package visit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"concord/bundle"
	"concord/identity"
	"concord/internal/client"
	"concord/internal/doctor"
	"concord/internal/durable"
	"concord/internal/site"
	"concord/member"
	"concord/wire"
)

// examineFiles looks at what a site has that exchanges files; the way to the server is not
// its way.
func examineFiles(r *doctor.Report, v *Visit) {
	switch taken, err := v.site.Taken(); {
	case err != nil:
		r.Err("files", err, "take the analyst's newest parcel again")
	case taken == nil:
		r.Warn("files", "this site exchanges files, and has taken none",
			"concord take FILE; or --online with a command to connect")
	default:
		r.OK("files", "this site exchanges files; the newest from the analyst is of %s UTC", NumberTime(taken.Number))
	}
	r.OK("contract", "%q, hash %s, whole here; the server was not asked", v.Contract.Name, v.Study.Short())
}

// examineDisk compares the free room with what the contract lets this site need: the
// contribution as it was prepared and as it is sealed, and what comes back.
func examineDisk(r *doctor.Report, v *Visit) {
	c := v.Contract
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
func examineMembership(ctx context.Context, r *doctor.Report, v *Visit, c *client.Client) {
	st, err := c.Status(ctx)
	var waiting *wire.Waiting
	switch {
	case errors.As(err, &waiting):
		r.Warn("contract", fmt.Sprintf("%q, hash %s, whole here; the analyst has not admitted this site yet",
			v.Contract.Name, v.Study.Short()), "ask the analyst to run concordd admit")
	case err != nil:
		r.Err("contract", err, "ask the analyst")
	default:
		r.OK("contract", "%q, hash %s, whole here and known to the server: %s, %d of %d parties", v.Contract.Name,
			v.Study.Short(), st.State, st.Present, st.Expected)
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

// ExamineInvite goes the way that an invite names, with keys that are forgotten.
func ExamineInvite(ctx context.Context, r *doctor.Report, invite member.Invite, roots []byte) error {
	t := client.Invited(invite)
	t.Roots = roots
	id, err := identity.New(identity.RoleParty, "doctor", nil)
	if err != nil {
		return err
	}
	if c := doctor.Network(ctx, r, doctor.Server{Target: t, Study: invite.Contract, Fingerprint: invite.Analyst},
		id); c != nil {
		c.Close()
	}
	return nil
}

// Examine looks at everything that would stop a site.
func Examine(ctx context.Context, r *doctor.Report, dir string, opt Options) {
	s, err := siteIn(dir)
	var waiting *wire.Waiting
	if errors.As(err, &waiting) {
		r.Warn("site", waiting.Error(), "bring the parcel that join wrote to the analyst; concord give FILE writes it again")
		return
	}
	if err != nil {
		r.Err("site", err, "")
		return
	}
	doctor.Folder(r, dir, secretFile)
	switch unlock, err := durable.Lock(s.Path("lock")); {
	case errors.Is(err, durable.ErrLocked):
		r.Warn("lock", "another concord command is at work in "+dir, "wait for it, or look for a process that hangs")
	case err != nil:
		r.Err("lock", err, "run the program as the user who owns the folder")
	default:
		unlock()
		r.OK("lock", "no other command is at work")
	}
	v, err := Open(dir, Looking, opt)
	if err != nil {
		r.Err("site", err, "restore the folder from a copy")
		return
	}
	r.OK("site", "%q, fingerprint %s: %s", v.ID.Statement.Name, v.Own().Short(), v.SoFar())
	examineDisk(r, v)
	if v.Files {
		examineFiles(r, v)
		return
	}
	c := doctor.Network(ctx, r,
		doctor.Server{Target: v.target, Study: v.Study, Fingerprint: v.analyst.Fingerprint(), Analyst: v.analyst}, v.ID)
	if c == nil {
		r.OK("contract", "%q, hash %s, whole here; the server was not asked", v.Contract.Name, v.Study.Short())
		return
	}
	defer c.Close()
	examineMembership(ctx, r, v, c)
}
