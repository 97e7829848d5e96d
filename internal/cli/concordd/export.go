package concordd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"concord/contract"
	"concord/internal/dossier"
	"concord/internal/durable"
	"concord/internal/server"
	"concord/wire"
)

func (p *program) exportCommand() *cobra.Command {
	var to, out, prefix string
	var force bool
	cmd := &cobra.Command{
		Use:   "export --to AUDITOR --out FILE",
		Short: "Seal everything of a study to an auditor whom its contract names",
		Long: `Writes one file, sealed to the auditor and to nobody else: contract, identity
statements, rosters, confirmations, every contribution as it was received with what
opens it, results, receipts, audit log. The auditor sees what the analyst sees, the
contributions opened included; the parties agreed to that with the contract, which
names the auditor. What parties sealed for each other stays closed.

AUDITOR is the name in the contract, or the first digits of the fingerprint. The
auditor runs concordd replay. That there was an export stands in the audit log.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.export(cmd.Context(), prefix, to, out, force) },
	}
	cmd.Flags().StringVar(&to, "to", "", "the auditor's name, or the first digits of the fingerprint")
	cmd.Flags().StringVar(&out, "out", "", "file to write")
	cmd.Flags().StringVar(&prefix, "study", "", "the first digits of the study's hash, if there are several")
	cmd.Flags().BoolVar(&force, "force", false, "let --out replace a file")
	cmd.MarkFlagRequired("to")
	cmd.MarkFlagRequired("out")
	return cmd
}

func (p *program) export(ctx context.Context, prefix, to, path string, force bool) error {
	id, st, s, err := p.openStudy(ctx, prefix)
	if err != nil {
		return err
	}
	defer st.Close()
	c, err := contract.Decode(s.Contract)
	if err != nil {
		return err
	}
	auditor, err := pickAuditor(c, to)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil && !force {
		return wire.WithHint(fmt.Errorf("the file %s is there already", path), "name another file, or say --force to replace it")
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	srv := server.New(id, st, slog.New(slog.DiscardHandler))
	var index *dossier.Index
	err = durable.Write(path, 0o600, func(f *os.File) (err error) {
		index, err = srv.Export(ctx, f, s.Hash, auditor)
		return err
	})
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.out, "wrote %s: %d files, %d bytes, sealed to the auditor %q (%s)\n", path, len(index.Files), info.Size(), auditor.Name, auditor.Fingerprint.Short())
	fmt.Fprintf(p.out, "it opens the contributions to that auditor: next, there: concordd replay %s\n", path)
	return nil
}

// pickAuditor finds an auditor of the contract.
func pickAuditor(c *contract.Contract, to string) (contract.Auditor, error) {
	var names []string
	for _, a := range c.Auditors {
		if a.Name == to || len(to) >= 8 && strings.HasPrefix(a.Fingerprint.String(), to) {
			return a, nil
		}
		names = append(names, fmt.Sprintf("%q", a.Name))
	}
	if names == nil {
		return contract.Auditor{}, wire.WithHint(errors.New("the contract names no auditor; its parties have not agreed to an export"), "auditors are named in study.yaml, before anybody joins")
	}
	return contract.Auditor{}, fmt.Errorf("the contract names no auditor %q; it names %s", to, strings.Join(names, ", "))
}
