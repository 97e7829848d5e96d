package concord

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"concord/internal/cli"
	"concord/internal/visit"
	"concord/wire"
)

// giveCommand has the site's words written into a file.
func (p *program) giveCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "give FILE",
		Short: "Write what this site has to say to the analyst into a file",
		Long: `Writes one file, a parcel, with everything that this site has to say and for which
no receipt has come: the request to join, the confirmation of the roster, the
approved share of the anchor, the approved and sealed contribution. Bring it to
the analyst, who runs concordd take, and take back what concordd give writes
(concord take). Giving again writes the same things again; nothing is lost when a
file is, and nothing happens twice when the analyst takes two.

The parcel is signed by this site and sealed to the analyst. Only a request to
join lies open: it holds this site's identity statement, which has its name and
public keys, and a proof that this site has the invite. Who reads it cannot join
with it.

--to FILE on join, roster confirm, sync, send, rekey and withdraw does the same after the command's
own work. From then on this site's commands open no connection, until one has
--online.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return p.give(args[0]) },
	}
}

// byFile gives a command that would connect the choice to write a file instead.
func (p *program) byFile(cmd *cobra.Command, writes bool) *cobra.Command {
	var to string
	var online bool
	if writes {
		cmd.Flags().StringVar(&to, "to", "",
			"write a parcel for the analyst to this file instead of connecting (see concord give)")
	}
	cmd.Flags().BoolVar(&online, "online", false, "connect to the server from now on, after this site has exchanged files")
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if to == "" && !online {
			return run(cmd, args)
		}
		if to != "" && online {
			return cli.Usagef("--to writes a file and --online connects; give one of them")
		}
		p.files = to != ""
		if err := visit.SetByFile(p.dir, p.files); err != nil {
			return err
		}
		err := run(cmd, args)
		var waiting *wire.Waiting
		if online || err != nil && !errors.As(err, &waiting) {
			return err
		}
		return errors.Join(p.give(to), err)
	}
	return cmd
}

// give writes this site's parcel.
func (p *program) give(path string) error {
	g, err := visit.Give(p.dir, path, p.options())
	if err != nil {
		return err
	}
	p.printf("wrote %s, %d bytes: %s\n", g.Path, g.Bytes, strings.Join(g.What, ", "))
	if !g.Join {
		p.printf("bring it to the analyst, who runs concordd take; then concord take what comes back\n")
	}
	return nil
}
