package concord

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"concord/bundle"
	"concord/contract"
	"concord/identity"
	"concord/internal/cli"
	"concord/internal/durable"
	"concord/internal/site"
	"concord/party"
	"concord/secret"
	"concord/wire"
)

func (p *program) approverCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "approver",
		Short: "Make the key of a person who approves and runs nothing else",
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "new FILE",
		Short: "Write a private key to FILE, which the approver keeps, and print the public one",
		Long: `Writes a private key to FILE, which is made and must not exist, and prints the
public one for concord join --approver. Whoever has the file approves for the
site: keep it where the site's operators cannot read it, on a USB stick for
example. Only what its holder approved is sent.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if _, err := os.Lstat(args[0]); err == nil {
				return fmt.Errorf("%s is there already; it is not overwritten", args[0])
			} else if !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			private, public := identity.NewApprover()
			defer private.Erase()
			if err := durable.WriteFile(args[0], private.Reveal(), draftPerm); err != nil {
				return err
			}
			p.printf("%s\n", public)
			return nil
		},
	})
	return cmd
}

// approverKey is the key that approves at this site: its own, or that of the person
// whom it joined with, from their file.
func (v *visit) approverKey(path string) (ed25519.PrivateKey, error) {
	other := len(v.id.Statement.ApproverKey) > 0
	switch {
	case path == "" && other:
		return nil, wire.WithHint(errors.New("another person approves at this site"), "they run the command with --key and their private key's file")
	case path == "":
		return v.id.SigningKey(), nil
	case !other:
		return nil, cli.Usagef("this site joined without an approver; --key is for one")
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	text := secret.NewBytes(b)
	defer text.Erase()
	key, err := identity.DecodeApprover(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if !v.id.Statement.Approver().Equal(key.Public()) {
		return nil, fmt.Errorf("%s holds another key than the approver's whom this site joined with", path)
	}
	return key, nil
}

// floors are those that count here.
func (v *visit) floors() (party.Floors, error) {
	own, err := v.site.Policy()
	if err != nil {
		return party.Floors{}, wire.WithHint(err, "correct the file, or remove it if this site has no floors of its own")
	}
	return party.EffectiveFloors(v.contract, own), nil
}

// policyAllows says by which policy a program may approve what is prepared.
func (v *visit) policyAllows(path string, m *bundle.Manifest) (string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	policy, err := contract.ParsePolicy(b)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	if !policy.Approve {
		return "", wire.WithHint(fmt.Errorf("%s does not let a program approve", path), "a person approves, or the policy says approve: true")
	}
	r, err := v.report(bundle.KindContribution)
	if err != nil {
		return "", err
	}
	if err := r.Keeps(v.contract, party.EffectiveFloors(v.contract, policy)); err != nil {
		return "", fmt.Errorf("policy %q: %w", policy.Name, err)
	}
	before, err := v.before(m)
	if err != nil {
		return "", err
	}
	before = slices.DeleteFunc(before, func(e site.Spent) bool { return e.PieceFor > 0 }) // a person said yes to it
	if most := max(1, policy.Projections); len(before) >= most {
		return "", wire.WithHint(fmt.Errorf("policy %q: %d contributions of the same file left before, it lets a program approve %d in all", policy.Name, len(before), most),
			"a person approves, or the policy says projections: "+fmt.Sprint(len(before)+1))
	}
	return policy.Name, nil
}
