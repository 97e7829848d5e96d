package concord

import (
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"concord/contract"
	"concord/identity"
	"concord/internal/cli"
	"concord/internal/client"
	"concord/internal/site"
	"concord/member"
	"concord/release"
	"concord/wire"
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
			return p.join(cmd.Context(), args[0], name, approver, view, trusted)
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "what people call this site; stands in every roster")
	cmd.Flags().StringVar(&approver, "approver", "", "public key of another person who approves what leaves (concord approver new)")
	cmd.Flags().StringVar(&view, "view", "", "which view of the features this site has, where the contract has views")
	cmd.Flags().StringVar(&trusted, "ca", "", "a file of certificates in PEM to trust besides the system's; kept in the site's folder")
	cmd.MarkFlagRequired("name")
	return p.byFile(cmd, true)
}

// joinByFile notes what this site asks; the parcel that give writes carries it.
func (p *program) joinByFile(s *site.Site, id *identity.Identity, invite member.Invite) error {
	if s.Joined() {
		p.printf("joined already as %q\n", id.Statement.Name)
		return nil
	}
	if err := s.PutTried(); err != nil {
		return err
	}
	v := &visit{site: s, id: id, study: invite.Contract}
	if err := v.noteJoining(invite, "the analyst, by file"); err != nil {
		return err
	}
	key := wire.HashOf(invite.Secret.Reveal())
	err := s.PutJoining(site.Joining{
		Connection: connection(invite),
		Analyst:    invite.Analyst,
		Proof:      member.JoinProof(key, invite.Contract, invite.Analyst, id.Statement.Encode()),
	})
	if err != nil {
		return err
	}
	p.printf("asks to join as %q, fingerprint %s\nno data leaves; next: bring the file to the analyst, then concord take what comes back\n",
		id.Statement.Name, id.Statement.Fingerprint().Short())
	return nil
}

func (p *program) join(ctx context.Context, line, name, approver, view, trusted string) error {
	invite, err := member.ParseInvite(line)
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	if err := identity.CheckName(name); err != nil {
		return &cli.UsageError{Err: err}
	}
	var key ed25519.PublicKey
	if approver != "" {
		if key, err = identity.ParseApprover(approver); err != nil {
			return &cli.UsageError{Err: err}
		}
	}
	var roots []byte
	if trusted != "" {
		if roots, err = readTrusted(trusted); err != nil {
			return err
		}
	}
	s, err := site.New(p.dir)
	if err != nil {
		return err
	}
	unlock, err := s.Lock()
	if err != nil {
		return err
	}
	defer unlock()
	id, err := s.Enrol(name, key, view)
	if err != nil {
		return err
	}
	if roots != nil {
		if err := s.PutTrusted(roots); err != nil {
			return err
		}
	}
	there := connection(invite)
	target, err := p.target(s, there)
	if err != nil {
		return err
	}
	moved := false
	if s.Joined() {
		conn, err := s.Connection()
		if err != nil {
			return err
		}
		moved = conn != there
		if conn.Study != invite.Contract {
			return wire.WithHint(cli.Usagef("the folder %s already takes part in study %s", p.dir, conn.Study.Short()),
				"take another folder for another study, with --dir")
		}
	}
	if p.files {
		return p.joinByFile(s, id, invite)
	}
	c, analyst, err := client.Meet(ctx, target, invite.Contract, id, invite.Analyst)
	if err != nil {
		return err
	}
	defer c.Close()
	if moved {
		return p.move(s, there, analyst, target)
	}
	if err := s.PutTried(); err != nil {
		return err
	}
	v := &visit{site: s, id: id, study: invite.Contract, analyst: analyst}
	if err := v.noteJoining(invite, invite.Address); err != nil {
		return err
	}
	raw, asks, err := c.Join(ctx, invite.Secret.Reveal(), id.Statement.Encode())
	if err != nil {
		return err
	}
	agreed, err := contract.Decode(raw)
	if err != nil {
		return err
	}
	if err := agreed.CheckView(id.Statement); err != nil {
		return err
	}
	if err := v.noteJoined(invite.Analyst); err != nil {
		return err
	}
	if err := s.PutJoined(there, analyst, raw); err != nil {
		return err
	}
	p.printf("%s\n\n", release.Describe(agreed))
	if asks {
		p.printf("asked to join as %q, fingerprint %s; no data has left\n", name, id.Statement.Fingerprint().Short())
		p.printf("next: concord status, which says when everybody is let in; then concord roster\n")
		return &wire.Waiting{For: "the analyst to admit this site"}
	}
	p.printf("joined as %q, fingerprint %s\n", name, id.Statement.Fingerprint().Short())
	p.printf("no data has left; next: concord roster, when everybody has joined\n")
	return nil
}

// connection is what a site keeps of an invite.
func connection(v member.Invite) site.Connection {
	c := site.Connection{Format: 1, Address: v.Address, Prefix: v.Prefix, Study: v.Contract}
	if v.TLS != member.TLSPinned {
		c.TLS = v.TLS
	}
	return c
}

// move lets a site that has joined reach the same analyst's server at another
// address, or in another way.
func (p *program) move(s *site.Site, there site.Connection, analyst *identity.Statement, target client.Target) error {
	known, err := s.Analyst()
	if err != nil {
		return err
	}
	if known.Fingerprint() != analyst.Fingerprint() {
		return wire.WithHint(fmt.Errorf("the invite is another analyst's, %s; this site joined that of %s", analyst.Fingerprint().Short(), known.Fingerprint().Short()), "do not go on: ask the analyst whom you know")
	}
	if err := s.PutConnection(there); err != nil {
		return err
	}
	p.printf("this site reaches the server at %s from now on\n", target.URL())
	return nil
}

// maxTrustedBytes bounds a file of certificates.
const maxTrustedBytes = 1 << 20

// readTrusted reads a file of certificates to trust.
func readTrusted(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxTrustedBytes {
		return nil, fmt.Errorf("%s has %d bytes, a file of certificates has at most %d", path, info.Size(), maxTrustedBytes)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if !x509.NewCertPool().AppendCertsFromPEM(b) {
		return nil, wire.WithHint(fmt.Errorf("%s holds no certificate in PEM", path), "it begins with -----BEGIN CERTIFICATE-----; convert another form with openssl x509 -inform der")
	}
	return b, nil
}
