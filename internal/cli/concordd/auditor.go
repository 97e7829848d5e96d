package concordd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"concord/identity"
	"concord/internal/cli"
	"concord/internal/durable"
	"concord/secret"
	"concord/wire"
)

// auditorFile is an auditor's public identity statement, for whoever writes study.yaml.
const auditorFile = "auditor.json"

func (p *program) auditorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "auditor",
		Short: "Make an auditor's keys",
		Long: `An auditor takes no part in a study. A contract names it, and the parties who agree
to that contract agree that the analyst may seal to it all that it has.`,
	}
	var name string
	make := &cobra.Command{
		Use:   "new --name NAME",
		Short: "Make an auditor's folder and keys, to replay what an analyst exports",
		Long: `Makes the folder that --dir names, with private keys and the public statement
auditor.json. Give auditor.json to the analyst, whose study.yaml names it:

  auditors: [{statement: auditor.json}]

and the fingerprint to the parties, who see it before they agree. Later:

  concordd --dir FOLDER replay EXPORT`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return p.newAuditor(name) },
	}
	make.Flags().StringVar(&name, "name", "", "what people call the auditor; stands in contracts")
	make.MarkFlagRequired("name")
	cmd.AddCommand(make)
	return cmd
}

func (p *program) newAuditor(name string) error {
	f := &folder{p.dir}
	for _, file := range []string{"identity.secret", "config.json"} {
		if _, err := os.Lstat(f.path(file)); err == nil {
			return wire.WithHint(fmt.Errorf("the folder %s is set up already", f.dir), "name another folder with --dir")
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	id, err := identity.New(identity.RoleAuditor, name, nil)
	if err != nil {
		return &cli.UsageError{Err: err}
	}
	keys, err := id.EncodeSecret()
	if err != nil {
		return err
	}
	defer keys.Erase()
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	if err := durable.KeepOutOfGit(f.dir); err != nil {
		return err
	}
	if err := durable.WriteFile(f.path(auditorFile), id.Statement.Encode(), 0o644); err != nil {
		return err
	}
	// The keys come last, and make the folder.
	if err := durable.WriteFile(f.path("identity.secret"), keys.Reveal(), 0o600); err != nil {
		return err
	}
	fmt.Fprintf(p.out, "made %s\nfingerprint %s\ngive %s to the analyst, whose study.yaml names it; compare the fingerprint with what parties are shown\n",
		f.dir, id.Statement.Fingerprint(), f.path(auditorFile))
	return nil
}

// auditor loads an auditor's folder.
func (p *program) auditor() (*identity.Identity, error) {
	b, err := os.ReadFile((&folder{p.dir}).path("identity.secret"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, wire.WithHint(fmt.Errorf("the folder %s holds no auditor's keys", p.dir), "name the auditor's folder with --dir")
	}
	if err != nil {
		return nil, err
	}
	keys := secret.NewBytes(b)
	defer keys.Erase()
	id, err := identity.Decode(keys)
	if err != nil {
		return nil, err
	}
	if id.Statement.Role != identity.RoleAuditor {
		return nil, wire.WithHint(fmt.Errorf("the keys in %s have the role %s; a replay needs an auditor's", p.dir, id.Statement.Role), "name the auditor's folder with --dir")
	}
	return id, nil
}
