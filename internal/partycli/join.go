package partycli

import (
	"context"
	"crypto/ed25519"

	"github.com/spf13/cobra"

	"concord/internal/cli"
	"concord/internal/client"
	"concord/internal/site"
	"concord/study"
)

func (p *program) joinCommand() *cobra.Command {
	var name, approver string
	cmd := &cobra.Command{
		Use:   "join INVITE --name NAME",
		Short: "Make this site's keys and join a study",
		Long: `Makes this site's keys, connects to the server that the invite names, checks that
it is the analyst's, and sends this site's identity statement: its name and
public keys. No data leaves. The contract comes back and is shown.

The analyst then lets this site in (concordd admit). Until then the exit status is
3; the same command again asks whether that has happened.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return p.join(cmd.Context(), args[0], name, approver) },
	}
	cmd.Flags().StringVar(&name, "name", "", "what people call this site; stands in every roster")
	cmd.Flags().StringVar(&approver, "approver", "", "public key of another person who approves what leaves (concord approver new)")
	cmd.MarkFlagRequired("name")
	return cmd
}

func (p *program) join(ctx context.Context, line, name, approver string) error {
	invite, err := study.ParseInvite(line)
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	if err := study.CheckName(name); err != nil {
		return &cli.UsageError{Err: err}
	}
	var key ed25519.PublicKey
	if approver != "" {
		if key, err = study.ParseApprover(approver); err != nil {
			return &cli.UsageError{Err: err}
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
	id, err := s.Enrol(name, key)
	if err != nil {
		return err
	}
	if s.Joined() {
		conn, err := s.Connection()
		if err != nil {
			return err
		}
		if conn.Study != invite.Contract {
			return cli.WithHint(cli.Usagef("the folder %s already takes part in study %s", p.dir, conn.Study.Short()),
				"take another folder for another study, with --dir")
		}
	}
	c, analyst, err := client.Meet(ctx, invite.Address, invite.Contract, id.TLSKey(), invite.Analyst)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := s.PutTried(); err != nil {
		return err
	}
	raw, asks, err := c.Join(ctx, invite.Secret.Reveal(), id.Statement.Encode())
	if err != nil {
		return err
	}
	contract, err := study.DecodeContract(raw)
	if err != nil {
		return err
	}
	conn := site.Connection{Format: 1, Address: invite.Address, Study: invite.Contract}
	if err := s.PutJoined(conn, analyst, raw); err != nil {
		return err
	}
	p.printf("%s\n\n", study.Describe(contract))
	if asks {
		p.printf("asked to join as %q, fingerprint %s; no data has left\n", name, id.Statement.Fingerprint().Short())
		return &cli.Waiting{For: "the analyst to admit this site"}
	}
	p.printf("joined as %q, fingerprint %s\n", name, id.Statement.Fingerprint().Short())
	p.printf("no data has left; next: concord roster, when everybody has joined\n")
	return nil
}
