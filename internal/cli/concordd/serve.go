package concordd

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"concord/internal/durable"
	"concord/internal/server"
	"concord/internal/store"
	"concord/member"
	"concord/wire"
)

func (p *program) serveCommand() *cobra.Command {
	var listen, ops, format string
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
			unlock, err := lockSoon(cmd.Context(), f.path(serveLock))
			if errors.Is(err, durable.ErrLocked) {
				return wire.WithHint(fmt.Errorf("another concordd serves or trains in %s", f.dir), "one at a time: stop the other, or wait until concordd take has trained")
			}
			if err != nil {
				return err
			}
			defer unlock()
			if err := sweep(f, st); err != nil {
				return err
			}
			fronts, err := p.fronts(cfg, listen)
			if err != nil {
				return err
			}
			log, err := logger(p.err, format, verbose)
			if err != nil {
				return err
			}
			if ops == "" {
				ops = cfg.Ops
			}
			for _, f := range fronts {
				mode := member.TLSPinned
				if f.Web {
					mode = member.TLSWebPKI
				}
				log.Info("serving", "tls", mode, "address", f.Listener.Addr().String(), "fingerprint", id.Statement.Fingerprint().Short())
			}
			srv := server.New(id, st, log, server.WithLimits(cfg.Limits))
			if ops == "" {
				err = srv.ServeFronts(cmd.Context(), fronts...)
			} else {
				err = serveWithOps(cmd.Context(), srv, ops, log, fronts)
			}
			log.Info("stopped")
			return err
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "", "host:port to listen on, instead of the folder's setting")
	cmd.Flags().StringVar(&ops, "ops", "", "also answer /metrics, /livez and /readyz on [HOST]:PORT, loopback unless a host is given (default: config.json's ops, or nowhere)")
	cmd.Flags().StringVar(&format, "log-format", "text", "how the log is written: text or json")
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
