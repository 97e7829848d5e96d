package concordd

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (p *program) initCommand() *cobra.Command {
	var name string
	var w ways
	cmd := &cobra.Command{
		Use:   "init --name NAME (--address HOST:PORT | --url https://HOST[:PORT][/PREFIX])",
		Short: "Make the analyst's keys and folder",
		Long: `Makes the analyst's keys and folder. --address is for parties that connect to this
server itself (tls pinned), --url for a server behind a public certificate or a
reverse proxy, or parties behind an inspecting proxy (tls webpki); both may be
given. concordd reach --help says what each protects against, and changes it later.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			cfg, err := w.config()
			if err != nil {
				return err
			}
			id, err := (&folder{p.dir}).create(name, cfg)
			if err != nil {
				return err
			}
			fmt.Fprintf(p.out, "made %s\nfingerprint %s\n%s", p.dir, id.Statement.Fingerprint(), cfg.describe())
			fmt.Fprintf(p.out, "next: concordd study create study.yaml\n")
			return nil
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "what people call the analyst; appears in every roster")
	w.flags(cmd)
	cmd.MarkFlagRequired("name")
	return cmd
}
