package concord

import (
	"github.com/spf13/cobra"

	"concord/identity"
	"concord/internal/cli"
	"concord/internal/visit"
	"concord/member"
	"concord/release"
)

func (p *program) joinCommand() *cobra.Command {
	var name, approver, view, trusted string
	cmd := &cobra.Command{
		Use:   "join INVITE --name NAME",
		Short: "Make this site's keys and join a study",
		Long: `Makes this site's keys, connects to the server that the invite names, checks that
it is the analyst's, and sends this site's identity statement: its name and
public keys. No data leaves. The contract comes back and is shown.

Where the contract has views and pools figures, every site says which view of the features
it has (--view); the roster that people confirm shows it. Without it the answer lists the
views; the same command with --view goes on.

The analyst then lets this site in (concordd admit). Until then the exit status is
3; the same command again asks whether that has happened.

A forward proxy is taken from HTTPS_PROXY (http://NAME:PASSWORD@PROXY:PORT) and
NO_PROXY. Where an inspecting proxy reads what passes, the invite must be for tls
webpki, and --ca names the proxy's certificate unless the system trusts it already.
A site that has joined takes another invite to the same study as the server's new
address, or its other way in.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			with, err := joinFlags(args[0], name, approver, trusted)
			if err != nil {
				return err
			}
			with.View = view
			done, err := visit.Join(cmd.Context(), p.dir, p.options(), with)
			p.tellJoined(done, err)
			return err
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "what people call this site; appears in every roster")
	cmd.Flags().StringVar(&approver, "approver", "",
		"public key of another person who approves what leaves (concord approver new)")
	cmd.Flags().StringVar(&view, "view", "", "which view of the features this site has, where the contract has views")
	cmd.Flags().StringVar(&trusted, "ca", "",
		"a file of certificates in PEM to trust besides the system's; kept in the site's folder")
	cmd.MarkFlagRequired("name")
	return p.byFile(cmd, true)
}

// joinFlags are what the flags of join say.
func joinFlags(line, name, approver, trusted string) (with visit.Joining, err error) {
	with.Name = name
	if with.Invite, err = member.ParseInvite(line); err != nil {
		return with, &cli.UsageError{Err: err}
	}
	if err := identity.CheckName(name); err != nil {
		return with, &cli.UsageError{Err: err}
	}
	if approver != "" {
		if with.Approver, err = identity.ParseApprover(approver); err != nil {
			return with, &cli.UsageError{Err: err}
		}
	}
	if trusted != "" {
		with.Roots, err = visit.ReadRoots(trusted)
	}
	return with, err
}

// tellJoined says what came of joining; err is nil, or says who is awaited.
func (p *program) tellJoined(done visit.Joined, err error) {
	if done.Contract != nil {
		p.printf("%s\n\n", release.Describe(done.Contract))
	}
	switch {
	case done.Contract != nil && done.Asks:
		p.printf("asked to join as %q, fingerprint %s; no data has left\n", done.Name, done.Fingerprint.Short())
		p.printf("next: concord status, which says when everybody is let in; then concord roster\n")
	case err != nil:
	case done.Moved != "":
		p.printf("this site reaches the server at %s from now on\n", done.Moved)
	case done.Already:
		p.printf("joined already as %q\n", done.Name)
	case done.Asks:
		p.printf("asks to join as %q, fingerprint %s\nno data leaves; next: bring the file to the analyst, then concord "+
			"take what comes back\n",
			done.Name, done.Fingerprint.Short())
	default:
		p.printf("joined as %q, fingerprint %s\n", done.Name, done.Fingerprint.Short())
		p.printf("no data has left; next: concord roster, when everybody has joined\n")
	}
}
