// Package concordd is the program concordd: the analyst's server and the
// commands around it. It links neither anchors nor bases nor tables.
package concordd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"

	"github.com/spf13/cobra"

	"concord/identity"
	"concord/internal/cli"
	"concord/internal/store"
	"concord/wire"
)

// program is one run of concordd.
type program struct {
	dir      string
	listener net.Listener // for serve, instead of opening one
	store    *store.Store // open while parcels are taken or given
	out, err io.Writer
}

// Option changes how Run works; for programs that embed concordd.
type Option func(*program)

// WithListener makes serve answer on an open listener.
func WithListener(ln net.Listener) Option { return func(p *program) { p.listener = ln } }

// Run runs concordd with the given arguments and returns its exit status.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, options ...Option) int {
	p := &program{out: stdout, err: stderr}
	for _, o := range options {
		o(p)
	}
	return cli.Run(ctx, p.root(), args, stdin, stdout, stderr)
}

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "concordd",
		Short: "The analyst's program: runs a study, sees no raw row",
		Long: `concordd is the analyst's side of a Concord study. It keeps what parties send,
relays what they seal for each other without being able to read it, aligns and
trains when every contribution is there, and seals the result to each party.

  concordd init --name "Trial office" --address analyst.example:8443
  concordd study create study.yaml
  concordd invite --for "North hospital"        one line for each party
  concordd serve
  concordd admit                                who asks to be let in; admit NAME lets in
  concordd take FILE..., give --to NAME --out FILE   the same by files, with or without serve

Exit status: 0 done, 1 failed, 2 wrong usage, 3 waiting for others.`,
	}
	root.PersistentFlags().StringVar(&p.dir, "dir", envOr("CONCORDD_DIR", "concord-analyst"), "the analyst's folder (also CONCORDD_DIR)")
	root.AddCommand(p.initCommand(), p.studyCommand(), p.inviteCommand(), p.admitCommand(), p.turnAwayCommand(), p.removeCommand(), p.withdrawCommand(), p.serveCommand(), p.reachCommand(), p.doctorCommand(), p.takeCommand(), p.giveCommand(), p.statusCommand())
	root.AddCommand(p.auditCommand(), p.auditorCommand(), p.exportCommand(), p.replayCommand())
	return root
}

func envOr(name, otherwise string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return otherwise
}

// open loads the analyst's folder. The caller closes the store.
func (p *program) open() (*folder, *identity.Identity, config, *store.Store, error) {
	f := &folder{p.dir}
	cfg, err := p.config()
	if err != nil {
		return nil, nil, cfg, nil, err
	}
	id, err := f.identity()
	if err != nil {
		return nil, nil, cfg, nil, err
	}
	st, err := store.Open(p.dir, id)
	return f, id, cfg, st, err
}

// config reads how the server is set up.
func (p *program) config() (config, error) {
	cfg, err := (&folder{p.dir}).config()
	if errors.Is(err, fs.ErrNotExist) {
		err = wire.WithHint(fmt.Errorf("the folder %s was not set up", p.dir), "run concordd init, or name the folder with --dir")
	}
	return cfg, err
}
