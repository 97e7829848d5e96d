package analystcli

import (
	"errors"
	"fmt"
	"log/slog"
	"net"

	"github.com/spf13/cobra"

	"concord/internal/durable"
	"concord/internal/server"
	"concord/internal/store"
)

func (p *program) serveCommand() *cobra.Command {
	var listen string
	var verbose bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the server until it is interrupted",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, id, cfg, st, err := p.open()
			if err != nil {
				return err
			}
			defer st.Close()
			unlock, err := durable.Lock(f.path(serveLock))
			if errors.Is(err, durable.ErrLocked) {
				return fmt.Errorf("another concordd serves or trains in %s", f.dir)
			}
			if err != nil {
				return err
			}
			defer unlock()
			if err := sweep(f, st); err != nil {
				return err
			}
			ln := p.listener
			if ln == nil {
				if listen == "" {
					listen = cfg.Listen
				}
				if ln, err = net.Listen("tcp", listen); err != nil {
					return err
				}
			}
			level := slog.LevelInfo
			if verbose {
				level = slog.LevelDebug
			}
			log := slog.New(slog.NewTextHandler(p.err, &slog.HandlerOptions{Level: level}))
			log.Info("serving", "address", ln.Addr().String(), "fingerprint", id.Statement.Fingerprint().Short())
			return server.New(id, st, log).Serve(cmd.Context(), ln)
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "", "host:port to listen on, instead of the folder's setting")
	cmd.Flags().BoolVar(&verbose, "verbose", false, "log every request")
	return cmd
}

// sweep removes what a crash left, unless parcels are being taken at the moment: the
// next start does it then.
func sweep(f *folder, st *store.Store) error {
	unlock, err := durable.Lock(f.path(takeLock))
	if errors.Is(err, durable.ErrLocked) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unlock()
	return st.Sweep()
}
